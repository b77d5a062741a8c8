"""Folds fused batch norms into the weights of the layers before them.

The definition is `tensorflow/contrib/quantize/python/fold_batch_norms.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_trainer.compat.contrib.quantize import corrections
from estimator_trainer.compat.contrib.quantize.matching import Either, matches, Pattern, reroute

v1 = tf.compat.v1
_ANY = Pattern("*")


class _BatchNorm(NamedTuple):
    """A batch norm's operation, its layer, and its tensors."""

    op: Any
    output: Any
    layer: Any
    to_space: Any  # The layer's BatchToSpaceND, or None.
    inputs: Any
    weights: Any
    mean: Any
    variance: Any
    moving: Any  # A training batch norm: moving mean and variance, and their decays.


def fold(graph: Any, freeze_bn_delay: Any) -> None:
    """Folds the fused batch norms of a graph, which is the default one.

    Args:
      graph: The graph.
      freeze_bn_delay: Number of steps after which batch norm uses its moving averages, or None.
    """
    for norm in _found(graph):
        _fold(graph, norm, freeze_bn_delay)


def _found(graph: Any) -> list[_BatchNorm]:
    inputs, weights, decay = Pattern("*"), Pattern("*"), Pattern("*")
    mean, variance, moving = Pattern("*"), Pattern("*"), Pattern("*")
    layer = Pattern("Conv2D|DepthwiseConv2dNative|MatMul", inputs, weights)
    to_space = Pattern("BatchToSpaceND", layer, _ANY, _ANY)
    output = Either(Pattern("Identity", Either(to_space, layer)), layer, to_space)
    source = Either(Pattern("Reshape", output, _ANY), output)
    norm = Pattern("FusedBatchNorm|FusedBatchNormV3", source, _ANY, _ANY, mean, variance)
    reshaped = Pattern("Reshape", norm, _ANY)
    change = Pattern("Sub", moving, Pattern("FusedBatchNorm|FusedBatchNormV3"))
    changes = {match.op(change).inputs[1].ref(): (match.tensor(moving), match.tensor(decay))
               for match in matches(Pattern("Mul", change, decay), graph)}
    found: dict[Any, _BatchNorm] = {}
    for match in matches(Either(reshaped, norm), graph):
        op, layer_op = match.op(norm), match.op(layer)
        end = match.op(reshaped) if layer_op.type == "MatMul" else op
        if layer_op in found or end is None or not end.outputs[0].consumers():
            continue
        trains = op.get_attr("is_training")
        found[layer_op] = _BatchNorm(
            op, end.outputs[0], layer_op, match.op(to_space), match.tensor(inputs),
            match.tensor(weights), op.outputs[1] if trains else match.tensor(mean),
            _batch_variance(op, layer_op) if trains else match.tensor(variance),
            [changes[op.outputs[index].ref()] for index in (1, 2)] if trains else None)
    return list(found.values())


def _batch_variance(op: Any, layer: Any) -> Any:
    """Returns the variance of a batch by its size, instead of by one less.

    Only the mean and the variance of the batch norm are used from here on: its gradient changes.
    """
    name = _GRADIENT.encode()
    op._set_attr("_gradient_op_type", v1.AttrValue(s=name))
    scope = op.name.rpartition("/")[0]
    with v1.get_default_graph().name_scope(f"{scope}/" if scope else ""):
        size = _share(layer.outputs[0], op.outputs[1])
        return tf.multiply(op.outputs[2], (size - 1) / size, name="Undo_Bessel_Correction")


def _share(values: Any, means: Any) -> Any:
    """Returns the number of values for each mean, a float."""
    return tf.cast(tf.size(values) / tf.size(means), tf.float32)


_GRADIENT = "FoldFusedBatchNormGrad"


def _gradient(op: Any, unused_y: Any, mean: Any, variance: Any, *unused: Any) -> Any:
    """Returns the gradient of a batch norm of which mean and variance alone are used."""
    x = op.inputs[0]
    size = _share(x, mean)
    by_variance = 2 * variance * (x - op.outputs[1]) / (size - 1)
    return mean / size + by_variance, None, None, None, None


tf.RegisterGradient(_GRADIENT)(_gradient)


def _fold(graph: Any, norm: _BatchNorm, freeze_bn_delay: Any) -> None:
    scope, separator, _ = norm.layer.name.rpartition("/")
    epsilon = norm.op.get_attr("epsilon")
    gamma, beta = norm.op.inputs[1], norm.op.inputs[2]
    correction: Any = None
    with graph.name_scope(scope + separator):
        with graph.name_scope(f"{scope}{separator}BatchNorm_Fold{separator}"):
            multiplier = gamma * tf.math.rsqrt(norm.variance + epsilon)
            bias = tf.subtract(beta, norm.mean * multiplier, name="bias")
            if norm.moving is not None:
                correction = corrections.of(norm.mean, norm.variance, norm.moving, gamma, epsilon,
                                            freeze_bn_delay)
            weights, scale = norm.weights, correction[0] if correction else None
            if norm.layer.type == "DepthwiseConv2dNative":
                shape = weights.shape.as_list()[2:]
                multiplier = tf.reshape(multiplier, shape, name="scale_reshape")
                if scale is not None:
                    scale = tf.reshape(scale, shape, name="correction_reshape")
        if scale is not None:
            weights = tf.multiply(scale, weights, name="correction_mult")
        layer = corrections.cloned(norm.layer, norm.inputs, tf.multiply(
            weights, multiplier, name="mul_fold"), norm.to_space,
            lambda op: op.name.rpartition("/")[2])
        if correction is not None:
            layer = tf.multiply(correction[1], layer, name="post_conv_mul")
            layer = tf.raw_ops.Add(x=layer, y=correction[2], name="correction_add")
        if not reroute(tf.raw_ops.Add(x=layer, y=bias, name="add_fold"), norm.output):
            raise ValueError(f"Folding batch norms failed, {norm.output.name} had no outputs.")
