"""Finds a Keras model by name, and converts it to an Estimator's model_fn."""

from __future__ import annotations

from concurrent import futures
import dataclasses
import importlib
import importlib.util
import inspect
import pathlib
import sys
import tempfile
import types
from typing import Any, Callable

import numpy as np
import tensorflow as tf

# Models by their params, so that training, evaluation and export convert each model only once.
_CONVERTED: dict[str, Converted] = {}


class KerasModelError(ValueError):
    """The param `keras_model` names nothing that can be trained on this data."""

    exit_code = 2


@dataclasses.dataclass(frozen=True)
class Converted:
    """A Keras model as an Estimator.

    Attributes:
      name: Value of the param `keras_model`.
      estimator: The Estimator, of which only the model_fn is used.
      inputs: Names of the model's inputs; empty if the model does not know them before a call.
      is_sequential: Whether the model takes one tensor, whatever its name.
      weights: Weights of the model, by the names of the variables in the model_fn's graph; empty
        for a subclass of `tf.keras.Model`, whose copies start from new weights.
    """

    name: str
    estimator: tf.estimator.Estimator
    inputs: tuple[str, ...]
    is_sequential: bool
    weights: dict[str, np.ndarray]

    def named(self, features: Any) -> Any:
        """Returns `features` by the names of the model's inputs.

        Raises:
          KerasModelError: A feature cannot be matched to an input.
        """
        if not isinstance(features, dict) or set(self.inputs) <= set(features) and self.inputs:
            return features
        if len(features) == 1 and (len(self.inputs) == 1 or self.is_sequential):
            [tensor] = features.values()
            return tensor
        if not self.inputs and not self.is_sequential:
            return features
        raise KerasModelError(
            f"keras_model is {self.name!r} (from --param), whose inputs are"
            f" {', '.join(self.inputs) or '(one without a name)'}, but the features of the input_fn"
            f" are {', '.join(sorted(features))}; expected a feature for each input. For example:"
            f" tf.keras.Input(..., name={min(features)!r})")


class _AsChief(tf.estimator.RunConfig):
    """A RunConfig with which every task keeps the weights; Keras keeps only the chief's."""

    @property
    def is_chief(self) -> bool:
        return True


class InitialWeights:
    """Starts the variables of a graph from known values, on any device.

    `model_to_estimator` itself writes a checkpoint to start from. All tasks of a job write it under
    the same name, and the ps read it, so it has to be in the shared model_dir; and it lacks the
    weights that are not trained, such as the averages of batch normalization. Here the chief feeds
    all weights, so no file is shared. With an all-reduce every task runs the initializers again,
    which broadcast the chief's values.
    """

    def __init__(self, weights: dict[str, np.ndarray]):
        """Keeps the values of the variables, by name."""
        self._weights = weights
        self._held: list[tuple[tf.Variable, tf.Tensor]] = []

    def creator(self, next_creator: Callable[..., tf.Variable], **kwargs: Any) -> tf.Variable:
        """Creates a variable whose initial value can be fed; see `tf.variable_creator_scope`."""
        initial_value, values = kwargs["initial_value"], []

        def feedable() -> tf.Tensor:
            value = tf.convert_to_tensor(initial_value(), kwargs.get("dtype"))
            values.append(tf.compat.v1.placeholder_with_default(value, value.shape))
            return values[0]

        if callable(initial_value):
            kwargs = {**kwargs, "initial_value": feedable}
        variable = next_creator(**kwargs)
        self._held += [(variable, value) for value in values]
        return variable

    def assign(self, scaffold: tf.compat.v1.train.Scaffold,
               session: tf.compat.v1.Session) -> None:
        """Sets the variables' values; an `init_fn`, so it runs only without a checkpoint."""
        feed_dict = {value: self._weights[variable.op.name] for variable, value in self._held
                     if variable.op.name in self._weights}
        # A mirrored variable's own `initializer` would add to the graph, which is final by now.
        parts = tf.distribute.get_strategy().experimental_local_results
        session.run([part.initializer for variable, _ in self._held for part in parts(variable)],
                    feed_dict)


@tf.autograph.experimental.do_not_convert
def convert(params: dict[str, Any]) -> Converted:
    """Returns the model that `params["keras_model"]` names, converted once per process.

    Raises:
      KerasModelError: The param names no compiled Keras model.
    """
    key = repr(sorted(params.items()))
    if key not in _CONVERTED:
        # A new thread is outside the graph and the strategy in which the Estimator calls its
        # model_fn, so the model is built and loaded as in the user's own program.
        with futures.ThreadPoolExecutor(1) as executor:
            _CONVERTED[key] = executor.submit(_convert, params).result()
    return _CONVERTED[key]


def _convert(params: dict[str, Any]) -> Converted:
    name = params["keras_model"]
    model = _model(name, params)
    inputs = tuple(getattr(model, "input_names", None) or ())
    # Tasks that convert at the same time must not share the directory.
    with tempfile.TemporaryDirectory(prefix="keras_model-") as folder:
        estimator = tf.keras.estimator.model_to_estimator(
            model, checkpoint_format="saver",
            config=_AsChief(folder, session_config=tf.compat.v1.ConfigProto()))
        path = tf.train.latest_checkpoint(f"{folder}/keras")
        reader = tf.train.load_checkpoint(path) if path else None
        weights = {key: reader.get_tensor(key) for key in reader.get_variable_to_shape_map()
                   } if reader else {}
    return Converted(name, estimator, inputs, isinstance(model, tf.keras.Sequential), weights)


def _model(name: str, params: dict[str, Any]) -> tf.keras.Model:
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
