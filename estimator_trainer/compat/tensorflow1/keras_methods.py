"""Methods, an argument and types of Keras' that went after TensorFlow 1.15.

Source: `tf.keras.Sequential`, `tf.keras.layers.Layer.add_update`, `tf.keras.callbacks.History` and
`tf.keras.losses.cosine_proximity` of TensorFlow 1.15's API
"""

from __future__ import annotations

import functools
import importlib
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.tensorflow1.operations.replaced import Make

_PROCESS = "_process_logs"


def supply() -> None:
    """Puts them back."""
    engine = f"{_package()}.src.engine"
    for name in ("base_layer", "base_layer_v1"):
        kind = importlib.import_module(f"{engine}.{name}").Layer
        kind.add_update = _with_inputs(kind.add_update)
    sequential = importlib.import_module(f"{engine}.sequential").Sequential
    sequential.predict_proba, sequential.predict_classes = _probabilities, _classes
    callbacks = importlib.import_module(f"{_package()}.src.callbacks")
    kind = callbacks.CallbackList
    setattr(kind, _PROCESS, _as_computed(getattr(kind, _PROCESS)))
    callbacks.BaseLogger.on_batch_end = _of_doubles(callbacks.BaseLogger.on_batch_end)
    utils = importlib.import_module(f"{engine}.training_utils_v1").MetricsAggregator
    utils.create = _with_a_double(utils.create)


def _with_inputs(newer: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(newer)
    def add_update(self: Any, updates: Any, inputs: Any = None) -> Any:
        return newer(self, updates)  # Keras finds the inputs of an update itself.

    return add_update


def _as_computed(newer: Callable[..., Any]) -> Callable[..., Any]:
    """Gives callbacks the numbers that a model in a graph computed, and not Python's floats."""
    @functools.wraps(newer)
    def process(self: Any, logs: Any, is_batch_hook: bool = False) -> Any:
        if tf.executing_eagerly():
            return newer(self, logs, is_batch_hook)
        return {} if logs is None else logs

    return process


def _with_a_double(newer: Callable[..., Any]) -> Callable[..., Any]:
    """Sums losses in double precision, as numbers of NumPy 1 times a number of samples were."""
    @functools.wraps(newer)
    def create(self: Any, batch_outs: Any) -> None:
        newer(self, batch_outs)
        self.results[0] = np.float64(0)

    return create


def _of_doubles(newer: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(newer)
    def on_batch_end(self: Any, batch: Any, logs: Any = None) -> None:
        newer(self, batch, {
            name: value if name in self.stateful_metrics or not isinstance(value, np.floating)
            else np.float64(value) for name, value in (logs or {}).items()})

    return on_batch_end


def _similarity(newer: Callable[..., Any]) -> Callable[..., Any]:
    def cosine_proximity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
        return -newer(y_true, y_pred, axis)  # Today the nearest vectors have -1.

    return cosine_proximity


def functions() -> dict[str, Make]:
    """Returns the functions that are others under every name, by the names of those today."""
    losses = importlib.import_module(f"{_package()}.src.losses")
    vars(losses).setdefault("cosine_proximity", losses.cosine_similarity)
    return {f"{losses.__name__}.cosine_similarity": _similarity}


def _package() -> str:
    package: str = tf.keras.layers.Layer.__module__.partition(".")[0]
    return package


def _probabilities(self: Any, x: Any, batch_size: int = 32, verbose: int = 0) -> np.ndarray:
    """Returns what the model predicts for samples."""
    found: np.ndarray = self.predict(x, batch_size, verbose)
    return found


def _classes(self: Any, x: Any, batch_size: int = 32, verbose: int = 0) -> np.ndarray:
    """Returns the class of each sample."""
    return classes_of(_probabilities(self, x, batch_size, verbose))


def classes_of(outputs: np.ndarray) -> np.ndarray:
    """Returns the class of each sample: the greatest output's, or whether the one is over 0.5."""
    return outputs.argmax(axis=-1) if outputs.shape[-1] > 1 else (outputs > 0.5).astype("int32")
