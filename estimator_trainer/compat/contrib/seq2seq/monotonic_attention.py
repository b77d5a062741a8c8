"""Attention that only moves forward over the memory.

Raffel et al., "Online and Linear-Time Attention by Enforcing Monotonic Alignments", ICML 2017. The
API is that of `tensorflow/contrib/seq2seq/python/ops/attention_wrapper.py` of TensorFlow 1.15.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.contrib.seq2seq import attention, tensors

v1 = tf.compat.v1


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns the cumulative product of numbers in [0, 1], by logarithms.

    Args:
      x: A float tensor; numbers below the smallest positive one are taken for it.
      *args, **kwargs: As for `tf.cumsum`.
    """
    with v1.name_scope(None, "SafeCumprod", [x]):
        x = tf.convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return tf.exp(tf.cumsum(tf.math.log(tf.clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Any:
    """Returns the probability of attending to each step of the memory, [batch, time].

    Args:
      p_choose_i: Probability of stopping at each step, [batch, time] floats.
      previous_attention: The result for the step before, [batch, time].
      mode: "recursive", exactly and slowly; "parallel", by cumulative sums; "hard", for
        probabilities of 0 and 1 alone.

    Raises:
      ValueError: for another mode.
    """
    p_choose_i = tf.convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = tf.convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        return p_choose_i * _reached(p_choose_i, previous)
    if mode == "parallel":
        goes_on = safe_cumprod(1 - p_choose_i, axis=1, exclusive=True)
        return p_choose_i * goes_on * tf.cumsum(
            previous / tf.clip_by_value(goes_on, 1e-10, 1.), axis=1)
    if mode == "hard":
        p_choose_i *= tf.cumsum(previous, axis=1)
        return p_choose_i * tf.math.cumprod(1 - p_choose_i, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _reached(p_choose_i: Any, previous: Any) -> Any:
    """Returns the probability of coming to each step, one step after the other."""
    batch_size = tensors.static_or_dynamic(p_choose_i, 0)
    passes_by = tf.concat([tf.ones((batch_size, 1)), 1 - p_choose_i[:, :-1]], 1)
    return tf.transpose(tf.scan(
        lambda before, at: tf.reshape(at[0] * before + at[1], (batch_size,)),
        [tf.transpose(passes_by), tf.transpose(previous)], tf.zeros((batch_size,))))


def monotonic_probability_fn(score: Any, previous_alignments: Any, sigmoid_noise: float,
                             mode: str, seed: Any = None) -> Any:
    """Returns the alignments, [batch, time], of scores.

    Args:
      score: [batch, time].
      previous_alignments: The result for the step before.
      sigmoid_noise: Standard deviation of the noise that is added to the scores.
      mode: As for `monotonic_attention`.
      seed: The noise's seed.
    """
    if sigmoid_noise > 0:
        score += sigmoid_noise * v1.random_normal(tf.shape(score), dtype=score.dtype, seed=seed)
    if mode == "hard":
        p_choose_i = tf.cast(score > 0, score.dtype)
    else:
        p_choose_i = tf.sigmoid(score)
    return monotonic_attention(p_choose_i, previous_alignments, mode)


class MonotonicAttention(attention.MemoryAttention):
    """The part that monotonic mechanisms share: attention starts at the first step."""

    _score_bias_init: Any

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        first = tf.zeros((batch_size,), tf.int32)
        return tf.one_hot(first, self._alignments_size, dtype=dtype)

    def _biased(self, score: Any, dtype: Any) -> Any:
        return score + v1.get_variable("attention_score_bias", dtype=dtype,
                                       initializer=self._score_bias_init)


class BahdanauMonotonicAttention(MonotonicAttention):
    """Bahdanau's scores with a bias, as probabilities of stopping at a step of the memory."""

    def __init__(self, num_units: Any, memory: Any, memory_sequence_length: Any = None,
                 normalize: bool = False, score_mask_value: Any = None,
                 sigmoid_noise: float = 0., sigmoid_noise_seed: Any = None,
                 score_bias_init: Any = 0., mode: str = "parallel", dtype: Any = None,
                 name: str = "BahdanauMonotonicAttention") -> None:
        """Prepares the memory.

        Args:
          num_units, memory, memory_sequence_length, normalize, score_mask_value, dtype, name: As
            for BahdanauAttention.
          sigmoid_noise: Standard deviation of the noise of the scores, for training.
          sigmoid_noise_seed: The noise's seed.
          score_bias_init: The first value of the scores' bias.
          mode: As for `monotonic_attention`.
        """
        super().__init__(
            query_layer=attention.units_layer(num_units, "query_layer", dtype), memory=memory,
            probability_fn=_probability(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            memory_layer=attention.units_layer(num_units, "memory_layer", dtype),
            score_mask_value=score_mask_value, name=name)
        self._num_units, self._normalize, self._name = num_units, normalize, name
        self._score_bias_init = score_bias_init

    def __call__(self, query: Any, state: Any) -> Any:
        """Returns the alignments, [batch, time], and the next state."""
        with v1.variable_scope(None, "bahdanau_monotonic_attention", [query]):
            score = attention.learned_score(self, query, self._num_units, self._normalize)
            score = self._biased(score, score.dtype)
        return self._aligned(score, state)


class LuongMonotonicAttention(MonotonicAttention):
    """Luong's scores with a bias, as probabilities of stopping at a step of the memory."""

    def __init__(self, num_units: Any, memory: Any, memory_sequence_length: Any = None,
                 scale: bool = False, score_mask_value: Any = None, sigmoid_noise: float = 0.,
                 sigmoid_noise_seed: Any = None, score_bias_init: Any = 0.,
                 mode: str = "parallel", dtype: Any = None,
                 name: str = "LuongMonotonicAttention") -> None:
        """Prepares the memory.

        Args:
          num_units, memory, memory_sequence_length, scale, score_mask_value, dtype, name: As for
            LuongAttention.
          sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode: As for
            BahdanauMonotonicAttention.
        """
        super().__init__(
            query_layer=None, memory=memory,
            probability_fn=_probability(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            memory_layer=attention.units_layer(num_units, "memory_layer", dtype),
            score_mask_value=score_mask_value, name=name)
        self._num_units, self._scale, self._name = num_units, scale, name
        self._score_bias_init = score_bias_init

    def __call__(self, query: Any, state: Any) -> Any:
        """Returns the alignments, [batch, time], and the next state."""
        with v1.variable_scope(None, "luong_monotonic_attention", [query]):
            scale = attention.scale_variable(self._scale, query.dtype)
            score = attention.luong_score(query, self._keys, scale)
            score = self._biased(score, query.dtype)
        return self._aligned(score, state)


def _probability(sigmoid_noise: float, mode: str, seed: Any) -> Any:
    return functools.partial(monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode,
                             seed=seed)
