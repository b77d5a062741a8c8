"""The Keras of a model: an Estimator trains models of Keras 2, and those of Keras 3 are told apart.

Keras 3 counts its layers for the whole process, so a model has other variable names in each graph,
and its checkpoints cannot be evaluated. Its optimizers and its batch norm make no train op.
"""

from __future__ import annotations

import contextlib
import os.path
import sys
from typing import Any, Iterator

import tensorflow as tf

from estimator_trainer import errors


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
