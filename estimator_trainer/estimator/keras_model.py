"""A compiled Keras model, made an Estimator of, whose parts are then taken."""

from __future__ import annotations

import atexit
import contextlib
import os.path
import shutil
import sys
import tempfile
from typing import Any, Iterator

import tensorflow as tf

from estimator_trainer import errors


def is_model(thing: Any) -> bool:
    """Returns whether `thing` is a Keras model, or a class of such models."""
    if of_keras_3(thing):
        return any(each.__name__ == "Model" for each in getattr(thing, "__mro__", ())
                   or type(thing).__mro__)
    return isinstance(thing, tf.keras.Model) or (
        isinstance(thing, type) and issubclass(thing, tf.keras.Model))


def estimator_of(model: tf.keras.Model, name: str) -> tf.estimator.Estimator:
    """Returns the Estimator of a model.

    It starts from the weights that the model has. Checkpoints have the variables' names, as those
    of other Estimators do, for an object's checkpoint needs a Saver that no loop can have.

    Args:
      model: The model. It takes a dict of features by the names of its inputs, or a single feature.
      name: What --model_fn is.

    Raises:
      ConfigError: if the model is one of Keras 3, is not compiled, or cannot be copied.
    """
    if of_keras_3(model):
        raise refused(name)
    if not getattr(model, "optimizer", None):
        raise errors.ConfigError(
            f"model_fn is {name!r} (from --model_fn), a Keras model that is not compiled; expected"
            " one with an optimizer, a loss and metrics. For example: model.compile(\"adam\","
            " loss=\"sparse_categorical_crossentropy\", metrics=[\"accuracy\"])")
    # It is no directory of the job: this one keeps the weights of this process alone.
    folder = tempfile.mkdtemp(prefix="estimator_trainer-keras-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        if _input_names(model):
            return _converted(model, folder)
        return _made_in_a_graph(model, folder)
    except (ValueError, NotImplementedError) as error:
        raise errors.ConfigError(
            f"model_fn is {name!r} (from --model_fn), a Keras model of which no Estimator can be"
            f" made: {error} For example: def get_config(self): return"
            " {\"units\": self.units}") from error


def features_of(model: tf.keras.Model, features: Any) -> Any:
    """Returns the features as the model takes them: a dict, or the only one in it."""
    if not isinstance(features, dict) or len(features) != 1:
        return features
    [(name, only)] = features.items()
    inputs = _input_names(model)
    if inputs:
        return only if len(inputs) == 1 and name not in inputs else features
    return features if _takes_dict(model, features) else only


def _input_names(model: tf.keras.Model) -> tuple[str, ...]:
    """Returns the names of the inputs; none where the model is of a class of the user's own."""
    return tuple(getattr(model, "input_names", None) or ())


def _converted(model: tf.keras.Model, folder: str) -> tf.estimator.Estimator:
    return tf.keras.estimator.model_to_estimator(
        model, model_dir=folder, checkpoint_format="saver")


def _made_in_a_graph(model: tf.keras.Model, folder: str) -> tf.estimator.Estimator:
    """Returns the Estimator of a model of a class of the user's own.

    It cannot be copied into a graph, as an Estimator does, unless it was made in one.
    """
    optimizer = tf.keras.__internal__.optimizers.convert_to_legacy_optimizer(model.optimizer)
    settings = {name: tf.keras.saving.deserialize_keras_object(value)
                for name, value in model.get_compile_config().items()
                if name in ("metrics", "loss_weights") and value is not None}
    with tf.Graph().as_default():
        made = type(model).from_config(model.get_config())
        made.compile(optimizer, model.loss, **settings)
        return _converted(made, folder)


def _takes_dict(model: tf.keras.Model, features: dict[str, Any]) -> bool:
    """Tries a model of a class of the user's own, which has no names of inputs."""
    with tf.Graph().as_default():
        stand_ins = {name: tf.compat.v1.placeholder(feature.dtype, feature.shape)
                     for name, feature in features.items()}
        try:
            type(model).from_config(model.get_config())(stand_ins)
        except Exception:
            return False
    return True


def of_keras_3(thing: Any) -> bool:
    """Returns whether a model, or its class, is one of Keras 3."""
    kind = thing if isinstance(thing, type) else type(thing)
    return bool(_version()) and any(
        each.__module__.partition(".")[0] == "keras" for each in kind.__mro__)


@contextlib.contextmanager
def checked(name: str) -> Iterator[None]:
    """Refuses what is made within, in the current graph, if Keras 3 makes a part of it.

    Args:
      name: What --model_fn is.

    Raises:
      ConfigError: if Keras 3 made a variable, or an error.
    """
    before = len(_variables()) if _version() else 0
    try:
        yield
    except errors.TrainerError:
        raise
    except Exception as error:
        if _version() and _is_raised_there(error):
            raise refused(name) from error
        raise
    if _version() and any(_is_made_there(variable) for variable in _variables()[before:]):
        raise refused(name)


def refused(name: str) -> errors.ConfigError:
    """Returns the error that refuses the model that --model_fn names."""
    return errors.ConfigError(
        f"model_fn is {name!r} (from --model_fn), and its model is made with Keras {_version()}"
        " (`import keras`); expected Keras 2, which Estimator is written for. For example: import"
        " tensorflow as tf, then tf.keras.layers.Dense, or import tf_keras as keras")


def _version() -> str:
    """Returns the version of the imported `keras` if it is Keras 3 or later, else ""."""
    version = str(getattr(sys.modules.get("keras"), "__version__", ""))
    return version if version and int(version.partition(".")[0]) > 2 else ""


def _variables() -> list[tf.Variable]:
    return tf.compat.v1.global_variables()


def _is_made_there(variable: tf.Variable) -> bool:
    handle = getattr(variable, "handle", variable)
    frames = getattr(getattr(handle, "op", None), "traceback", None) or ()
    return any(frame.filename.startswith(_folder()) for frame in frames)


def _is_raised_there(error: BaseException) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(_folder())


def _folder() -> str:
    return os.path.dirname(str(sys.modules["keras"].__file__)) + os.sep
