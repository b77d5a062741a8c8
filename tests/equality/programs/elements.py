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


def _ragged(ids: tf.Tensor) -> tf.RaggedTensor:
    return tf.RaggedTensor.from_row_lengths(
        tf.range(tf.reduce_sum(ids % 3)), ids % 3)


def _sparse(ids: tf.Tensor) -> tf.SparseTensor:
    return tf.sparse.from_dense(tf.one_hot(ids % 3, 3) * _float(ids)[:, tf.newaxis])


def _float(ids: tf.Tensor) -> tf.Tensor:
    return tf.cast(ids, tf.float32)


PROGRAMS = {
    "dense": _of(_mapped(lambda ids: ({"x": _float(ids)}, ids))),
    "empty_first": _of(_generated(
        ({"boxes": _FLOATS, "image": _ONE}, _ONE),
        lambda i: ({"boxes": np.ones([0 if i == 2 else 2, 4], np.float32),
                    "image": np.float32([i])}, np.float32([i]))), max_steps=None),
    "scalar_first": _of(_generated(
        ({"a_scale": tf.TensorSpec([]), "nodes": _FLOATS}, tf.TensorSpec([])),
        lambda i: ({"a_scale": np.float32(i), "nodes": np.ones([i + 1, 4], np.float32)},
                   np.float32(i))), max_steps=None),
    "strings": _of(_mapped(lambda ids: ({"text": tf.strings.as_string(ids * 7)}, ids))),
    "ragged": _of(_mapped(lambda ids: ({"words": _ragged(ids)}, ids))),
    "sparse": _of(_mapped(lambda ids: ({"hot": _sparse(ids), "x": ids}, ids))),
}
