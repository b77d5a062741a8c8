"""Monitors of `tf.contrib.learn`: what hooks were before there were hooks.

Source: tensorflow/contrib/learn/python/learn/monitors.py of TensorFlow 1.15.
"""

from __future__ import annotations

import copy
import inspect
import time
from typing import Any, Optional

import tensorflow as tf
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.training import checkpoint_management


class BaseMonitor:
    """Is called around each step of a training."""

    def __init__(self) -> None:
        self._begun, self._max_steps = False, None
        self._current_epoch: Any = None
        self._current_step: Any = None
        self._estimator: Any = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether not only the chief has it."""
        return False

    def set_estimator(self, estimator: Any) -> None:
        """Is called with the Estimator that is trained."""
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: Any = None) -> None:
        """Is called before the first step."""
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._begun, self._max_steps = True, max_steps

    def end(self, session: Any = None) -> None:
        """Is called after the last step."""
        if not self._begun:
            raise ValueError("end called without begin.")
        self._begun, self._max_steps = False, None

    def epoch_begin(self, epoch: int) -> None:
        """Is called before an epoch."""
        if self._current_epoch is not None or epoch < 0:
            raise ValueError(f"Invalid epoch {epoch}, or epoch_begin called twice without "
                             "epoch_end.")
        self._current_epoch = epoch

    def epoch_end(self, epoch: int) -> None:
        """Is called after an epoch."""
        if self._current_epoch != epoch:
            raise ValueError(f"epoch_end expected {self._current_epoch} but got {epoch}.")
        self._current_epoch = None

    def step_begin(self, step: int) -> list[Any]:
        """Returns the tensors, or their names, that the step is to compute too."""
        if step < 0 or self._max_steps is not None and step > self._max_steps:
            raise ValueError(f"Invalid step {step}.")
        self._current_step = step
        return []

    def step_end(self, step: int, output: Any) -> bool:
        """Returns whether to stop; output has the tensors by what `step_begin` returned."""
        if self._current_step != step:
            raise ValueError(f"step_end expected {self._current_step} but got {step}.")
        self._current_step = None
        return False

    def post_step(self, step: int, session: Any) -> None:
        """Is called after `step_end` of all monitors."""


def output_of(outputs: Any, request: Any) -> Any:
    """Returns what a step computed for a tensor, or for its name."""
    return outputs[request] if request in outputs else outputs[request.name]


class EveryN(BaseMonitor):
    """Is called every n steps, and at the first ones."""

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        super().__init__()
        self._every_n_steps, self._first_n_steps = every_n_steps, first_n_steps
        self._last_successful_step: Any = None
        self._last_active_step, self._is_active = 0, False

    def every_n_step_begin(self, step: int) -> list[Any]:
        """As `step_begin`."""
        del step
        return []

    def every_n_step_end(self, step: int, outputs: Any) -> Any:
        """As `step_end`."""
        del step, outputs
        return False

    def every_n_post_step(self, step: int, session: Any) -> None:
        """As `post_step`."""

    def step_begin(self, step: int) -> list[Any]:
        super().step_begin(step)
        self._is_active = (step <= self._first_n_steps or step == self._max_steps
                           or step >= self._every_n_steps + self._last_active_step)
        return self.every_n_step_begin(step) if self._is_active else []

    def step_end(self, step: int, output: Any) -> Any:
        super().step_end(step, output)
        return self.every_n_step_end(step, output) if self._is_active else False

    def post_step(self, step: int, session: Any) -> None:
        super().post_step(step, session)
        if self._is_active:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session: Any = None) -> None:
        super().end(session)
        if self._last_successful_step != self._last_active_step:
            self.every_n_post_step(self._last_successful_step, session)


class StopAtStep(BaseMonitor):
    """Stops after a number of steps, or at a step."""

    def __init__(self, num_steps: Optional[int] = None, last_step: Optional[int] = None) -> None:
        super().__init__()
        if (num_steps is None) == (last_step is None):
            raise ValueError("One of num_steps or last_step must be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    @property
    def run_on_all_workers(self) -> bool:
        return True

    def step_begin(self, step: int) -> list[Any]:
        super().step_begin(step)
        if self._last_step is None:
            self._last_step = step + int(self._num_steps or 0) - 1
        return []

    def step_end(self, step: int, output: Any) -> bool:
        super().step_end(step, output)
        return step >= int(self._last_step or 0)


class ValidationMonitor(EveryN):
    """Evaluates each new checkpoint, and stops a training that gets no better.

    Args:
      x, y, input_fn, batch_size, eval_steps, metrics, hooks, name: As in `Estimator.evaluate`.
      every_n_steps: How often to look for a checkpoint.
      early_stopping_rounds: After how many steps without a better value to stop; None for never.
      early_stopping_metric, early_stopping_metric_minimize: Which value, and whether less is
        better.
      check_interval_secs: How long not to look again; None for no time.

    Attributes:
      early_stopped: Whether it stopped the training.
      best_step, best_value, best_metrics: What the best evaluation found.
    """

    def __init__(self, x: Any = None, y: Any = None, input_fn: Any = None, batch_size: Any = None,
                 eval_steps: Any = None, every_n_steps: int = 100, metrics: Any = None,
                 hooks: Any = None, early_stopping_rounds: Optional[int] = None,
                 early_stopping_metric: str = "loss", early_stopping_metric_minimize: bool = True,
                 name: Any = None, check_interval_secs: Optional[float] = 5) -> None:
        super().__init__(every_n_steps, -1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self.x, self.y, self.batch_size, self.metrics = x, y, batch_size, metrics
        self.input_fn, self.eval_steps, self.hooks, self.name = input_fn, eval_steps, hooks, name
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_metric = early_stopping_metric
        self.early_stopping_metric_minimize = early_stopping_metric_minimize
        self.early_stopped = False
        self.best_step: Any = None
        self.best_value: Any = None
        self.best_metrics: Any = None
        self._check_interval_secs = check_interval_secs
        self._last_check: Any = None
        self._latest_path: Any = None

    def every_n_step_end(self, step: int, outputs: Any) -> bool:
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        now = time.time()
        if None not in (self._check_interval_secs, self._last_check) and (
                now - self._last_check <= float(self._check_interval_secs or 0)):
            return False
        self._last_check = now
        path = checkpoint_management.latest_checkpoint(self._estimator.model_dir)
        if path is None or path == self._latest_path:
            return False
        self._latest_path = path
        found = self._evaluate()
        logging.info("Validation (step %d): %s", step, ", ".join(
            f"{name} = {value}" for name, value in found.items()))
        return self.early_stopping_rounds is not None and self._is_enough(step, found)

    def _evaluate(self) -> Any:
        options = {"input_fn": self.input_fn, "steps": self.eval_steps, "hooks": self.hooks,
                   "name": self.name}
        arrays = {"x": self.x, "y": self.y, "batch_size": self.batch_size, "metrics": self.metrics}
        if not isinstance(self._estimator, tf.compat.v1.estimator.Estimator):
            return self._estimator.evaluate(**options, **arrays)
        if any(value is not None for value in arrays.values()):
            raise ValueError("tf.estimator.Estimator does not support following arguments: x, y, "
                             "batch_size, metrics. Should set as `None` in ValidationMonitor")
        return self._estimator.evaluate(**options)

    def _is_enough(self, step: int, found: Any) -> bool:
        metric = self.early_stopping_metric
        if metric not in found:
            raise ValueError(f"Metric {metric} missing from outputs {set(found)}.")
        value, best = found[metric], self.best_value
        if best is None or (value < best if self.early_stopping_metric_minimize else value > best):
            self.best_value, self.best_step = value, step
            self.best_metrics = copy.deepcopy(found)
        rounds = int(self.early_stopping_rounds or 0)
        self.early_stopped = bool(step - self.best_step >= rounds)
        if self.early_stopped:
            logging.info("Stopping. Best step: %s with %s = %s.", self.best_step, metric,
                         self.best_value)
        return self.early_stopped


class RunHookAdapterForMonitors(tf.estimator.SessionRunHook):
    """A hook that calls monitors."""

    def __init__(self, monitors: Any) -> None:
        self._monitors = monitors
        self._last_step: Any = None

    def begin(self) -> None:
        self._step = tf.compat.v1.train.get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: Any) -> Any:
        if self._last_step is None:
            self._last_step = run_context.session.run(self._step) + 1
        requested: list[Any] = []
        for monitor in self._monitors:
            wanted = monitor.step_begin(self._last_step)
            if wanted and not isinstance(wanted, list):
                raise ValueError("Monitor.step_begin should return a list.")
            requested += wanted or []
        graph = run_context.session.graph
        return tf.estimator.SessionRunArgs({
            "step": self._step, "monitors": {each: _element(graph, each) for each in requested}})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        for monitor in self._monitors:
            if monitor.step_end(self._last_step, run_values.results["monitors"]):
                run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._last_step, run_context.session)
        self._last_step = run_values.results["step"] + 1

    def end(self, session: Any) -> None:
        self._last_step = None
        for monitor in self._monitors:
            takes_session = "session" in inspect.signature(monitor.end).parameters
            monitor.end(*(session,) if takes_session else ())


def _element(graph: Any, requested: Any) -> Any:
    if not isinstance(requested, str):
        if getattr(requested, "graph", None) is not graph:
            raise ValueError(f"Passed {requested} should have graph attribute that is equal to "
                             f"current graph {graph}.")
        return requested
    if ":" in requested:
        return graph.as_graph_element(requested)
    if len(graph.get_operation_by_name(requested).outputs) > 1:
        raise ValueError(f"Name {requested} is ambiguous, as this `Operation` has multiple outputs "
                         "(at least 2).")
    return graph.as_graph_element(f"{requested}:0")


def replace_monitors_with_hooks(monitors_or_hooks: Any, estimator: Any) -> list[Any]:
    """Returns hooks: those given, and one that calls the monitors given."""
    passed = list(monitors_or_hooks or ())
    hooks = [each for each in passed if isinstance(each, tf.estimator.SessionRunHook)]
    monitors = [each for each in passed if each not in hooks]
    if not estimator.config.is_chief:
        monitors = [each for each in monitors if each.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    return [*hooks, RunHookAdapterForMonitors(monitors)] if monitors else hooks
