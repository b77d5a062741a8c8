"""Cells of `tf.contrib.cudnn_rnn` that compute what cuDNN does, and take its weights.

Names of variables: tensorflow/contrib/cudnn_rnn of TensorFlow 1.15; the GRU: cuDNN's Developer
Guide, cudnnRNNMode_t.
"""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from estimator_trainer.compat.contrib.rnn.block import LSTMBlockCell
from estimator_trainer.compat.contrib.rnn.cells import size_of, V1


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """The LSTM without a forget bias."""

    def __init__(self, num_units: int, reuse: Optional[bool] = None) -> None:
        """Keeps the settings, as for a layer."""
        super().__init__(num_units, forget_bias=0, cell_clip=None, use_peephole=False, reuse=reuse,
                         name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(V1.nn.rnn_cell.GRUCell):
    """The GRU whose reset gate weighs the product of the state, not the state.

    Variables: `kernel` and `bias` of `gates`, `candidate/input_projection` and
    `candidate/hidden_projection`.
    """

    def __init__(self, num_units: int, reuse: Optional[bool] = None,
                 kernel_initializer: Any = None) -> None:
        """Keeps the settings, as for `tf.nn.rnn_cell.GRUCell`."""
        super().__init__(num_units, activation=None, reuse=reuse,
                         kernel_initializer=kernel_initializer)

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables; ValueError if the inputs' size is unknown."""
        size, units = size_of(inputs_shape, 1), self._num_units
        if size is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        self._gate_kernel = self._kernel_of("gates", [size + units, 2 * units])
        self._gate_bias = self._bias_of("gates", 2 * units, 1.0)
        parts = "candidate/input_projection", "candidate/hidden_projection"
        self._kernels = [self._kernel_of(part, [rows, units])
                         for part, rows in zip(parts, (size, units))]
        self._biases = [self._bias_of(part, units, 0.0) for part in parts]
        self.built = True

    def _kernel_of(self, part: str, shape: list[int]) -> Any:
        return self.add_weight(f"{part}/kernel", shape, initializer=self._kernel_initializer)

    def _bias_of(self, part: str, size: int, start: float) -> Any:
        initializer = (V1.constant_initializer(start) if self._bias_initializer is None
                       else self._bias_initializer)
        return self.add_weight(f"{part}/bias", [size], initializer=initializer)

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the new state, [batch, num_units], twice."""
        gates = tf.matmul(tf.concat([inputs, state], 1), self._gate_kernel)
        reset, update = tf.split(tf.sigmoid(tf.nn.bias_add(gates, self._gate_bias)), 2, 1)
        of_inputs, kept = (tf.nn.bias_add(tf.matmul(each, kernel), bias)
                           for each, kernel, bias in zip((inputs, state), self._kernels,
                                                         self._biases))
        state = (1 - update) * self._activation(of_inputs + reset * kept) + update * state
        return state, state
