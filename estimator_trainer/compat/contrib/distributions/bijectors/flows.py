"""Normalizing flows of `tf.contrib.distributions.bijectors`.

    MaskedAutoregressiveFlow  Papamakarios et al., 2017; its inverse is that of Kingma et al., 2016
    masked_dense              layers of MADE, Germain et al., 2015
    RealNVP                   Dinh et al., 2016
    BatchNormalization        of these papers, inverted where samples are drawn

Follows the API of `tensorflow/contrib/distributions/python/ops/bijectors/` of TensorFlow 1.15, and
makes variables of the same names.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import bijector

from estimator_trainer.compat.contrib.distributions import checks

_V1 = tf.compat.v1


def _scaled(x: Any, shift: Any, log_scale: Any) -> Any:
    x = x if log_scale is None else x * tf.exp(log_scale)
    return x if shift is None else x + shift


def _unscaled(y: Any, shift: Any, log_scale: Any) -> Any:
    y = y if shift is None else y - shift
    return y if log_scale is None else y * tf.exp(-log_scale)


def _log_volume(log_scale: Any, like: Any) -> Any:
    return tf.constant(0., like.dtype) if log_scale is None else tf.reduce_sum(log_scale, -1)


class MaskedAutoregressiveFlow(bijector.Bijector):
    """Y_i = X_i * exp(log_scale_i) + shift_i, where these depend on Y_0 to Y_(i - 1)."""

    def __init__(self, shift_and_log_scale_fn: Callable[[Any], Any],
                 is_constant_jacobian: bool = False, validate_args: bool = False,
                 unroll_loop: bool = False, name: Optional[str] = None) -> None:
        """Takes a function of Y, of shape [..., n], that returns shift and log_scale, or None."""
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian,
                         validate_args=validate_args, name=name or "masked_autoregressive_flow")

    def _forward(self, x: Any) -> Any:
        size, y = checks.size(x.shape.with_rank_at_least(1), -1), tf.zeros_like(x, name="y0")
        if self._unroll_loop:
            if size is None:
                raise ValueError("The final dimension of `x` must be known at graph construction "
                                 f"time if `unroll_loop=True`. `x.shape: {x.shape}`")
            for _ in range(size):
                y = _scaled(x, *self._shift_and_log_scale_fn(y))
            return y
        self._shift_and_log_scale_fn(y)  # Variables are made outside of the loop.

        def body(index: Any, y: Any) -> Any:
            return index + 1, _scaled(x, *self._shift_and_log_scale_fn(y))

        return _V1.while_loop(lambda index, _: index < tf.shape(x)[-1], body, (0, y),
                              maximum_iterations=size)[1]

    def _inverse(self, y: Any) -> Any:
        return _unscaled(y, *self._shift_and_log_scale_fn(y))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -_log_volume(self._shift_and_log_scale_fn(y)[1], y)


def _mask(blocks: int, inputs: int, units: int, exclusive: bool) -> Any:
    """Returns ones, [inputs, units], where an output of a block sees inputs of earlier blocks.

    Without `exclusive` an output sees its own block too.
    """
    mask = np.zeros([inputs, units], np.float32)
    rows, columns = inputs // blocks, units // blocks
    for block in range(blocks):
        mask[block * rows:(block + 1) * rows, (block + exclusive) * columns:] = 1
    return mask


def masked_dense(inputs: Any, units: int, num_blocks: Optional[int] = None,
                 exclusive: bool = False, kernel_initializer: Any = None, reuse: Any = None,
                 name: Optional[str] = None, *args: Any, **kwargs: Any) -> Any:
    """Returns a dense layer whose outputs see only inputs of some blocks.

    Args:
      inputs: Vectors of shape [..., n], of which n is known.
      units: The size of the result.
      num_blocks: How many blocks inputs and outputs have.
      exclusive: Whether outputs do not see the inputs of their own block.
      kernel_initializer: Glorot's by default.
      reuse: Whether the layer's variables are there already.
      name: The name of the layer; `tf.layers.Dense` takes all other arguments.

    Raises:
      NotImplementedError: n is not known.
    """
    size = checks.size(inputs.shape.with_rank_at_least(1), -1)
    if size is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    mask = _mask(num_blocks, size, units, exclusive)  # type: ignore[arg-type]
    initializer = kernel_initializer or _V1.glorot_normal_initializer()

    def masked(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return mask * initializer(shape, dtype, partition_info)

    with _V1.name_scope(name, "masked_dense", [inputs]):
        layer = _V1.layers.Dense(
            units, *args, kernel_initializer=masked, kernel_constraint=lambda x: mask * x,
            name=name, dtype=inputs.dtype.base_dtype, _scope=name, _reuse=reuse, **kwargs)
        return layer.apply(inputs)


def masked_autoregressive_default_template(
        hidden_layers: Sequence[int], shift_only: bool = False, activation: Any = tf.nn.relu,
        log_scale_min_clip: Any = -5., log_scale_max_clip: Any = 3.,
        log_scale_clip_gradient: bool = False, name: Optional[str] = None,
        *args: Any, **kwargs: Any) -> Any:
    """Returns a function for `MaskedAutoregressiveFlow`: layers of `masked_dense`.

    Args:
      hidden_layers: The sizes of the layers before the last.
      shift_only: Whether log_scale is None.
      activation: The activation of these layers.
      log_scale_min_clip: The least log_scale.
      log_scale_max_clip: The greatest log_scale.
      log_scale_clip_gradient: Whether a log_scale beyond has no gradient.
      name: A scope for the variables; `masked_dense` takes all other arguments.
    """
    name = name or "masked_autoregressive_default_template"

    def shift_and_log_scale(x: Any) -> Any:
        size = checks.size(x.shape.with_rank_at_least(1), -1)
        if size is None:
            raise NotImplementedError("Rightmost dimension must be known prior to graph "
                                      "execution.")
        shape = x.shape.as_list() if x.shape.is_fully_defined() else tf.shape(x)
        for index, units in enumerate(hidden_layers):
            x = masked_dense(x, units, size, index == 0, None, None, None, *args,
                             activation=activation, **kwargs)
        x = masked_dense(x, (1 if shift_only else 2) * size, size, False, None, None, None, *args,
                         activation=None, **kwargs)
        if shift_only:
            return tf.reshape(x, shape), None
        shift, log_scale = tf.unstack(tf.reshape(x, tf.concat([shape, [2]], 0)), 2, -1)
        clipped = tf.clip_by_value(log_scale, log_scale_min_clip, log_scale_max_clip)
        if not log_scale_clip_gradient:
            clipped = log_scale + tf.stop_gradient(clipped - log_scale)
        return shift, clipped

    with _V1.name_scope(name):
        return _V1.make_template(name, shift_and_log_scale)


class RealNVP(bijector.Bijector):
    """Y = [X_a, X_b * exp(log_scale) + shift], where these depend on X_a, the first numbers."""

    def __init__(self, num_masked: int, shift_and_log_scale_fn: Callable[[Any, int], Any],
                 is_constant_jacobian: bool = False, validate_args: bool = False,
                 name: Optional[str] = None) -> None:
        """Takes the size of X_a, and a function of it and of the size of X_b.

        The function returns shift and log_scale, or None for each.
        """
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian,
                         validate_args=validate_args, name=name or "real_nvp")

    def _parts(self, x: Any) -> Any:
        size = checks.size(x.shape.with_rank_at_least(1), -1)
        if size is None:
            raise NotImplementedError("Rightmost dimension must be known prior to graph "
                                      "execution.")
        if self._num_masked >= size:
            raise ValueError("Number of masked units must be smaller than the event size.")
        first = x[:, :self._num_masked]
        return first, x[:, self._num_masked:], self._shift_and_log_scale_fn(
            first, size - self._num_masked)

    def _forward(self, x: Any) -> Any:
        first, rest, scale = self._parts(x)
        return tf.concat([first, _scaled(rest, *scale)], -1)

    def _inverse(self, y: Any) -> Any:
        first, rest, scale = self._parts(y)
        return tf.concat([first, _unscaled(rest, *scale)], -1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -_log_volume(self._parts(y)[2][1], y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return _log_volume(self._parts(x)[2][1], x)


def real_nvp_default_template(hidden_layers: Sequence[int], shift_only: bool = False,
                              activation: Any = tf.nn.relu, name: Optional[str] = None,
                              *args: Any, **kwargs: Any) -> Any:
    """Returns a function for `RealNVP`: dense layers, which take all other arguments."""
    def shift_and_log_scale(x: Any, output_units: int) -> Any:
        def dense(x: Any, units: int, activation: Any) -> Any:
            return _V1.layers.dense(*args, inputs=x, units=units, activation=activation, **kwargs)

        for units in hidden_layers:
            x = dense(x, units, activation)
        x = dense(x, (1 if shift_only else 2) * output_units, None)
        return (x, None) if shift_only else tuple(tf.split(x, 2, axis=-1))

    with _V1.name_scope(name, "real_nvp_default_template"):
        return _V1.make_template("real_nvp_default_template", shift_and_log_scale)


class BatchNormalization(bijector.Bijector):
    """X = (Y - mean) / sqrt(variance) * gamma + beta, by a layer of batch normalization."""

    def __init__(self, batchnorm_layer: Any = None, training: bool = True,
                 validate_args: bool = False, name: str = "batch_normalization") -> None:
        """Takes a `tf.layers.BatchNormalization`; `training` is whether a batch's own mean is."""
        self.batchnorm = batchnorm_layer or _V1.layers.BatchNormalization(
            gamma_constraint=lambda x: tf.nn.relu(x) + 1e-6)
        if not isinstance(self.batchnorm, _V1.layers.BatchNormalization):
            raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
        for option, what in (("renorm", "renormalization"),
                             ("virtual_batch_size", "virtual batch sizes")):
            if getattr(self.batchnorm, option):
                raise ValueError(f"BatchNorm Bijector does not support {what}.")
        self._training = training
        axis = self.batchnorm.axis
        super().__init__(forward_min_event_ndims=1 if isinstance(axis, int) else len(axis),
                         validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        layer = self._built(x)
        reduced = self._reduced(x)

        def spread(value: Any) -> Any:
            if value.shape.rank == x.shape.rank or reduced == list(range(x.shape.rank - 1)):
                return value
            axis = layer.axis[0]
            return tf.reshape(value, [x.shape[axis] if each == axis else 1
                                      for each in range(x.shape.rank)])

        rescale = tf.sqrt(spread(layer.moving_variance) + layer.epsilon)
        if layer.scale:
            rescale /= spread(layer.gamma)
        mean = spread(layer.moving_mean)
        return x * rescale + (mean - spread(layer.beta) * rescale if layer.center else mean)

    def _inverse(self, y: Any) -> Any:
        return self.batchnorm.apply(y, training=self._training)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -self._log_determinant(x, self._built(x).moving_variance)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        variance = self._built(y).moving_variance
        if self._training:
            variance = _V1.nn.moments(y, self._reduced(y), keepdims=True)[1]
        return self._log_determinant(y, variance)

    def _log_determinant(self, y: Any, variance: Any) -> Any:
        layer = self.batchnorm
        return (tf.reduce_sum(tf.math.log(layer.gamma))
                - .5 * tf.reduce_sum(tf.math.log(variance + layer.epsilon)))

    def _reduced(self, x: Any) -> list[int]:
        return [each for each in range(x.shape.rank) if each not in self.batchnorm.axis]

    def _built(self, x: Any) -> Any:
        if not x.shape.is_fully_defined():
            raise ValueError("Input must have shape known at graph construction.")
        if not self.batchnorm.built:
            self.batchnorm.build(x.shape)
        return self.batchnorm
