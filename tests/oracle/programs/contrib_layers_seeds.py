"""tf.contrib.layers under the graph's seed."""

import numpy as np
import tensorflow as tf

SOAK = (
    "contrib_convolutions", "contrib_normalizations", "contrib_others",)

# tf_slim's layers are of another copy of Keras there, which makes an operation less at inference.
DIFFERENT_ON_2_15 = ("contrib_normalizations",)


def _x(*shape):
    return tf.constant(np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape).astype("float32"))


def _and_later(*values):
    return list(values) + [tf.random_normal([2])]


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
