"""LSTM cells whose kernels have masks.

Follows the API of `tensorflow/contrib/model_pruning/python/layers/rnn_cells.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.model_pruning import masks

_V1: Any = tf.compat.v1


class _Masked:
    """A cell whose kernel has a mask; the kernel of a projection has none."""

    def build(self: Any, inputs_shape: Any) -> None:
        """Makes the cell's variables, then `mask` and `threshold`."""
        super().build(inputs_shape)  # type: ignore[misc]
        self.built = False  # A layer that is built takes its variables from the scope.
        mask, threshold = masks.mask_of(self, self._kernel.shape), masks.threshold_of(self)
        self._masked_kernel = masks.masked(mask, self._kernel, threshold)
        self.built = True

    def call(self: Any, inputs: Any, state: Any) -> Any:
        """Returns the output and the state after a step."""
        kernel = self._kernel
        vars(self)["_kernel"] = self._masked_kernel
        try:
            return super().call(inputs, state)  # type: ignore[misc]
        finally:
            vars(self)["_kernel"] = kernel


class MaskedBasicLSTMCell(_Masked, _V1.nn.rnn_cell.BasicLSTMCell):
    """A BasicLSTMCell whose kernel has a mask."""

    def __init__(self, num_units: int, forget_bias: float = 1., state_is_tuple: bool = True,
                 activation: Any = None, reuse: Any = None, name: Any = None) -> None:
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name)


class MaskedLSTMCell(_Masked, _V1.nn.rnn_cell.LSTMCell):
    """An LSTMCell whose kernel has a mask."""

    def __init__(self, num_units: int, use_peepholes: bool = False, cell_clip: Any = None,
                 initializer: Any = None, num_proj: Any = None, proj_clip: Any = None,
                 num_unit_shards: Any = None, num_proj_shards: Any = None,
                 forget_bias: float = 1., state_is_tuple: bool = True, activation: Any = None,
                 reuse: Any = None) -> None:
        super().__init__(num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip,
                         num_unit_shards, num_proj_shards, forget_bias, state_is_tuple,
                         activation, reuse)
