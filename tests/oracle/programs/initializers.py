"""tf.initializers, tf.keras.initializers and variables' first values, under the graph's seed."""

import numpy as np
import tensorflow as tf

SOAK = (
    "after_other_operations", "contrib_initializers", "convolutional_deltas",
    "default_of_get_variable", "default_of_other_dtypes", "from_a_function", "glorot",
    "he_and_lecun", "keras_initializers", "keras_initializers_by_name",
    "keras_initializers_with_seeds", "orthogonal", "partitioned", "random_normal",
    "random_uniform", "random_uniform_of_integers", "variance_scaling",
    "variance_scaling_of_vectors_and_images",)


def _first(*initializers, shape=(3, 4)):
    return [
        tf.get_variable("v%d" % index, shape, initializer=each)
        for index, each in enumerate(initializers)
    ]


def default_of_get_variable():
    return [
        tf.get_variable("a", [4, 3]),
        tf.get_variable("b", [3]),
        tf.get_variable("c", [3, 3, 2, 2]),
        tf.get_variable("d", []),
    ]


def default_of_other_dtypes():
    return [
        tf.get_variable("a", [2, 3], tf.float64),
        tf.get_variable("b", [2], tf.int32),
        tf.get_variable("c", [2], tf.bool),
        tf.get_variable("d", [2, 2], tf.float16),
    ]


def constant_value():
    return _first(
        tf.constant_initializer([[1.0, 2.0, 3.0, 4.0]] * 3),
        tf.zeros_initializer(),
        tf.ones_initializer(),
        tf.constant_initializer(5),
    )


def constant_short():
    return tf.get_variable("v", [2, 3], initializer=tf.constant_initializer([1.0, 2.0]))


def constant_long():
    return tf.get_variable("v", [2], initializer=tf.constant_initializer([1.0, 2.0, 3.0]))


def constant_verified():
    return tf.get_variable(
        "v", [2, 3], initializer=tf.constant_initializer([1.0, 2.0], verify_shape=True)
    )


def random_normal():
    return _first(
        tf.random_normal_initializer(),
        tf.random_normal_initializer(1.0, 2.0),
        tf.random_normal_initializer(stddev=0.1, seed=3),
    )


def random_uniform():
    return _first(
        tf.random_uniform_initializer(),
        tf.random_uniform_initializer(-1.0, 1.0),
        tf.random_uniform_initializer(0.0, 1.0),
        tf.random_uniform_initializer(0, 1),
        tf.random_uniform_initializer(0, 3, seed=4),
    )


def random_uniform_of_integers():
    return [
        tf.get_variable("v", [5], tf.int32, tf.random_uniform_initializer(0, 100, dtype=tf.int32))
    ]


def truncated_normal():
    return _first(
        tf.truncated_normal_initializer(),
        tf.truncated_normal_initializer(0.0, 0.02),
        tf.truncated_normal_initializer(stddev=3.0, seed=2),
    )


def glorot():
    return _first(
        tf.glorot_uniform_initializer(),
        tf.glorot_normal_initializer(),
        tf.glorot_uniform_initializer(seed=1),
        tf.initializers.glorot_normal(),
    )


def he_and_lecun():
    return _first(
        tf.initializers.he_normal(),
        tf.initializers.he_uniform(),
        tf.initializers.lecun_normal(),
        tf.initializers.lecun_uniform(),
    )


def variance_scaling():
    return _first(
        *[
            tf.variance_scaling_initializer(2.0, mode, kind)
            for mode in ("fan_in", "fan_out", "fan_avg")
            for kind in ("normal", "uniform", "truncated_normal", "untruncated_normal")
        ]
    )


def variance_scaling_of_vectors_and_images():
    return [
        tf.get_variable("a", [7], initializer=tf.variance_scaling_initializer()),
        tf.get_variable("b", [2, 2, 3, 4], initializer=tf.variance_scaling_initializer()),
        tf.get_variable("c", [], initializer=tf.variance_scaling_initializer()),
    ]


def uniform_unit_scaling():
    return _first(tf.uniform_unit_scaling_initializer(), tf.uniform_unit_scaling_initializer(1.43))


def orthogonal():
    return _first(tf.orthogonal_initializer(), tf.orthogonal_initializer(2.0), shape=(4, 4)) + [
        tf.get_variable("wide", [2, 5], initializer=tf.orthogonal_initializer()),
        tf.get_variable("image", [2, 2, 3, 4], initializer=tf.orthogonal_initializer()),
    ]


def orthogonal_of_vector():
    return tf.get_variable("v", [3], initializer=tf.orthogonal_initializer())


def identity():
    return _first(tf.initializers.identity(), tf.initializers.identity(2.0))


def convolutional_deltas():
    return [
        tf.get_variable("a", [3, 3, 2, 2], initializer=tf.initializers.orthogonal()),
        tf.get_variable("b", [3, 2, 2], initializer=tf.initializers.orthogonal(gain=0.5)),
    ]


def after_other_operations():
    x = tf.placeholder_with_default(tf.ones([2, 3]), [None, 3])
    y = tf.nn.relu(tf.matmul(x, tf.get_variable("w", [3, 3])) + tf.get_variable("b", [3]))
    return [y, tf.get_variable("u", [3, 2]), tf.random_normal([2])]


def resource_variables():
    with tf.variable_scope("scope", use_resource=True):
        return [
            each + 0.0
            for each in (
                tf.get_variable("a", [3, 2]),
                tf.get_variable("b", [2, 2]),
                tf.get_variable("c", [2], initializer=tf.random_normal_initializer()),
            )
        ]


def types_of_variables():
    a = tf.get_variable("a", [2], use_resource=True)
    b = tf.get_variable("b", [2])
    return [
        isinstance(each, tf.Variable) for each in (a, b, tf.Variable(1.0), a + 1, tf.constant(1))
    ]


def partitioned():
    with tf.variable_scope("scope", partitioner=tf.fixed_size_partitioner(2)):
        a = tf.get_variable("a", [4, 3])
        b = tf.get_variable("b", [6, 2], initializer=tf.random_normal_initializer())
    return [tf.convert_to_tensor(a), tf.convert_to_tensor(b)]


def from_a_tensor():
    first = tf.random_normal([2, 3])
    return [
        tf.get_variable("a", initializer=first),
        tf.Variable(tf.random_uniform([3])),
        tf.Variable(tf.truncated_normal([2, 2], stddev=0.1), name="weights"),
    ]


def from_a_function():
    return [
        tf.Variable(lambda: tf.random_normal([2, 3])),
        tf.random_normal([2]),
        tf.get_variable("f", initializer=lambda: tf.random_uniform([2])),
    ]


def variables_by_hand():
    w = tf.Variable(tf.truncated_normal([3, 4], stddev=0.1), name="w")
    b = tf.Variable(tf.constant(0.1, shape=[4]), name="b")
    u = tf.Variable(tf.random_uniform([4, 2], -1, 1), name="u")
    z = tf.Variable(tf.zeros([2]), name="z")
    x = tf.constant(np.arange(6, dtype="float32").reshape(2, 3))
    h = tf.nn.relu(tf.nn.xw_plus_b(x, w, b))
    return [w, b, u, z, tf.matmul(h, u) + z, tf.Variable(tf.random_normal([2]))]


def keras_initializers():
    k = tf.keras.initializers
    return _first(
        k.RandomNormal(),
        k.RandomUniform(),
        k.TruncatedNormal(),
        k.VarianceScaling(),
        k.Zeros(),
        k.Ones(),
        k.Constant(3.0),
        k.glorot_normal(),
        k.glorot_uniform(),
        k.he_normal(),
        k.he_uniform(),
        k.lecun_normal(),
        k.lecun_uniform(),
        k.Orthogonal(),
        k.Identity(),
    )


def keras_initializers_with_seeds():
    k = tf.keras.initializers
    return _first(
        k.RandomNormal(seed=1),
        k.RandomUniform(seed=2),
        k.TruncatedNormal(seed=3),
        k.VarianceScaling(seed=4),
        k.glorot_normal(seed=5),
        k.he_uniform(seed=6),
        k.Orthogonal(seed=7),
    )


def keras_initializers_by_name():
    get = tf.keras.initializers.get
    return _first(
        *[
            get(name)
            for name in (
                "glorot_uniform",
                "uniform",
                "normal",
                "random_uniform",
                "truncated_normal",
                "orthogonal",
                "he_normal",
                "lecun_uniform",
                "zeros",
                "ones",
                "RandomNormal",
            )
        ]
    )


def keras_initializers_configuration():
    k = tf.keras.initializers
    return [
        each.get_config()
        for each in (
            k.RandomNormal(),
            k.RandomUniform(),
            k.TruncatedNormal(),
            k.Orthogonal(),
            k.Constant(2),
            k.VarianceScaling(),
            tf.initializers.variance_scaling(),
            tf.glorot_uniform_initializer(),
        )
    ]


def contrib_initializers():
    layers = tf.contrib.layers
    return _first(
        layers.xavier_initializer(),
        layers.xavier_initializer(uniform=False),
        layers.variance_scaling_initializer(),
        layers.xavier_initializer_conv2d(),
        layers.variance_scaling_initializer(1.0, "FAN_AVG", True),
    )


def seeds_of_two_graphs():
    found = []
    for seed in (1, 2):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(seed)
            found.append(session.run([tf.random_normal([2]), tf.random_uniform([2], seed=5)]))
    return found


def no_seed_of_the_graph():
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run([tf.random_normal([2], seed=3), tf.random_uniform([2], seed=0)])


def seed_by_operation():
    with tf.Graph().as_default():
        tf.set_random_seed(0)
        return [
            tf.get_seed(None),
            tf.get_seed(0),
            tf.get_seed(5),
            tf.constant(1) is None,
            tf.get_seed(None),
        ]
