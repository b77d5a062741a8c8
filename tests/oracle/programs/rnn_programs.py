"""RNNs as published programs use them."""

import os
import tempfile

import numpy as np
from rnn import _x
import tensorflow as tf

SOAK = (
    "char_rnn_keeps_its_state", "classifier_of_text_in_an_estimator", "keras_layer_runs_a_cell",
    "language_model_with_block_cells", "tagger_with_fused_cells", "weights_restored_by_name")


def _trained(loss, steps=3, rate=0.5):
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.GradientDescentOptimizer(rate)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    train = optimizer.apply_gradients(zip(gradients, variables), step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run([loss, norm, train])[:2] for _ in range(steps)]


def language_model_with_block_cells():
    words = tf.constant([[1, 2, 3, 0], [2, 2, 1, 4]])
    with tf.variable_scope("Model", initializer=tf.random_uniform_initializer(-0.1, 0.1)):
        embedding = tf.get_variable("embedding", [5, 4])
        inputs = tf.nn.embedding_lookup(embedding, words)
        cell = tf.contrib.rnn.MultiRNNCell([
            tf.contrib.rnn.LSTMBlockCell(4, forget_bias=0.0) for _ in range(2)])
        state = cell.zero_state(2, tf.float32)
        outputs = []
        with tf.variable_scope("RNN"):
            for step in range(4):
                if step > 0:
                    tf.get_variable_scope().reuse_variables()
                output, state = cell(inputs[:, step, :], state)
                outputs.append(output)
        output = tf.reshape(tf.concat(outputs, 1), [-1, 4])
        w = tf.get_variable("softmax_w", [4, 5])
        b = tf.get_variable("softmax_b", [5])
        logits = tf.reshape(tf.nn.xw_plus_b(output, w, b), [2, 4, 5])
    loss = tf.contrib.seq2seq.sequence_loss(
        logits, words, tf.ones([2, 4]), average_across_timesteps=False)
    return _trained(tf.reduce_sum(loss))


def tagger_with_fused_cells():
    lengths = tf.constant([3, 2])
    inputs = tf.transpose(_x(2, 3, 4), [1, 0, 2])
    forward = tf.contrib.rnn.LSTMBlockFusedCell(5)
    backward = tf.contrib.rnn.TimeReversedFusedRNN(tf.contrib.rnn.LSTMBlockFusedCell(5))
    first, _ = forward(inputs, dtype=tf.float32, sequence_length=lengths)
    second, _ = backward(inputs, dtype=tf.float32, sequence_length=lengths)
    output = tf.transpose(tf.concat([first, second], axis=-1), [1, 0, 2])
    logits = tf.layers.dense(output, 3)
    tags = tf.constant([[0, 1, 2], [1, 1, 0]])
    transitions = tf.get_variable("transitions", [3, 3])
    likelihood, _ = tf.contrib.crf.crf_log_likelihood(logits, tags, lengths, transitions)
    return _trained(tf.reduce_mean(-likelihood))


def char_rnn_keeps_its_state():
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(4) for _ in range(2)])
    initial = cell.zero_state(2, tf.float32)
    outputs, last = tf.nn.dynamic_rnn(cell, _x(2, 3, 4), initial_state=initial)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        state, found = session.run(initial), []
        for _ in range(3):
            fed = {}
            for (c, h), value in zip(initial, state):
                fed[c], fed[h] = value.c, value.h
            output, state = session.run([outputs, last], fed)
            found.append(output)
    return found


def weights_restored_by_name():
    path = os.path.join(tempfile.mkdtemp(), "model")
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(3), _x(2, 3, 4), dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected = session.run(outputs)
        tf.train.Saver().save(session, path)
    tf.reset_default_graph()
    outputs, _ = tf.nn.dynamic_rnn(tf.contrib.rnn.LSTMBlockCell(3), _x(2, 3, 4), dtype=tf.float32)
    with tf.Session() as session:
        tf.train.Saver().restore(session, path)
        same = np.allclose(session.run(outputs), expected, atol=1e-6)
    return [expected, bool(same), sorted(name for name, _ in tf.train.list_variables(path))]


def classifier_of_text_in_an_estimator():
    def model_fn(features, labels, mode):
        inputs = tf.contrib.layers.embed_sequence(features["x"], 6, 3)
        cell = tf.contrib.rnn.GRUCell(4)
        _, state = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32)
        logits = tf.layers.dense(state, 2)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        train = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    def input_fn():
        x = np.arange(24).reshape([8, 3]) % 6
        data = tf.data.Dataset.from_tensor_slices(({"x": x}, x[:, 0] % 2))
        return data.repeat().batch(4)

    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp(), tf.estimator.RunConfig(
        tf_random_seed=3))
    estimator.train(input_fn, steps=3)
    return [estimator.evaluate(input_fn, steps=1)["loss"], sorted(estimator.get_variable_names())]


def keras_layer_runs_a_cell():
    layer = tf.keras.layers.RNN(tf.nn.rnn_cell.GRUCell(3))
    outputs = layer(_x(2, 3, 4))
    return [outputs.shape, [each.name for each in layer.weights]]


def cell_under_a_partitioner():
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        cell = tf.nn.rnn_cell.LSTMCell(3)
        first, _ = cell(_x(2, 3), cell.zero_state(2, tf.float32))
        block = tf.contrib.rnn.UGRNNCell(3)
        second, _ = block(_x(2, 3), block.zero_state(2, tf.float32))
    return [first, second, {each.name: each for each in tf.global_variables()}]


def cell_with_a_getter():
    def getter(get, name, *args, **kwargs):
        return 2. * get(name, *args, **kwargs)

    with tf.variable_scope("g", custom_getter=getter):
        cell = tf.contrib.rnn.LayerNormBasicLSTMCell(3)
        first, _ = cell(_x(2, 3), cell.zero_state(2, tf.float32))
        other = tf.nn.rnn_cell.GRUCell(3)
        second, _ = other(_x(2, 3), other.zero_state(2, tf.float32))
    return [first, second]


def cells_of_doubles():
    found = []
    for cell in (tf.contrib.rnn.NASCell(3), tf.contrib.rnn.IndyLSTMCell(3),
                 tf.contrib.rnn.SRUCell(3), tf.contrib.rnn.GLSTMCell(4, number_of_groups=2),
                 tf.contrib.rnn.CoupledInputForgetGateLSTMCell(3)):
        found.append(cell(tf.cast(_x(2, 4), tf.float64), cell.zero_state(2, tf.float64))[0])
    return found


def cells_of_halves():
    found = []
    for cell in (tf.contrib.rnn.LSTMBlockCell(3), tf.nn.rnn_cell.GRUCell(3),
                 tf.contrib.rnn.LayerNormBasicLSTMCell(3)):
        output, _ = cell(tf.cast(_x(2, 4), tf.float16), cell.zero_state(2, tf.float16))
        found.append([output.dtype, [each.dtype for each in tf.trainable_variables()]])
    return found


def cell_in_a_template():
    def network(x):
        cell = tf.contrib.rnn.LSTMBlockCell(3)
        return cell(x, cell.zero_state(2, tf.float32))[0]

    template = tf.make_template("net", network)
    return [template(_x(2, 4)), template(_x(2, 4) + 1)]


def cell_in_a_scan():
    cell = tf.nn.rnn_cell.GRUCell(3)
    return tf.scan(lambda state, x: cell(x, state)[1], _x(3, 2, 4), initializer=_x(2, 3))


class _Zoned(tf.nn.rnn_cell.LSTMCell):
    """A subclass that changes what a step returns."""

    def call(self, inputs, state):
        output, (c, h) = super(_Zoned, self).call(inputs, state)
        return output, tf.nn.rnn_cell.LSTMStateTuple(0.5 * c + 0.5 * state.c, h)


def subclass_of_a_cell():
    cell = tf.nn.rnn_cell.MultiRNNCell([_Zoned(3), tf.nn.rnn_cell.ResidualWrapper(_Zoned(3))])
    found = tf.nn.dynamic_rnn(cell, _x(2, 3, 4), dtype=tf.float32)
    return [found, {each.name: each for each in tf.global_variables()}]


class _Normalized(tf.contrib.rnn.LayerNormBasicLSTMCell):
    def call(self, inputs, state):
        output, state = super(_Normalized, self).call(inputs, state)
        return 2. * output, state


def subclass_of_a_contrib_cell():
    cell = _Normalized(3)
    return [cell(_x(2, 4), cell.zero_state(2, tf.float32)), tf.global_variables()]


def regularized_weights():
    with tf.variable_scope("r", regularizer=tf.contrib.layers.l2_regularizer(0.1)):
        tf.nn.dynamic_rnn(tf.contrib.rnn.AttentionCellWrapper(tf.nn.rnn_cell.GRUCell(3), 2),
                          _x(2, 3, 4), dtype=tf.float32)
    losses = tf.losses.get_regularization_losses()
    return [losses, [each.name for each in losses], isinstance(losses[0], tf.Tensor)]
