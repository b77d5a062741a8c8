"""Fused lookups give hooks the rows that single ones give, and refuse rows outside of a batch."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.embedding import fused_lookups

_STEPS, _BATCH = 10, 256
_NAMES = ("a", "b", "c")
v1 = tf.compat.v1


def _trained(is_fused, is_fetched=True, shift=0):
    """Returns the rows that a hook fetches in each step; `shift` is added to rows of table b."""
    random = np.random.default_rng(1)
    with tf.Graph().as_default():
        fed = {name: v1.placeholder(tf.int64, [None, 2]) for name in _NAMES}
        outputs = []
        for name in _NAMES:
            ids = tf.sparse.from_dense(fed[name])
            indices = ids.indices + [shift, 0] if name == "b" else ids.indices
            table = v1.get_variable(f"table_{name}", [9, 4], use_resource=True,
                                    initializer=v1.random_normal_initializer(seed=3))
            outputs.append(v1.nn.safe_embedding_lookup_sparse(
                table, tf.SparseTensor(indices, ids.values, ids.dense_shape)))
        loss = tf.reduce_mean(tf.concat(outputs, 1) ** 2)
        train_op = v1.train.AdagradOptimizer(0.1).minimize(loss)
        if is_fused:
            fused_lookups.fuse(train_op)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            return [session.run([train_op, outputs if is_fetched else loss], {
                each: random.integers(0, 9, [_BATCH, 2]) for each in fed.values()})[1]
                for _ in range(_STEPS)]


@pytest.mark.parametrize("shift", [-_BATCH, _BATCH])
def test_fuse_finds_an_index_that_is_not_in_the_batch(shift):
    for is_fused, message in (False, "is invalid"), (True, "below its dense_shape.*table_b"):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            _trained(is_fused, False, shift)


def test_a_hook_gets_the_rows_before_the_update():
    single, fused = (_trained(is_fused) for is_fused in (False, True))
    # The update of a table is likely to come before a second read of it.
    np.testing.assert_array_equal(fused, single)
