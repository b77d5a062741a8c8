"""Draws as the helpers of `tf.contrib.seq2seq` make them.

Each makes its operations in the number of TensorFlow 1.15, in
`tensorflow/contrib/seq2seq/python/ops/helper.py`, as seeds of operations depend on it.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

v1 = tf.compat.v1


def bernoulli_sample(probs: Any = None, logits: Any = None, dtype: Any = tf.int32,
                     sample_shape: Any = (), seed: Any = None) -> Any:
    """Draws 1 with a probability, and 0.

    Args:
      probs: The probabilities, a float tensor.
      logits: Their logits, instead.
      dtype: The draws' type.
      sample_shape: Number of draws or their shape, integers.
      seed: The draws' seed.

    Returns:
      [*sample_shape, *shape of probs].
    """
    if probs is None:
        probs = tf.sigmoid(logits, name="probs")
    else:
        probs = tf.convert_to_tensor(probs, name="probs")
    event_shape = tf.shape(probs)

    def draw(count: Any) -> Any:
        shape = tf.concat([[count], event_shape], 0)
        uniform = v1.random_uniform(shape, seed=seed, dtype=probs.dtype)
        return tf.cast(tf.less(uniform, probs), dtype)

    return _drawn(draw, sample_shape)


def categorical_sample(logits: Any, dtype: Any = tf.int32, sample_shape: Any = (),
                       seed: Any = None) -> Any:
    """Draws a class for each row.

    Args:
      logits: [..., classes].
      dtype: The draws' type.
      sample_shape: The shape of the draws of a row.
      seed: The draws' seed.

    Returns:
      [*sample_shape, ...].
    """
    logits = tf.convert_to_tensor(logits, name="logits")
    classes = tf.shape(logits)[-1]
    event_shape = tf.shape(logits)[:-1]

    def draw(count: Any) -> Any:
        flat = logits if logits.shape.ndims == 2 else tf.reshape(logits, [-1, classes])
        drawn_type = tf.int64 if logits.dtype.size > 4 else tf.int32
        drawn = v1.multinomial(flat, count, seed=seed, output_dtype=drawn_type)
        drawn = tf.reshape(tf.transpose(drawn), tf.concat([[count], event_shape], 0))
        return tf.cast(drawn, dtype)

    return _drawn(draw, sample_shape)


def _drawn(draw: Any, sample_shape: Any) -> Any:
    """Returns what a function draws for a number of draws, in their shape."""
    with v1.name_scope(None, "call_sampler", values=[sample_shape]):
        sample_shape = tf.convert_to_tensor(sample_shape, tf.int32, name="sample_shape")
        is_scalar = tf.cast(tf.equal(tf.rank(sample_shape), 0), tf.int32)
        sample_shape = tf.reshape(sample_shape, tf.pad(
            tf.shape(sample_shape), paddings=[[is_scalar, 0]], constant_values=1))
        drawn = draw(tf.reduce_prod(sample_shape))
        shape = tf.concat([sample_shape, tf.shape(drawn)[1:]], 0)
        return tf.reshape(drawn, shape)
