"""Small packages of tf.contrib: eager's metrics, tfprof, util, checkpoint."""

import numpy as np
import tensorflow as tf

tfe = tf.contrib.eager


def _updated(metric, *batches):
    """Returns a metric after some batches, in a graph."""
    updates = [metric(*batch) for batch in batches]
    with tf.Session() as session:
        session.run([each.initializer for each in metric.variables])
        for each in updates:
            session.run(each[0] if isinstance(each, tuple) else each)
        return session.run(metric.result())


def eager_means():
    return [_updated(tfe.metrics.Mean(name="m0"), ([1., 2.],), ([6.],)),
            _updated(tfe.metrics.Mean(name="m1"), (tf.constant([1., 2.]), [1., 3.])),
            _updated(tfe.metrics.Mean("f", tf.float32), (5,))]


def eager_accuracies():
    return [_updated(tfe.metrics.Accuracy(name="m2"), ([1, 2], [1, 3]), ([4], [4])),
            _updated(tfe.metrics.Accuracy(name="m3"), (tf.constant([1, 2]), [1, 3], [1., 3.])),
            _updated(tfe.metrics.CategoricalAccuracy(name="m4"),
                     ([[0, 1], [1, 0]], [[.2, .8], [.1, .9]])),
            _updated(tfe.metrics.BinaryAccuracy(.5), ([0, 1, 1], [.2, .8, .3])),
            _updated(tfe.metrics.SparseAccuracy(name="m5"), ([1, 0], [[.2, .8], [.1, .9]]))]


def eager_names():
    return [tfe.in_eager_mode(), tfe.SYNC, tfe.ASYNC, tfe.TensorSpec([2], tf.float32).shape,
            tfe.Checkpoint is tf.train.Checkpoint]


def parameters_of_a_model():
    tf.get_variable("a", [3, 4])
    tf.get_variable("b", [5])
    analyzer = tf.contrib.tfprof.model_analyzer
    options = dict(analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
    options["output"] = "none"
    found = analyzer.print_model_analysis(tf.get_default_graph(), tfprof_options=options)
    return found.total_parameters


def operations_of_a_graph():
    tf.matmul(tf.ones([2, 3]), np.ones([3, 2], np.float32))
    graph_def = tf.get_default_graph().as_graph_def()
    return [sorted(tf.contrib.util.ops_used_by_graph_def(graph_def)), sorted(
        each.name for each in tf.contrib.util.stripped_op_list_for_graph(graph_def).op)]


def walks_through_a_graph():
    ge = tf.contrib.graph_editor
    a, b = tf.constant(1., name="a"), tf.constant(2., name="b")
    with tf.control_dependencies([b]):
        c = tf.identity(a, name="c")
    d = tf.negative(c, name="d")
    graph = tf.get_default_graph()
    return [[op.name for op in ge.get_backward_walk_ops(d.op)],
            sorted(op.name for op in ge.get_backward_walk_ops([d], control_inputs=True)),
            [op.name for op in ge.get_backward_walk_ops(d.op, inclusive=False, stop_at_ts=[c])],
            [op.name for op in ge.get_generating_ops([c, a])],
            [op.name for op in ge.get_consuming_ops(c)],
            sorted(each.name for each in ge.get_tensors(graph)),
            [op.name for op in ge.make_list_of_op([a, d.op], ignore_ts=True)]]
