"""`tf.contrib.copy_graph`: copies of operations and variables in another graph."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.copy_graph.elements"

NAMES = {name: f"{_HERE}.{name}" for name in (
    "copy_op_to_graph", "copy_variable_to_graph", "get_copied_op")}
