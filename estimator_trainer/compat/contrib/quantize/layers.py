"""Finds the layers of a graph that can be quantized.

The definition is `tensorflow/contrib/quantize/python/quantize.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from estimator_trainer.compat.contrib.quantize.matching import Either, matches, Pattern

_LAYERS = "Conv2D|MatMul|DepthwiseConv2dNative"
_ADD = "Add|AddV2"
_ANY = Pattern("*")


class Layer(NamedTuple):
    """A layer's operations."""

    op: Any
    weights: Any  # A tensor.
    activation: Any = None
    bypass: Any = None  # The addition of another layer's output before the activation.
    post_activation_bypass: Any = None
    bias: Any = None


class _Patterns(NamedTuple):
    layer: Any
    weights: Any
    bias: Any
    bypass: Any
    activation: Any
    post_activation_bypass: Any
    separable: Any


def _patterns() -> _Patterns:
    variable = Pattern("Variable|VariableV2")
    part = Pattern("Identity", variable)
    parts = Pattern("ConcatV2", part, _ANY, _ANY)
    read = Pattern("Identity", Either(part, parts, variable))
    resource_read, folded = Pattern("ReadVariableOp"), Pattern("Mul")
    layer = Pattern(_LAYERS, _ANY, Either(read, resource_read, folded), ordered=False)
    output = Either(Pattern("BatchToSpaceND", layer, _ANY, _ANY), layer)
    corrected = Pattern(_ADD, Pattern("Mul", _ANY, output, ordered=False), _ANY, ordered=False)
    folded_bias = Pattern(_ADD, corrected, _ANY, ordered=False)
    bias = Pattern(f"{_ADD}|BiasAdd", output, _ANY, ordered=False)
    biased = Either(bias, folded_bias, Pattern("Identity", folded_bias))
    bypass = Pattern(_ADD, biased, _ANY, ordered=False)
    activation = Pattern("Relu|Relu6|Identity", Either(biased, bypass, layer))
    return _Patterns(
        layer, (read, resource_read, folded), (bias, folded_bias), bypass, activation,
        Pattern(_ADD, _ANY, activation, ordered=False),
        Pattern(_LAYERS, output, _ANY, ordered=False))


def find(graph: Any) -> list[Layer]:
    """Returns the layers of a graph, in the order in which they are quantized."""
    patterns = _patterns()
    found: dict[Any, Layer] = {}

    def add(match: Any, **ops: Any) -> None:
        op = match.op(patterns.layer)
        found.setdefault(op, Layer(op, match.tensor(*patterns.weights), **ops))

    for match in matches(patterns.post_activation_bypass, graph):
        add(match, activation=match.op(patterns.activation), bypass=match.op(patterns.bypass),
            post_activation_bypass=match.op(patterns.post_activation_bypass),
            bias=match.op(*patterns.bias))
    for match in matches(patterns.activation, graph):
        activation = match.op(patterns.activation)
        if not _leads_to_batch_norm(activation):
            add(match, activation=activation, bypass=match.op(patterns.bypass),
                bias=match.op(*patterns.bias))
    for match in matches(Either(*patterns.bias), graph):
        add(match, activation=match.op(*patterns.bias))
    for match in matches(patterns.separable, graph):
        op, folded = match.op(patterns.layer), patterns.weights[-1]
        weights = None if folded in match else match.tensor(*patterns.weights)
        found.setdefault(op, Layer(op, weights, activation=op))
    return list(found.values())


def _leads_to_batch_norm(op: Any) -> bool:
    """Returns whether an identity is there for a fused batch norm alone."""
    if op.type != "Identity" or len(op.outputs) != 1:
        return False
    consumers = op.outputs[0].consumers()
    return len(consumers) == 1 and consumers[0].type in ("FusedBatchNorm", "FusedBatchNormV3")
