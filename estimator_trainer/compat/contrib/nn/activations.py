"""Activations and the dropout of self-normalizing networks.

The API is that of `tensorflow/contrib/nn/python/ops/alpha_dropout.py` and `scaled_softplus.py` of
TensorFlow 1.15.
"""

from __future__ import annotations

import numbers
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1
# The limit of SELU far below 0: -scale * alpha of Klambauer et al.
_SATURATED = -1.7580993408473766


def alpha_dropout(x: Any, keep_prob: Any, noise_shape: Any = None, seed: Any = None,
                  name: Any = None) -> Any:
    """Drops values of SELU to where it saturates, and keeps their mean and variance.

    Klambauer et al., "Self-Normalizing Neural Networks", NIPS 2017.

    Args:
      x: A float tensor.
      keep_prob: The probability with which a value is kept, in (0, 1].
      noise_shape: Shape of the draws, which broadcasts to x's.
      seed: The draws' seed.
      name: A name for the ops.

    Raises:
      ValueError: when `keep_prob` is not in (0, 1], or no scalar.
    """
    with v1.name_scope(name, "alpha_dropout", [x]):
        x = tf.convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < float(keep_prob) <= 1.:
            raise ValueError("keep_prob must be a scalar tensor or a float in the range (0, 1], "
                             f"got {keep_prob:g}")
        keep_prob = tf.convert_to_tensor(keep_prob, x.dtype, name="keep_prob")
        keep_prob.shape.assert_has_rank(0)
        if tf.get_static_value(keep_prob) == 1:
            return x
        shape = tf.shape(x) if noise_shape is None else noise_shape
        drawn = v1.random_uniform(shape, seed=seed, dtype=x.dtype)
        is_kept = tf.cast(tf.greater_equal(drawn, 1 - keep_prob), x.dtype)
        x = x * is_kept + _SATURATED * (1 - is_kept)
        scale = (keep_prob + keep_prob * (1 - keep_prob) * _SATURATED ** 2) ** -0.5
        shift = -scale * _SATURATED * (1 - keep_prob)
        return scale * x + shift


def scaled_softplus(x: Any, alpha: Any, clip: Any = None, name: Any = None) -> Any:
    """Returns alpha * softplus(x / alpha), at most `clip`: a smooth ReLU.

    Args:
      x: A float tensor.
      alpha: A float tensor that broadcasts to x.
      clip: The largest value, a float tensor that broadcasts to x.
      name: A name for the ops.
    """
    with v1.name_scope(name, "scaled_softplus", [x, alpha] + ([] if clip is None else [clip])):
        x = tf.convert_to_tensor(x, name="x")
        alpha = tf.convert_to_tensor(alpha, x.dtype, name="alpha")
        y = alpha * tf.math.softplus(x / alpha)
        if clip is None:
            return y
        # In this order, the gradient of equal values is the clip's.
        return tf.minimum(tf.convert_to_tensor(clip, x.dtype, name="clip"), y)
