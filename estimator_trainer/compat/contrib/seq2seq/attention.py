"""Attention: how much each step of a memory counts for a query.

Bahdanau et al., "Neural Machine Translation by Jointly Learning to Align and Translate", 2014, and
Luong et al., "Effective Approaches to Attention-based Neural Machine Translation", 2015. The API is
that of `tensorflow/contrib/seq2seq/python/ops/attention_wrapper.py` of TensorFlow 1.15.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.contrib.seq2seq import tensors

v1 = tf.compat.v1


class AttentionMechanism:
    """A mechanism that gives an AttentionWrapper its alignments."""

    @property
    def alignments_size(self) -> Any:
        """The number of steps of the memory."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The size of the state that is given to the next step."""
        raise NotImplementedError


class MemoryAttention(AttentionMechanism):
    """The part that the mechanisms share: keys and values of a memory, and its mask.

    Attributes:
      values: The memory, [batch, time, ...], 0 beyond the lengths.
      keys: The memory after its layer, [batch, time, units].
    """

    def __init__(self, query_layer: Any, memory: Any, probability_fn: Any,
                 memory_sequence_length: Any = None, memory_layer: Any = None,
                 check_inner_dims_defined: bool = True, score_mask_value: Any = None,
                 custom_key_value_fn: Any = None, name: Any = None) -> None:
        """Prepares the memory.

        Args:
          query_layer: A layer of `tf.layers` for queries, or None.
          memory: [batch, time, ...].
          probability_fn: A function from scores, [batch, time], and the state before to alignments.
          memory_sequence_length: [batch] integers.
          memory_layer: A layer of `tf.layers` that makes keys.
          check_inner_dims_defined: Whether the memory's last sizes have to be known.
          score_mask_value: The score beyond the lengths; minus infinity by default.
          custom_key_value_fn: A function from keys and values to those to use.
          name: A name for the ops.

        Raises:
          TypeError: when a layer or `probability_fn` is not of its type.
          ValueError: when sizes that have to be known are not.
        """
        tensors.check_layer("query_layer", query_layer)
        tensors.check_layer("memory_layer", memory_layer)
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self.dtype = memory_layer.dtype
        if not callable(probability_fn):
            raise TypeError("probability_fn must be callable, saw type: "
                            f"{type(probability_fn).__name__}")
        if score_mask_value is None:
            score_mask_value = tf.as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        self._probability_fn: Any = lambda score, previous: probability_fn(
            mask_score(score, memory_sequence_length, score_mask_value=score_mask_value), previous)
        with v1.name_scope(name, "BaseAttentionMechanismInit", tf.nest.flatten(memory)):
            self._values = prepare_memory(memory, memory_sequence_length,
                                          check_inner_dims_defined=check_inner_dims_defined)
            self._keys = memory_layer(self._values) if memory_layer else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = tensors.static_or_dynamic(self._keys, 0)
            self._alignments_size = tensors.static_or_dynamic(self._keys, 1)

    @property
    def memory_layer(self) -> Any:
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        return self._query_layer

    @property
    def values(self) -> Any:
        return self._values

    @property
    def keys(self) -> Any:
        return self._keys

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the alignments before the first step, [batch, time]."""
        return tensors.zeros(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the state before the first step: the alignments."""
        return self.initial_alignments(batch_size, dtype)

    def _aligned(self, score: Any, state: Any) -> Any:
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class LuongAttention(MemoryAttention):
    """The score is the product of the query and a key."""

    def __init__(self, num_units: Any, memory: Any, memory_sequence_length: Any = None,
                 scale: bool = False, probability_fn: Any = None, score_mask_value: Any = None,
                 dtype: Any = None, custom_key_value_fn: Any = None,
                 name: str = "LuongAttention") -> None:
        """Prepares the memory.

        Args:
          num_units: Size of the keys, which is the queries'.
          memory, memory_sequence_length, score_mask_value, custom_key_value_fn, name: As for
            MemoryAttention.
          scale: Whether the scores have a factor that is learned.
          probability_fn: A function from scores to alignments; the softmax by default.
          dtype: Type of the memory's layer; float32 by default.
        """
        super().__init__(
            query_layer=None, memory=memory, probability_fn=_of_scores(probability_fn),
            memory_sequence_length=memory_sequence_length,
            memory_layer=units_layer(num_units, "memory_layer", dtype),
            score_mask_value=score_mask_value, custom_key_value_fn=custom_key_value_fn, name=name)
        self._num_units, self._scale, self._name = num_units, scale, name

    def __call__(self, query: Any, state: Any) -> Any:
        """Returns the alignments, [batch, time], and the next state.

        Args:
          query: [batch, units].
          state: The alignments of the step before.
        """
        with v1.variable_scope(None, "luong_attention", [query]):
            score = luong_score(query, self._keys, scale_variable(self._scale, query.dtype))
        return self._aligned(score, state)


class BahdanauAttention(MemoryAttention):
    """The score is that of a layer of the sum of the query and a key."""

    def __init__(self, num_units: Any, memory: Any, memory_sequence_length: Any = None,
                 normalize: bool = False, probability_fn: Any = None,
                 score_mask_value: Any = None, dtype: Any = None,
                 custom_key_value_fn: Any = None, name: str = "BahdanauAttention") -> None:
        """Prepares the memory.

        Args:
          num_units: Size of the layers of keys and queries.
          memory, memory_sequence_length, score_mask_value, custom_key_value_fn, name: As for
            MemoryAttention.
          normalize: Whether the weights of the sum are normalized (Salimans, Kingma, 2016).
          probability_fn: A function from scores to alignments; the softmax by default.
          dtype: Type of the layers; float32 by default.
        """
        super().__init__(
            query_layer=units_layer(num_units, "query_layer", dtype), memory=memory,
            probability_fn=_of_scores(probability_fn),
            memory_sequence_length=memory_sequence_length,
            memory_layer=units_layer(num_units, "memory_layer", dtype),
            score_mask_value=score_mask_value, custom_key_value_fn=custom_key_value_fn, name=name)
        self._num_units, self._normalize, self._name = num_units, normalize, name

    def __call__(self, query: Any, state: Any) -> Any:
        """Returns the alignments, [batch, time], and the next state.

        Args:
          query: [batch, size].
          state: The alignments of the step before.
        """
        with v1.variable_scope(None, "bahdanau_attention", [query]):
            score = learned_score(self, query, self._num_units, self._normalize)
        return self._aligned(score, state)


def units_layer(units: Any, name: str, dtype: Any = None) -> Any:
    """Returns a dense layer without a bias."""
    return v1.layers.Dense(units, name=name, use_bias=False, dtype=dtype or tf.float32)


def _of_scores(probability_fn: Any) -> Any:
    probability_fn = probability_fn or tf.nn.softmax
    return lambda score, _: probability_fn(score)


def scale_variable(is_scaled: bool, dtype: Any) -> Any:
    """Returns the factor of Luong's scores, or None."""
    if not is_scaled:
        return None
    return v1.get_variable("attention_g", dtype=dtype, initializer=v1.ones_initializer, shape=())


def luong_score(query: Any, keys: Any, scale: Any) -> Any:
    """Returns the products of queries and keys, [batch, time].

    Args:
      query: [batch, units].
      keys: [batch, time, units].
      scale: A factor, or None.

    Raises:
      ValueError: when their sizes differ.
    """
    depth, units = query.shape[-1], keys.shape[-1]
    if depth != units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys.  Query "
            f"({query}) has units: {depth}.  Keys ({keys}) have units: {units}.  Perhaps you need "
            f"to set num_units to the keys' dimension ({units})?")
    score = tf.matmul(tf.expand_dims(query, 1), keys, transpose_b=True)
    score = tf.squeeze(score, [1])
    return score if scale is None else scale * score


def learned_score(mechanism: Any, query: Any, units: int, normalize: bool) -> Any:
    """Returns Bahdanau's scores of a query, [batch, time], with variables of the current scope."""
    query = mechanism.query_layer(query) if mechanism.query_layer else query
    attention_v = v1.get_variable("attention_v", [units], dtype=query.dtype)
    if not normalize:
        return bahdanau_score(query, mechanism.keys, attention_v)
    attention_g = v1.get_variable(
        "attention_g", dtype=query.dtype, shape=(),
        initializer=v1.constant_initializer(math.sqrt(1.0 / units)))
    attention_b = v1.get_variable("attention_b", [units], dtype=query.dtype,
                                  initializer=v1.zeros_initializer())
    return bahdanau_score(query, mechanism.keys, attention_v, attention_g, attention_b)


def bahdanau_score(processed_query: Any, keys: Any, attention_v: Any, attention_g: Any = None,
                   attention_b: Any = None) -> Any:
    """Returns the weighted sums of tanh(key + query), [batch, time].

    Args:
      processed_query: [batch, units].
      keys: [batch, time, units].
      attention_v: The weights, [units].
      attention_g, attention_b: The norm of the weights, a number, and a bias, [units].
    """
    query = tf.expand_dims(processed_query, 1)
    if attention_g is None or attention_b is None:
        return tf.reduce_sum(attention_v * tf.tanh(keys + query), [2])
    weights = (attention_g * attention_v
               * tf.math.rsqrt(tf.reduce_sum(tf.square(attention_v))))
    return tf.reduce_sum(weights * tf.tanh(keys + query + attention_b), [2])


def prepare_memory(memory: Any, memory_sequence_length: Any = None, memory_mask: Any = None,
                   check_inner_dims_defined: bool = True) -> Any:
    """Returns a memory as tensors that are 0 where it is masked.

    Args:
      memory: [batch, time, ...], or a structure of those.
      memory_sequence_length: [batch] integers.
      memory_mask: [batch, time] booleans, instead of lengths.
      check_inner_dims_defined: Whether sizes after time have to be known.

    Raises:
      ValueError: when such a size is unknown, or lengths and a mask are given.
    """
    memory = tf.nest.map_structure(lambda m: tf.convert_to_tensor(m, name="memory"), memory)
    _check_one_mask(memory_sequence_length, memory_mask)
    if memory_sequence_length is not None:
        memory_sequence_length = tf.convert_to_tensor(memory_sequence_length,
                                                      name="memory_sequence_length")
    flat = tf.nest.flatten(memory)
    for each in flat if check_inner_dims_defined else ():
        if not each.shape[2:].is_fully_defined():
            raise ValueError(f"Expected memory {each.name} to have fully defined inner dims, but "
                             f"saw shape: {each.shape}")
    if memory_sequence_length is not None:
        mask = tf.sequence_mask(memory_sequence_length, tf.shape(flat[0])[1], flat[0].dtype)
    elif memory_mask is not None:
        mask = tf.cast(memory_mask, flat[0].dtype)
    else:
        return memory
    return tf.nest.map_structure(lambda m: _masked(m, mask), memory)


def _masked(memory: Any, mask: Any) -> Any:
    rank = tf.rank(memory) if memory.shape.ndims is None else memory.shape.ndims
    ones = tf.ones(rank - 2, tf.int32)
    return memory * tf.reshape(mask, tf.concat((tf.shape(mask), ones), 0))


def mask_score(score: Any, memory_sequence_length: Any = None, memory_mask: Any = None,
               score_mask_value: Any = None) -> Any:
    """Returns scores with another value where the memory is masked.

    Args:
      score: [batch, time].
      memory_sequence_length: [batch] integers above 0.
      memory_mask: [batch, time] booleans, instead of lengths.
      score_mask_value: The value.
    """
    _check_one_mask(memory_sequence_length, memory_mask)
    if memory_sequence_length is None and memory_mask is None:
        return score
    if memory_sequence_length is not None:
        positive = v1.assert_positive(
            memory_sequence_length,
            message="All values in memory_sequence_length must be greater than zero.")
        with tf.control_dependencies([positive]):
            memory_mask = tf.sequence_mask(memory_sequence_length, tf.shape(score)[1])
    masked = score_mask_value * tf.fill(tf.shape(score), tf.ones([], score.dtype))
    return v1.where(memory_mask, score, masked)


def _check_one_mask(lengths: Any, mask: Any) -> None:
    if lengths is not None and mask is not None:
        raise ValueError("memory_sequence_length and memory_mask can't be provided at same time.")


def hardmax(logits: Any, name: Any = None) -> Any:
    """Returns 1 at the largest value of each row and 0 elsewhere.

    Args:
      logits: [..., n] floats.
      name: A name for the ops.
    """
    with v1.name_scope(name, "Hardmax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        depth = tf.compat.dimension_value(logits.shape[-1])
        if depth is None:
            depth = tf.shape(logits)[-1]
        return tf.one_hot(tf.argmax(logits, -1), depth, dtype=logits.dtype)
