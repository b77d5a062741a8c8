"""tf.layers under the graph's seed."""

import numpy as np
import tensorflow as tf

SOAK = ("batch_normalization", "batch_normalization_by_a_placeholder",
        "batch_normalization_of_axis", "batch_normalization_of_images",
        "batch_normalization_renorm", "batch_normalization_updates", "conv1d",
        "conv1d_channels_first_shape", "conv2d_of_a_dynamic_batch",
        "conv2d_transpose_of_a_dynamic_batch", "conv3d", "conv3d_transpose",
        "convolutional_network", "dense", "dense_activity_regularized", "dense_class",
        "dense_in_scopes", "dense_names", "dense_of_a_dynamic_batch", "dense_of_unknown_depth",
        "dense_regularized", "dense_reused", "network_of_batch_norm", "pooling",
        "separable_conv1d", "separable_conv2d", "virtual_batch")

DIFFERENT = {
    "virtual_batch": "other operations, so later random ops get other seeds",
}


def _x(*shape):
    return tf.constant(np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape).astype("float32"))


def _and_later(*values):
    return list(values) + [tf.random_normal([2])]


def dense():
    return _and_later(
        tf.layers.dense(_x(2, 3), 4),
        tf.layers.dense(_x(2, 3), 2, tf.nn.relu),
        tf.layers.dense(_x(2, 3), 2, use_bias=False, name="mine"),
    )


def dense_of_three_dimensions():
    return _and_later(tf.layers.dense(_x(2, 3, 4), 5), tf.layers.dense(_x(2, 2, 2, 3), 2, tf.tanh))


def dense_of_a_dynamic_batch():
    x = tf.placeholder_with_default(_x(4, 3), [None, 3])
    return _and_later(tf.layers.dense(x, 2), tf.layers.dense(tf.layers.dense(x, 4), 1))


def dense_regularized():
    y = tf.layers.dense(
        _x(2, 3),
        4,
        kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1),
        bias_initializer=tf.random_normal_initializer(),
    )
    return _and_later(y, tf.losses.get_regularization_loss())


def dense_activity_regularized():
    y = tf.layers.dense(
        _x(2, 3),
        4,
        activity_regularizer=tf.contrib.layers.l1_regularizer(0.1),
        kernel_constraint=lambda k: tf.clip_by_norm(k, 1.0),
    )
    return _and_later(y, tf.losses.get_regularization_losses())


def dense_reused():
    a = tf.layers.dense(_x(2, 3), 4, name="d")
    b = tf.layers.dense(_x(3, 3), 4, name="d", reuse=True)
    return _and_later(a, b)


def dense_in_scopes():
    with tf.variable_scope("outer"):
        a = tf.layers.dense(_x(2, 3), 4)
        with tf.variable_scope("inner", reuse=tf.AUTO_REUSE):
            b, c = tf.layers.dense(a, 4, name="d"), tf.layers.dense(a, 4, name="d")
    return _and_later(a, b, c, [each.name for each in (a, b, c)])


def dense_names():
    x = _x(2, 3)
    return [
        tf.layers.dense(x, 2).name,
        tf.layers.dense(x, 2, tf.nn.relu, name="fc").name,
        tf.layers.dense(x, 2, use_bias=False).name,
        tf.layers.flatten(x).name,
        tf.layers.conv1d(_x(1, 4, 2), 2, 2).name,
        tf.layers.conv2d(_x(1, 4, 4, 2), 2, 2).name,
        tf.layers.batch_normalization(x).name,
        tf.layers.batch_normalization(x, training=True).name,
        tf.layers.max_pooling2d(_x(1, 4, 4, 2), 2, 2).name,
        tf.layers.average_pooling1d(_x(1, 4, 2), 2, 2).name,
        tf.layers.conv2d_transpose(_x(1, 4, 4, 2), 2, 2).name,
        tf.layers.separable_conv2d(_x(1, 4, 4, 2), 2, 2).name,
    ]


def dense_class():
    layer = tf.layers.Dense(3, name="mine")
    y, z = layer(_x(2, 4)), layer(_x(3, 4))
    return _and_later(y, z, layer.kernel, [v.name for v in layer.trainable_weights], layer.name)


def dense_of_unknown_depth():
    return tf.layers.dense(tf.placeholder(tf.float32, [2, None]), 3)


def conv1d():
    x = _x(2, 6, 3)
    return _and_later(
        tf.layers.conv1d(x, 4, 3),
        tf.layers.conv1d(x, 2, 2, padding="same"),
        tf.layers.conv1d(x, 2, 3, dilation_rate=2, activation=tf.nn.relu),
        tf.layers.conv1d(x, 2, 3, strides=2, use_bias=False),
    )


def conv1d_channels_first_shape():
    return tf.layers.conv1d(_x(2, 3, 6), 4, 3, data_format="channels_first").shape


def conv2d():
    x = _x(2, 6, 6, 3)
    return _and_later(
        tf.layers.conv2d(x, 4, 3),
        tf.layers.conv2d(x, 2, (2, 3), padding="same"),
        tf.layers.conv2d(x, 2, 3, dilation_rate=2, activation=tf.nn.relu),
        tf.layers.conv2d(x, 2, 3, strides=2, use_bias=False, name="c"),
    )


def conv2d_of_a_dynamic_batch():
    x = tf.placeholder_with_default(_x(2, 6, 6, 3), [None, 6, 6, 3])
    return _and_later(tf.layers.conv2d(x, 4, 3), tf.layers.conv2d(x, 4, 3, dilation_rate=2))


def conv3d():
    x = _x(1, 4, 4, 4, 2)
    return _and_later(tf.layers.conv3d(x, 3, 2), tf.layers.conv3d(x, 2, 2, padding="same"))


def conv2d_transpose():
    x = _x(2, 3, 3, 2)
    return _and_later(
        tf.layers.conv2d_transpose(x, 4, 3),
        tf.layers.conv2d_transpose(x, 2, 2, strides=2, padding="same"),
        tf.layers.conv2d_transpose(x, 2, 2, use_bias=False),
    )


def conv2d_transpose_of_a_dynamic_batch():
    x = tf.placeholder_with_default(_x(2, 3, 3, 2), [None, 3, 3, 2])
    y = tf.layers.conv2d_transpose(x, 4, 3, 2)
    return _and_later(y, y.shape)


def conv3d_transpose():
    return _and_later(tf.layers.conv3d_transpose(_x(1, 2, 2, 2, 2), 3, 2, 2))


def separable_conv1d():
    x = _x(2, 6, 3)
    return _and_later(
        tf.layers.separable_conv1d(x, 4, 3),
        tf.layers.separable_conv1d(x, 2, 3, padding="same", depth_multiplier=2),
    )


def separable_conv2d():
    x = _x(2, 6, 6, 3)
    return _and_later(
        tf.layers.separable_conv2d(x, 4, 3),
        tf.layers.separable_conv2d(x, 2, 3, padding="same", depth_multiplier=2, use_bias=False),
    )


def batch_normalization():
    x = _x(4, 3)
    return _and_later(
        tf.layers.batch_normalization(x),
        tf.layers.batch_normalization(x, training=True),
        tf.layers.batch_normalization(x, scale=False, center=False),
    )


def batch_normalization_of_images():
    x = _x(2, 3, 3, 2)
    return _and_later(
        tf.layers.batch_normalization(x),
        tf.layers.batch_normalization(x, training=True),
        tf.layers.batch_normalization(x, training=True, fused=False),
    )


def batch_normalization_by_a_placeholder():
    flag = tf.placeholder_with_default(True, [])
    x = _x(2, 3, 3, 2)
    y = tf.layers.batch_normalization(x, training=flag)
    z = tf.layers.batch_normalization(_x(4, 3), training=flag)
    return _and_later(y, z, len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)))


def batch_normalization_updates():
    x = _x(4, 3)
    y = tf.layers.batch_normalization(x, training=True, momentum=0.5)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        done = tf.identity(y)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(done)
        return [session.run(v) for v in tf.global_variables()] + [
            op.name for op in tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        ]


def batch_normalization_renorm():
    y = tf.layers.batch_normalization(_x(4, 3), training=True, renorm=True)
    return _and_later(y)


def batch_normalization_of_axis():
    return _and_later(
        tf.layers.batch_normalization(_x(2, 3, 4), axis=1, training=True),
        tf.layers.batch_normalization(_x(2, 3, 4, 2), axis=[1, 2], training=True),
    )


def virtual_batch():
    return _and_later(tf.layers.batch_normalization(_x(4, 3), training=True, virtual_batch_size=2))


def pooling():
    x, y, z = _x(1, 6, 2), _x(1, 6, 6, 2), _x(1, 4, 4, 4, 1)
    return _and_later(
        tf.layers.max_pooling1d(x, 2, 2),
        tf.layers.average_pooling1d(x, 2, 2, "same"),
        tf.layers.max_pooling2d(y, 2, 2),
        tf.layers.average_pooling2d(y, (2, 3), 1),
        tf.layers.max_pooling3d(z, 2, 2),
        tf.layers.average_pooling3d(z, 2, 2),
    )


def flatten():
    x = tf.placeholder_with_default(_x(2, 3, 2), [None, 3, 2])
    y = tf.placeholder_with_default(_x(2, 3, 2), [None, None, 2])
    return _and_later(
        tf.layers.flatten(x),
        tf.layers.flatten(_x(2, 2, 3)),
        tf.layers.flatten(y),
        tf.layers.flatten(x).shape,
        tf.layers.Flatten()(_x(2, 2)),
    )


def convolutional_network():
    x = tf.placeholder_with_default(_x(4, 8, 8, 1), [None, 8, 8, 1])
    h = tf.layers.max_pooling2d(
        tf.layers.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu), 2, 2
    )
    h = tf.layers.max_pooling2d(
        tf.layers.conv2d(h, 8, 3, padding="same", activation=tf.nn.relu), 2, 2
    )
    h = tf.layers.dropout(tf.layers.dense(tf.layers.flatten(h), 16, tf.nn.relu), 0.4, training=True)
    logits = tf.layers.dense(h, 3)
    loss = tf.losses.sparse_softmax_cross_entropy([0, 1, 2, 0], logits)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run([loss, train])[0] for _ in range(3)] + [session.run(logits)]


def network_of_batch_norm():
    x = _x(4, 6)
    h = tf.layers.batch_normalization(tf.layers.dense(x, 5, use_bias=False), training=True)
    h = tf.layers.dropout(tf.nn.relu(h), 0.3, training=True)
    h = tf.layers.batch_normalization(tf.layers.dense(h, 4), training=True)
    y = tf.layers.dense(h, 1, kernel_initializer=tf.random_normal_initializer(stddev=0.1))
    loss = tf.reduce_mean(tf.square(y - 1.0))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run([loss, train])[0] for _ in range(4)] + session.run(
            tf.global_variables()
        )
