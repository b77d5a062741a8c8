"""Any compiled Keras model, through `tf.keras.estimator.model_to_estimator`.

`--param keras_model=my_team.models:build`, or `./my_model.py:build`, names a function without
arguments, or with `params`, that returns a compiled `tf.keras` model; or a variable that is one.
A new run starts from the model's weights (a subclass of `tf.keras.Model`: from new ones), and
trains with the optimizer, loss and metrics that the model was compiled with. Where the classes have
names, a model with one output and a cross-entropy predicts `classes` and `class` beside it. On
TensorFlow 2.16 and newer `tf.keras` means Keras 2.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pathlib
import sys
import types
from typing import Any

import tensorflow as tf

from model_fns.training import class_names, classifier

DEFAULT_PARAMS = {
    **class_names.DEFAULT_PARAMS,
    "keras_model": "model_fns.keras_model:small_cnn",  # MODULE:NAME or FILE.py:NAME
    "num_classes": 0,  # for small_cnn and other functions that take params; 0: from the data
}
DATA = "any features that your Keras model takes"
FIRST_PARAMS = ("keras_model",)


class KerasModelError(ValueError):
    """The param `keras_model` names nothing that can be trained."""

    exit_code = 2


def model_fn(params: dict[str, Any]) -> tf.keras.Model:
    """Returns the compiled model, which takes a feature for each of its inputs, by name.

    A model with one input also takes a dict with one entry of any name, or the tensor alone.

    Args:
      params: See DEFAULT_PARAMS.

    Raises:
      KerasModelError: `keras_model` names no compiled model.
    """
    name = params["keras_model"]
    target, _, attribute = name.rpartition(":")
    found = getattr(_module(name, target), attribute, None) if target else None
    if callable(found) and not isinstance(found, tf.keras.Model):
        takes = inspect.signature(found).parameters
        found = found(params=params) if "params" in takes else found()
    if not isinstance(found, tf.keras.Model) or not getattr(found, "optimizer", None):
        got = ("nothing" if found is None else "an uncompiled model"
               if isinstance(found, tf.keras.Model) else f"a {type(found).__name__}")
        raise KerasModelError(
            f"keras_model is {name!r} (from --param), which gives {got}; expected MODULE:NAME or"
            " FILE.py:NAME of a compiled tf.keras model or a function that returns one. For"
            " example: --param keras_model=./my_model.py:build")
    return found


def small_cnn(params: dict[str, Any]) -> tf.keras.Model:
    """Builds the default: a compiled classifier of gray images of any size.

    Its input is `image`, float32 [batch, height, width, 1]; its output is logits, float32 [batch,
    num_classes]; the target is int64 [batch].
    """
    image = tf.keras.Input((None, None, 1), name="image")
    hidden = tf.keras.layers.Conv2D(32, 3, use_bias=False)(image)
    hidden = tf.keras.layers.BatchNormalization()(hidden)
    hidden = tf.keras.layers.ReLU()(hidden)
    hidden = tf.keras.layers.Conv2D(64, 3, activation="relu")(hidden)
    hidden = tf.keras.layers.GlobalMaxPooling2D()(hidden)
    hidden = tf.keras.layers.Dropout(0.25)(hidden)
    classes = classifier.num_classes(params) if params["num_classes"] else 10
    logits = tf.keras.layers.Dense(classes, name="logits")(hidden)
    model = tf.keras.Model(image, logits)
    model.compile(optimizer=tf.keras.optimizers.legacy.Adam(0.003),
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    return model


def _module(name: str, target: str) -> types.ModuleType:
    try:
        if not target.endswith(".py"):
            return importlib.import_module(target)
        path = pathlib.Path(target).absolute()
        sys.path.append(str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)
        spec.loader.exec_module(module)
        return module
    except (ImportError, OSError) as error:
        raise KerasModelError(
            f"keras_model is {name!r} (from --param), but {target} cannot be imported: {error}."
            ) from error
