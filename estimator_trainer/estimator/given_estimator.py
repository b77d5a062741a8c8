"""An Estimator that the user made, taken apart, for this program to train its model."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import tensorflow as tf

from estimator_trainer.compat import estimator_objects
from estimator_trainer.compat import private_api


@dataclasses.dataclass(frozen=True)
class GivenEstimator:
    """What an Estimator was made of.

    Attributes:
      estimator: The Estimator, whose own methods are not called.
      model_fn: Its model_fn, with the arguments features, labels, mode, params and config; the
        params are those that the Estimator was made with.
      params: The params of model_fn and input_fn: a dict, or an object with attributes.
      config: The RunConfig, with the model_dir.
      warm_start: The WarmStartSettings, or None.
    """

    estimator: tf.estimator.Estimator
    model_fn: Callable[..., tf.estimator.EstimatorSpec]
    params: Any
    config: tf.estimator.RunConfig
    warm_start: tf.estimator.WarmStartSettings | None

    def input_params(self, mode: str) -> Any:
        """Returns the params of an input_fn; a TPUEstimator adds the mode's batch size."""
        params = self.estimator.params
        batch_size = estimator_objects.tpu_batch_size(self.estimator, mode)
        if batch_size is None:
            return params
        if hasattr(params, "add_hparam"):
            params.add_hparam("batch_size", batch_size)
            return params
        return {**params, "batch_size": batch_size}


def take_apart(estimator: tf.estimator.Estimator) -> GivenEstimator:
    """Takes an Estimator apart: of any class of TensorFlow's, of TensorFlow 1 or 2."""
    public = estimator.model_fn

    def model_fn(features: Any, labels: Any, mode: str, params: Any,
                 config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        spec = public(features, labels, mode, config)
        # A TPUEstimator reports its speed by a hook, as this program does without one.
        hooks = [hook for hook in spec.training_hooks or () if not private_api.is_tpu_hook(hook)]
        return spec._replace(training_hooks=hooks)

    return GivenEstimator(estimator, model_fn, estimator.params, estimator.config,
                          estimator_objects.warm_start_of(estimator))
