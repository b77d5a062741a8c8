"""tf.layers under the graph's seed, and tf.keras.layers in a graph."""

import numpy as np
import tensorflow as tf

DIFFERENT = {
    "keras_others": "other operations, so later random ops get other seeds",
    "keras_recurrent": "the cell's name is part of a variable's name",
    "keras_recurrent_with_dropout": "the cell is named in variables; dropout has other seeds",
    "virtual_batch": "other operations, so later random ops get other seeds",
    "keras_dropouts": "noise layers take their seeds from the graph, not from NumPy",
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


def keras_dense():
    k = tf.keras.layers
    return _and_later(
        k.Dense(4)(_x(2, 3)),
        k.Dense(2, activation="relu")(_x(2, 3)),
        k.Dense(3, use_bias=False, kernel_initializer="he_normal")(_x(2, 3)),
        k.Dense(2)(_x(2, 3, 4)),
    )


def keras_convolutions():
    k = tf.keras.layers
    return _and_later(
        k.Conv1D(2, 2)(_x(1, 4, 2)),
        k.Conv2D(3, 2)(_x(1, 4, 4, 2)),
        k.Conv3D(2, 2)(_x(1, 3, 3, 3, 1)),
        k.Conv2DTranspose(2, 2)(_x(1, 3, 3, 2)),
        k.SeparableConv2D(2, 2)(_x(1, 4, 4, 2)),
        k.DepthwiseConv2D(2)(_x(1, 4, 4, 2)),
    )


def keras_dropouts():
    k, x = tf.keras.layers, _x(2, 4, 3)
    return _and_later(
        k.Dropout(0.5)(x, training=True),
        k.Dropout(0.5)(x),
        k.SpatialDropout1D(0.5)(x, training=True),
        k.GaussianNoise(0.5)(x, training=True),
        k.GaussianDropout(0.5)(x, training=True),
        k.AlphaDropout(0.5)(x, training=True),
    )


def keras_embedding():
    k = tf.keras.layers
    return _and_later(
        k.Embedding(5, 3)(tf.constant([[1, 2]])),
        k.Embedding(5, 3, embeddings_initializer="normal", mask_zero=True)(tf.constant([[1, 2]])),
    )


def keras_normalization():
    k = tf.keras.layers
    return _and_later(
        k.BatchNormalization()(_x(4, 3)),
        k.BatchNormalization()(_x(4, 3), training=True),
        k.LayerNormalization()(_x(2, 3)),
        k.BatchNormalization()(_x(2, 3, 3, 2), training=True),
    )


def keras_recurrent():
    k, x = tf.keras.layers, _x(2, 4, 3)
    return _and_later(
        k.LSTM(3)(x),
        k.GRU(3)(x),
        k.SimpleRNN(2, return_sequences=True)(x),
        k.Bidirectional(k.LSTM(2))(x),
    )


def keras_recurrent_with_dropout():
    k, x = tf.keras.layers, _x(2, 4, 3)
    return _and_later(
        k.LSTM(3, dropout=0.5)(x, training=True), k.GRU(3, recurrent_dropout=0.5)(x, training=True)
    )


def keras_others():
    k, x = tf.keras.layers, _x(2, 4, 3)
    return _and_later(
        k.PReLU()(x),
        k.LeakyReLU()(x),
        k.ELU()(x),
        k.ThresholdedReLU()(x),
        k.Softmax()(x),
        k.GlobalAveragePooling1D()(x),
        k.MaxPooling1D()(x),
        k.Flatten()(x),
        k.Permute((2, 1))(x),
        k.RepeatVector(2)(_x(2, 2)),
        k.Concatenate()([x, x]),
        k.Dot(1)([x, x]),
        k.Reshape((3, 4))(x),
        k.UpSampling1D()(x),
        k.ZeroPadding1D()(x),
        k.Cropping1D()(x),
        k.Attention()([x, x]),
        k.TimeDistributed(k.Dense(2))(x),
        k.LocallyConnected1D(2, 2)(x),
    )


def contrib_fully_connected():
    c, x = tf.contrib.layers, _x(2, 3)
    return _and_later(
        c.fully_connected(x, 4),
        c.fully_connected(x, 2, None, scope="mine"),
        c.fully_connected(x, 2, normalizer_fn=c.batch_norm),
        c.linear(x, 2),
        c.fully_connected(_x(2, 3, 4), 2),
    )


def contrib_convolutions():
    c, x = tf.contrib.layers, _x(2, 4, 4, 2)
    return _and_later(
        c.conv2d(x, 3, 2),
        c.conv2d(x, 2, [2, 2], 2, "VALID"),
        c.max_pool2d(x, 2),
        c.avg_pool2d(x, 2),
        c.separable_conv2d(x, 2, 2, 1),
        c.conv2d_transpose(x, 2, 2),
        c.conv2d(x, 2, 3, rate=2),
        c.conv2d(x, 2, 3, normalizer_fn=c.batch_norm),
        c.conv2d_in_plane(x, 2),
        c.separable_conv2d(x, None, 2, 1),
    )


def contrib_normalizations():
    c, x = tf.contrib.layers, _x(2, 3, 3, 2)
    return _and_later(
        c.batch_norm(x),
        c.batch_norm(x, is_training=False, scale=True),
        c.layer_norm(x),
        c.instance_norm(x),
        c.group_norm(x, 2),
        c.batch_norm(_x(4, 3)),
        c.batch_norm(_x(4, 3), fused=False),
    )


def contrib_dropout():
    c, x = tf.contrib.layers, _x(2, 4)
    return _and_later(c.dropout(x), c.dropout(x, 0.8, is_training=False), c.dropout(x, 0.3))


def contrib_others():
    c, x = tf.contrib.layers, _x(2, 3, 2)
    ids = tf.constant([[1, 2], [0, 3]])
    return _and_later(
        c.flatten(x),
        c.one_hot_encoding([1, 2], 3),
        c.embed_sequence(ids, 5, 2),
        c.stack(_x(2, 3), c.fully_connected, [3, 2], scope="s"),
        c.unit_norm(x, 1),
        c.repeat(_x(2, 3), 2, c.fully_connected, 3, scope="r"),
        c.bias_add(_x(2, 3)),
        c.maxout(_x(2, 4), 2),
        c.softmax(_x(2, 3)),
        c.spatial_softmax(_x(1, 2, 2, 2)),
    )
