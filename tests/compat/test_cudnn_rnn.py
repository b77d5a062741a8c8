"""`tf.contrib.cudnn_rnn` computes without a GPU what cuDNN does, and its checkpoints fit cells."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from estimator_trainer.compat.contrib.cudnn_rnn import (compatible, formats,  # Before TensorFlow.
                                                        layers)
from estimator_trainer.compat.contrib.rnn import stacked

# isort: split
import tensorflow as tf

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore:`tf.nn.rnn_cell")]

V1 = tf.compat.v1
X = np.random.RandomState(3).randn(4, 2, 3).astype("float32")
LENGTHS = [4, 2]
KINDS = {
    "CudnnLSTM": compatible.CudnnCompatibleLSTMCell,
    "CudnnGRU": compatible.CudnnCompatibleGRUCell,
    "CudnnRNNTanh": V1.nn.rnn_cell.BasicRNNCell,
    "CudnnRNNRelu": lambda units: V1.nn.rnn_cell.BasicRNNCell(units, activation=tf.nn.relu),
}


def _saved(path, kind, **options):
    """Returns what a layer computes, whose checkpoint is written."""
    with tf.Graph().as_default(), V1.Session() as session:
        layer = getattr(layers, kind)(2, 5, bias_initializer=V1.random_uniform_initializer(),
                                      **options)
        found = layer(X, sequence_lengths=LENGTHS, training=False)
        session.run(V1.global_variables_initializer())
        V1.train.Saver().save(session, path)
        assert layer.saveable in V1.get_collection(V1.GraphKeys.SAVEABLE_OBJECTS)
        return layer, session.run(found)


@pytest.mark.parametrize("kind", KINDS)
def test_cells_compute_what_a_layer_did_whose_checkpoint_they_restore(kind, tmp_path):
    path = str(tmp_path / "model")
    _, (outputs, states) = _saved(path, kind)
    with tf.Graph().as_default(), V1.Session() as session:
        cell = V1.nn.rnn_cell.MultiRNNCell([KINDS[kind](5) for _ in range(2)])
        with V1.variable_scope(_scope(kind)):
            found = V1.nn.dynamic_rnn(cell, tf.constant(X), LENGTHS, dtype=tf.float32,
                                      time_major=True)
        V1.train.Saver().restore(session, path)
        expected, last = session.run(found)
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-6)
    h = [each.h if kind == "CudnnLSTM" else each for each in last]
    np.testing.assert_allclose(states[0], h, rtol=1e-4, atol=1e-6)


def _scope(kind):
    return {"CudnnLSTM": "cudnn_lstm", "CudnnGRU": "cudnn_gru", "CudnnRNNTanh": "cudnn_rnn_tanh",
            "CudnnRNNRelu": "cudnn_rnn_relu"}[kind]


@pytest.mark.parametrize("kind", ["CudnnLSTM", "CudnnGRU"])
def test_both_directions_are_those_of_bidirectional_cells(kind, tmp_path):
    path = str(tmp_path / "model")
    layer, (outputs, _) = _saved(path, kind, direction="bidirectional")
    assert layer.num_dirs == 2 and outputs.shape == (4, 2, 10)
    with tf.Graph().as_default(), V1.Session() as session:
        forward, backward = ([KINDS[kind](5) for _ in range(2)] for _ in range(2))
        with V1.variable_scope(_scope(kind)):
            found = stacked.stack_bidirectional_dynamic_rnn(
                forward, backward, tf.constant(X), dtype=tf.float32, sequence_length=LENGTHS,
                time_major=True)[0]
        V1.train.Saver().restore(session, path)
        np.testing.assert_allclose(outputs, session.run(found), rtol=1e-4, atol=1e-6)


def test_a_layer_restores_its_own_checkpoint_and_trains(tmp_path):
    path = str(tmp_path / "model")
    _, (outputs, _) = _saved(path, "CudnnGRU", dropout=0.5, seed=3)
    with tf.Graph().as_default(), V1.Session() as session:
        layer = layers.CudnnGRU(2, 5, dropout=0.5)
        again, _ = layer(X, sequence_lengths=LENGTHS, training=False)
        by_batch, _ = layer(tf.transpose(X, [1, 0, 2]), (tf.zeros([2, 2, 5]),), LENGTHS,
                            time_major=False, training=False)
        dropped, _ = layer(X)
        loss = tf.reduce_mean(tf.square(dropped - 0.5))
        train = V1.train.GradientDescentOptimizer(0.5).minimize(loss)
        V1.train.Saver().restore(session, path)
        np.testing.assert_allclose(outputs, session.run(again), rtol=1e-5)
        np.testing.assert_allclose(outputs, session.run(by_batch).swapaxes(0, 1), rtol=1e-5)
        losses = [session.run([loss, train])[0] for _ in range(10)]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "Tanh", "Relu"])
def test_the_two_forms_of_weights_turn_into_one_another(kind):
    proj = 2 if kind == "LSTM" else None
    converter = getattr(formats, f"CudnnParamsFormatConverter{kind}")(
        2, 3, 4, num_proj=proj, direction="bidirectional")
    size = converter._layout.size
    with tf.Graph().as_default(), V1.Session() as session:
        kernels, biases, *proj = converter.opaque_to_tf_canonical(
            tf.random.normal([size], seed=2))
        buffer = converter.tf_canonical_to_opaque(kernels + biases, *proj)
        again = converter.opaque_to_tf_canonical(buffer)
        first, second = session.run([[kernels, biases, *proj], again])
        assert buffer.shape == [size]
    for one, two in zip(itertools.chain(*first), itertools.chain(*second)):
        np.testing.assert_allclose(one, two, rtol=1e-5)


def test_a_mode_that_leaves_out_a_matrix_is_refused():
    with tf.Graph().as_default(), pytest.raises(NotImplementedError, match="use input_mode="):
        layers.CudnnLSTM(1, 3, input_mode="auto_select")(X)
