"""Sizes of shapes that are floats, as `units / 2` is in Python 3."""

from _ended import error as _error
import numpy as np
import tensorflow as tf


def shapes():
    tensor = tf.placeholder(tf.float32)
    tensor.set_shape([2.0, None])
    return [tf.TensorShape([4 / 2, 3, None]), tf.TensorShape([np.float64(3.0)]),
            tf.placeholder(tf.float32, [None, 4 / 2]).shape, tensor.shape,
            tf.Dimension(6 / 3).value,
            _error(lambda: tf.Dimension(2.5)), _error(lambda: tf.Dimension(-1.0)),
            _error(lambda: tf.zeros([4 / 2])),
            _error(lambda: tf.reshape(tf.ones([4]), [-1, 4 / 2]))]


def layers():
    x = tf.ones([2, 4])
    return [tf.layers.dense(x, 10 / 2).shape,
            tf.layers.conv2d(tf.ones([1, 4, 4, 2]), 8 / 2, 3).shape,
            tf.get_variable("a", [4 / 2, 3]).shape,
            _error(lambda: tf.contrib.layers.fully_connected(x, 10 / 2)),
            tf.contrib.layers.conv2d(tf.ones([1, 4, 4, 2]), 8 / 2, 3).shape]


def cells():
    x = tf.ones([1, 2, 3])
    with tf.variable_scope("a", initializer=tf.constant_initializer(0.1)):
        lstm, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(4 / 2), x, dtype=tf.float32)
        gru, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4 / 2), x, dtype=tf.float32, scope="g")
    return [lstm, gru]


def unknown_sizes():
    x, y = (tf.placeholder(tf.float32, [None, 3]) for _ in range(2))
    z = tf.nn.relu(x)
    unknown = tf.TensorShape(None)
    return [x.shape == x.shape, x.shape == y.shape, x.shape != y.shape, x.shape == z.shape,
            x.shape == [None, 3], x.shape[1:] == y.shape[1:], tf.TensorShape([2]) == [2],
            tf.TensorShape([2]) != [3], unknown == tf.TensorShape(None), x.shape == unknown,
            tf.Dimension("3").value, _error(lambda: tf.Dimension("a"))]
