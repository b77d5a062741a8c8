"""`tf.contrib.graph_editor`: the walks through a graph, which TensorFlow itself still has."""

from __future__ import annotations

_HOME = "tensorflow.python.ops.op_selector"

NAMES = {name: f"{_HOME}.{name}" for name in (
    "get_backward_walk_ops", "get_consuming_ops", "get_generating_ops", "get_tensors",
    "make_list_of_op", "make_list_of_t")}
DEFAULT = "copy it from TensorFlow 1.15's tensorflow/contrib/graph_editor, under its Apache license"
