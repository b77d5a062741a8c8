"""Arguments and defaults of TensorFlow 1.15 that later versions renamed, moved or dropped.

Names of `tf.contrib` take theirs in `compat/contrib/`.

Source: the signatures of TensorFlow 1.15.5
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Mapping, Sequence

import tensorflow as tf

# A function, and the present names of arguments; None for one that has no meaning any more.
RENAMED: dict[str, dict[str, Any]] = {
    "autograph.experimental.set_loop_options": {"back_prop": None},
    "config.experimental.set_virtual_device_configuration":
        {"virtual_devices": "logical_devices"},
    "keras.preprocessing.text.one_hot": {"text": "input_text"},
    "keras.preprocessing.text.text_to_word_sequence": {"text": "input_text"},
    "random.experimental.create_rng_state": {"algorithm": "alg"},
}
# A function or class, the places of its arguments, and defaults that were others.
PLACES: dict[str, tuple[str, dict[str, Any]]] = {
    "keras.losses.BinaryCrossentropy":
        ("from_logits label_smoothing reduction name", {}),
    "keras.losses.CategoricalCrossentropy":
        ("from_logits label_smoothing reduction name", {}),
    "keras.losses.KLDivergence": ("reduction name", {"name": "kullback_leibler_divergence"}),
    "keras.losses.LogCosh": ("reduction name", {"name": "logcosh"}),
    "keras.experimental.LinearModel": (
        "units activation use_bias kernel_initializer bias_initializer kernel_regularizer "
        "bias_regularizer", {"kernel_initializer": "glorot_uniform"}),
    "keras.models.save_model": (
        "model filepath overwrite include_optimizer save_format signatures options", {}),
    "keras.preprocessing.image.apply_affine_transform": (
        "x theta tx ty shear zx zy row_axis col_axis channel_axis fill_mode cval order",
        {"row_axis": 0, "col_axis": 1, "channel_axis": 2}),
}


def supply() -> None:
    """Lets the functions and classes of `tf.compat.v1` take their old arguments."""
    for name, names in RENAMED.items():
        _replace(name, functools.partial(_renaming, names=names))
    for name, (places, defaults) in PLACES.items():
        _replace(name, functools.partial(_placing, places=places.split(), defaults=defaults))
    utils, legacy = tf.compat.v1.keras.utils, _legacy_serialization()
    utils.serialize_keras_object = legacy.serialize_keras_object
    utils.deserialize_keras_object = legacy.deserialize_keras_object
    error = tf.errors.UnknownError
    error.__init__ = _with_code(error.__init__)


def _replace(name: str, change: Callable[[Any], Any]) -> None:
    """Sets a function of `tf.compat.v1`, or the constructor of a class, to a changed one."""
    *packages, last = name.split(".")
    module: Any = functools.reduce(getattr, packages, tf.compat.v1)
    value = getattr(module, last)
    if isinstance(value, type):
        setattr(value, "__init__", change(getattr(value, "__init__")))
    else:
        setattr(module, last, change(value))


def _renaming(function: Any, names: Mapping[str, Any]) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        kept = {names.get(name, name): value for name, value in kwargs.items()
                if names.get(name, name) is not None}
        return function(*args, **kept)

    return call


def _placing(function: Any, places: Sequence[str], defaults: Mapping[str, Any]) -> Any:
    is_method = function.__name__ == "__init__"

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        own, by_place = (args[:1], args[1:]) if is_method else ((), args)
        by_name = dict(zip(places, by_place))
        if len(by_place) > len(places) or by_name.keys() & kwargs.keys():
            return function(*args, **kwargs)  # Python's own error.
        return function(*own, **{**defaults, **by_name, **kwargs})

    return call


def _legacy_serialization() -> Any:
    import importlib
    package = tf.keras.layers.Layer.__module__.partition(".")[0]
    return importlib.import_module(f"{package}.src.saving.legacy.serialization")


def _with_code(construct: Any) -> Any:
    @functools.wraps(construct)
    def constructor(self: Any, node_def: Any, op: Any, message: Any,
                    error_code: int = tf.errors.UNKNOWN) -> None:
        construct(self, node_def, op, message)
        self._error_code = error_code

    return constructor
