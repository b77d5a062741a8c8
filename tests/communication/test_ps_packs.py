"""Tensors between a trainer and its ps travel in packs: fewer calls, the same training."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.communication import ps_packs
from tests.support import jobs

_STEPS = 4
v1 = tf.compat.v1


@pytest.fixture(scope="module", name="cluster")
def fixture_cluster():
    """A chief and two ps, as servers of this process."""
    hosts = jobs.cluster(chief=1, ps=2)
    servers = [tf.distribute.Server(hosts, role, index)
               for role in hosts for index in range(len(hosts[role]))]
    return tf.train.ClusterSpec(hosts), servers[0].target


def _dense(inputs, units, name):
    size = inputs.shape[-1]
    with v1.variable_scope(name):
        kernel = v1.get_variable("kernel", [size, units], initializer=v1.initializers.constant(
            np.random.default_rng(units).normal(size=[size, units])))
        return inputs @ kernel + v1.get_variable(
            "bias", [units], initializer=v1.initializers.zeros())


def _batch():
    features = np.random.default_rng(3).normal(size=[8, 6]).astype(np.float32)
    return tf.constant(features), tf.constant(features.sum(1, keepdims=True))


def _minimized(loss, optimizer=None):
    optimizer = optimizer or v1.train.GradientDescentOptimizer(0.05)
    return optimizer.minimize(loss, v1.train.get_or_create_global_step())


def _network():
    features, labels = _batch()
    hidden = _dense(_dense(features, 5, "first"), 4, "second")
    loss = tf.reduce_mean((_dense(hidden, 1, "third") - labels) ** 2)
    return _minimized(loss), loss


def _adam():
    features, labels = _batch()
    loss = tf.reduce_mean((_dense(_dense(features, 5, "first"), 1, "last") - labels) ** 2)
    return _minimized(loss, v1.train.AdamOptimizer(0.05)), loss


def _batch_normalization():
    """Has updates that come before the gradients, as its documentation asks."""
    features, labels = _batch()
    hidden = v1.layers.batch_normalization(_dense(features, 5, "first"), training=True)
    hidden = v1.layers.batch_normalization(_dense(hidden, 4, "second"), training=True)
    loss = tf.reduce_mean((_dense(hidden, 1, "last") - labels) ** 2)
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        return _minimized(loss), loss


def _embedding():
    features, labels = _batch()
    table = v1.get_variable("table", [50, 6], initializer=v1.initializers.ones())
    rows = tf.gather(table, tf.argmax(features, 1))
    loss = tf.reduce_mean((_dense(features * rows, 1, "last") - labels) ** 2)
    return _minimized(loss), loss


def _ids():
    """Returns SparseTensors of ids and of weights: a row without ids, and an id twice in a row."""
    indices, shape = [[0, 0], [0, 1], [2, 0], [3, 1], [4, 0], [7, 0]], [8, 2]
    return (tf.SparseTensor(indices, tf.constant([3, 3, 41, 7, 3, 49], tf.int64), shape),
            tf.SparseTensor(indices, [0.5, 2.0, 1.0, 0.1, 3.0, 1.0], shape))


def _of_lookups(*lookups, optimizer=None):
    _, labels = _batch()
    loss = tf.reduce_mean((_dense(tf.concat(lookups, 1), 1, "last") - labels) ** 2)
    return _minimized(loss, optimizer or v1.train.AdagradOptimizer(0.05)), loss


def _table(name, size=6, **kwargs):
    return v1.get_variable(name, [50, size], initializer=v1.random_normal_initializer(seed=size),
                           **kwargs)


def _weighted_lookups():
    ids, weights = _ids()
    return _of_lookups(
        v1.nn.embedding_lookup_sparse(_table("first"), ids, weights, combiner="sqrtn"),
        v1.nn.safe_embedding_lookup_sparse(_table("second", 3), ids, weights),
        v1.nn.embedding_lookup_sparse(_table("third"), ids, None, combiner="sum"),
        optimizer=v1.train.FtrlOptimizer(0.05))


def _lookups_in_parts():
    """Has tables in parts, of which each ps has some, and a lookup in the first rows alone."""
    ids, _ = _ids()
    parts = v1.fixed_size_partitioner(3)
    return _of_lookups(
        v1.nn.embedding_lookup_sparse(_table("first", partitioner=parts), ids, None,
                                      combiner="mean", partition_strategy="div"),
        v1.nn.safe_embedding_lookup_sparse(_table("second", 3, partitioner=parts), ids))


def _lookups_in_reference_variables():
    ids = tf.argmax(_batch()[0], 1)
    first, second = (_table(name, use_resource=False) for name in ("first", "second"))
    return _of_lookups(tf.gather(first, ids), v1.nn.embedding_lookup(second, ids + 2))


def _lookups_of_other_dtypes():
    ids = tf.argmax(_batch()[0], 1, tf.int32)
    tables = [_table(f"table_{dtype.name}", dtype=dtype) for dtype in (
        tf.float64, tf.float16, tf.bfloat16, tf.float32)]
    return _of_lookups(*(tf.cast(tf.gather(each, ids), tf.float32) for each in tables))


def _lookups_of_sequences():
    """Looks up the items of sequences, whose two first dimensions only a step knows."""
    ids = tf.cast(tf.argsort(_batch()[0], 1), tf.int64)
    ids = v1.placeholder_with_default(ids, [None, None])
    rows = [tf.gather(_table(name), ids) for name in ("first", "second")]
    return _of_lookups(*(tf.reduce_sum(each, 1) for each in rows))


def _lookups_one_after_the_other():
    """Finds the ids of a lookup by the one before."""
    ids, outputs = tf.argmax(_batch()[0], 1), []
    for name in ("first", "second", "third"):
        outputs.append(tf.gather(_table(name), ids))
        ids = tf.argmax(outputs[-1], 1)
    return _of_lookups(*outputs)


def _two_optimizers():
    """Trains one layer, then with what this made of it the other one."""
    features, labels = _batch()
    first, last = ([v1.get_variable(name, shape, initializer=v1.initializers.constant(0.3))
                    for name, shape in shapes] for shapes in (
                        [("kernel", [6, 5]), ("bias", [5])], [("last", [5, 1]), ("end", [1])]))

    def loss_now():
        hidden = features @ first[0].read_value() + first[1].read_value()
        return tf.reduce_mean((hidden @ last[0].read_value() + last[1].read_value() - labels) ** 2)

    loss = loss_now()
    optimizer = v1.train.GradientDescentOptimizer(0.02)
    with tf.control_dependencies([optimizer.minimize(loss, var_list=first)]):
        step = v1.train.get_or_create_global_step()
        return optimizer.minimize(loss_now(), step, var_list=last), loss


def _clipped():
    """Needs all gradients before it applies the first one."""
    features, labels = _batch()
    loss = tf.reduce_mean((_dense(_dense(features, 5, "first"), 1, "last") - labels) ** 2)
    optimizer = v1.train.GradientDescentOptimizer(0.05)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    clipped, _ = tf.clip_by_global_norm(gradients, 0.5)
    return optimizer.apply_gradients(zip(clipped, variables),
                                     v1.train.get_or_create_global_step()), loss


_MODELS = [_network, _adam, _batch_normalization, _embedding, _two_optimizers, _clipped,
           _weighted_lookups, _lookups_in_parts, _lookups_of_other_dtypes, _lookups_of_sequences,
           _lookups_one_after_the_other]
# A loop has no reference variables.
_SINGLE_STEPS = [_lookups_in_reference_variables]
_IN_CORE = [_network, _clipped, _lookups_in_parts, _lookups_of_sequences]


def _looped(model, is_packed):
    """Makes all steps in one session run, as the program's loop does."""
    def body(count, _):
        train_op, loss = model()
        if is_packed:
            ps_packs.send_in_packs(train_op)
        with tf.control_dependencies([train_op]):
            return count + 1, tf.identity(loss)

    return tf.while_loop(lambda count, _: count < _STEPS, body, (0, 0.0), parallel_iterations=1)


def _train(cluster, model, is_packed, num_ps=1, is_looped=False):
    """Returns the loss of each step, the variables by name, and the calls of the last run."""
    spec, target = cluster
    own = {"chief": spec.job_tasks("chief"), "ps": spec.job_tasks("ps")[:num_ps]}
    setter = v1.train.replica_device_setter(
        worker_device="/job:chief/task:0", cluster=tf.train.ClusterSpec(own))
    with tf.Graph().as_default(), v1.device(setter):
        v1.train.get_or_create_global_step()
        if is_looped:
            fetches = _looped(model, is_packed)
        else:
            fetches = model()
            if is_packed:
                ps_packs.send_in_packs(fetches[0])
        metadata = v1.RunMetadata()
        options = v1.RunOptions(output_partition_graphs=True)
        with v1.Session(target, config=v1.ConfigProto(isolate_session_state=True)) as session:
            session.run(v1.global_variables_initializer())
            losses = [session.run(fetches, options=options, run_metadata=metadata)[1]
                      for _ in range(1 if is_looped else _STEPS)]
            # NumPy has no common dtype of float16 and bfloat16.
            values = {variable.op.name: session.run(tf.cast(variable, tf.float64))
                      for variable in v1.global_variables()}
    calls = [node.attr["tensor_name"].s.decode() for graph in metadata.partition_graphs
             for node in graph.node if node.op == "_Recv" and
             node.attr["send_device"].s != node.attr["recv_device"].s]
    return losses, values, calls


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore:.*tf.layers.batch_normalization")
@pytest.mark.parametrize(("model", "is_looped"), [
    pytest.param(model, is_looped, id=f"{model.__name__[1:]}-{'a loop' if is_looped else 'steps'}",
                 marks=() if is_looped and model in _IN_CORE else pytest.mark.soak)
    for is_looped in (True, False)
    for model in (_MODELS if is_looped else [*_MODELS, *_SINGLE_STEPS])])
def test_send_in_packs_trains_the_same_with_fewer_calls(model, is_looped, cluster):
    for num_ps in (1, 2):
        alone = _train(cluster, model, False, num_ps, is_looped)
        packed = _train(cluster, model, True, num_ps, is_looped)
        np.testing.assert_allclose(packed[0], alone[0], rtol=1e-5)
        assert packed[1].keys() == alone[1].keys()
        for name, value in alone[1].items():
            np.testing.assert_allclose(packed[1][name], value, rtol=1e-4, atol=1e-6, err_msg=name)
        assert len(packed[2]) < len(alone[2]), packed[2]


def test_send_in_packs_makes_one_call_a_ps_and_direction(cluster):
    _, _, calls = _train(cluster, _network, True)
    # The remaining ones are control edges: that a step is made.
    assert len([name for name in calls if "concat" in name]) == 2, calls
    assert not [name for name in calls if "gradients" in name or "kernel" in name], calls


def test_send_in_packs_leaves_large_variables_alone(cluster):
    def model():
        features, labels = _batch()
        hidden = _dense(_dense(features, 300, "first"), 300, "second")
        loss = tf.reduce_mean((_dense(hidden, 1, "last") - labels) ** 2)
        return _minimized(loss, v1.train.GradientDescentOptimizer(1e-6)), loss

    losses, _, calls = _train(cluster, model, True)
    np.testing.assert_allclose(losses, _train(cluster, model, False)[0], rtol=1e-4)
    assert len([name for name in calls if "concat" in name]) == 2, calls
    assert len([name for name in calls if "second/" in name or "gradients" in name]) == 2, calls


@contextlib.contextmanager
def _control_flow_of_tensorflow_1():
    was_v2 = v1.control_flow_v2_enabled()
    v1.disable_control_flow_v2()
    try:
        yield
    finally:
        if was_v2:
            v1.enable_control_flow_v2()


def test_send_in_packs_waits_for_no_branch_that_is_not_taken(cluster):
    def model():
        features, labels = _batch()
        loss = tf.reduce_mean((_dense(features, 1, "only") - labels) ** 2)
        step = v1.train.get_or_create_global_step()
        optimizer = v1.train.GradientDescentOptimizer(0.05)
        pairs = optimizer.compute_gradients(loss)
        update = tf.cond(step.read_value() % 2 > 0,
                         lambda: tf.group(optimizer.apply_gradients(pairs[:1])),
                         lambda: tf.group(optimizer.apply_gradients(pairs[1:])))
        with tf.control_dependencies([update]):
            return v1.assign_add(step, 1).op, loss

    with _control_flow_of_tensorflow_1():
        alone, packed = (_train(cluster, model, is_packed) for is_packed in (False, True))
    np.testing.assert_allclose(packed[0], alone[0], rtol=1e-5)
    assert len(set(np.round(packed[0], 6))) == _STEPS
