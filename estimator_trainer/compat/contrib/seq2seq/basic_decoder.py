"""A decoder that samples each step's output from the cell's.

The API is that of `tensorflow/contrib/seq2seq/python/ops/basic_decoder.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_trainer.compat.contrib.seq2seq import tensors
from estimator_trainer.compat.contrib.seq2seq.decoder import Decoder
from estimator_trainer.compat.contrib.seq2seq.helper import Helper


class BasicDecoderOutput(NamedTuple):
    """The outputs: those of the cell or the output layer, and the ids that were sampled."""

    rnn_output: Any
    sample_id: Any


class BasicDecoder(Decoder):
    """Runs a cell on the inputs that a helper chooses."""

    def __init__(self, cell: Any, helper: Any, initial_state: Any,
                 output_layer: Any = None) -> None:
        """Keeps what the steps need.

        Args:
          cell: An RNN cell.
          helper: A Helper.
          initial_state: The cell's first state.
          output_layer: A layer of `tf.layers` on the cell's outputs, such as Dense(symbols).

        Raises:
          TypeError: when an argument is not of its type.
        """
        tensors.check_cell(cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        tensors.check_layer("output_layer", output_layer)
        self._cell, self._helper = cell, helper
        self._initial_state, self._output_layer = initial_state, output_layer

    @property
    def batch_size(self) -> Any:
        return self._helper.batch_size

    def _rnn_output_size(self) -> Any:
        return tensors.output_size(self._cell, self._output_layer)

    @property
    def output_size(self) -> Any:
        return BasicDecoderOutput(self._rnn_output_size(), self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> Any:
        dtype = tf.nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(
            tf.nest.map_structure(lambda _: dtype, self._rnn_output_size()),
            self._helper.sample_ids_dtype)

    def initialize(self, name: Any = None) -> Any:
        return self._helper.initialize() + (self._initial_state,)

    def step(self, time: Any, inputs: Any, state: Any, name: Any = None) -> Any:
        with tf.compat.v1.name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, inputs, state = self._helper.next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids)
        return BasicDecoderOutput(outputs, sample_ids), state, inputs, finished
