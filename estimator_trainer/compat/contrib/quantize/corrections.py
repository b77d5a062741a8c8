"""Corrections that fused and other batch norms share when they are folded.

The definition is `tensorflow/contrib/quantize/python/fold_batch_norms.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.quantize import fake_quantization
from estimator_trainer.compat.contrib.quantize.matching import reroute

v1 = tf.compat.v1


def of(mean: Any, variance: Any, moving: Any, gamma: Any, epsilon: Any, freeze_bn_delay: Any,
       scope: str = "batch_norm_correction") -> Any:
    """Returns the weights' scale, and the factor and the offset of the layer's output.

    With the scale, weights are quantized by the moving averages; until these are frozen, factor
    and offset give the batch's own statistics back to the output.

    Args:
      mean, variance: The batch's.
      moving: (moving mean, its decay), (moving variance, its decay).
      gamma, epsilon: The batch norm's.
      freeze_bn_delay: Number of steps after which the moving averages are frozen, or None.
      scope: Scope of the operations.
    """
    (moving_mean, mean_decay), (moving_variance, variance_decay) = moving
    with v1.get_default_graph().name_scope(scope):
        by_moving = tf.math.rsqrt(moving_variance + epsilon)
        by_batch = tf.math.rsqrt(variance + epsilon)
        scale = tf.divide(by_moving, by_batch, name="scale_compute")
        scale = tf.identity(scale, name="correction_scale")
        factor = tf.math.reciprocal(scale, name="reciprocal_compute")
        offset = tf.multiply(gamma, mean * by_batch - moving_mean * by_moving,
                             name="offset_compute")
        if freeze_bn_delay is None:
            return scale, factor, tf.zeros(offset.shape)
        is_frozen = tf.greater_equal(fake_quantization.step(), freeze_bn_delay,
                                     name="use_moving_average")
        for decay, name in ((mean_decay, "freeze_moving_mean"),
                            (variance_decay, "freeze_moving_var")):
            consumers = list(decay.consumers())
            reroute(_chosen(is_frozen, tf.zeros([]), decay, name), decay, consumers)
        return (scale, _chosen(is_frozen, tf.ones(scale.shape), factor, "correction_recip"),
                _chosen(is_frozen, offset, tf.zeros(offset.shape), "correction_offset"))


def _chosen(is_first: Any, first: Any, second: Any, name: str) -> Any:
    return v1.cond(is_first, lambda: first, lambda: second, name=name)


def cloned(op: Any, inputs: Any, weights: Any, to_space: Any, name_of: Any) -> Any:
    """Returns the output of the same layer with other weights.

    Args:
      op: The layer's operation.
      inputs, weights: Tensors.
      to_space: The layer's BatchToSpaceND, or None.
      name_of: A function from an operation to the beginning of its copy's name.
    """
    name = f"{name_of(op)}_Fold"
    if op.type == "MatMul":
        return tf.matmul(inputs, weights, transpose_a=op.get_attr("transpose_a"),
                         transpose_b=op.get_attr("transpose_b"), name=name)
    function = v1.nn.conv2d if op.type == "Conv2D" else v1.nn.depthwise_conv2d_native
    output = function(inputs, weights, strides=op.get_attr("strides"),
                      padding=op.get_attr("padding").decode(),
                      data_format=op.get_attr("data_format").decode(),
                      dilations=op.get_attr("dilations"), name=name)
    if to_space is None:
        return output
    return tf.batch_to_space(output, to_space.inputs[1], to_space.inputs[2],
                             name=f"{name_of(to_space)}_Fold")
