"""Matches rows and columns of a matrix of distances.

The API is that of `tensorflow/contrib/image/python/ops/image_ops.py` of TensorFlow 1.15, whose
kernel BipartiteMatch later versions do not have.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_trainer.patches import op_seeds

v1 = tf.compat.v1


class BipartiteMatch(NamedTuple):
    """The column of each row and the row of each column, int32, or -1."""

    row_to_col_match_indices: Any
    col_to_row_match_indices: Any


def bipartite_match(distance_mat: Any, num_valid_rows: Any, top_k: int = -1,
                    name: str = "bipartite_match") -> Any:
    """Matches greedily: the row and the column of the smallest distance, and so on.

    Args:
      distance_mat: [rows, columns] float32.
      num_valid_rows: How many of the first rows are matched, a float of one element; all of them
        when it is below 0.
      top_k: The largest number of matches; all that there are when it is below 1.
      name: A name for the ops.

    Returns:
      A BipartiteMatch.
    """
    with v1.name_scope(name):
        distances = tf.convert_to_tensor(distance_mat, tf.float32)
        valid = tf.convert_to_tensor(num_valid_rows, tf.float32)
        op_seeds.count(1)
        with op_seeds.uncounted():
            return _matched(distances, tf.reshape(valid, []), top_k)


def _matched(distances: Any, valid: Any, top_k: int) -> BipartiteMatch:
    rows, columns = tf.shape(distances)[0], tf.shape(distances)[1]
    valid = tf.cast(tf.where(valid < 0, tf.cast(rows, tf.float32), valid), tf.int32)
    valid = tf.minimum(valid, rows)
    limit = tf.minimum(valid, columns)
    limit = tf.minimum(limit, top_k) if top_k > 0 else limit
    order = tf.argsort(tf.reshape(distances[:valid], [-1]), stable=True)

    def match(index: Any, count: Any, of_rows: Any, of_columns: Any) -> Any:
        row, column = order[index] // columns, order[index] % columns
        is_free = tf.logical_and(of_rows[row] < 0, of_columns[column] < 0)
        return (index + 1, count + tf.cast(is_free, tf.int32),
                _put(of_rows, row, column, is_free), _put(of_columns, column, row, is_free))

    none = [tf.fill([rows], np.int32(-1)), tf.fill([columns], np.int32(-1))]
    _, _, of_rows, of_columns = v1.while_loop(
        lambda index, count, *_: count < limit, match, [0, 0, *none], back_prop=False)
    of_rows.set_shape(distances.shape[:1])
    of_columns.set_shape(distances.shape[1:])
    return BipartiteMatch(of_rows, of_columns)


def _put(matches: Any, where: Any, value: Any, is_free: Any) -> Any:
    is_place = tf.logical_and(tf.equal(tf.range(tf.size(matches)), where), is_free)
    return v1.where(is_place, tf.fill(tf.shape(matches), value), matches)
