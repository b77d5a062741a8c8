"""A given Estimator: one that the user's code made, taken apart to be trained here.

Its model_fn runs in an Estimator of this program (`builder.py`), which has this program's roles,
hooks and loop over steps. The user's object itself never trains, so nothing has to be replaced
in it.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any, Callable
import weakref

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.estimator import user_run_config
from estimator_trainer.patches import private_api

_TPUEstimator = tf.compat.v1.estimator.tpu.TPUEstimator
_KerasOptimizer = tf.keras.optimizers.legacy.Optimizer


@dataclasses.dataclass(frozen=True)
class GivenEstimator:
    """The parts of an Estimator.

    Attributes:
      model_fn: Takes features, labels, mode, params and config, by name, and returns an
        EstimatorSpec. It is for `model_fn_adapter.adapt`.
      params: What the Estimator's functions get as `params`, such as a dict or HParams.
      config: The Estimator's RunConfig.
      warm_start: What a fresh run starts from, or None.
      input_params: Takes a mode, and optionally other params than the Estimator's. It returns a
        copy for an input_fn in that mode, which a TPUEstimator gives a `batch_size`. It is called
        in the graph that the input_fn fills: by that a TPUEstimator's model_fn tells prediction
        from export, where it gets no `batch_size`.
    """

    model_fn: Callable[..., tf.estimator.EstimatorSpec]
    params: Any
    config: tf.estimator.RunConfig
    warm_start: tf.estimator.WarmStartSettings | None
    input_params: Callable[..., Any]


def take_apart(estimator: tf.estimator.Estimator) -> GivenEstimator:
    """Returns the parts of `estimator`, be it canned, of a Keras model, or a TPUEstimator.

    Raises:
      ConfigError: if it wants a TPU.
    """
    if isinstance(estimator, _TPUEstimator):
        parts: _Parts = _TPUParts(estimator)
    else:
        parts = _Parts(estimator)
    return GivenEstimator(parts.model_fn, estimator.params, estimator.config,
                          private_api.part(estimator, "_warm_start_settings"), parts.input_params)


class _Parts:
    """The functions of an Estimator."""

    def __init__(self, estimator: tf.estimator.Estimator):
        self._estimator = estimator
        # A canned Estimator keeps an optimizer that it was given in its model_fn. One of Keras can
        # be used in one graph alone, and there are several, be it that a loop was tried first.
        cells = getattr(private_api.part(estimator, "_model_fn"), "__closure__", None) or ()
        self._optimizers = [(cell, copy.deepcopy(cell.cell_contents)) for cell in cells
                            if isinstance(cell.cell_contents, _KerasOptimizer)]

    def model_fn(self, features: Any, labels: Any, mode: str, params: Any,
                 config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        for cell, unused in self._optimizers:
            cell.cell_contents = copy.deepcopy(unused)
        # The Estimator's own way to call the user's function; a copy has other params.
        bound = copy.copy(self._estimator)
        private_api.set_part(bound, "_params", params)
        return bound.model_fn(features, labels, mode, user_run_config.of_its_class(
            config, self._estimator.config))

    def input_params(self, mode: str, params: Any = None) -> Any:
        return self._estimator.params if params is None else copy.deepcopy(params)


class _TPUParts(_Parts):
    """The functions of a TPUEstimator that runs without TPU."""

    def __init__(self, estimator: tf.estimator.Estimator):
        super().__init__(estimator)
        self._context = private_api.part(estimator, "_ctx")
        self._graphs_with_input: weakref.WeakSet[tf.Graph] = weakref.WeakSet()
        if private_api.part(self._context, "_use_tpu"):
            raise errors.ConfigError(
                "TPUEstimator has use_tpu=True (from its constructor, where it is the default), and"
                " this program trains on CPUs and GPUs. For example: use_tpu=False")

    def model_fn(self, features: Any, labels: Any, mode: str, params: Any,
                 config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        # Without this mark, which its own way to call input_fns leaves, it exports.
        private_api.set_part(
            self._estimator, "_is_input_fn_invoked", mode != tf.estimator.ModeKeys.PREDICT or
            tf.compat.v1.get_default_graph() in self._graphs_with_input)
        spec = super().model_fn(features, labels, mode, params, config)
        # It adds a hook of its own as the last one. The speed is logged here without, and a hook
        # keeps a model out of the loop over steps.
        hooks = spec.training_hooks
        if hooks and type(hooks[-1]) is private_api.examples_hook():
            spec = spec._replace(training_hooks=hooks[:-1])
        return spec

    def input_params(self, mode: str, params: Any = None) -> Any:
        params = super().input_params(mode, params)
        self._graphs_with_input.add(tf.compat.v1.get_default_graph())
        with self._context.with_mode(mode) as context:
            batch_size = context.batch_size_for_input_fn
        if batch_size is not None:
            add_param(params, "batch_size", batch_size)
        return params


def add_param(params: Any, key: str, value: Any) -> None:
    """Adds an item to params, or replaces it, as TPUEstimator does: in a dict or in HParams."""
    if not hasattr(params, "set_hparam"):
        params[key] = value
    elif key in params:
        params.set_hparam(key, value)
    else:
        params.add_hparam(key, value)
