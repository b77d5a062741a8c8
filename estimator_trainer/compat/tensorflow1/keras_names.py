"""Layers of Keras name their variables as in TensorFlow 1.15, so that old checkpoints load.

    gru/kernel      the cell of a recurrent layer has no scope; later versions: gru/gru_cell/kernel
    conv_lst_m2d    a layer without a name; later versions: conv_lstm2d

Source: tensorflow/python/keras/layers/recurrent.py and utils/generic_utils.py of TensorFlow 1.15
"""

from __future__ import annotations

import contextlib
import importlib
import re
from types import ModuleType
from typing import Any, Iterator

import tensorflow as tf

# Modules of which each scope is that of a cell.
_WITH_CELLS = ("base_rnn", "stacked_rnn_cells")


class _Backend(ModuleType):
    """Keras' backend, in which a scope changes no names."""

    def __init__(self, backend: ModuleType) -> None:
        super().__init__(backend.__name__)
        vars(self).update(vars(backend))

    @contextlib.contextmanager
    def name_scope(self, name: str) -> Iterator[str]:
        """Does nothing."""
        yield name


def supply() -> None:
    """Gives layers that are built from now on the names of TensorFlow 1.15."""
    package = tf.keras.layers.Layer.__module__.partition(".")[0]
    for name in _WITH_CELLS:
        module: Any = importlib.import_module(f"{package}.src.layers.rnn.{name}")
        backend = _Backend(module.backend)
        # A function of the module, not of the class, as callers look it up.
        vars(backend)["name_scope"] = backend.__class__.name_scope.__get__(backend)
        module.backend = backend
    names: Any = importlib.import_module(f"{package}.src.utils.generic_utils")
    names.to_snake_case = _snake_case


def _snake_case(name: str) -> str:
    """Returns the name of a layer of a class, with `_` before each of the class name's words."""
    words = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    found = re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
    return f"private{found}" if found.startswith("_") else found
