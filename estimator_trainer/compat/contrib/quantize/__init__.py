"""`tf.contrib.quantize`: simulates quantization in a graph."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.quantize"
NAMES = {name: f"{_HERE}.rewriting.{name}" for name in (
    "create_eval_graph", "create_training_graph", "experimental_create_eval_graph",
    "experimental_create_training_graph")}
