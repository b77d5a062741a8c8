"""tf.contrib.framework, slim.utils, kernel_methods, feature_column and linear models of them."""

import os
import tempfile

from _ended import errors as _errors
import numpy as np
import tensorflow as tf

SOAK = ("kernel_classifier", "summaries")
framework = tf.contrib.framework


def _checkpoint():
    path = tempfile.mkdtemp() + "/model"
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("a/w", initializer=tf.constant([[1., 2.], [3., 4.], [5., 6.]]))
        tf.get_variable("b", initializer=tf.constant(7.))
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, path)


def checkpoints():
    path = _checkpoint()
    folder = os.path.dirname(path)
    return [framework.list_variables(checkpoint_dir=folder),
            framework.load_variable(checkpoint_dir=path, name="a/w:0"),
            framework.load_checkpoint(filepattern=folder).get_tensor("b")]


def init_from_checkpoint():
    path = _checkpoint()
    with tf.variable_scope("new"):
        weights = tf.get_variable("w", [3, 2])
        number = tf.get_variable("number", [])
    framework.init_from_checkpoint(checkpoint_dir=path, assignment_map={
        "a/w": weights, "b": "new/number"})
    return [weights.read_value(), number.read_value()]


def assign_from_checkpoint():
    path = _checkpoint()
    with tf.variable_scope("x", partitioner=tf.fixed_size_partitioner(2)):
        weights = framework.variable("w", [3, 2])
    op, values = framework.assign_from_checkpoint(path, {"b": framework.variable("n", [])})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(op, values)
        return [session.run(framework.get_unique_variable("n")), weights.shape]


def remapped():
    path = _checkpoint()
    folder = tempfile.mkdtemp()
    for name, words in (("old", "x\ny\nz\n"), ("new", "z\nx\nq\n")):
        with open(folder + "/" + name, "w") as file:
            file.write(words)
    initializer = framework.load_and_remap_matrix_initializer(
        path, "a/w", new_row_vocab_size=3, new_col_vocab_size=2,
        old_row_vocab_file=folder + "/old", new_row_vocab_file=folder + "/new",
        num_row_oov_buckets=1, initializer=tf.zeros_initializer())
    return tf.get_variable("w", [4, 2], initializer=initializer)


def shapes():
    known = tf.constant([[1., 2.]])
    unknown = tf.placeholder_with_default([[1., 2.]], [None, None])
    one = framework.with_shape([], tf.constant([3.]))
    return [framework.with_shape([1, 2], known), framework.with_shape([1, 2], unknown),
            framework.with_shape(tf.constant([1, 2]), unknown), one,
            framework.with_same_shape(known, unknown).shape,
            framework.reduce_sum_n([known, unknown]), framework.reduce_sum_n([known]),
            framework.remove_squeezable_dimensions(tf.zeros([2, 1]), tf.zeros([2]))[0].shape,
            framework.assert_scalar_int(tf.constant(3)),
            framework.assert_same_float_dtype([known, unknown])]


def shapes_wrong():
    known = tf.constant([[1., 2.]])
    unknown = tf.placeholder_with_default([[1., 2.]], [None, None])

    def run(shape):
        with tf.Session() as session:
            session.run(framework.with_shape(shape, unknown))

    return _errors({
        "shape": lambda: framework.with_shape([2, 2], known), "late": lambda: run([2, 2]),
        "rank": lambda: run([2]), "right": lambda: run([1, 2]),
        "dtype": lambda: framework.with_shape([1.5], known),
        "array": lambda: framework.with_shape(np.ones([1, 1], np.int32), known),
        "sparse": lambda: framework.with_shape([1], tf.SparseTensor([[0]], [1], [1])),
        "empty": lambda: framework.reduce_sum_n([]),
        "scalar": lambda: framework.assert_scalar_int(tf.constant([1])),
        "integer": lambda: framework.assert_scalar_int(tf.constant(1.)),
        "float": lambda: framework.assert_same_float_dtype([tf.constant(1), known]),
        "graph": lambda: framework.get_placeholders(3)})


def python_functions():
    def both(x, y, scale):
        return {"sum": (x + y) * scale, "parts": [x, y * scale]}
    return framework.py_func(
        both, [tf.constant([1., 2.]), tf.constant([3., 4.])], {"scale": 2.},
        {"sum": tf.float32, "parts": [tf.float32, tf.float32]},
        {"sum": [2], "parts": [[2], [2]]})


def graphs():
    tf.placeholder(tf.float32, name="x")
    with tf.name_scope("outer"):
        name = framework.get_name_scope()
        tf.placeholder(tf.int32, name="y")
    return [name, [each.name for each in framework.get_placeholders(tf.get_default_graph())],
            framework.prepend_name_scope("a", "b"), framework.strip_name_scope("b/a", "b"),
            framework.get_graph_from_inputs([tf.constant(1)]) is tf.get_default_graph()]


def conditions():
    return [framework.smart_cond(True, lambda: tf.constant(1), lambda: tf.constant(2)),
            framework.smart_case([(tf.constant(False), lambda: tf.constant(1))],
                                 default=lambda: tf.constant(5)),
            framework.smart_constant_value(tf.constant(True))]


def specs():
    spec = framework.BoundedTensorSpec([2], tf.float32, 0, 1, "a")
    return [str(framework.TensorSpec([1, None], tf.int32).shape), spec.name,
            spec.maximum, framework.is_tensor(tf.constant(1)), framework.is_tensor(1)]


def zeros():
    variable = tf.Variable([1., 2.])
    zero = framework.zero_initializer(variable)
    with tf.Session() as session:
        session.run(zero)
        return session.run(variable)


def orthogonal():
    return [framework.convolutional_orthogonal_2d(seed=3)([3, 3, 2, 2]).shape,
            framework.convolutional_delta_orthogonal(gain=2.)([3, 3, 2, 4]).shape]


def sorted_values():
    return [framework.sort(tf.constant([3., 1., 2.])),
            framework.argsort(tf.constant([3., 1., 2.]), direction="DESCENDING")]


def slim_utils():
    slim = tf.contrib.slim
    x = tf.ones([2, 4, 4, 3])
    with slim.arg_scope([slim.conv2d], outputs_collections="end", normalizer_fn=slim.batch_norm):
        slim.conv2d(slim.conv2d(x, 2, 3, scope="a"), 2, 1, scope="b")
    points = slim.utils.convert_collection_to_dict("end")
    return [sorted(points), slim.utils.last_dimension(x.shape), slim.utils.two_element_tuple(3),
            slim.utils.n_positive_integers(3, 2), slim.utils.constant_value(tf.constant(2)),
            slim.utils.smart_cond(False, lambda: tf.constant(1), lambda: tf.constant(2)),
            slim.utils.get_variable_collections({"weights": ["w"]}, "weights"),
            slim.utils.collect_named_outputs("other", "alias", x) is x,
            slim.utils.gather_tensors_aliases(tf.get_collection("other"))]


def slim_columns():
    slim = tf.contrib.slim
    return slim.input_from_feature_columns(
        {"a": tf.constant([[1., 2.]])}, [slim.real_valued_column("a", 2)])


def clipping():
    layers = tf.contrib.layers
    weight = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    clip = tf.contrib.slim.adaptive_clipping_fn(static_max_norm=1., global_step=None)
    loss = tf.reduce_sum(weight * tf.constant([3., 4.]))
    train = layers.optimize_loss(loss, tf.train.create_global_step(), .1, "SGD",
                                 clip_gradients=clip)
    with tf.control_dependencies([train]):
        return weight.read_value()


def random_features():
    mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(2, 6, 2., seed=4, name="m")
    return [mapper.map(tf.constant([[1., 2.], [0., -1.]])), mapper.name]


def hinge_loss():
    loss = tf.contrib.kernel_methods.sparse_multiclass_hinge_loss
    logits = tf.constant([[1., 2., 3.], [3., 1., 2.9]])
    return [loss(tf.constant([2, 1]), logits), loss(tf.constant([[0], [0]]), logits, [[1.], [3.]]),
            loss(tf.constant([0, 0]), logits, reduction="none")]


def kernel_mistakes():
    kernels = tf.contrib.kernel_methods
    logits = tf.constant([[1., 2.]])
    return _errors({
        "rank": lambda: kernels.sparse_multiclass_hinge_loss(tf.constant([1]), tf.constant([1.])),
        "dtype": lambda: kernels.sparse_multiclass_hinge_loss(tf.constant([1.]), logits),
        "labels": lambda: kernels.sparse_multiclass_hinge_loss(tf.constant([[[1]]]), logits),
        "map": lambda: kernels.RandomFourierFeatureMapper(3, 2).map(logits),
        "nothing": lambda: kernels.KernelLinearClassifier()})


def kernel_classifier():
    kernels, layers = tf.contrib.kernel_methods, tf.contrib.layers
    column = layers.real_valued_column("a", 2)
    model = kernels.KernelLinearClassifier(
        kernel_mappers={column: [kernels.RandomFourierFeatureMapper(2, 3, seed=2)]},
        config=tf.contrib.learn.RunConfig(tf_random_seed=3))

    def input_fn():
        return {"a": tf.constant([[1., 2.], [0., -1.]])}, tf.constant([[1], [0]])

    model.fit(input_fn=input_fn, steps=3)
    return [{name: model.get_variable_value(name) for name in model.get_variable_names()},
            list(model.predict_classes(input_fn=input_fn))]


def _sequence_features():
    return {"w": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["x", "y", "x"], [2, 2]),
            "n": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1., 2., 3.], [2, 2])}


def sequence_input():
    fc = tf.contrib.feature_column
    word = fc.sequence_categorical_column_with_vocabulary_list("w", ["x", "y"])
    start = tf.constant_initializer(np.arange(4, dtype=np.float32).reshape(2, 2))
    return fc.sequence_input_layer(_sequence_features(), [
        fc.sequence_numeric_column("n"), tf.feature_column.indicator_column(word),
        tf.feature_column.embedding_column(word, 2, initializer=start)])


def sequence_with_context():
    from tensorflow.contrib.feature_column.python.feature_column import \
        sequence_feature_column as fc
    values, _ = fc.sequence_input_layer(_sequence_features(), [fc.sequence_numeric_column("n")])
    return fc.concatenate_context_input(tf.constant([[5., 6.], [7., 8.]]), values)


def sequence_of_another_column():
    return tf.contrib.feature_column.sequence_input_layer(
        _sequence_features(), [tf.feature_column.numeric_column("n")])


def summaries():
    folder = tempfile.mkdtemp()
    summary = tf.contrib.summary
    writer = summary.create_file_writer(folder, flush_millis=1)
    step = tf.train.create_global_step()
    with writer.as_default(), summary.always_record_summaries():
        summary.scalar("a", 2., step=step)
        summary.histogram("b", tf.range(3.), step=step)
        summary.graph(tf.constant(b""), step)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            summary.initialize(graph=tf.get_default_graph(), session=session)
            session.run(summary.all_summary_ops())
            session.run(summary.flush(writer))
    events = [event for name in os.listdir(folder)
              for event in tf.train.summary_iterator(os.path.join(folder, name))]
    return sorted(value.tag for event in events for value in event.summary.value)
