"""A decoder that keeps the best beginnings of each sequence.

The API is that of `tensorflow/contrib/seq2seq/python/ops/beam_search_decoder.py` of TensorFlow
1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.contrib.seq2seq import beam_step, beam_tree, tensors
from estimator_trainer.compat.contrib.seq2seq.decoder import Decoder

v1 = tf.compat.v1


class BeamSearchDecoder(Decoder):
    """Searches the most probable sequences with a cell whose batch is batch times beams.

    Encoder's outputs and states have to be repeated with `tile_batch` before.
    """

    def __init__(self, cell: Any, embedding: Any, start_tokens: Any, end_token: Any,
                 initial_state: Any, beam_width: int, output_layer: Any = None,
                 length_penalty_weight: Any = 0.0, coverage_penalty_weight: Any = 0.0,
                 reorder_tensor_arrays: bool = True) -> None:
        """Prepares the search.

        Args:
          cell: An RNN cell.
          embedding: [ids, size], or a function from ids, [batch, beams], to vectors.
          start_tokens: [batch] integers.
          end_token: The id that ends a sequence.
          initial_state: The cell's state, [batch * beams, ...].
          beam_width: Number of beams.
          output_layer: A layer from the cell's outputs to logits.
          length_penalty_weight: Power of the length by which a score is divided.
          coverage_penalty_weight: Weight of the penalty of steps of a memory that were not
            attended to; the cell has to be an AttentionWrapper.
          reorder_tensor_arrays: Whether TensorArrays of the last state, as of an alignment
            history, follow the beams that are left; they become tensors, [time, batch, ...].

        Raises:
          TypeError: when `cell` or `output_layer` is not of its type.
          ValueError: when the shape of tokens or of the state is wrong.
        """
        tensors.check_cell(cell)
        tensors.check_layer("output_layer", output_layer, is_keras_enough=True)
        self._cell, self._output_layer, self._beam_width = cell, output_layer, beam_width
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        self._embedding_fn = tensors.lookup_function(embedding)
        tokens, self._end_token = tensors.start_and_end(start_tokens, end_token)
        self._batch_size = tf.size(start_tokens)
        self._initial_cell_state = tf.nest.map_structure(self._split_if_batched, initial_state,
                                                         self._cell.state_size)
        self._start_tokens = tf.tile(tf.expand_dims(tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        self._finished = self._first_beam(False, True, tf.bool)

    def _first_beam(self, first: Any, others: Any, dtype: Any) -> Any:
        """Returns [batch, beams] with one value for the first beam, another for all others."""
        return tf.one_hot(tf.zeros([self._batch_size], tf.int32), depth=self._beam_width,
                          on_value=first, off_value=others, dtype=dtype)

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        return True

    @property
    def output_size(self) -> Any:
        return beam_step.BeamSearchDecoderOutput(*[tf.TensorShape([self._beam_width])] * 3)

    @property
    def output_dtype(self) -> Any:
        dtype = tf.nest.flatten(self._initial_cell_state)[0].dtype
        sizes = tensors.output_size(self._cell, self._output_layer)
        return beam_step.BeamSearchDecoderOutput(
            tf.nest.map_structure(lambda _: dtype, sizes), tf.int32, tf.int32)

    def initialize(self, name: Any = None) -> Any:
        dtype = tf.nest.flatten(self._initial_cell_state)[0].dtype
        log_probs = self._first_beam(tf.constant(0, dtype), tf.constant(-np.inf, dtype), dtype)
        attended = beam_step.attention_probs(self._initial_cell_state,
                                             self._coverage_penalty_weight)
        state = beam_step.BeamSearchDecoderState(
            cell_state=self._initial_cell_state, log_probs=log_probs, finished=self._finished,
            lengths=tf.zeros([self._batch_size, self._beam_width], tf.int64),
            accumulated_attention_probs=() if attended is None else attended)
        return self._finished, self._start_inputs, state

    def step(self, time: Any, inputs: Any, state: Any, name: Any = None) -> Any:
        with v1.name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            inputs = tf.nest.map_structure(lambda each: self._merge(each, each.shape[2:]), inputs)
            cell_state = tf.nest.map_structure(self._merge_if_batched, state.cell_state,
                                               self._cell.state_size)
            outputs, cell_state = self._cell(inputs, cell_state)
            outputs = tf.nest.map_structure(lambda each: self._split(each, each.shape[1:]),
                                            outputs)
            cell_state = tf.nest.map_structure(self._split_if_batched, cell_state,
                                               self._cell.state_size)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            output, next_state = beam_step.beam_search_step(
                time, outputs, cell_state, state, self._batch_size, self._beam_width,
                self._end_token, self._length_penalty_weight, self._coverage_penalty_weight)
            next_inputs = v1.cond(tf.reduce_all(next_state.finished), lambda: self._start_inputs,
                                  lambda: self._embedding_fn(output.predicted_ids))
        return output, next_state, next_inputs, next_state.finished

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        longest = tf.cast(tf.reduce_max(final_state.lengths, axis=1), tf.int32)
        ids = beam_tree.gather_tree(outputs.predicted_ids, outputs.parent_ids, longest,
                                    self._end_token)
        if self._reorder_tensor_arrays:
            final_state = final_state._replace(cell_state=tf.nest.map_structure(
                lambda each: beam_tree.sorted_array(
                    each, outputs.parent_ids, final_state.lengths, self._batch_size,
                    self._beam_width), final_state.cell_state))
        return beam_step.FinalBeamSearchDecoderOutput(ids, outputs), final_state

    def _merge(self, t: Any, shape: Any) -> Any:
        """Returns [batch, beams, ...] as [batch * beams, ...]."""
        static = tf.get_static_value(self._batch_size)
        merged = tf.reshape(t, tf.concat(
            ([self._batch_size * self._beam_width], tf.shape(t)[2:]), 0))
        rows = None if static is None else static * self._beam_width
        merged.set_shape(tf.TensorShape([rows]).concatenate(_static(shape)))
        return merged

    def _split(self, t: Any, shape: Any) -> Any:
        """Returns [batch * beams, ...] as [batch, beams, ...]."""
        split = tf.reshape(t, tf.concat(
            ([self._batch_size, self._beam_width], tf.shape(t)[1:]), 0))
        expected = tf.TensorShape([tf.get_static_value(self._batch_size),
                                   self._beam_width]).concatenate(_static(shape))
        if not split.shape.is_compatible_with(expected):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size.  The "
                f"reshaped tensor has shape: {split.shape}.  We expected it to have shape "
                f"(batch_size, beam_width, depth) == {expected}.  Perhaps you forgot to create a "
                "zero_state with batch_size=encoder_batch_size * beam_width?")
        split.set_shape(expected)
        return split

    def _split_if_batched(self, t: Any, size: Any) -> Any:
        if isinstance(t, tf.TensorArray):
            return t
        beam_step.check_rank(t)
        return self._split(t, size) if t.shape.ndims >= 1 else t

    def _merge_if_batched(self, t: Any, size: Any) -> Any:
        return self._merge(t, size) if beam_step.is_of_beams(t) else t


def _static(size: Any) -> Any:
    return tf.TensorShape(tf.get_static_value(size) if tf.is_tensor(size) else size)
