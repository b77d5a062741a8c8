"""An Estimator, its two inputs, and how it is trained and evaluated; and what runs that.

Source: tensorflow/contrib/learn/python/learn/experiment.py and learn_runner.py of TensorFlow 1.15.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import time
from typing import Any, Callable, Optional

import tensorflow as tf
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.training import server_lib

from estimator_trainer.compat.contrib.learn import monitors
from estimator_trainer.compat.contrib.learn.estimator import Evaluable, Trainable
from estimator_trainer.compat.contrib.learn.exports import ExportStrategy
from estimator_trainer.compat.contrib.learn.keys import Environment, TaskType
from estimator_trainer.compat.contrib.learn.run_config import RunConfig

_WARN_EVERY_SECS = 600


class _EvalAndExport(tf.estimator.CheckpointSaverListener):
    """Evaluates and exports each checkpoint as it is saved."""

    def __init__(self, evaluate: Callable[..., Any], export: Callable[..., Any],
                 model_dir: str) -> None:
        self._evaluate, self._export, self._model_dir = evaluate, export, model_dir
        self._latest: Any = None
        self.eval_result: Any = None
        self.export_results: Any = None

    def after_save(self, session: Any, global_step_value: int) -> None:
        latest = tf.train.latest_checkpoint(self._model_dir)
        if latest and latest != self._latest:
            self._latest = latest
            self.eval_result = self._evaluate(name="intermediate_export", checkpoint_path=latest)
            self.export_results = self._export(self.eval_result, checkpoint_path=latest)


class Experiment:
    """An Estimator of `tf.contrib.learn` or `tf.estimator`, and what it is trained with.

    Args:
      estimator: The Estimator.
      train_input_fn, eval_input_fn: Functions that return features and labels.
      eval_metrics: Metrics, as `Estimator.evaluate` of `tf.contrib.learn` takes them.
      train_steps, eval_steps: How many; None for as many as the input has.
      train_monitors, eval_hooks: Monitors and hooks.
      local_eval_frequency: min_eval_frequency of `local_run`.
      eval_delay_secs, continuous_eval_throttle_secs: Seconds before the first evaluation, and
        between two.
      min_eval_frequency: Steps between two looks for a checkpoint while it trains; 0 for none.
      delay_workers_by_global_step: Whether workers wait for steps rather than seconds.
      export_strategies: An ExportStrategy, or several.
      train_steps_per_iteration: Steps between evaluations of `continuous_train_and_eval`.
      checkpoint_and_export: Whether each checkpoint is evaluated and exported as it is saved.
      saving_listeners: Listeners of `tf.estimator.Estimator.train`.
      check_interval_secs: Seconds in which a checkpoint is not looked for again.

    Raises:
      ValueError: an argument is not for this kind of Estimator.
    """

    def __init__(self, estimator: Any, train_input_fn: Any, eval_input_fn: Any,
                 eval_metrics: Any = None, train_steps: Any = None, eval_steps: Any = 100,
                 train_monitors: Any = None, eval_hooks: Any = None,
                 local_eval_frequency: Any = None, eval_delay_secs: float = 120,
                 continuous_eval_throttle_secs: float = 60, min_eval_frequency: Any = None,
                 delay_workers_by_global_step: bool = False, export_strategies: Any = None,
                 train_steps_per_iteration: Any = None, checkpoint_and_export: bool = False,
                 saving_listeners: Any = None, check_interval_secs: float = 5) -> None:
        self._is_core = isinstance(estimator, tf.compat.v1.estimator.Estimator)
        _check_estimator(estimator, self._is_core, eval_metrics, saving_listeners)
        if not isinstance(train_steps_per_iteration, (int, type(None))):
            raise ValueError("`train_steps_per_iteration` must be an integer.")
        self.estimator, self.eval_metrics = estimator, eval_metrics
        self.train_steps, self.eval_steps = train_steps, eval_steps
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._train_monitors, self._eval_hooks = list(train_monitors or ()), list(eval_hooks or ())
        self._local_eval_frequency = local_eval_frequency
        self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        self._eval_delay_secs = eval_delay_secs
        self._throttle_secs, self._check_interval_secs = (continuous_eval_throttle_secs,
                                                          check_interval_secs)
        self._delay_workers_by_global_step = delay_workers_by_global_step
        self._steps_per_iteration = train_steps_per_iteration
        self._checkpoint_and_export = checkpoint_and_export
        self._saving_listeners = saving_listeners
        self._export_strategies = _strategies(export_strategies)

    def extend_train_hooks(self, additional_hooks: Any) -> None:
        """Adds hooks to the training."""
        self._train_monitors.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies: Any = None) -> Any:
        """Takes other ExportStrategies, and returns the former ones."""
        former, self._export_strategies = self._export_strategies, _strategies(
            new_export_strategies)
        return former

    def train(self, delay_secs: Optional[float] = None) -> Any:
        """Trains; a worker waits first, 5 seconds for each task before it by default."""
        config, hooks = self.estimator.config, list(self._train_monitors)
        is_remote = config.cluster_spec and config.master
        if is_remote and not isinstance(config, RunConfig):
            raise ValueError("For distributed runtime, Experiment class only works with "
                             f"tf.contrib.learn.RunConfig for now, but provided {type(config)}")
        if is_remote and config.environment not in (Environment.LOCAL, Environment.GOOGLE):
            self._start_server()
        task = config.task_id or 0
        if delay_secs is None and self._delay_workers_by_global_step:
            hooks.append(tf.estimator.GlobalStepWaiterHook(int(8000 * math.log(task + 1))))
        elif delay_secs is None:
            delay_secs = min(60, task * 5)
        if delay_secs:
            logging.info("Waiting %d secs before starting training.", delay_secs)
            time.sleep(delay_secs)
        return self._train(hooks, max_steps=self.train_steps)

    def evaluate(self, delay_secs: Optional[float] = None, name: Optional[str] = None) -> Any:
        """Evaluates once, after `eval_delay_secs` by default."""
        time.sleep(self._eval_delay_secs if delay_secs is None else delay_secs)
        return self._call_evaluate(name=name or "one_pass")

    def local_run(self) -> Any:
        """Is `train_and_evaluate` with the frequency `local_eval_frequency`."""
        former, self._min_eval_frequency = self._min_eval_frequency, self._local_eval_frequency
        try:
            return self.train_and_evaluate()
        finally:
            self._min_eval_frequency = former

    def train_and_evaluate(self) -> Any:
        """Trains, evaluates at times and at the end, and returns the result and the exports."""
        config = self.estimator.config
        listener = _EvalAndExport(self._call_evaluate, self._maybe_export,
                                  self.estimator.model_dir)
        added: list[Any] = []
        at_checkpoints = self._checkpoint_and_export and (
            config.save_checkpoints_secs or config.save_checkpoints_steps)
        if at_checkpoints:
            added.append(tf.estimator.CheckpointSaverHook(
                self.estimator.model_dir, config.save_checkpoints_secs,
                config.save_checkpoints_steps, listeners=[listener]))
        elif self._min_eval_frequency:
            added.append(monitors.ValidationMonitor(
                input_fn=self._eval_input_fn, eval_steps=self.eval_steps,
                metrics=self.eval_metrics, every_n_steps=self._min_eval_frequency,
                check_interval_secs=self._check_interval_secs, hooks=self._eval_hooks))
        former, self._train_monitors = self._train_monitors, [*self._train_monitors, *added]
        try:
            self.train(delay_secs=0)
        finally:
            self._train_monitors = former
        if at_checkpoints:
            return listener.eval_result, listener.export_results
        found = self._call_evaluate()
        return found, self._maybe_export(found)

    def continuous_eval(self, delay_secs: Any = None, throttle_delay_secs: Any = None,
                        evaluate_checkpoint_only_once: bool = True,
                        continuous_eval_predicate_fn: Any = None, name: str = "continuous") -> None:
        """Evaluates each new checkpoint, until the last step or until a function returns False."""
        self._continuous_eval(self._eval_input_fn, name, delay_secs, throttle_delay_secs,
                              evaluate_checkpoint_only_once, continuous_eval_predicate_fn, True)

    def continuous_eval_on_train_data(self, delay_secs: Any = None, throttle_delay_secs: Any = None,
                                      continuous_eval_predicate_fn: Any = None,
                                      name: str = "continuous_on_train_data") -> None:
        """Is `continuous_eval` of what the model is trained with, without exports."""
        self._continuous_eval(self._train_input_fn, name, delay_secs, throttle_delay_secs, True,
                              continuous_eval_predicate_fn, False)

    def _continuous_eval(self, input_fn: Any, name: str, delay_secs: Any, throttle_secs: Any,
                         only_once: bool, predicate_fn: Any, exports: bool) -> None:
        goes_on = _predicate(predicate_fn)
        throttle = self._throttle_secs if throttle_secs is None else throttle_secs
        time.sleep(self._eval_delay_secs if delay_secs is None else delay_secs)
        previous, warned = None, -float(_WARN_EVERY_SECS)
        found: Any = None
        while goes_on(found, checkpoint_path=previous) and not self._has_ended(found):
            start, latest = time.time(), tf.train.latest_checkpoint(self.estimator.model_dir)
            if not latest or only_once and latest == previous:
                found = {}
                if start - warned > _WARN_EVERY_SECS:
                    logging.warning("There is no new checkpoint to evaluate yet.")
                    warned = start
            else:
                found = self._call_evaluate(
                    input_fn=input_fn, name=name, checkpoint_path=latest) or {}
                if exports:
                    self._maybe_export(found, checkpoint_path=latest)
                previous = latest
            time.sleep(max(0, throttle - (time.time() - start)))

    def continuous_train_and_eval(self, continuous_eval_predicate_fn: Any = None) -> Any:
        """Trains for some steps and evaluates, in turn, and returns the last result and exports."""
        goes_on, exported = _predicate(continuous_eval_predicate_fn), None
        found: Any = None
        latest = None
        steps = self._steps_per_iteration
        if steps is None:
            steps = 1000 if self.train_steps is None else int(self.train_steps / 10)
        while goes_on(found, checkpoint_path=latest if found else None) and not self._has_ended(
                found):
            self._train(self._train_monitors, steps=steps)
            latest = tf.train.latest_checkpoint(self.estimator.model_dir)
            found = self._call_evaluate(name="one_pass", checkpoint_path=latest)
            exported = self._maybe_export(found)
        return found, exported

    def _has_ended(self, found: Any) -> bool:
        step = (found or {}).get("global_step")
        return bool(step and self.train_steps and step >= self.train_steps)

    def test(self) -> Any:
        """Trains and evaluates for one step each."""
        self._train(self._train_monitors, steps=1)
        found = self._call_evaluate(name="one_pass", steps=1)
        self._maybe_export(found)
        return found

    def run_std_server(self) -> None:
        """Serves the other tasks, without end."""
        self._start_server().join()

    def _start_server(self) -> Any:
        config = self.estimator.config
        if not config.cluster_spec or not config.task_type or not config.master or (
                config.task_id is None):
            raise ValueError("Could not start server; be sure to specify cluster_spec, task_type, "
                             "master, and task in RunConfig or set the TF_CONFIG environment "
                             "variable.")
        server = server_lib.Server(
            config.cluster_spec, job_name=config.task_type, task_index=config.task_id,
            config=config.tf_config, start=False)
        server.start()
        return server

    def _train(self, hooks: Any, steps: Any = None, max_steps: Any = None) -> Any:
        hooks = monitors.replace_monitors_with_hooks(hooks, self.estimator)
        if self._is_core:
            return self.estimator.train(
                input_fn=self._train_input_fn, steps=steps, max_steps=max_steps, hooks=hooks,
                saving_listeners=self._saving_listeners)
        return self.estimator.fit(input_fn=self._train_input_fn, steps=steps, max_steps=max_steps,
                                  monitors=hooks)

    def _call_evaluate(self, input_fn: Any = None, name: Optional[str] = None, steps: Any = None,
                       checkpoint_path: Any = None) -> Any:
        options = {} if self._is_core else {"metrics": self.eval_metrics}
        return self.estimator.evaluate(
            input_fn=input_fn or self._eval_input_fn, name=name,
            steps=self.eval_steps if steps is None else steps, checkpoint_path=checkpoint_path,
            hooks=self._eval_hooks, **options)

    def _maybe_export(self, found: Any, checkpoint_path: Any = None) -> list[Any]:
        folder = tf.compat.as_bytes(os.path.join(self.estimator.model_dir, "export"))
        return [each.export(self.estimator, os.path.join(folder, tf.compat.as_bytes(each.name)),
                            checkpoint_path=checkpoint_path, eval_result=found)
                for each in self._export_strategies]


def _check_estimator(estimator: Any, is_core: bool, metrics: Any, listeners: Any) -> None:
    if is_core and metrics is not None:
        raise ValueError("`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use "
                         "`eval_metric_ops` in `tf.estimator.EstimatorSpec` instead.")
    if is_core:
        return
    for kind in (Evaluable, Trainable):
        if not isinstance(estimator, kind):
            raise ValueError(f"`estimator` must implement `tf.contrib.learn.{kind.__name__}` or "
                             "`tf.estimator.Estimator`.")
    if listeners is not None:
        raise ValueError("`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`.")


def _strategies(passed: Any) -> tuple[Any, ...]:
    found = (passed,) if isinstance(passed, ExportStrategy) else tuple(passed or ())
    for each in found:
        if not isinstance(each, ExportStrategy):
            raise ValueError("`export_strategies` must be an ExportStrategy, an iterable of "
                             f"ExportStrategy, or `None`, found {each}.")
    return found


def _predicate(function: Any) -> Callable[..., Any]:
    if function is None:
        return lambda found, checkpoint_path: True
    if not callable(function):
        raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
    if "checkpoint_path" in inspect.signature(function).parameters:
        return functools.partial(function)
    return lambda found, checkpoint_path: function(found)


def run(experiment_fn: Any, output_dir: Optional[str] = None, schedule: Optional[str] = None,
        run_config: Any = None, hparams: Any = None) -> Any:
    """Makes an Experiment and calls the method of it that a schedule names.

    Args:
      experiment_fn: A function of output_dir, or of run_config and hparams.
      output_dir: Where checkpoints are, where there is no run_config.
      schedule: The method; by default what the task in the cluster is for.
      run_config: A RunConfig that has a model_dir.
      hparams: HParams, beside run_config.

    Returns:
      The method's result.

    Raises:
      ValueError: an argument is missing or too many, or there is no such method.
      TypeError: experiment_fn is no function, or returns no Experiment.
      RuntimeError: the Estimator has another RunConfig.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if run_config is not None:
        experiment = _with_config(experiment_fn, run_config, hparams)
    elif not output_dir:
        raise ValueError("Must specify an output directory")
    elif hparams is not None:
        raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
    else:
        experiment = _checked(experiment_fn(output_dir=output_dir))
    schedule = schedule or _default_schedule(run_config or experiment.estimator.config)
    if not hasattr(experiment, schedule):
        raise ValueError(f"Schedule references non-existent task {schedule}")
    method = getattr(experiment, schedule)
    if not callable(method):
        raise TypeError(f"Schedule references non-callable member {schedule}")
    return method()


def _checked(experiment: Any) -> Experiment:
    if not isinstance(experiment, Experiment):
        raise TypeError("Experiment builder did not return an Experiment instance, got "
                        f"{type(experiment)} instead.")
    return experiment


def _with_config(experiment_fn: Any, run_config: Any, hparams: Any) -> Experiment:
    from estimator_trainer.compat.contrib.training import hparams as hparams_module
    if not isinstance(run_config, RunConfig):
        raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
    if not run_config.model_dir:
        raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
    if hparams is not None and not isinstance(hparams, hparams_module.HParams):
        raise ValueError("`hparams` must be `HParams` instance")
    expected = run_config.uid()
    experiment = _checked(experiment_fn(run_config, hparams))
    config = experiment.estimator.config
    if not hasattr(config, "uid"):
        raise RuntimeError("Pass `run_config` argument of the `experiment_fn` to the Estimator in "
                           "Experiment.")
    if config.uid() != expected:
        raise RuntimeError("`RunConfig` instance is expected to be used by the `Estimator` inside "
                           f"the `Experiment`. expected {expected}, but got {config.uid()}")
    return experiment


def tune(experiment_fn: Any, tuner: Any) -> None:
    """Runs Experiments as long as a tuner has trials."""
    def with_hparams(run_config: Any, hparams: Any) -> Experiment:
        if hparams is None:
            raise ValueError("`hparams` cannot be `None`.")
        return _with_config(experiment_fn, run_config, hparams)

    while tuner.next_trial():
        tuner.run_experiment(with_hparams)


def _default_schedule(config: Any) -> str:
    cluster = config.cluster_spec.as_dict() if config and config.cluster_spec else {}
    if sum(len(tasks) for tasks in cluster.values()) < 2:
        return "train_and_evaluate"
    schedules = {TaskType.MASTER: "train_and_evaluate", TaskType.PS: "run_std_server",
                 TaskType.WORKER: "train"}
    if not config.task_type:
        raise ValueError("Must specify a schedule")
    if config.task_type not in schedules:
        raise ValueError(f"No default schedule for task type: {config.task_type}")
    return schedules[config.task_type]
