"""Random functions that make TensorFlow 1.15's operations: random_uniform, random_gamma, dropout.

Source: tf.random.uniform, tf.random.gamma and tf.nn.dropout of TensorFlow 1.15
"""

from __future__ import annotations

import numbers
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.tensorflow1.operations.replaced import Make


def _uniform(newer: Callable[..., tf.Tensor]) -> Callable[..., tf.Tensor]:
    def random_uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = tf.float32,
                       seed: int | None = None, name: str | None = None) -> tf.Tensor:
        if tf.as_dtype(dtype).is_floating:
            # Newer versions make no operations of the integers 0 and 1.
            minval = float(minval) if isinstance(minval, int) else minval
            maxval = 1.0 if maxval is None else maxval
            maxval = float(maxval) if isinstance(maxval, int) else maxval
        return newer(shape, minval, maxval, dtype, seed, name)

    return random_uniform


def _gamma(newer: Callable[..., tf.Tensor]) -> Callable[..., tf.Tensor]:
    def random_gamma(shape: Any, alpha: Any, beta: Any = None, dtype: Any = tf.float32,
                     seed: int | None = None, name: str | None = None) -> tf.Tensor:
        with tf.name_scope(name or "random_gamma"):
            shape = tf.convert_to_tensor(shape, tf.int32, name="shape")
            alpha = tf.convert_to_tensor(alpha, dtype, name="alpha")
            beta = tf.convert_to_tensor(1 if beta is None else beta, dtype, name="beta")
            alpha = alpha + tf.zeros_like(beta)
            seeds = tf.compat.v1.get_seed(seed)
            drawn = tf.raw_ops.RandomGamma(
                shape=shape, alpha=alpha, seed=seeds[0] or 0, seed2=seeds[1] or 0)
            least = np.finfo(alpha.dtype.as_numpy_dtype).tiny
            return tf.maximum(least, drawn / beta)

    return random_gamma


def _dropout(newer: Callable[..., tf.Tensor]) -> Callable[..., tf.Tensor]:
    def dropout_v2(x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None,
                   name: str | None = None) -> tf.Tensor:
        is_number = isinstance(rate, numbers.Real)
        if is_number and not 0 < rate < 1:
            return newer(x, rate, noise_shape, seed, name)
        with tf.compat.v1.name_scope(name, "dropout", [x]):
            x = tf.convert_to_tensor(x, name="x")
            if not x.dtype.is_floating:
                raise ValueError(f"x of tf.nn.dropout has type {x.dtype.name}; expected a float")
            rate = tf.convert_to_tensor(rate, x.dtype, name="rate")
            rate.shape.assert_has_rank(0)
            if tf.get_static_value(rate) == 0:
                return x
            drawn = tf.compat.v1.random_uniform(
                _noise_shape(x, noise_shape), seed=seed, dtype=x.dtype)
            scale = 1 / (1 - rate)
            kept = drawn >= rate
            kept_x = x * scale * tf.cast(kept, x.dtype)
            kept_x.set_shape(x.shape)
            return kept_x

    return dropout_v2


def _noise_shape(x: tf.Tensor, wanted: Any) -> Any:
    """Returns the shape of the mask, in which None stands for a dimension of `x`."""
    if wanted is None:
        return tf.shape(x)
    try:
        shape = tf.TensorShape(wanted)
    except (TypeError, ValueError):
        return wanted  # A tensor.
    if shape.rank is None or shape.rank != x.shape.rank:
        return wanted
    return tf.TensorShape([own if mine is None else mine for own, mine in zip(
        x.shape.as_list(), shape.as_list())])


FUNCTIONS: dict[str, Make] = {
    "tensorflow.python.ops.random_ops.random_uniform": _uniform,
    "tensorflow.python.ops.random_ops.random_gamma": _gamma,
    "tensorflow.python.ops.nn_ops.dropout_v2": _dropout,
}
