"""The Estimator and the specs of a script, in the place of plug-ins."""

import dataclasses
import functools
from typing import Any, Callable

from absl import logging
import tensorflow as tf

from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster import topology
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.errors import ConfigError, Problem
from estimator_trainer.estimator import input_fn_adapter, model_fn_adapter, strategy, user_estimator
from estimator_trainer.estimator.evaluation_sets import LoadedSet
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins, ScriptObjects
from estimator_trainer.settings import intervals
from estimator_trainer.settings.trainer_config import TrainerConfig

_NEVER = 10**9


def eval_specs(passed: Any) -> list[tf.estimator.EvalSpec]:
    """Returns the EvalSpecs that a script passes: one, or a list or a tuple of some, by names.

    The Estimator's own `train_and_evaluate` takes one alone (tensorflow#16087).

    Raises:
      ConfigError: if the list is empty, or names or exporters are not different.
    """
    if isinstance(passed, tf.estimator.EvalSpec) or not isinstance(passed, (list, tuple)):
        return [passed]
    wrong = [each for each in passed if not isinstance(each, tf.estimator.EvalSpec)]
    if wrong or not passed:
        got = f"has a {type(wrong[0]).__name__}" if wrong else "is empty"
        raise ConfigError(f"eval_spec of train_and_evaluate {got}; expected a"
                          " tf.estimator.EvalSpec, or a list of some with different names")
    names = [each.name or "" for each in passed]
    if len(set(names)) < len(names) or not all(names[1:]):
        raise ConfigError(
            f"the EvalSpecs of train_and_evaluate have the names {', '.join(map(repr, names))};"
            " expected different ones, because each names the folder of its events. For example:"
            " tf.estimator.EvalSpec(input_fn, name='recent')")
    exporters = [exporter.name for each in passed for exporter in each.exporters or ()]
    twice = next((name for name in exporters if exporters.count(name) > 1), "")
    if twice:
        raise ConfigError(
            f"the EvalSpecs of train_and_evaluate have two exporters called {twice!r}; expected"
            f" different names, because each exports to export/NAME. For example: '{twice}_recent'")
    return list(passed)


@dataclasses.dataclass(frozen=True)
class ScriptExperiment:
    """An Estimator, taken apart, with its specs of training and evaluation.

    Attributes:
      eval_spec: The EvalSpec; None for `Estimator.train`.
      other_specs: The EvalSpecs of further sets of evaluation data, each with another name.
      chosen: The strategies of the command line, or None.
      user_set: The names of the settings on the command line, which win.
    """

    model: user_estimator.UserEstimator
    train_spec: tf.estimator.TrainSpec
    eval_spec: tf.estimator.EvalSpec | None
    chosen: strategy.Strategies | None = None
    user_set: frozenset[str] = frozenset()
    other_specs: tuple[tf.estimator.EvalSpec, ...] = ()

    @property
    def evaluates(self) -> bool:
        """Whether the script has an EvalSpec."""
        return self.eval_spec is not None

    @property
    def protocol(self) -> str | None:
        """The protocol of the servers; None for the usual one."""
        protocol: str | None = self.model.config.protocol
        return protocol

    @property
    def strategies(self) -> strategy.Strategies:
        """The strategies of training and evaluation."""
        config = self.model.config
        return self.chosen or strategy.Strategies(config.train_distribute, config.eval_distribute)

    def settings(self, config: TrainerConfig, task: TaskConfig) -> TrainerConfig:
        """Returns the settings of the script, overridden by the command line.

        Raises:
          ConfigError: if the script's strategy of evaluation needs several processes.
        """
        found = {**self._own_settings(), "eval_distribute": self._eval_distribute(task)}
        clocks = user_estimator.CLOCKS
        taken = self.user_set | clocks if self.user_set & clocks else self.user_set
        return dataclasses.replace(
            config, **{name: value for name, value in found.items() if name not in taken})

    @property
    def _has_hooks(self) -> bool:
        return bool(self.train_spec.hooks or self.train_spec.saving_listeners)

    def _eval_distribute(self, task: TaskConfig) -> str:
        """Returns the name of the strategy that evaluates in one process."""
        name = strategy.name_of(self.strategies.eval)
        if name in topology.ONE_PROCESS:
            return name
        if task.name == "local":
            return "one_device"  # In one process it has one worker.
        raise ConfigError(Problem(
            "eval_distribute", name, "and this is a cluster", f"one of"
            f" {', '.join(sorted(topology.ONE_PROCESS))}, because evaluation runs in one process",
            "estimator-trainer run --eval_distribute=none", "RunConfig"))

    def problems(self, task: TaskConfig) -> list[str]:
        """Returns why this task's cluster cannot follow the script's RunConfig."""
        if self.model.config.cluster_spec and task.name == "local":
            return ["experimental_distribute.remote_cluster is set (from RunConfig), by which"
                    " one process trains a cluster; expected None, because here each task of the"
                    " cluster runs the script. For example: estimator-trainer launch --worker=1"
                    " -- run SCRIPT"]
        if self.eval_spec is None or not task.has_evaluator or (
                self._script_objects(is_alone=False).saves):
            return []
        return ["save_checkpoints_steps and save_checkpoints_secs are None (from RunConfig), and"
                " TF_CONFIG has an evaluator, which evaluates checkpoints; expected one of them to"
                " be a number. For example: estimator-trainer run --save_checkpoints_steps=100"]

    def load(self, plan: Plan) -> LoadedPlugins:
        """Adapts the functions, as those of plug-ins are adapted."""
        training = self._input_fn(self.train_spec.input_fn, tf.estimator.ModeKeys.TRAIN)
        evaluation = (self._input_fn(self.eval_spec.input_fn, tf.estimator.ModeKeys.EVAL)
                      if self.eval_spec else training)
        return LoadedPlugins(
            model_fn_adapter.adapt(self.model.model_fn, plan.config, plan.task, self._has_hooks),
            input_fn_adapter.adapt(evaluation, plan, training), self.model.params, None,
            None, estimator=self.model, script=self._script_objects(plan.task.name == "local"),
            eval_sets=tuple(self._eval_set(spec, plan, training) for spec in self.other_specs))

    def _eval_set(self, spec: tf.estimator.EvalSpec, plan: Plan,
                  training: Callable[..., Any]) -> LoadedSet:
        function = self._input_fn(spec.input_fn, tf.estimator.ModeKeys.EVAL)
        return LoadedSet(spec.name, input_fn_adapter.adapt(function, plan, training), spec.steps,
                         tuple(spec.hooks or ()), tuple(spec.exporters or ()))

    def _script_objects(self, is_alone: bool) -> ScriptObjects:
        train, evaluation = self.train_spec, self.eval_spec
        # Another strategy may save by steps alone.
        taken = self.user_set | ({"save_checkpoints_secs"} if self.chosen else set())
        of_evaluation: dict[str, Any] = {} if evaluation is None else {
            "eval_hooks": tuple(evaluation.hooks or ()), "eval_name": evaluation.name,
            "exporters": tuple(evaluation.exporters or ())}
        return ScriptObjects(
            self.strategies, tuple(train.hooks or ()), tuple(train.saving_listeners or ()),
            run_config=user_estimator.kept(self.model.config, taken), is_alone=is_alone,
            **of_evaluation)

    def _own_settings(self) -> dict[str, Any]:
        """Returns the settings that the RunConfig and the specs stand for."""
        config, train, evaluation = self.model.config, self.train_spec, self.eval_spec
        steps = config.save_checkpoints_steps or 0
        distribute = strategy.name_of(self.strategies.train)
        is_by_steps = steps or distribute == "multi_worker_mirrored"
        found: dict[str, Any] = {
            "train_distribute": distribute, "train_steps": train.max_steps or 0,
            "model_dir": config.model_dir, "num_evaluations": 0, "save_checkpoints_steps": steps,
            "save_checkpoints_secs": 0 if is_by_steps else int(config.save_checkpoints_secs or 0),
            "keep_checkpoint_max": config.keep_checkpoint_max or 0,
            "keep_checkpoint_every_n_hours": float(config.keep_checkpoint_every_n_hours),
            "save_summary_steps": config.save_summary_steps or _NEVER,
            # The RunConfig's default leaves the history to follow the length of the run.
            "log_every_steps": (0 if config.log_step_count_steps in (None, intervals.LOG_STEPS)
                                else config.log_step_count_steps),
            "seed": config.tf_random_seed or 0}
        if self._has_hooks:
            logging.info("one step in a session run: the TrainSpec has hooks or saving listeners,"
                         " which may count runs, and use tensors of the model_fn")
            found["steps_per_loop"] = 1
        if evaluation:
            found["eval_steps"] = evaluation.steps or 0
            found["eval_throttle_secs"] = evaluation.throttle_secs
        return found

    def _input_fn(self, function: Callable[..., Any], mode: str) -> Callable[..., Any]:
        """Returns an input_fn of the script that receives its Estimator's config and params."""
        @functools.wraps(function)
        def input_fn(**passed: Any) -> Any:
            if "config" in passed:
                passed["config"] = user_estimator.of_its_class(passed["config"], self.model.config)
            if "params" in passed:
                passed["params"] = self.model.input_params(mode)
            return function(**passed)

        return input_fn
