"""Cells that programs import from modules of tf.contrib.rnn, and a fused one of lists."""

from _ended import errors as _errors
import tensorflow as tf
from tensorflow.contrib.rnn.python.ops import rnn_cell

rnn = tf.contrib.rnn

SOAK = ("cfn_cell", "fused_cell_of_lists", "layer_norm_lstm_cell", "layer_norm_lstm_cell_start",
        "minimal_cell", "weight_norm_lstm_cell", "weight_norm_lstm_cell_start",
        "weight_norm_lstm_cell_without_norm")


def _x(*shape):
    size = 1
    for each in shape:
        size *= each
    return tf.reshape(tf.sin(tf.range(size, dtype=tf.float32)), shape)


def _trained(cell, size=4):
    """The last loss of three steps, after which weights are other than their start."""
    outputs, state = tf.nn.dynamic_rnn(cell, _x(2, 3, size), dtype=tf.float32)
    flat = tf.contrib.framework.nest.flatten(state)
    loss = tf.reduce_sum(tf.square(outputs)) + tf.add_n([tf.reduce_sum(each) for each in flat])
    train_op = tf.train.GradientDescentOptimizer(.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train_op)
        return session.run([loss, outputs, state])


def _start(cell, size=4):
    outputs, state = tf.nn.dynamic_rnn(cell, _x(2, 3, size), dtype=tf.float32)
    return [outputs, state, {each.op.name: each for each in tf.global_variables()}]


def layer_norm_lstm_cell():
    return _trained(rnn_cell.LayerNormLSTMCell(
        3, use_peepholes=True, cell_clip=.5, num_proj=2, proj_clip=.3, layer_norm=True,
        norm_gain=.9, norm_shift=.1, forget_bias=.5))


def layer_norm_lstm_cell_start():
    return _start(rnn_cell.LayerNormLSTMCell(3, layer_norm=True))


def layer_norm_lstm_cell_plain():
    cell = rnn_cell.LayerNormLSTMCell(3, initializer=tf.constant_initializer(.2),
                                      activation=tf.nn.relu)
    return [_start(cell), cell.state_size, cell.output_size]


def weight_norm_lstm_cell():
    return _trained(rnn_cell.WeightNormLSTMCell(3, use_peepholes=True, cell_clip=.5, num_proj=2,
                                                proj_clip=.3))


def weight_norm_lstm_cell_start():
    return _start(rnn_cell.WeightNormLSTMCell(3))


def weight_norm_lstm_cell_without_norm():
    return _start(rnn_cell.WeightNormLSTMCell(3, norm=False, forget_bias=.5,
                                              activation=tf.nn.relu))


def minimal_cell():
    cell = rnn_cell.MinimalRNNCell(3, bias_initializer="zeros")
    return [_trained(cell), cell.state_size]


def minimal_cell_start():
    return _start(rnn_cell.MinimalRNNCell(3))


def cfn_cell():
    return _trained(rnn_cell.CFNCell(3, activation="relu"))


def cfn_cell_start():
    return _start(rnn_cell.CFNCell(3, kernel_initializer="zeros"))


def fused_cell_of_lists():
    cell = rnn.LSTMBlockFusedCell(3, cell_clip=.4, use_peephole=True)
    inputs = tf.unstack(_x(3, 2, 4))
    outputs, state = cell(inputs, (_x(2, 3), _x(2, 3) * 2), sequence_length=[3, 1])
    return [[each.shape for each in outputs], tf.stack(outputs), state]


def mistakes():
    return _errors({
        "unknown": lambda: rnn_cell.LayerNormLSTMCell(3)(
            tf.placeholder(tf.float32), (_x(2, 3), _x(2, 3))),
        "minimal": lambda: rnn_cell.MinimalRNNCell(3)(tf.placeholder(tf.float32, [2, None]),
                                                      _x(2, 3)),
        "block": lambda: rnn.LSTMBlockCell(3)(tf.placeholder(tf.float32, [2, None]),
                                              (_x(2, 3), _x(2, 3))),
        "weight_norm": lambda: rnn_cell.WeightNormLSTMCell(3)(
            tf.placeholder(tf.float32, [2, None]), (_x(2, 3), _x(2, 3))),
    })
