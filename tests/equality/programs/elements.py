"""All kinds of elements that a Dataset can have, in any place."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import tensorflow as tf

from tests.equality.program import Program
from tests.equality.programs import models


def _generated(signature: Any, element: Callable[[int], Any], num: int = 12) -> Any:
    """Returns an input_fn of `num` elements of a generator, each a batch."""

    def input_fn() -> tf.data.Dataset:
        return tf.data.Dataset.from_generator(
            lambda: (element(i) for i in range(num)), output_signature=signature)

    return input_fn


def _mapped(function: Callable[[tf.Tensor], Any], num: int = 40, batch: int = 4,
            **arguments: Any) -> Any:
    """Returns an input_fn of a range in batches, mapped."""

    def input_fn() -> tf.data.Dataset:
        return tf.data.Dataset.range(num).batch(batch, **arguments).map(function)

    return input_fn


def _of(input_fn: Any, **arguments: Any) -> Program:
    return Program(models.summing(), input_fn, is_plugin=True, **arguments)


_FLOATS = tf.TensorSpec([None, 4])
_ONE = tf.TensorSpec([1])
_SCALAR = tf.TensorSpec([])


def _ragged(ids: tf.Tensor) -> tf.RaggedTensor:
    return tf.RaggedTensor.from_row_lengths(
        tf.range(tf.reduce_sum(ids % 3)), ids % 3)


def _sparse(ids: tf.Tensor) -> tf.SparseTensor:
    return tf.sparse.from_dense(tf.one_hot(ids % 3, 3) * _float(ids)[:, tf.newaxis])


def _float(ids: tf.Tensor) -> tf.Tensor:
    return tf.cast(ids, tf.float32)


def _nested(ids: tf.Tensor) -> Any:
    return ({"a": {"b": ids, "c": (_float(ids), tf.strings.as_string(ids))}, "d": ids % 2 > 0},
            {"y": ids, "z": tf.cast(ids, tf.uint8)})


def _without_rank(ids: tf.Tensor) -> Any:
    [shapeless] = tf.numpy_function(lambda x: [x.astype(np.float32)], [ids], [tf.float32])
    return {"any": shapeless}, ids


def _unknown_batch(ids: tf.Tensor) -> Any:
    found = tf.ensure_shape(tf.py_function(lambda x: tf.cast(x, tf.float32), [ids], tf.float32),
                            [None])
    return {"found": found}, ids


def _with_empty_batch() -> tf.data.Dataset:
    """Has a batch without rows in the middle, in each of the tensors."""
    lengths = tf.constant([3, 0, 2, 4, 0, 0, 1, 2], tf.int64)
    return tf.data.Dataset.from_tensor_slices(lengths).map(
        lambda n: ({"x": tf.ones([n, 2]), "t": tf.fill([n], "word")}, tf.range(n)))


def _boxes(index: int) -> Any:
    boxes = np.ones([0 if index in (2, 5) else 2, 4], np.float32)
    return {"boxes": boxes, "image": np.float32([index])}, np.float32([index])


def _ragged_or_empty(ids: tf.Tensor) -> Any:
    is_full = tf.cast(ids[0] % 8 == 0, tf.int64)
    lengths = ids % 3 * is_full
    return {"a_ragged": tf.RaggedTensor.from_row_lengths(
        tf.range(tf.reduce_sum(lengths)), lengths)[:ids[0] % 3], "x": ids}, ids


PROGRAMS = {
    "dense": _of(_mapped(lambda ids: ({"x": _float(ids)}, ids))),
    "empty_first": _of(_generated(({"boxes": _FLOATS, "image": _ONE}, _ONE), _boxes),
                       max_steps=None),
    "scalar_first": _of(_generated(
        ({"a_scale": _SCALAR, "nodes": _FLOATS}, _SCALAR),
        lambda i: ({"a_scale": np.float32(i), "nodes": np.ones([i + 1, 4], np.float32)},
                   np.float32(i))), max_steps=None),
    "scalar_only": _of(_generated((_SCALAR, _SCALAR), lambda i: (
        np.float32(i), np.float32(2 * i))), max_steps=None),
    "strings": _of(_mapped(lambda ids: ({"text": tf.strings.as_string(ids * 7)}, ids))),
    "ragged": _of(_mapped(lambda ids: ({"words": _ragged(ids)}, ids))),
    "ragged_rows_vanish": _of(_mapped(_ragged_or_empty), max_steps=None),
    "ragged_labels": _of(_mapped(lambda ids: ({"x": ids}, _ragged(ids)))),
    "sparse": _of(_mapped(lambda ids: ({"hot": _sparse(ids), "x": ids}, ids))),
    "sparse_labels": _of(_mapped(lambda ids: ({"x": ids}, _sparse(ids)))),
    "nested": _of(_mapped(_nested)),
    "single_tensor": _of(_mapped(lambda ids: (_float(ids), ids))),
    "features_in_a_tuple": _of(_mapped(lambda ids: ((ids, _float(ids)), ids))),
    "no_labels": _of(_mapped(lambda ids: {"x": ids})),
    "none_as_labels": _of(_mapped(lambda ids: ({"x": ids}, None))),
    "small_types": _of(_mapped(lambda ids: (
        {"a_flag": ids % 2 > 0, "byte": tf.cast(ids, tf.uint8), "half": tf.cast(
            ids, tf.float16), "short": tf.cast(ids, tf.int16)}, tf.cast(ids, tf.int32)))),
    "unknown_rank": _of(_mapped(_without_rank), max_steps=None),
    "py_function": _of(_mapped(_unknown_batch)),
    "batch_of_no_rows": _of(_with_empty_batch, max_steps=None),
    "partial_batch": _of(_mapped(lambda ids: ({"x": ids}, ids), num=19), max_steps=None),
    "ends_early": _of(_mapped(lambda ids: ({"x": ids}, ids), num=12)),
    "constant_of_the_graph": _of(_mapped(lambda ids: ({"ones": tf.ones([3, 2]), "x": ids}, ids))),
}
