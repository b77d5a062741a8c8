"""Layers of Keras, which `tf.layers` are too, that make TensorFlow 1.15's operations or count them.

Source: tensorflow/python/keras/layers of TensorFlow 1.15
"""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from estimator_trainer.compat.tensorflow1.operations.replaced import Make
from estimator_trainer.patches.op_seeds import count


def _convolution(newer: Callable[..., Any]) -> Callable[..., Any]:
    def build(self: Any, input_shape: Any) -> None:
        newer(self, input_shape)
        if all(rate == 1 for rate in self.dilation_rate):
            count(1)  # A constant of the rate.

    return build


def _transposed_convolution(newer: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, inputs: Any) -> Any:
        if self.output_padding is None:
            dims = inputs.shape.as_list()
            known = dims[2:] if self.data_format == "channels_first" else dims[1:-1]
            # A slice, a product and for `valid` a sum, where a constant is today.
            count(sum(dim is not None for dim in known) * (7 if self.padding == "valid" else 5))
        return newer(self, inputs)

    return call


def _flatten(newer: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, inputs: Any) -> Any:
        rank = inputs.shape.rank
        if rank is None or rank < 2:
            return newer(self, inputs)
        if self.data_format == "channels_first":
            inputs = tf.transpose(inputs, [0, *range(2, rank), 1])
        rows = tf.compat.dimension_value(inputs.shape[0])
        flat = tf.reshape(inputs, (tf.shape(inputs)[0] if rows is None else rows, -1))
        flat.set_shape(self.compute_output_shape(inputs.shape))
        return flat

    return call


def _normalization(newer: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, inputs: Any, training: Any = None, **kwargs: Any) -> Any:
        normalized = newer(self, inputs, training=training, **kwargs)
        if self.fused and isinstance(training, (bool, int)) and not training:
            count(1)  # The momentum, which nothing used.
        return normalized

    return call


def _layer_normalization(newer: Callable[..., Any]) -> Callable[..., Any]:
    def _fused_can_be_used(self: Any, ndims: int) -> bool:
        return False

    return _fused_can_be_used


# tf_slim's layers are those of the copy of Keras that TensorFlow keeps.
_KEPT = "tensorflow.python.keras.legacy_tf_layers"
METHODS: dict[str, Make] = {
    "tf.keras.layers.Conv2D.build": _convolution,
    "tf.keras.layers.Conv2DTranspose.call": _transposed_convolution,
    "tf.keras.layers.Flatten.call": _flatten,
    "tf.keras.layers.BatchNormalization.call": _normalization,
    "tf.keras.layers.LayerNormalization._fused_can_be_used": _layer_normalization,
    f"{_KEPT}.convolutional.Conv2D.build": _convolution,
    f"{_KEPT}.convolutional.Conv2DTranspose.call": _transposed_convolution,
    f"{_KEPT}.core.Flatten.call": _flatten,
}
