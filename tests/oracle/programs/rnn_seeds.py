"""tf.nn.rnn_cell, tf.nn.dynamic_rnn and its kin under the graph's seed."""

import numpy as np
import tensorflow as tf

SOAK = (
    "bidirectional_dynamic_rnn", "cell_variables_and_names", "dropout_wrapper",
    "dropout_wrapper_with_seed", "dynamic_rnn_of_a_state", "dynamic_rnn_of_lengths",
    "dynamic_rnn_of_two_layers", "embedding_and_rnn", "lstm_cell_options", "lstm_cells",
    "multi_cell", "raw_rnn", "residual_and_device_wrappers", "static_bidirectional_rnn",
    "static_rnn", "static_rnn_of_lengths", "variational_dropout",)


def _x(*shape):
    return tf.constant(np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape).astype("float32"))


def _of(*values):
    return list(values) + [tf.random_normal([2])]


def basic_cell():
    cell = tf.nn.rnn_cell.BasicRNNCell(3)
    return _of(cell(_x(2, 4), cell.zero_state(2, tf.float32)))


def lstm_cells():
    one, two = tf.nn.rnn_cell.BasicLSTMCell(3), tf.nn.rnn_cell.LSTMCell(3, name="mine")
    return _of(
        one(_x(2, 4), one.zero_state(2, tf.float32)), two(_x(2, 4), two.zero_state(2, tf.float32))
    )


def lstm_cell_options():
    cell = tf.nn.rnn_cell.LSTMCell(
        3, use_peepholes=True, cell_clip=0.5, num_proj=2, forget_bias=0.5
    )
    return _of(cell(_x(2, 4), cell.zero_state(2, tf.float32)))


def gru_cell():
    cell = tf.nn.rnn_cell.GRUCell(3)
    return _of(cell(_x(2, 4), cell.zero_state(2, tf.float32)))


def multi_cell():
    cells = [tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.BasicLSTMCell(2)]
    cell = tf.nn.rnn_cell.MultiRNNCell(cells)
    return _of(cell(_x(2, 4), cell.zero_state(2, tf.float32)))


def dropout_wrapper():
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), 0.7, 0.8, 0.9)
    return _of(cell(_x(2, 3), cell.zero_state(2, tf.float32)))


def dropout_wrapper_with_seed():
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(4), 0.7, 0.8, 0.9, seed=4)
    return _of(cell(_x(2, 3), cell.zero_state(2, tf.float32)))


def variational_dropout():
    cell = tf.nn.rnn_cell.DropoutWrapper(
        tf.nn.rnn_cell.GRUCell(4),
        0.7,
        0.8,
        0.9,
        variational_recurrent=True,
        input_size=3,
        dtype=tf.float32,
    )
    return _of(tf.nn.dynamic_rnn(cell, _x(2, 5, 3), dtype=tf.float32))


def residual_and_device_wrappers():
    cell = tf.nn.rnn_cell.ResidualWrapper(
        tf.nn.rnn_cell.DeviceWrapper(tf.nn.rnn_cell.GRUCell(3), "/cpu:0")
    )
    return _of(cell(_x(2, 3), cell.zero_state(2, tf.float32)))


def dynamic_rnn():
    return _of(tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(3), _x(2, 4, 3), dtype=tf.float32))


def dynamic_rnn_of_lengths():
    x = tf.placeholder_with_default(_x(2, 4, 3), [None, None, 3])
    return _of(tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), x, [2, 4], dtype=tf.float32))


def dynamic_rnn_of_two_layers():
    def cell():
        return tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(3), output_keep_prob=0.5)

    cells = tf.nn.rnn_cell.MultiRNNCell([cell(), cell()])
    outputs, state = tf.nn.dynamic_rnn(cells, _x(2, 1, 3), dtype=tf.float32)
    return _of(outputs, state, tf.layers.dense(outputs[:, -1], 2))


def dynamic_rnn_of_a_state():
    cell = tf.nn.rnn_cell.GRUCell(3)
    return _of(
        tf.nn.dynamic_rnn(cell, _x(4, 2, 3), initial_state=tf.ones([2, 3]), time_major=True),
        tf.layers.dense(_x(2, 2), 2),
    )


def bidirectional_dynamic_rnn():
    outputs, states = tf.nn.bidirectional_dynamic_rnn(
        tf.nn.rnn_cell.LSTMCell(3),
        tf.nn.rnn_cell.LSTMCell(3),
        _x(2, 4, 3),
        [2, 4],
        dtype=tf.float32,
    )
    return _of(outputs, states, tf.layers.dense(tf.concat(outputs, 2), 2))


def static_rnn():
    x = tf.unstack(_x(2, 3, 4), axis=1)
    return _of(
        tf.nn.static_rnn(tf.nn.rnn_cell.BasicLSTMCell(3), x, dtype=tf.float32),
        tf.layers.dense(x[0], 2),
    )


def static_rnn_of_lengths():
    x = tf.unstack(_x(2, 3, 4), axis=1)
    return _of(
        tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(3), x, dtype=tf.float32, sequence_length=[1, 3])
    )


def static_bidirectional_rnn():
    x = tf.unstack(_x(2, 3, 4), axis=1)
    return _of(
        tf.nn.static_bidirectional_rnn(
            tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.GRUCell(2), x, dtype=tf.float32
        )
    )


def raw_rnn():
    x = tf.TensorArray(tf.float32, 3).unstack(_x(3, 2, 4))
    cell = tf.nn.rnn_cell.BasicRNNCell(3)

    def loop(time, output, state, _):
        state = cell.zero_state(2, tf.float32) if output is None else state
        done = tf.fill([2], tf.greater_equal(time, 3))
        following = tf.cond(tf.reduce_all(done), lambda: tf.zeros([2, 4]), lambda: x.read(time))
        return done, following, state, output, None

    outputs, state, _ = tf.nn.raw_rnn(cell, loop)
    return _of(outputs.stack(), state)


def embedding_and_rnn():
    words = tf.placeholder_with_default([[1, 2, 3], [4, 0, 0]], [None, 3])
    table = tf.get_variable("embeddings", [6, 4])
    x = tf.nn.embedding_lookup(table, words)
    x = tf.nn.dropout(x, 0.9)
    _, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x, [3, 1], dtype=tf.float32)
    logits = tf.layers.dense(tf.nn.dropout(state, 0.8), 2)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=logits)
    )
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run([loss, train])[0] for _ in range(3)]


def cell_variables_and_names():
    cell = tf.nn.rnn_cell.LSTMCell(2)
    outputs, state = tf.nn.dynamic_rnn(cell, _x(1, 2, 3), dtype=tf.float32)
    return [
        outputs.name,
        state.c.name,
        state.h.name,
        [v.name for v in cell.trainable_weights],
        cell.output_size,
        cell.state_size.c,
    ]
