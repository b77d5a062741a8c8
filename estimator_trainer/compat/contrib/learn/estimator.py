"""The Estimator of `tf.contrib.learn`, which trains a model_fn of ModelFnOps.

Source: tensorflow/contrib/learn/python/learn/estimators/estimator.py of TensorFlow 1.15.
"""

from __future__ import annotations

import copy
import inspect
import os
import tempfile
from typing import Any, Callable, Iterator, Optional

import tensorflow as tf
from tensorflow.python.platform import tf_logging as logging

from estimator_trainer.compat.contrib.learn import (estimator_runs, exports, feeder, metric_spec,
                                                    monitors, run_config, signatures)
from estimator_trainer.compat.contrib.learn.keys import MetricKey, ModeKeys
from estimator_trainer.compat.contrib.learn.model_fn import ModelFnOps
from estimator_trainer.compat.contrib.learn.sklearn_interface import (check_inputs, check_metrics,
                                                                      SKCompat)
from estimator_trainer.compat.tensorflow1.stand_in import GoneError


class NotFittedError(ValueError, AttributeError):
    """A model has no checkpoint."""


class Evaluable:
    """Anything with `model_dir` and `evaluate`."""

    def evaluate(self, x: Any = None, y: Any = None, input_fn: Any = None, feed_fn: Any = None,
                 batch_size: Any = None, steps: Any = None, metrics: Any = None,
                 name: Optional[str] = None, checkpoint_path: Any = None,
                 hooks: Any = None) -> Any:
        """Returns metrics by name."""
        raise NotImplementedError


class Trainable:
    """Anything with `fit`."""

    def fit(self, x: Any = None, y: Any = None, input_fn: Any = None, steps: Any = None,
            batch_size: Any = None, monitors: Any = None, max_steps: Any = None) -> Any:
        """Trains, and returns itself."""
        raise NotImplementedError


class BaseEstimator(Evaluable, Trainable):
    """Trains, evaluates and predicts.

    Args:
      model_dir: Where checkpoints are; a temporary folder by default.
      config: A RunConfig of `tf.contrib.learn`.

    Raises:
      ValueError: model_dir is another one than the config's.
    """

    _Config = run_config.RunConfig

    def __init__(self, model_dir: Optional[str] = None, config: Any = None) -> None:
        config = self._Config() if config is None else config
        if None not in (model_dir, config.model_dir) and model_dir != config.model_dir:
            raise ValueError("model_dir are set both in constructor and RunConfig, but with "
                             f"different values: {model_dir!r} and {config.model_dir!r}.")
        model_dir = model_dir or config.model_dir
        if model_dir is None:
            model_dir = tempfile.mkdtemp()
            logging.warning("Using temporary folder as model directory: %s", model_dir)
        self._model_dir = model_dir
        self._config = config if config.model_dir else config.replace(model_dir=model_dir)
        self._session_config = config.session_config or tf.compat.v1.ConfigProto(
            allow_soft_placement=True)
        self._graph = None
        self._features_info: Any = None
        self._labels_info: Any = None

    @property
    def config(self) -> Any:
        """A copy of the settings."""
        return copy.deepcopy(self._config)

    @property
    def model_dir(self) -> str:
        """Where checkpoints are."""
        return self._model_dir

    @property
    def model_fn(self) -> Callable[..., Any]:
        """A function of features, labels, mode and config."""
        return lambda features, labels, mode, config: self._call_model_fn(
            features, labels, mode, config=config)

    def fit(self, x: Any = None, y: Any = None, input_fn: Any = None, steps: Any = None,
            batch_size: Any = None, monitors: Any = None, max_steps: Any = None) -> Any:
        """Trains from arrays x and y, or from what input_fn returns, and returns the Estimator.

        Args:
          x, y, batch_size: Arrays, and how many examples are in a batch.
          input_fn: A function that returns features and labels.
          steps: How many more steps; None for as many as the input has.
          monitors: Monitors and hooks.
          max_steps: The step at which to end.

        Raises:
          ValueError: inputs come from both, or from nowhere, or both numbers of steps are given.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        check_inputs(x, y, input_fn, None, batch_size)
        if x is not None:
            SKCompat(self).fit(x, y, batch_size, steps, max_steps, monitors)
            return self
        if max_steps is not None and max_steps <= estimator_runs.saved_step(self.model_dir):
            logging.info("Skipping training since max_steps has already saved.")
            return self
        hooks = _hooks(monitors, self)
        if steps is not None or max_steps is not None:
            hooks.append(tf.estimator.StopAtStepHook(steps, max_steps))
        loss = self._train_model(input_fn, hooks)
        logging.info("Loss for final step: %s.", loss)
        return self

    def partial_fit(self, x: Any = None, y: Any = None, input_fn: Any = None, steps: Any = 1,
                    batch_size: Any = None, monitors: Any = None) -> Any:
        """Trains for a step, or for `steps`."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(self, x: Any = None, y: Any = None, input_fn: Any = None, feed_fn: Any = None,
                 batch_size: Any = None, steps: Any = None, metrics: Any = None, name: Any = None,
                 checkpoint_path: Any = None, hooks: Any = None,
                 log_progress: bool = True) -> Any:
        """Returns metrics by name, with `loss` and `global_step`.

        Args:
          x, y, batch_size, input_fn: As in `fit`.
          feed_fn: Returns what is fed at each step.
          steps: How many batches; None for as many as the input has.
          metrics: MetricSpecs by name, or functions of predictions and labels.
          name: Tells evaluations of other data apart.
          checkpoint_path: The checkpoint; the latest by default.
          hooks: Hooks of the evaluation.
          log_progress: Whether the log has each step.

        Raises:
          NotFittedError: there is no checkpoint.
          ValueError: inputs are wrong as in `fit`, or metrics is no dict.
        """
        check_inputs(x, y, input_fn, feed_fn, batch_size)
        if x is not None:
            return SKCompat(self).score(x, y, batch_size, steps, metrics, name)
        check_metrics(metrics)
        return self._evaluate_model(input_fn, steps, feed_fn, metrics, name or "",
                                    checkpoint_path, hooks, log_progress)

    def predict(self, x: Any = None, input_fn: Any = None, batch_size: Any = None,
                outputs: Any = None, as_iterable: bool = True,
                iterate_batches: bool = False) -> Any:
        """Returns an iterator of the predictions of examples, or those of all, or of one batch.

        Args:
          x, batch_size, input_fn: As in `fit`.
          outputs: Which keys of the predictions; None for all.
          as_iterable: Whether to return an iterator.
          iterate_batches: Whether the iterator has batches.

        Raises:
          NotFittedError: there is no checkpoint.
          ValueError: inputs are wrong as in `fit`, or no output is among the predictions.
        """
        check_inputs(x, None, input_fn, None, batch_size)
        if x is not None and not as_iterable:
            return SKCompat(self).predict(x, batch_size, outputs)
        feed_fn = None
        if x is not None:
            fed = feeder.setup_train_data_feeder(x, None, None, batch_size, False, 1)
            input_fn, feed_fn = fed.input_builder, fed.get_feed_dict_fn()
        return self._infer_model(input_fn, feed_fn, outputs, as_iterable, iterate_batches)

    def get_variable_value(self, name: str) -> Any:
        """Returns a variable's value in the latest checkpoint."""
        return tf.train.load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """Returns the names of the latest checkpoint's variables."""
        return [name for name, _ in tf.train.list_variables(self.model_dir)]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns the public attributes that are no functions."""
        return {name: value for name, value in vars(self).items()
                if not name.startswith("_") and not callable(value)}

    def set_params(self, **params: Any) -> Any:
        """Sets public attributes.

        Raises:
          ValueError: there is no such attribute.
        """
        for name, value in params.items():
            if name not in self.get_params():
                raise ValueError(f"Invalid parameter {name} for estimator {type(self).__name__}.")
            setattr(self, name, value)
        return self

    def _call_model_fn(self, features: Any, labels: Any, mode: str, metrics: Any = None,
                       config: Any = None) -> ModelFnOps:
        raise NotImplementedError

    def _latest(self, checkpoint_path: Any = None) -> str:
        path = checkpoint_path or tf.train.latest_checkpoint(self.model_dir)
        if not path:
            raise NotFittedError(f"Couldn't find trained model at {self.model_dir}.")
        return str(path)

    def _train_model(self, input_fn: Any, hooks: Any) -> Any:
        self._graph = tf.Graph()
        return estimator_runs.train(self._graph, self._config, self._session_config, input_fn,
                                    self._get_train_ops, hooks)

    def _evaluate_model(self, input_fn: Any, steps: Any, feed_fn: Any = None, metrics: Any = None,
                        name: str = "", checkpoint_path: Any = None, hooks: Any = None,
                        log_progress: bool = True) -> Any:
        hooks = list(hooks or ())
        if feed_fn:
            hooks.append(tf.estimator.FeedFnHook(feed_fn))
        folder = os.path.join(self.model_dir, f"eval_{name}" if name else "eval")
        return estimator_runs.evaluate(
            self._config, self._session_config, input_fn,
            lambda features, labels: self._get_eval_ops(features, labels, metrics),
            self._latest(checkpoint_path), folder, steps, hooks)

    def _infer_model(self, input_fn: Any, feed_fn: Any = None, outputs: Any = None,
                     as_iterable: bool = True, iterate_batches: bool = False) -> Any:
        batches = estimator_runs.predictions(
            self._config, self._session_config, input_fn, self._get_predict_ops, self._latest(),
            outputs, feed_fn)
        if not as_iterable:
            return next(batches, None)
        return batches if iterate_batches else _examples(batches)

    def _remember(self, features: Any, labels: Any) -> None:
        self._features_info = signatures.check("Features", features, self._features_info)
        self._labels_info = signatures.check("Labels", labels, self._labels_info)

    def _get_train_ops(self, features: Any, labels: Any) -> ModelFnOps:
        self._remember(features, labels)
        return self._call_model_fn(features, labels, ModeKeys.TRAIN)

    def _get_eval_ops(self, features: Any, labels: Any, metrics: Any) -> ModelFnOps:
        self._remember(features, labels)
        found = self._call_model_fn(features, labels, ModeKeys.EVAL, metrics)
        if MetricKey.LOSS not in found.eval_metric_ops:
            found.eval_metric_ops[MetricKey.LOSS] = tf.compat.v1.metrics.mean(found.loss)
        return found

    def _get_predict_ops(self, features: Any) -> ModelFnOps:
        labels = signatures.placeholders(self._labels_info)
        return self._call_model_fn(features, labels, ModeKeys.INFER)


def _hooks(passed: Any, estimator: Any) -> list[Any]:
    return list(monitors.replace_monitors_with_hooks(passed, estimator))


def _examples(batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        if not isinstance(batch, dict):
            yield from batch
            continue
        first = next(iter(batch.values()))
        count = len(first) if hasattr(first, "__len__") else 0
        for index in range(first.dense_shape[0] if hasattr(first, "dense_shape") else count):
            yield {key: value[index] for key, value in batch.items()}


def _arguments(function: Any) -> list[str]:
    bound = getattr(function, "keywords", {})
    return [name for name in inspect.signature(function).parameters if name not in bound]


class Estimator(BaseEstimator):
    """Trains a model_fn.

    Args:
      model_fn: A function of features, labels and, if it has them, mode, params, config and
        model_dir, that returns ModelFnOps, or predictions, loss and train_op.
      model_dir, config: As in BaseEstimator.
      params: Is given to model_fn.
      feature_engineering_fn: A function of features and labels that comes before model_fn.

    Raises:
      ValueError: there are params, and model_fn has no such argument.
    """

    def __init__(self, model_fn: Any = None, model_dir: Optional[str] = None, config: Any = None,
                 params: Any = None, feature_engineering_fn: Any = None) -> None:
        super().__init__(model_dir, config)
        if model_fn is not None and params is not None and "params" not in _arguments(model_fn):
            raise ValueError(f"Estimator's model_fn ({model_fn}) does not have a params argument, "
                             f"but params ({params}) were passed to the Estimator's constructor.")
        self._model_fn = model_fn
        self.params = params
        self._feature_engineering_fn = feature_engineering_fn or (
            lambda features, labels: (features, labels))

    def _call_model_fn(self, features: Any, labels: Any, mode: str, metrics: Any = None,
                       config: Any = None) -> ModelFnOps:
        features, labels = self._feature_engineering_fn(features, labels)
        options = {"mode": mode, "params": self.params, "config": config or self.config,
                   "model_dir": self.model_dir}
        names = set(_arguments(self._model_fn)[2:]) & set(options)
        found = self._model_fn(features, labels, **{name: options[name] for name in names})
        if not isinstance(found, ModelFnOps):
            if len(found) != 3:
                raise ValueError("Unrecognized value returned by model_fn, please return "
                                 "ModelFnOps.")
            found = ModelFnOps(mode, *found)
        if metrics:
            found.eval_metric_ops.update(
                _metric_ops(metrics, features, labels, found.predictions))
        return found

    def export(self, *args: Any, **kwargs: Any) -> Any:
        """Raises a GoneError; the format is older than SavedModel."""
        raise GoneError("Estimator.export went with TensorFlow 1, and nothing reads its files; "
                        "instead, use export_savedmodel.")

    def export_savedmodel(self, export_dir_base: Any, serving_input_fn: Any,
                          default_output_alternative_key: Any = None, assets_extra: Any = None,
                          as_text: bool = False, checkpoint_path: Any = None,
                          graph_rewrite_specs: Any = None,
                          strip_default_attrs: bool = False) -> Any:
        """Writes a SavedModel into a new folder, and returns that.

        Args:
          export_dir_base: The folder of exports.
          serving_input_fn: Returns InputFnOps.
          default_output_alternative_key: Which of the outputs is the default.
          assets_extra: Files to copy, by their places in `assets.extra`.
          as_text: Whether the graph is written as text.
          checkpoint_path: The checkpoint; the latest by default.
          graph_rewrite_specs: None, for transformed graphs went with TensorFlow 1.
          strip_default_attrs: Whether attributes of default values are left out.

        Raises:
          ValueError: there is no serving_input_fn, or the default output is not clear.
          NotFittedError: there is no checkpoint.
        """
        if serving_input_fn is None:
            raise ValueError("serving_input_fn must be defined.")
        return exports.write(
            lambda features: self._call_model_fn(features, None, ModeKeys.INFER),
            self._latest(checkpoint_path), export_dir_base, serving_input_fn,
            default_output_alternative_key, assets_extra, as_text, strip_default_attrs)


def _metric_ops(metrics: Any, features: Any, labels: Any, predictions: Any) -> dict[str, Any]:
    """Returns pairs of a value and an update, by name."""
    only = next(iter(labels.values())) if isinstance(labels, dict) and len(labels) == 1 else labels
    found = {}
    for name, metric in sorted(metrics.items(), key=lambda item: str(item[0])):
        if isinstance(metric, metric_spec.MetricSpec):
            found[name] = metric.create_metric_ops(features, labels, predictions)
        elif isinstance(name, tuple):
            if len(name) != 2 or not isinstance(predictions, dict):
                raise ValueError(f"Invalid metric for {name}; expected a name and a key of the "
                                 f"predictions {predictions}.")
            label = labels[name[1]] if isinstance(labels, dict) and name[1] in labels else only
            found[name[0]] = metric(predictions[name[1]], label)
        elif isinstance(predictions, dict):
            raise ValueError("Metrics passed provide only name, no prediction, but predictions "
                             f"are dict. Metrics: {metrics}, Labels: {only}.")
        else:
            found[name] = metric(predictions, only)
    return found
