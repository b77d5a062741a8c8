"""What a script gives to `tf.estimator.train_and_evaluate`, in the place of plug-ins."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Callable

from absl import logging
import tensorflow as tf

from estimator_trainer.estimator import given_run_config
from estimator_trainer.estimator import input_fn_adapter
from estimator_trainer.estimator import model_fn_adapter
from estimator_trainer.estimator import strategy
from estimator_trainer.estimator.given_estimator import GivenEstimator
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.estimator.loaded_plugins import ScriptParts
from estimator_trainer.estimator.strategy import Strategies
from estimator_trainer.plan.plan import Plan
from estimator_trainer.settings.trainer_config import TrainerConfig

_NEVER = 10**9


@dataclasses.dataclass(frozen=True)
class GivenExperiment:
    """An Estimator, taken apart, with what it is to be trained and evaluated on.

    Attributes:
      model: The Estimator.
      train_spec: The input, the hooks and the last step of training.
      eval_spec: The input, hooks, exporters and rhythm of evaluation; None for `Estimator.train`.
      asked: The strategies that the command line asks for, or None.
    """

    model: GivenEstimator
    train_spec: tf.estimator.TrainSpec
    eval_spec: tf.estimator.EvalSpec | None
    asked: Strategies | None = None

    @property
    def strategies(self) -> Strategies:
        """The strategies of training and evaluation."""
        config = self.model.config
        return self.asked or Strategies(config.train_distribute, config.eval_distribute)

    def settings(self, config: TrainerConfig, given: frozenset[str]) -> TrainerConfig:
        """Returns the settings with those of the script.

        Args:
          config: The settings of the command line.
          given: The names of those that the command line gives, which win.
        """
        found = {**self._of_run_config(), **self._of_specs(),
                 "train_distribute": strategy.name_of(self.strategies.train),
                 "eval_distribute": strategy.name_of(self.strategies.eval)}
        clocks = {"save_checkpoints_steps", "save_checkpoints_secs"}
        taken = given | clocks if given & clocks else given
        return dataclasses.replace(
            config, **{name: value for name, value in found.items() if name not in taken})

    def load(self, plan: Plan) -> LoadedPlugins:
        """Adapts the functions, as those of plug-ins are adapted."""
        training = self._input_fn(self.train_spec.input_fn, tf.estimator.ModeKeys.TRAIN)
        evaluation = (self._input_fn(self.eval_spec.input_fn, tf.estimator.ModeKeys.EVAL)
                      if self.eval_spec else training)
        return LoadedPlugins(
            model_fn_adapter.adapt(self.model.model_fn, plan.config, plan.task),
            input_fn_adapter.adapt(evaluation, plan, training), self.model.params, None,
            None, given=self.model, script=self._script_parts())

    def _script_parts(self) -> ScriptParts:
        train, evaluation = self.train_spec, self.eval_spec
        parts = ScriptParts(
            self.strategies, tuple(train.hooks or ()), tuple(train.saving_listeners or ()))
        if evaluation is None:
            return parts
        return dataclasses.replace(parts, eval_hooks=tuple(evaluation.hooks or ()),
                                   eval_name=evaluation.name,
                                   exporters=tuple(evaluation.exporters or ()))

    def _of_run_config(self) -> dict[str, Any]:
        config = self.model.config
        if config.device_fn is not None:
            logging.warning("RunConfig.device_fn is not used: this program places variables")
        steps = config.save_checkpoints_steps or 0
        is_by_steps = steps or strategy.name_of(self.strategies.train) == "multi_worker_mirrored"
        return {
            "model_dir": config.model_dir,
            "num_evaluations": 0,
            "save_checkpoints_steps": steps,
            "save_checkpoints_secs": 0 if is_by_steps else int(config.save_checkpoints_secs or 0),
            "keep_checkpoint_max": config.keep_checkpoint_max or 0,
            "save_summary_steps": config.save_summary_steps or _NEVER,
            "log_every_steps": config.log_step_count_steps or 100,
            "seed": config.tf_random_seed or 0}

    def _of_specs(self) -> dict[str, Any]:
        train, evaluation = self.train_spec, self.eval_spec
        found: dict[str, Any] = {"train_steps": train.max_steps or 0}
        if train.hooks or train.saving_listeners:
            logging.info("one step in a session run: the TrainSpec has hooks or saving listeners,"
                         " which may count runs, and use tensors of the model_fn")
            found["steps_per_loop"] = 1
        if evaluation:
            found["eval_steps"] = evaluation.steps or 0
            found["eval_throttle_secs"] = evaluation.throttle_secs
        return found

    def _input_fn(self, function: Callable[..., Any], mode: str) -> Callable[..., Any]:
        """Returns an input_fn of the script that gets what its Estimator gives to it."""
        @functools.wraps(function)
        def input_fn(**passed: Any) -> Any:
            if "config" in passed:
                passed["config"] = given_run_config.of_its_class(
                    passed["config"], self.model.config)
            if "params" in passed:
                passed["params"] = self.model.input_params(mode)
            return function(**passed)

        return input_fn
