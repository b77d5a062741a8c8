"""Decodes step by step until each sequence of the batch is finished.

The API is that of `tensorflow/contrib/seq2seq/python/ops/decoder.py` of TensorFlow 1.15.
"""

from __future__ import annotations

import abc
from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.seq2seq import tensors

v1 = tf.compat.v1


class Decoder(abc.ABC):
    """A decoder for `dynamic_decode`: the inputs and the state of the first step, and a step."""

    @property
    def batch_size(self) -> Any:
        """The number of sequences, an integer tensor."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """A structure of the sizes of a step's outputs, without the batch."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """The same structure of types."""
        raise NotImplementedError

    @abc.abstractmethod
    def initialize(self, name: Any = None) -> Any:
        """Returns which sequences are finished, [batch] booleans, the inputs and the state."""
        raise NotImplementedError

    @abc.abstractmethod
    def step(self, time: Any, inputs: Any, state: Any, name: Any = None) -> Any:
        """Returns a step's outputs, and the next state, inputs and finished sequences."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Returns the outputs and the state to give to the caller of `dynamic_decode`."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether a sequence that `step` calls unfinished goes on, though it was finished."""
        return False


def dynamic_decode(decoder: Any, output_time_major: bool = False, impute_finished: bool = False,
                   maximum_iterations: Any = None, parallel_iterations: int = 32,
                   swap_memory: bool = False, scope: Any = None, **kwargs: Any) -> Any:
    """Runs a decoder until all sequences are finished.

    Args:
      decoder: A Decoder.
      output_time_major: Whether outputs are [time, batch, ...] instead of [batch, time, ...].
      impute_finished: Whether finished sequences emit zeros and keep their state.
      maximum_iterations: Largest number of steps, an integer; no bound by default.
      parallel_iterations, swap_memory: As for `tf.while_loop`.
      scope: Scope of the variables; "decoder" by default.
      **kwargs: Not used, as in TensorFlow 1.15.

    Returns:
      The outputs, the last state, and the lengths of the sequences, [batch] int32.

    Raises:
      TypeError: when `decoder` is not a Decoder.
      ValueError: when `maximum_iterations` is not a scalar.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with v1.variable_scope(scope, "decoder") as var_scope:
        if not tf.executing_eagerly() and var_scope.caching_device is None and not _is_in_a_loop():
            var_scope.set_caching_device(lambda op: op.device)
        if maximum_iterations is not None:
            maximum_iterations = tf.convert_to_tensor(maximum_iterations, tf.int32,
                                                      name="maximum_iterations")
            if maximum_iterations.shape.ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        first, zeros = _first(decoder, maximum_iterations)
        _, arrays, state, _, _, lengths = v1.while_loop(
            lambda *loop: tf.logical_not(tf.reduce_all(loop[4])),
            _body(decoder, zeros, impute_finished), first,
            parallel_iterations=parallel_iterations, maximum_iterations=maximum_iterations,
            swap_memory=swap_memory)
        outputs = tf.nest.map_structure(lambda array: array.stack(), arrays)
        try:
            outputs, state = decoder.finalize(outputs, state, lengths)
        except NotImplementedError:
            pass
        if not output_time_major:
            outputs = tf.nest.map_structure(tensors.transpose_batch_time, outputs)
    return outputs, state, lengths


def _is_in_a_loop() -> bool:
    context = v1.get_default_graph()._get_control_flow_context()
    while context is not None and not context.IsWhileContext():
        context = context.outer_context
    return context is not None


def _first(decoder: Any, maximum_iterations: Any) -> Any:
    """Returns time, outputs, state, inputs, finished and lengths before the first step, and zeros.

    The zeros are of the shape of a step's outputs.
    """
    finished, inputs, state = decoder.initialize()
    zeros = tf.nest.map_structure(
        lambda size, dtype: tensors.zeros(size, decoder.batch_size, dtype),
        decoder.output_size, decoder.output_dtype)
    if maximum_iterations is not None:
        finished = tf.logical_or(finished, 0 >= maximum_iterations)
    lengths = tf.zeros_like(finished, dtype=tf.int32)
    time = tf.constant(0, tf.int32)
    arrays = tf.nest.map_structure(
        lambda size, dtype: tf.TensorArray(dtype, 0, dynamic_size=True,
                                           element_shape=_element_shape(decoder, size)),
        decoder.output_size, decoder.output_dtype)
    return (time, arrays, state, inputs, finished, lengths), zeros


def _element_shape(decoder: Any, size: Any) -> Any:
    if not isinstance(size, tf.TensorShape) or size.ndims == 0:
        return None
    batch_size = tf.convert_to_tensor(decoder.batch_size, name="batch_size")
    return tf.TensorShape([tf.get_static_value(batch_size)]).concatenate(size)


def _body(decoder: Any, zeros: Any, impute_finished: bool) -> Any:
    """Returns the function that makes a step."""
    def body(time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> Any:
        outputs, next_state, next_inputs, next_finished = decoder.step(time, inputs, state)
        if not decoder.tracks_own_finished:
            next_finished = tf.logical_or(next_finished, finished)
        lengths = v1.where(tf.logical_not(finished), tf.fill(tf.shape(lengths), time + 1), lengths)
        for before, after in ((state, next_state), (arrays, outputs), (inputs, next_inputs)):
            tf.nest.assert_same_structure(before, after)
        if impute_finished:
            outputs = tf.nest.map_structure(
                lambda output, zero: v1.where(finished, zero, output), outputs, zeros)
            next_state = tf.nest.map_structure(
                lambda new, old: _unless(finished, new, old), next_state, state)
        arrays = tf.nest.map_structure(lambda array, output: array.write(time, output),
                                       arrays, outputs)
        return time + 1, arrays, next_state, next_inputs, next_finished, lengths

    return body


def _unless(finished: Any, new: Any, old: Any) -> Any:
    """Returns `new`, with the rows of `old` where a sequence is finished."""
    if isinstance(old, tf.TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.ndims == 0 else v1.where(finished, old, new)
