"""Puts fake quantization into a graph, after weights and activations.

The definition is `tensorflow/contrib/quantize/python/quantize.py` of TensorFlow 1.15.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_trainer.compat.contrib.quantize import fake_quantization, layers
from estimator_trainer.compat.contrib.quantize.matching import reroute

v1 = tf.compat.v1
_ADDS = {"Add", "AddV2", "Mul"}
_PASSES_ON = {"Reshape", "Identity", "BatchToSpaceND", "SpaceToBatchND", "MaxPool", "Max"}
_FAKE = {"FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVarsPerChannel"}
_RELUS = {"Relu", "Relu6"}
_logger = logging.getLogger(__name__)


class Options(NamedTuple):
    """The options of a rewriting."""

    is_training: bool
    weight_bits: int
    activation_bits: int
    symmetric: bool
    quant_delay: Any
    scope: Any


def quantize(graph: Any, options: Options) -> None:
    """Quantizes the layers of a graph, and then additions and products of quantized tensors."""
    inserter = _Inserter(graph, options)
    for layer in layers.find(graph):
        inserter.quantize_layer(layer)
    inserter = _Inserter(graph, options, inserter.done)
    for op in graph.get_operations():
        if _is_of_quantized(op, inserter.done):
            inserter.insert(op.name, f"activation_{op.type}_quant", op, init_min=-6.0,
                            symmetric=False)


class _Inserter:
    """Inserts fake quantization before the operations that a graph has at first.

    Attributes:
      done: Operations whose outputs are quantized.
    """

    def __init__(self, graph: Any, options: Options, done: Any = ()) -> None:
        self._options, self.done = options, set(done)
        scope = options.scope
        self._scope = scope if not scope or scope.endswith("/") else f"{scope}/"
        self._known = set(graph.get_operations())

    def quantize_layer(self, layer: layers.Layer) -> None:
        """Quantizes a layer's weights, activation, and what is added to it."""
        context = _parent(layer.op.name)
        if layer.weights is not None:
            self.insert(context, "weights_quant", layer.weights.op, moving_average=False,
                        bits=self._options.weight_bits, narrow_range=True, init_min=-6.0,
                        by_producer=False, by_consumers=True)
        outer = _parent(context) if layer.bypass is not None and "/" in context else context
        if layer.bypass is not None and "/" not in context:
            outer = ""
        if layer.activation is not None:
            self.insert(outer, "act_quant", layer.activation)
            self.done.add(layer.activation)
        if layer.bypass is not None:
            self.insert(context, "conv_quant", layer.bias, init_min=-6.0, by_consumers=True)
            self.done.add(layer.bias)
            if not self._is_input_of(layer.bypass, _RELUS | {"Identity"}):
                self.insert(outer, "add_quant", layer.bypass, init_min=-6.0, by_consumers=True)
                self.done.add(layer.bypass)
        after = layer.post_activation_bypass
        if after is not None and not self._is_input_of(after, _RELUS):
            self.insert(_parent(after.name), "post_activation_bypass_quant", after, init_min=-6.0)
            self.done.add(after)

    def _consumers(self, op: Any) -> set[Any]:
        return {each for output in op.outputs for each in output.consumers()
                if each in self._known and not _is_skipped(each)}

    def _is_input_of(self, op: Any, types: set[str]) -> bool:
        return any(each.type in types for each in self._consumers(op))

    def insert(self, context: str, name: str, producer: Any, init_min: float = 0.0,
               moving_average: bool = True, bits: Any = None, narrow_range: bool = False,
               symmetric: Any = None, by_producer: bool = True,
               by_consumers: bool = False) -> None:
        """Quantizes what an operation gives to its consumers.

        Args:
          context, name: Scope of the variables.
          producer: The operation.
          init_min, moving_average, bits, narrow_range, symmetric: As for
            `fake_quantization.quantized`.
          by_producer, by_consumers: Whether the operation and its consumers have to be in the
            options' scope.

        Raises:
          ValueError: when no consumer takes the result.
        """
        options, consumers = self._options, self._consumers(producer)
        for op in [*([producer] if by_producer else []), *(consumers if by_consumers else ())]:
            if self._scope and not op.name.startswith(self._scope):
                _logger.info("%s/%s is not quantized: %s is not in the scope %s.", context, name,
                             op.name, self._scope)
                return
        prefix, scope = f"{context}/{name}" if context else name, v1.get_default_graph(
        ).get_name_scope()
        if scope and prefix.startswith(f"{scope}/"):
            prefix = prefix[len(scope) + 1:]
        inputs = producer.outputs[0]
        if _is_quantized_later(inputs):
            return
        quant = fake_quantization.quantized(
            inputs, prefix, moving_average, options.is_training,
            bits=options.activation_bits if bits is None else bits, narrow_range=narrow_range,
            symmetric=options.symmetric if symmetric is None else symmetric, init_min=init_min)
        if options.quant_delay and options.quant_delay > 0:
            is_active = tf.greater_equal(fake_quantization.step(), options.quant_delay,
                                         name=f"{prefix}/activate_quant")
            quant = v1.cond(is_active, lambda: quant, lambda: inputs,
                            name=f"{prefix}/delayed_quant")
        if consumers and reroute(quant, inputs, consumers) < len(consumers):
            raise ValueError("No inputs quantized for ops: "
                             f"[{', '.join(each.name for each in consumers)}]")


def _parent(name: str) -> str:
    return name.rpartition("/")[0]


def _is_skipped(op: Any) -> bool:
    return bool(op.name.startswith(("gradients/", "RMSProp/", "Adagrad/", "Const_",
                                    "HistogramSummary", "ScalarSummary")))


def _is_quantized_later(tensor: Any) -> bool:
    """Returns whether a consumer, perhaps after a reshape, is a fake quantization."""
    consumers = list(tensor.consumers())
    while consumers:
        op = consumers.pop()
        if op.type in _FAKE:
            return True
        if op.type in ("Reshape", "Identity"):
            consumers += [each for output in op.outputs for each in output.consumers()]
    return False


def _is_of_quantized(op: Any, done: Any) -> bool:
    """Returns whether an addition or a product has a quantized input, and has to be quantized."""
    if op in done or op.type not in _ADDS:
        return False
    consumers = op.outputs[0].consumers()
    if len(consumers) == 1 and consumers[0].type in _RELUS:
        return False
    for tensor in op.inputs:
        source = tensor.op
        while source.type in _PASSES_ON:
            source = source.inputs[0].op
        if source.type == "FakeQuantWithMinMaxVars" or "delayed_quant/Merge" in source.name:
            return True
        if source.type in _ADDS and any(_is_of_quantized(each.op, done)
                                        for each in source.inputs):
            return True
    return False
