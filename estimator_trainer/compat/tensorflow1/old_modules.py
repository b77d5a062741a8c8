"""Finds the present module for a module in a package of `tf.contrib`.

Programs and tests import private names, or whole modules, by the folders in which TensorFlow 1 had
them: `tensorflow.contrib.slim.python.slim.nets.resnet_v1`.
"""

from __future__ import annotations

import functools
import importlib
from importlib import util
from types import ModuleType
from typing import Any, Optional

from estimator_trainer.compat import contrib as tables

# Packages that moved as they were; the modules in them kept their names.
_MOVED = {
    "estimator.python.estimator": "tensorflow_estimator.python.estimator",
    "framework.python.framework": "tf_slim.ops",
    "framework.python.ops": "tf_slim.ops",
    "layers.python.layers": "tf_slim.layers",
    "learn.python.learn.datasets.mnist":
        "estimator_trainer.compat.tensorflow1.tutorials.input_data",
    "losses.python.losses": "tf_slim.losses",
    "losses.python.metric_learning": "tf_slim.losses",
    "metrics.python.metrics": "tf_slim.metrics",
    "metrics.python.ops": "tf_slim.metrics",
    "slim.nets": "tf_slim.nets",
    "slim.python.slim": "tf_slim",
    "training.python.training": "tf_slim.training",
}


def look_up(full_name: str) -> Any:
    """Returns what the present module has by the last part of a name; None without one."""
    module, _, name = full_name.rpartition(".")
    for home in _homes(module):
        value = getattr(importlib.import_module(home), name, None)
        if value is not None and not isinstance(value, ModuleType):
            return value
    return None


@functools.lru_cache(maxsize=None)
def _homes(module: str) -> tuple[str, ...]:
    """Returns the present modules of an old one; what this project wrote comes first."""
    path = module.split(".", 2)[2]
    package, _, inner = path.partition(".")
    found = [f"{tables.__name__}.{package}.{inner.rpartition('.')[2]}"]
    for old, new in _MOVED.items():
        if path == old or path.startswith(f"{old}."):
            found.append(new + path.removeprefix(old))
    return tuple(home for home in found if _exists(home) is not None)


def _exists(home: str) -> Optional[Any]:
    try:
        return util.find_spec(home)
    except ModuleNotFoundError:
        return None
