"""The size of a model: its layers, and the parameters that training changes."""

from __future__ import annotations

import math
import re
from typing import Any

from absl import logging
import tensorflow as tf

from estimator_trainer import task_events

# A copy of a variable in another replica, and a part of one that lies on several ps.
_REPLICA, _PART = re.compile(r"/replica_\d+"), re.compile(r"/part_\d+$")


class ModelSize(tf.estimator.SessionRunHook):
    """A hook that logs the size of the model that is about to train, and tells it the history."""

    def begin(self) -> None:
        layers = layers_of(tf.compat.v1.trainable_variables())
        parameters = sum(layer["parameters"] for layer in layers)
        logging.info("model: %d layer%s, %s parameters", len(layers), "s" * (len(layers) != 1),
                     f"{parameters:,}")
        task_events.tell("model", {"parameters": parameters, "layers": layers})


def layers_of(variables: list[Any]) -> list[dict[str, Any]]:
    """Returns each layer's `name`, the `shapes` of its variables by name, and its `parameters`.

    A layer is what the variables' names have in common before the last slash, in the order in
    which the model makes them.

    Args:
      variables: The trainable variables of a graph; a mirrored one counts once.
    """
    layers: dict[str, dict[str, Any]] = {}
    for variable in variables:
        name = _PART.sub("", variable.op.name)
        if _REPLICA.search(name):
            continue
        layer_name, _, own = name.rpartition("/")
        layer = layers.setdefault(layer_name or own, {
            "name": layer_name or own, "parameters": 0, "shapes": {}})
        layer["parameters"] += _count(variable)
        layer["shapes"].setdefault(own, variable.shape.as_list() if variable.shape.rank is not None
                                   else None)
    return list(layers.values())


def _count(variable: Any) -> int:
    return math.prod(variable.shape.as_list()) if variable.shape.is_fully_defined() else 0
