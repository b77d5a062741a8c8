"""Rewrites a graph so that it computes as with quantized weights and activations.

Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
Inference", CVPR 2018. The API is that of `tensorflow/contrib/quantize/python/quantize_graph.py` of
TensorFlow 1.15.
"""

from __future__ import annotations

import re
from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.quantize import fused_folding, inserting, unfused_folding

_UPDATES = re.compile("(Resource)?(Sparse)?Apply(Ada|AddSign|Centered|Ftrl|Gradient|Momentum|Power"
                      "|Proximal|RMSProp)")


def create_training_graph(input_graph: Any = None, quant_delay: int = 0) -> None:
    """Rewrites a graph for training, before its optimizer is added.

    Args:
      input_graph: The graph; the default one by default.
      quant_delay: Number of steps after which quantization begins.

    Raises:
      ValueError: when the graph has an optimizer's operations.
    """
    experimental_create_training_graph(input_graph, quant_delay=quant_delay)


def create_eval_graph(input_graph: Any = None) -> None:
    """Rewrites a graph for evaluation and inference.

    Args:
      input_graph: The graph; the default one by default.

    Raises:
      ValueError: when the graph has an optimizer's operations.
    """
    experimental_create_eval_graph(input_graph)


def experimental_create_training_graph(
        input_graph: Any = None, weight_bits: int = 8, activation_bits: int = 8,
        symmetric: bool = False, quant_delay: Any = 0, freeze_bn_delay: Any = None,
        scope: Any = None) -> None:
    """Rewrites a graph for training, before its optimizer is added.

    Args:
      input_graph: The graph; the default one by default.
      weight_bits, activation_bits: Numbers of bits.
      symmetric: Whether 0 is the middle of a range.
      quant_delay: Number of steps after which quantization begins.
      freeze_bn_delay: Number of steps after which batch norm uses its moving averages.
      scope: Beginning of the names of the operations to quantize; all by default.

    Raises:
      ValueError: when the graph has an optimizer's operations.
    """
    _rewrite(input_graph, freeze_bn_delay, inserting.Options(
        True, weight_bits, activation_bits, symmetric, quant_delay, scope))


def experimental_create_eval_graph(
        input_graph: Any = None, weight_bits: int = 8, activation_bits: int = 8,
        symmetric: bool = False, quant_delay: Any = None, scope: Any = None) -> None:
    """Rewrites a graph for evaluation and inference.

    Args:
      input_graph: The graph; the default one by default.
      weight_bits, activation_bits, symmetric, quant_delay, scope: As for training.

    Raises:
      ValueError: when the graph has an optimizer's operations.
    """
    _rewrite(input_graph, None, inserting.Options(
        False, weight_bits, activation_bits, symmetric, quant_delay, scope))


def _rewrite(graph: Any, freeze_bn_delay: Any, options: inserting.Options) -> None:
    graph = graph or tf.compat.v1.get_default_graph()
    updates = {op.type for op in graph.get_operations() if _UPDATES.match(op.type)}
    if updates:
        raise ValueError(f"Training op found in graph, exiting {updates}")
    with graph.as_default():
        fused_folding.fold(graph, freeze_bn_delay)
        unfused_folding.fold(graph, options.is_training, freeze_bn_delay)
        inserting.quantize(graph, options)
