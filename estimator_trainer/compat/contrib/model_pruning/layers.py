"""Layers whose weights have masks.

Follows the API of `tensorflow/contrib/model_pruning/python/layers/` of TensorFlow 1.15.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.contrib.model_pruning import masks
from estimator_trainer.patches import op_seeds

_V1: Any = tf.compat.v1
# Not `import`, as the package is not part of every installation.
tf_slim: Any = importlib.import_module("tf_slim")
slim_layers: Any = importlib.import_module("tf_slim.layers.layers")
utils: Any = importlib.import_module("tf_slim.layers.utils")
_FORMATS = {None: "channels_last", "NHWC": "channels_last", "NCHW": "channels_first"}


class MaskedConv2D(_V1.layers.Conv2D):
    """A convolution over images, [batch, height, width, channels]; its kernel has a mask."""

    def build(self, input_shape: Any) -> None:
        """Makes the variables `mask`, `kernel`, `bias` and `threshold`."""
        channels = tf.TensorShape(input_shape).as_list()[
            1 if self.data_format == "channels_first" else -1]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found "
                             "`None`.")
        self.mask = masks.mask_of(self, (*self.kernel_size, channels, self.filters))
        super().build(input_shape)
        op_seeds.count(-1)  # A convolution of Keras has a constant more.
        self.built = False  # A layer that is built takes its variables from the scope.
        self.threshold = masks.threshold_of(self)
        self.masked_kernel = masks.masked(self.mask, self.kernel, self.threshold)
        self.built = True

    def convolution_op(self, inputs: Any, kernel: Any) -> Any:
        """Returns the convolution with what the mask leaves of the kernel."""
        return super().convolution_op(inputs, self.masked_kernel)


class MaskedFullyConnected(_V1.layers.Dense):
    """inputs @ (mask * kernel) + bias, of [..., depth]."""

    def build(self, input_shape: Any) -> None:
        """Makes the variables `kernel`, `mask`, `threshold` and `bias`."""
        depth = tf.TensorShape(input_shape).as_list()[-1]
        if depth is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. "
                             "Found `None`.")
        self.kernel = self.add_weight(
            name="kernel", shape=[depth, self.units], initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer, dtype=self.dtype)
        self.mask = masks.mask_of(self, [depth, self.units])
        self.threshold = masks.threshold_of(self)
        self.masked_kernel = masks.masked(self.mask, self.kernel, self.threshold)
        self.bias = None if not self.use_bias else self.add_weight(
            name="bias", shape=[self.units], initializer=self.bias_initializer,
            regularizer=self.bias_regularizer, dtype=self.dtype)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Returns the outputs, [..., units]."""
        rank = inputs.shape.rank
        if rank > 2:
            outputs = tf.tensordot(inputs, self.masked_kernel, [[rank - 1], [0]])
            outputs.set_shape([*inputs.shape[:-1], self.units])
        else:
            outputs = tf.matmul(inputs, self.masked_kernel)
        if self.use_bias:
            outputs = tf.nn.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)


@tf_slim.add_arg_scope  # type: ignore[untyped-decorator]
def masked_convolution(
        inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
        data_format: Any = None, rate: Any = 1, activation_fn: Any = tf.nn.relu,
        normalizer_fn: Any = None, normalizer_params: Any = None,
        weights_initializer: Any = tf_slim.xavier_initializer(), weights_regularizer: Any = None,
        biases_initializer: Any = _V1.zeros_initializer(), biases_regularizer: Any = None,
        reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
        trainable: bool = True, scope: Any = None) -> Any:
    """Returns `tf.contrib.layers.conv2d` of images, whose weights have a mask.

    Raises:
      ValueError: The inputs have another rank than 4, or `data_format` is another.
    """
    if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"):
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with _scope(scope, "Conv", inputs, reuse) as place:
        inputs = tf.convert_to_tensor(inputs)
        if inputs.shape.rank != 4:
            raise ValueError("Sparse Convolution not supported for input with rank",
                             inputs.shape.rank)
        if data_format not in _FORMATS:
            raise ValueError("Unsupported data format", data_format)
        layer = MaskedConv2D(
            num_outputs, kernel_size, strides=stride, padding=padding,
            data_format=_FORMATS[data_format], dilation_rate=rate,
            **_options(locals(), place))
        return _finished(layer, inputs, locals(), place)


masked_conv2d = masked_convolution


@tf_slim.add_arg_scope  # type: ignore[untyped-decorator]
def masked_fully_connected(
        inputs: Any, num_outputs: int, activation_fn: Any = tf.nn.relu, normalizer_fn: Any = None,
        normalizer_params: Any = None, weights_initializer: Any = tf_slim.xavier_initializer(),
        weights_regularizer: Any = None, biases_initializer: Any = _V1.zeros_initializer(),
        biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
        outputs_collections: Any = None, trainable: bool = True, scope: Any = None) -> Any:
    """Returns `tf.contrib.layers.fully_connected`, whose weights have a mask.

    Raises:
      ValueError: `num_outputs` is no integer.
    """
    if not isinstance(num_outputs, (int, np.integer)):
        raise ValueError(f"num_outputs should be int or long, got {num_outputs}.")
    with _scope(scope, "fully_connected", inputs, reuse) as place:
        inputs = tf.convert_to_tensor(inputs)
        layer = MaskedFullyConnected(num_outputs, **_options(locals(), place))
        return _finished(layer, inputs, locals(), place)


def _scope(scope: Any, default: str, inputs: Any, reuse: Any) -> Any:
    getter = slim_layers._build_variable_getter({"bias": "biases", "kernel": "weights"})
    return _V1.variable_scope(scope, default, [inputs], reuse=reuse, custom_getter=getter)


def _options(passed: dict[str, Any], place: Any) -> dict[str, Any]:
    """Returns a layer's arguments for those of a function of `tf.contrib.layers`."""
    return {"use_bias": not passed["normalizer_fn"] and passed["biases_initializer"] is not None,
            "kernel_initializer": passed["weights_initializer"],
            "bias_initializer": passed["biases_initializer"],
            "kernel_regularizer": passed["weights_regularizer"],
            "bias_regularizer": passed["biases_regularizer"], "trainable": passed["trainable"],
            "name": place.name, "dtype": passed["inputs"].dtype.base_dtype, "_scope": place,
            "_reuse": passed["reuse"]}


def _finished(layer: Any, inputs: Any, passed: dict[str, Any], place: Any) -> Any:
    """Returns the outputs of a layer, normalized and activated, in their collections."""
    outputs = layer.apply(inputs)
    for variable, name in ((layer.kernel, "weights"),
                           (layer.bias if layer.use_bias else None, "biases")):
        if variable is not None:
            slim_layers._add_variable_to_collections(
                variable, passed["variables_collections"], name)
    if passed["normalizer_fn"] is not None:
        outputs = passed["normalizer_fn"](outputs, **(passed["normalizer_params"] or {}))
    if passed["activation_fn"] is not None:
        outputs = passed["activation_fn"](outputs)
    return utils.collect_named_outputs(passed["outputs_collections"], place.original_name_scope,
                                       outputs)
