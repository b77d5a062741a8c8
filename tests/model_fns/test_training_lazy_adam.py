"""The optimizer lazy_adam: Adam on the rows of a table that a batch uses."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from model_fns.training import optimizers

_BATCHES = ([0, 2, 2], [2, 4, 4], [0, 0, 4])
_PARAMS = {"adam_beta1": 0.8, "adam_beta2": 0.9, "epsilon": 1e-3}
_RATE = 0.1


def _initial(shape, dtype=None, partition_info=None):
    """Returns 0.0, 0.1, ... or a part of them."""
    whole = np.arange(12).reshape(6, 2) / 10
    first = partition_info.var_offset[0] if partition_info else 0
    return tf.constant(whole[first:first + shape[0]], tf.float32)


def _trained(name, batches, partitions=None):
    """Returns the table, and a vector of a dense gradient, after a step for each batch of ids."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        table = tf.compat.v1.get_variable(
            "table", [6, 2], use_resource=True, partitioner=partitions,
            initializer=_initial)
        dense = tf.compat.v1.get_variable("dense", initializer=[1.0, 2.0], use_resource=True)
        ids = tf.compat.v1.placeholder(tf.int64, [None])
        rows = tf.nn.embedding_lookup(table, ids)
        loss = tf.reduce_sum(tf.square(rows)) / 2 + tf.reduce_sum(tf.square(dense)) / 2
        step = optimizers.by_name({**_PARAMS, "optimizer": name}, tf.constant(_RATE)).minimize(loss)
        session.run(tf.compat.v1.global_variables_initializer())
        for batch in batches:
            session.run(step, {ids: batch})
        return session.run([tf.convert_to_tensor(table), dense])


def _in_numpy(batches):
    table = np.arange(12).reshape(6, 2) / 10
    mean, square = np.zeros_like(table), np.zeros_like(table)
    beta1, beta2 = _PARAMS["adam_beta1"], _PARAMS["adam_beta2"]
    for step, batch in enumerate(batches, 1):
        rows, counts = np.unique(batch, return_counts=True)
        gradient = table[rows] * counts[:, np.newaxis]  # The same id twice has twice the gradient.
        mean[rows] = beta1 * mean[rows] + (1 - beta1) * gradient
        square[rows] = beta2 * square[rows] + (1 - beta2) * gradient**2
        rate = _RATE * (1 - beta2**step)**0.5 / (1 - beta1**step)
        table[rows] -= rate * mean[rows] / (square[rows]**0.5 + _PARAMS["epsilon"])
    return table


@pytest.mark.parametrize("partitions", [None, tf.compat.v1.fixed_size_partitioner(2)])
def test_only_the_rows_of_a_batch_change_and_as_with_adam(partitions):
    table, _ = _trained("lazy_adam", _BATCHES, partitions)
    np.testing.assert_allclose(table, _in_numpy(_BATCHES), rtol=1e-5)
    np.testing.assert_array_equal(table[[1, 3, 5]], np.float32([[.2, .3], [.6, .7], [1., 1.1]]))


def test_dense_gradients_and_full_batches_are_adams():
    for lazy, adam in zip(_trained("lazy_adam", [range(6)] * 3), _trained("adam", [range(6)] * 3)):
        np.testing.assert_allclose(lazy, adam, rtol=1e-6)
