"""A compiled Keras model as a model_fn, through `tf.keras.estimator.model_to_estimator`.

Training starts from the weights that the model has in the chief: all of them, those that are not
trained included. TensorFlow's own Estimator of a Keras model warm-starts from a checkpoint in the
chief's model_dir, which holds for trainable variables alone, and each ps reads that checkpoint.
"""

from __future__ import annotations

import contextlib
import os.path
import sys
import tempfile
import traceback
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np
import tensorflow as tf

from estimator_trainer import environment, errors

ModelFn = Callable[..., tf.estimator.EstimatorSpec]
_OF_CLASSES = ("sparse_categorical_crossentropy", "categorical_crossentropy")
_OF_TWO_CLASSES = "binary_crossentropy"


def is_model(thing: Any) -> bool:
    """Returns whether `thing` is a Keras model, or a class of such models."""
    kind = thing if isinstance(thing, type) else type(thing)
    return issubclass(kind, tf.keras.Model) or (
        _is_of_keras_3(kind) and any(each.__name__ == "Model" for each in kind.__mro__))


def model_fn_of(model: tf.keras.Model, name: str, class_names: Sequence[str] = ()) -> ModelFn:
    """Returns a model_fn that makes a copy of a model in the current graph.

    The model takes a dict of features by the names of its inputs, or a single feature. Checkpoints
    have the variables' names, as with other Estimators: an object's checkpoint needs a Saver that
    no loop can have. `name` is the value of --model_fn. With `class_names` a classifier predicts
    the number and the name of the class too.

    Raises:
      ConfigError: if the model is one of Keras 3, is not compiled, or cannot be copied.
    """
    if _is_of_keras_3(type(model)):
        raise _refused(name)
    if not getattr(model, "optimizer", None):
        raise errors.ConfigError(
            errors.Problem("model_fn", name, "a Keras model that is not compiled",
                           "one with an optimizer, a loss and metrics", 'model.compile("adam",'
                           ' loss="sparse_categorical_crossentropy", metrics=["accuracy"])'))
    try:
        convert = _converted if _input_names(model) else _made_in_a_graph
        estimator, weights = convert(model)
    except (ValueError, NotImplementedError) as error:
        raise errors.ConfigError(
            errors.Problem("model_fn", name,
                           f"a Keras model of which no Estimator can be made: {error}",
                           example='def get_config(self): return {"units": self.units}')) from error

    def model_fn(features: Any, labels: Any, mode: str,
                 config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        initial = _InitialWeights(weights if mode == tf.estimator.ModeKeys.TRAIN else {})
        features = _features_of(model, features, name)
        with tf.variable_creator_scope(initial.create):
            spec = estimator.model_fn(features, labels, mode, config)
        if spec.loss is not None:
            # Keras divides the loss of each replica by their number, to add them up.
            spec = spec._replace(loss=spec.loss * tf.distribute.get_strategy().num_replicas_in_sync)
        if mode == tf.estimator.ModeKeys.PREDICT and class_names:
            spec = _with_classes(spec, model.loss, class_names)
        return spec._replace(scaffold=initial.scaffold)

    return model_fn


class _InitialWeights:
    """The weights, by name, that the variables of a graph start from, on any device.

    The chief feeds them to the initializers, so tasks share no file. Under an all-reduce every task
    runs the initializers again, which pass on the chief's values. Without weights nothing changes.
    """

    def __init__(self, weights: Mapping[str, np.ndarray]):
        self._weights = weights
        self._fed: list[tuple[tf.Variable, tf.Tensor]] = []

    @property
    def scaffold(self) -> tf.compat.v1.train.Scaffold | None:
        """The Scaffold that assigns the weights where there is no checkpoint."""
        return tf.compat.v1.train.Scaffold(init_fn=self._assign) if self._weights else None

    def create(self, next_creator: Callable[..., tf.Variable], **kwargs: Any) -> tf.Variable:
        """Makes a variable that starts from its weight, as a creator of variables."""
        initial_value: Any = kwargs.get("initial_value")
        values: list[tf.Tensor] = []

        def fed() -> tf.Tensor:
            value = tf.convert_to_tensor(initial_value(), kwargs.get("dtype"))
            values.append(tf.compat.v1.placeholder_with_default(value, value.shape))
            return values[-1]

        if self._weights and callable(initial_value):
            kwargs = {**kwargs, "initial_value": fed}
        variable = next_creator(**kwargs)
        self._fed += [(variable, value) for value in values]
        return variable

    def _assign(self, scaffold: tf.compat.v1.train.Scaffold, session: tf.compat.v1.Session) -> None:
        feed_dict = {value: self._weights[variable.op.name] for variable, value in self._fed
                     if variable.op.name in self._weights}
        # The initializer of a mirrored variable would be a new operation, and the graph is final.
        parts = tf.distribute.get_strategy().experimental_local_results
        session.run([part.initializer for variable, _ in self._fed for part in parts(variable)],
                    feed_dict)


def _with_classes(spec: tf.estimator.EstimatorSpec, loss: Any,
                  names: Sequence[str]) -> tf.estimator.EstimatorSpec:
    """Returns the spec with `classes` and `class`, if the loss is one of classes."""
    if len(spec.predictions) != 1:
        return spec
    [output] = spec.predictions.values()
    shape, of_loss = output.shape.as_list()[1:], getattr(loss, "name", loss)
    if shape == [len(names)] and of_loss in _OF_CLASSES:
        classes = tf.argmax(output, axis=-1)
    elif shape == [1] and len(names) == 2 and of_loss == _OF_TWO_CLASSES:
        is_second = output[:, 0] > (0.0 if getattr(loss, "from_logits", False) else 0.5)
        classes = tf.cast(is_second, tf.int64)
    else:
        return spec
    predictions = {"classes": classes, **spec.predictions,
                   "class": tf.gather([tf.compat.as_bytes(name) for name in names], classes)}
    return spec._replace(predictions=predictions, export_outputs=dict.fromkeys(
        spec.export_outputs, tf.estimator.export.PredictOutput(predictions)))


def _features_of(model: tf.keras.Model, features: Any, name: str) -> Any:
    """Returns the features as the model takes them: a dict, or the only one in it.

    Raises:
      ConfigError: if it is not clear which feature is which input.
    """
    inputs = _input_names(model)
    if not isinstance(features, dict) or inputs and set(inputs) <= features.keys():
        return features
    if len(features) == 1 and (len(inputs) == 1 or not inputs and not _takes_dict(model, features)):
        return next(iter(features.values()))
    if not inputs:
        return features
    raise errors.ConfigError(errors.Problem(
        "model_fn", name, f"a Keras model whose inputs are {', '.join(inputs)}, but the features of"
        f" the input_fn are {', '.join(sorted(map(str, features)))}", "a feature for each input",
        f"tf.keras.Input(..., name={min(map(str, features))!r})"))


def _input_names(model: tf.keras.Model) -> tuple[str, ...]:
    """Returns the names of the inputs; none where the model is of a class of the user's own."""
    return tuple(getattr(model, "input_names", None) or ())


def _converted(model: tf.keras.Model) -> tuple[tf.estimator.Estimator, dict[str, np.ndarray]]:
    """Returns the Estimator of a model, and the model's weights by their names in a graph."""
    with environment.no_cluster(), tempfile.TemporaryDirectory() as folder:
        estimator = tf.keras.estimator.model_to_estimator(
            model, model_dir=folder, checkpoint_format="saver")
        path = tf.train.latest_checkpoint(os.path.join(folder, "keras"))
        if path is None:
            return estimator, {}
        reader = tf.train.load_checkpoint(path)
        return estimator, {name: reader.get_tensor(name)
                           for name in reader.get_variable_to_shape_map()}


def _made_in_a_graph(model: tf.keras.Model
                     ) -> tuple[tf.estimator.Estimator, dict[str, np.ndarray]]:
    """Returns the Estimator of a model of the user's own class, with new weights.

    An Estimator cannot copy such a model into its graph unless the model was made in one.
    """
    optimizer = tf.keras.__internal__.optimizers.convert_to_legacy_optimizer(model.optimizer)
    settings = {name: tf.keras.saving.deserialize_keras_object(value)
                for name, value in model.get_compile_config().items()
                if name in ("metrics", "loss_weights") and value is not None}
    with tf.Graph().as_default():
        made = type(model).from_config(model.get_config())
        made.compile(optimizer, model.loss, **settings)
        return _converted(made)


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


def _is_of_keras_3(kind: type) -> bool:
    return bool(_version()) and any(
        each.__module__.partition(".")[0] == "keras" for each in kind.__mro__)


@contextlib.contextmanager
def checked(name: str) -> Iterator[None]:
    """Raises ConfigError if Keras 3 makes a variable within, in the current graph, or an error.

    `name` is the value of --model_fn.
    """
    before = len(tf.compat.v1.global_variables())
    try:
        yield
    except errors.TrainerError:
        raise
    except Exception as error:
        trace = traceback.extract_tb(error.__traceback__)
        if _version() and trace and trace[-1].filename.startswith(_folder()):
            raise _refused(name) from error
        raise
    if _version() and any(map(_is_made_there, tf.compat.v1.global_variables()[before:])):
        raise _refused(name)


def _refused(name: str) -> errors.ConfigError:
    return errors.ConfigError(errors.Problem(
        "model_fn", name, f"and its model is made with Keras {_version()} (`import keras`)",
        "Keras 2, which Estimator is written for", "import tensorflow as tf, then"
        " tf.keras.layers.Dense, or import tf_keras as keras"))


def _version() -> str:
    """Returns the version of the imported `keras` if it is Keras 3 or later, else ""."""
    version = str(getattr(sys.modules.get("keras"), "__version__", ""))
    return version if version and int(version.partition(".")[0]) > 2 else ""


def _is_made_there(variable: tf.Variable) -> bool:
    handle = getattr(variable, "handle", variable)
    frames = getattr(getattr(handle, "op", None), "traceback", None) or ()
    return any(frame.filename.startswith(_folder()) for frame in frames)


def _folder() -> str:
    return os.path.dirname(str(sys.modules["keras"].__file__)) + os.sep
