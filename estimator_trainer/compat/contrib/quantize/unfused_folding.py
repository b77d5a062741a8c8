"""Folds batch norms that are not fused into the weights of the layers before them.

The definition is `tensorflow/contrib/quantize/python/fold_batch_norms.py` of TensorFlow 1.15, which
knows the operations of such a batch norm by their names.
"""

from __future__ import annotations

import re
from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.quantize import corrections
from estimator_trainer.compat.contrib.quantize.matching import reroute

v1 = tf.compat.v1
_SKIPPED = ("gradients/", "RMSProp/", "Adagrad/", "Const_", "HistogramSummary", "ScalarSummary")


def fold(graph: Any, is_training: bool, freeze_bn_delay: Any) -> None:
    """Folds the batch norms that are not fused.

    Args:
      graph: The graph, which is the default one.
      is_training: Whether the graph is for training.
      freeze_bn_delay: Number of steps after which batch norm uses its moving averages, or None.

    Raises:
      ValueError: when the layer before a batch norm has another type.
    """
    found = (re.search("^(.*)BatchNorm/batchnorm", op.name) for op in graph.get_operations())
    for scope in dict.fromkeys(each.group(1) for each in found if each):
        norm = f"{scope}BatchNorm/batchnorm_1"
        if scope.startswith(_SKIPPED):
            continue
        shift = graph.get_operation_by_name(f"{norm}/add_1")
        if shift.outputs[0].consumers():
            folded = _folded(graph, scope, norm, shift, is_training, freeze_bn_delay)
            _replace(graph, scope, folded, shift.outputs[0])


def _replace(graph: Any, scope: str, new: Any, old: Any) -> None:
    """Gives the layer's activation, or else each consumer, the folded output."""
    names = {op.name for op in old.consumers()} & {
        f"{scope}{suffix}" for suffix in ("Relu6", "Relu", "Identity")}
    consumers = [graph.get_operation_by_name(each) for each in names] or [
        op for op in old.consumers() if not op.name.startswith(_SKIPPED)]
    if not reroute(new, old, consumers):
        raise ValueError(f"Unexpected inputs after {old.name}")


def _folded(graph: Any, scope: str, norm: str, shift: Any, is_training: bool,
            freeze_bn_delay: Any) -> Any:
    """Returns the output of the layer whose weights have the batch norm in them."""
    has_scale = _has_scale(graph, norm)
    scaled = graph.get_operation_by_name(f"{norm}/{'mul_1' if has_scale else 'mul'}")
    layer, to_space = scaled.inputs[0].op, None
    if layer.type == "BatchToSpaceND":
        layer, to_space = layer.inputs[0].op, layer
    if layer.type not in ("Conv2D", "DepthwiseConv2dNative", "MatMul"):
        raise ValueError(f"Cannot handle operation of type: {layer.type}")
    weights, multiplier, correction = layer.inputs[1], scaled.inputs[1], None
    if is_training:
        correction = _correction(graph, scope, has_scale, freeze_bn_delay)
    scale = None if correction is None else correction[0]
    if layer.type == "DepthwiseConv2dNative":
        shape = weights.shape.as_list()[2:]
        multiplier = graph.get_operation_by_name(
            f"{norm}/{'mul' if has_scale else 'Rsqrt'}").outputs[0]
        multiplier = tf.reshape(multiplier, shape, f"{scope}scale_reshape")
        if scale is not None:
            scale = tf.reshape(scale, shape, f"{scope}correction_reshape")
    if scale is not None:
        weights = tf.multiply(scale, weights, f"{scope}correction_mult")
    output = corrections.cloned(
        layer, layer.inputs[0], tf.multiply(weights, multiplier, f"{scope}mul_fold"), to_space,
        lambda op: op.name)
    if correction is not None:
        output = tf.multiply(correction[1], output, f"{scope}post_conv_mul")
        output = tf.raw_ops.Add(x=output, y=correction[2], name=f"{scope}correction_add")
    return tf.raw_ops.Add(x=output, y=shift.inputs[1], name=f"{scope}add_fold")


def _has_scale(graph: Any, norm: str) -> bool:
    """Returns whether a batch norm has a gamma."""
    root = graph.get_operation_by_name(f"{norm}/Rsqrt").outputs[0]
    return [op.type for op in root.consumers()
            if not op.name.startswith(_SKIPPED)].count("Mul") == 1


def _correction(graph: Any, scope: str, has_scale: bool, freeze_bn_delay: Any) -> Any:
    is_resource = v1.get_variable_scope().use_resource
    read = "/Read/ReadVariableOp" if is_resource else "/read"

    def tensor(name: str) -> Any:
        return _nearest(graph, f"BatchNorm/{name}", scope)

    moving_mean = tensor(f"moving_mean{read}")
    gamma = (tensor(f"gamma{read}" if is_resource else "gamma") if has_scale
             else tf.ones(moving_mean.shape))
    moving = ((moving_mean, tensor("AssignMovingAvg/decay")),
              (tensor(f"moving_variance{read}"), tensor("AssignMovingAvg_1/decay")))
    return corrections.of(tensor("moments/Squeeze"), tensor("moments/Squeeze_1"), moving, gamma,
                          tensor("batchnorm_1/add/y"), freeze_bn_delay,
                          f"{scope}batch_norm_correction")


def _nearest(graph: Any, suffix: str, scope: str) -> Any:
    """Returns the tensor of those with a name's end that has most parts of a scope, or None."""
    parts, best, found = set(scope.split("/")), 0, None
    for op in graph.get_operations():
        if op.name.endswith(suffix):
            count = len(set(op.name.split("/")) & parts)
            if count > best or (not scope and found is None):
                best, found = count, op.outputs[0]
    return found
