"""Saves cuDNN's buffer as the variables of cells, so that a checkpoint fits where there is no GPU.

Names in checkpoints: tensorflow/contrib/cudnn_rnn of TensorFlow 1.15.
"""

from __future__ import annotations

import sys
from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.cudnn_rnn import formats
from estimator_trainer.compat.contrib.rnn.cells import V1

# Saver's module is not public.
_Builder: Any = sys.modules[V1.train.Saver.__module__].BaseSaverBuilder


class CudnnOpaqueParamsSaveable(_Builder.SaveableObject):
    """A saveable object of a Saver: tensors to save, and how a buffer is restored of them."""

    _converter: Any
    _cell: str
    _KERNELS: tuple[str, ...] = ("kernel",)
    _BIASES: tuple[str, ...] = ("bias",)

    def __init__(self, opaque_params: Any, num_layers: int, num_units: int, input_size: int,
                 input_mode: str = formats.LINEAR_INPUT, direction: str = formats.UNIDIRECTION,
                 scope: Any = None, name: str = "cudnn_rnn_saveable") -> None:
        """Makes the tensors.

        Args:
          opaque_params: The variable that holds the buffer.
          num_layers, num_units, input_size, input_mode, direction: As for the converter.
          scope: A variable scope, or its name, before the names in the checkpoint.
          name: The saveable's name.
        """
        self._variable = opaque_params
        self.format_converter = self._converter(num_layers, num_units, input_size,
                                                input_mode=input_mode, direction=direction)
        kernels, biases = self.format_converter.opaque_to_tf_canonical(opaque_params)
        cells = self._cells(num_layers, direction)
        names = [f"{cell}/{each}" for part in (self._KERNELS, self._BIASES) for cell in cells
                 for each in part]
        prefix = getattr(scope, "name", scope)
        specs = [_Builder.SaveSpec(tensor, "", f"{prefix}/{each}" if prefix else each)
                 for tensor, each in zip(kernels + biases, names)]
        # Not the variable itself, which a Saver may have besides.
        super().__init__(tf.identity(opaque_params), specs, name)

    def _cells(self, num_layers: int, direction: str) -> list[str]:
        if direction == formats.UNIDIRECTION:
            return [f"rnn/multi_rnn_cell/cell_{layer}/{self._cell}" for layer in range(num_layers)]
        return [f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn/{way}/{self._cell}"
                for layer in range(num_layers) for way in ("fw", "bw")]

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Returns the op that fills the buffer."""
        return V1.assign(self._variable,
                         self.format_converter.tf_canonical_to_opaque(restored_tensors),
                         validate_shape=False)


class CudnnLSTMSaveable(CudnnOpaqueParamsSaveable):
    """The saveable of an LSTM."""

    _converter = formats.CudnnParamsFormatConverterLSTM
    _cell = "cudnn_compatible_lstm_cell"


class CudnnGRUSaveable(CudnnOpaqueParamsSaveable):
    """The saveable of a GRU."""

    _converter = formats.CudnnParamsFormatConverterGRU
    _cell = "cudnn_compatible_gru_cell"
    _KERNELS = ("gates/kernel", "candidate/input_projection/kernel",
                "candidate/hidden_projection/kernel")
    _BIASES = ("gates/bias", "candidate/input_projection/bias", "candidate/hidden_projection/bias")


class CudnnRNNTanhSaveable(CudnnOpaqueParamsSaveable):
    """The saveable of an RNN with tanh."""

    _converter = formats.CudnnParamsFormatConverterTanh
    _cell = "basic_rnn_cell"


class CudnnRNNReluSaveable(CudnnOpaqueParamsSaveable):
    """The saveable of an RNN with relu."""

    _converter = formats.CudnnParamsFormatConverterRelu
    _cell = "basic_rnn_cell"
