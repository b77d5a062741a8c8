"""Takes masks out of a trained graph, and trains with them.

Follows the API of `tensorflow/contrib/model_pruning/python/` (`strip_pruning_vars_lib.py` and
`learning.py`) of TensorFlow 1.15.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import tensorflow as tf

_V1: Any = tf.compat.v1
learning: Any = importlib.import_module("tf_slim.learning")


def strip_pruning_vars_fn(input_graph_def: Any, output_node_names: list[str]) -> Any:
    """Returns a graph of constants, in which masked weights are constants, too."""
    graph, stripped = tf.Graph(), _V1.GraphDef()
    with graph.as_default(), _V1.Session() as session:
        _V1.import_graph_def(input_graph_def, name="")
        for node in input_graph_def.node:
            new = stripped.node.add()
            if "masked_weight" not in node.name:
                new.CopyFrom(node)
                continue
            new.name, new.op = node.name, "Const"
            new.attr["dtype"].CopyFrom(node.attr["T"])
            new.attr["value"].tensor.CopyFrom(
                tf.make_tensor_proto(session.run(f"{node.name}:0")))
    return _V1.graph_util.extract_sub_graph(stripped, output_node_names)


def graph_def_from_checkpoint(checkpoint_dir: str, output_node_names: list[str]) -> Any:
    """Returns the graph of the latest checkpoint in a folder, its variables as constants.

    Raises:
      ValueError: The folder has no checkpoint.
    """
    path = tf.train.latest_checkpoint(checkpoint_dir)
    if path is None:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    saver = _V1.train.import_meta_graph(f"{path}.meta", clear_devices=True)
    with _V1.Session() as session:
        saver.restore(session, path)
        return _V1.graph_util.convert_variables_to_constants(
            session, _V1.get_default_graph().as_graph_def(), output_node_names)


def train(train_op: Any, logdir: str, mask_update_op: Any,
          train_step_fn: Any = learning.train_step, *args: Any, **kwargs: Any) -> Any:
    """Returns the last loss of `tf.contrib.slim.learning.train`, where masks change at each step.

    The arguments after `train_step_fn` are those of slim's function.
    """
    def step(session: Any, *step_args: Any) -> Any:
        found = train_step_fn(session, *step_args)
        session.run(mask_update_op)
        return found

    return learning.train(train_op, logdir, step, *args, **kwargs)


_PARAMETERS = list(inspect.signature(learning.train).parameters.values())
train.__signature__ = inspect.Signature([  # type: ignore[attr-defined]
    *_PARAMETERS[:2], inspect.Parameter("mask_update_op", inspect.Parameter.POSITIONAL_OR_KEYWORD),
    *_PARAMETERS[2:]])
