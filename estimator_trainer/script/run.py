"""Runs a script as `python SCRIPT` does, except for its calls of an Estimator.

    train_and_evaluate, train      the role of this task, as with plug-ins
    evaluate, predict, export      the Estimator's own; in a cluster, as if there were none
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import inspect
import pathlib
import runpy
import sys
import threading
import time
from typing import Any, Callable, Iterator, NoReturn

from absl import logging
import tensorflow as tf

from estimator_trainer import environment, errors, logs, redaction, result, start
from estimator_trainer.checks import run_plan
from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster import task_config
from estimator_trainer.compat import estimator_training
from estimator_trainer.coordination import checkpoints, sequel, stop
from estimator_trainer.estimator import model_fn_adapter, strategy, user_estimator
from estimator_trainer.evaluation import evaluation_log
from estimator_trainer.patches import (cluster_patches, estimator_patches, private_api,
                                       saving_patches, training_patches)
from estimator_trainer.plugins import importing
from estimator_trainer.plugins.source_files import Script
from estimator_trainer.reports import job_history
from estimator_trainer.roles import ps, run as role
from estimator_trainer.script.experiment import eval_specs, ScriptExperiment
from estimator_trainer.training.train_op import SyncReplicasHook

# The methods that compute with a model in one process.
_USES = ("evaluate", "predict", "export_saved_model", "export_savedmodel",
         "experimental_export_all_saved_models")


def run(plan: Plan, user_set: frozenset[str]) -> int:
    """Runs the script of a plan; returns its exit code or, if that is 0, that of the training.

    The settings that the command line has set (`user_set`) win over the script's.
    """
    assert plan.script is not None
    environment.write_tf_config(plan.task.platform_tf_config)
    logs.stay_the_only_handler()
    chosen = strategy.for_training(plan.config, plan.task) if user_set & {
        "train_distribute", "eval_distribute"} else None
    calls = Calls(plan, user_set, chosen)
    waiting = functools.partial(stop.killed_after, plan.config.stall_timeout_secs)
    with (logs.scripts_configure(),
          estimator_patches.calling(calls.replacements()),
          cluster_patches.configs_in_any_cluster(lambda: calls.task, user_estimator.of_platform),
          cluster_patches.strategies_reading(lambda: calls.task.strategy_tf_config(), waiting),
          saving_patches.naming_event_files(plan.task.name),
          training_patches.synchronizing_with(SyncReplicasHook)):
        try:
            code = _exit_code(plan.script, calls)
        finally:
            calls.end()
    if code:
        calls.fail(f"exit code {code}")
    if calls.result is None:
        return code
    if calls.has_begun:
        job_history.write_page(calls.plan)
    # In a log of both streams, the script's output precedes the last line. `cli.main` reports a
    # failed write.
    with contextlib.suppress(errors.OutputError, OSError, ValueError, AttributeError):
        sys.stdout.flush()
    result.print_last_line(calls.result)
    return code or calls.result.exit_code


def _exit_code(script: Script, calls: Calls) -> int:
    """Runs the script, prints an error that it raises, and returns Python's exit code."""
    sys.argv = [script.path, *script.arguments]
    try:
        if script.is_file:
            # The script finds its neighbours, as with `python SCRIPT`.
            sys.path.insert(0, str(pathlib.Path(script.path).resolve().parent))
            runpy.run_path(script.path, run_name="__main__")
        else:
            sys.path.insert(0, str(pathlib.Path.cwd()))
            runpy.run_module(script.name, run_name="__main__", alter_sys=True)
        return 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(redaction.message_for_terminal(str(end.code)), file=sys.stderr)
        return 1
    except Exception as error:
        calls.fail(errors.in_short(error))
        if isinstance(error, errors.TrainerError):
            errors.show(error)
            return error.exit_code
        importing.print_traceback(error)
        return 1


class _OfThread(threading.local):
    """The state of a thread of a script: whether its calls come from this program's own work."""

    is_inside = False


class Calls:
    """The functions that a script's Estimator calls in the place of its own.

    Attributes:
      result: How the last training in this task ended, or that the script failed; None before.
      plan: The plan of this task; from the first training on, with the script's settings.
      has_begun: Whether a training has passed its checks.
    """

    def __init__(self, plan: Plan, user_set: frozenset[str],
                 strategies: strategy.Strategies | None):
        """Makes the object, with the settings and the strategies that the command line sets."""
        self.result: result.Result | None = None
        self.has_begun = False
        self.plan, self._user_set, self._strategies = plan, user_set, strategies
        self._of_thread = _OfThread()
        self._sequel, self._num_trainings = sequel.SequelWriter(), 0

    @property
    def task(self) -> task_config.TaskConfig:
        """The task that TF_CONFIG describes now; a script may have made it of its arguments."""
        text = environment.read().tf_config
        known = self.plan.task
        return known if text == known.platform_tf_config else task_config.parse(text)

    def replacements(self) -> dict[str, Callable[..., Any]]:
        """Returns the replacement of each call, which receives the original as first argument."""
        return {"train_and_evaluate": self._train_and_evaluate, "train": self._train,
                "run_ps": self._run_ps, **dict.fromkeys(_USES, self._use)}

    def end(self) -> None:
        """Announces to the other tasks that the script has ended."""
        self._sequel.end()

    def fail(self, reason: str) -> None:
        """Turns the result into a failure."""
        plan, ended = self.plan, self.result
        if ended is None:
            step = checkpoints.latest_step(plan.config.model_dir) if self.has_begun else 0
            self.result = result.Result(plan.task.name, "failed", step, reason)
        elif ended.status == "done":
            self.result = result.Result(ended.task, "failed", ended.step, reason)

    def _train_and_evaluate(self, original: Callable[..., Any], estimator: Any, train_spec: Any,
                            eval_spec: Any) -> Any:
        if self._of_thread.is_inside:
            return original(estimator, train_spec, eval_spec)
        if _trains_its_own_way(estimator):
            return self._run_its_own_way(estimator, lambda: original(
                estimator, train_spec, eval_spec))
        ended = self._run(estimator, train_spec, eval_spec)
        # In a cluster the Estimator's own returns None.
        return ended.returned if self.plan.task.name == "local" else None

    def _train(self, original: Callable[..., Any], estimator: Any, *args: Any,
               **kwargs: Any) -> Any:
        if self._of_thread.is_inside:
            return original(estimator, *args, **kwargs)
        if _trains_its_own_way(estimator):
            return self._run_its_own_way(estimator, lambda: original(estimator, *args, **kwargs))
        bound = inspect.signature(original).bind(estimator, *args, **kwargs)
        bound.apply_defaults()
        passed = bound.arguments
        steps, max_steps = passed["steps"], passed["max_steps"]
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        if steps is not None:
            # A task of a cluster may restart after others have made steps.
            max_steps = steps + (checkpoints.latest_step(estimator.model_dir)
                                 if self.plan.task.is_local else 0)
        self._run(estimator, tf.estimator.TrainSpec(
            passed["input_fn"], max_steps, passed["hooks"],
            saving_listeners=passed["saving_listeners"]), None)
        return estimator

    def _run_ps(self, original: Callable[..., Any], executor: Any) -> Any:
        """Runs the ps of a script that makes TensorFlow's executor, whose ps never ends."""
        parts = (private_api.part(executor, name)
                 for name in ("_estimator", "_train_spec", "_eval_spec"))
        return self._train_and_evaluate(lambda *_: original(executor), *parts)

    def _use(self, original: Callable[..., Any], estimator: Any, *args: Any, **kwargs: Any) -> Any:
        if self._of_thread.is_inside or self.plan.task.is_local:
            return original(estimator, *args, **kwargs)
        return original(_alone(estimator), *args, **kwargs)

    def _run(self, estimator: Any, train_spec: Any, eval_spec: Any) -> result.Result:
        """Runs the role of this task.

        In a cluster only the chief continues the script after the last training. The others cannot
        know which is the last, and wait until the chief begins another one or ends.
        """
        if self.result is not None and "ps" in self.plan.task.cluster:
            raise errors.ConfigError(
                "the script trains a second time in one job with a ps; expected one call of"
                " tf.estimator.train_and_evaluate or Estimator.train, after which the ps ends")
        main_spec, *other_specs = eval_specs(eval_spec)
        task, experiment = self.task, ScriptExperiment(
            user_estimator.take_apart(estimator), train_spec, main_spec, self._strategies,
            self._user_set, tuple(other_specs))
        plan = run_plan.for_script_training(
            self.plan, experiment.settings(self.plan.config, task), task, experiment,
            has_own_strategy=experiment.chosen is None)
        self.plan = plan = dataclasses.replace(
            plan, problems=(*plan.problems, *experiment.problems(task)))
        run_plan.refuse(plan)
        start.check(plan)
        self.has_begun = True
        goes_on = self._going_on(plan)
        with self._inside():
            self.result = role.train_and_evaluate(plan)
        self._num_trainings += 1
        if self.result.status != "done" or not goes_on():
            raise SystemExit(self.result.exit_code)
        return self.result

    def _going_on(self, plan: Plan) -> Callable[[], bool]:
        """Returns whether the script continues in this task after the training that now begins."""
        config, task = plan.config, plan.task
        if "ps" in task.cluster or task.name == "local":
            return lambda: task.is_chief
        if task.is_chief:
            self._sequel.begin(config.model_dir, config.peer_timeout_secs, task.num_trainers - 1)
            return lambda: True
        listener = sequel.SequelReader(config.model_dir, task.name, config.peer_timeout_secs)
        return lambda: listener.wait_for_training(self._num_trainings)

    def _run_its_own_way(self, estimator: Any, train: Callable[[], Any]) -> Any:
        """Lets an Estimator with a `train` of its own train itself."""
        errors.refuse(run_plan.model_dir_problems(estimator.model_dir, "the script's Estimator"))
        logging.warning("%s has a `train` of its own, which runs as it is: without checkpoint on a"
                        " signal, watchdog and loop over steps", type(estimator).__name__)
        if self.plan.task.role == "ps":
            self._serve(estimator)
        with self._inside(), estimator_patches.changing_steps_with(self._combine):
            returned = train()
        # A train_and_evaluate of one process returns both; an exporter may have exported nothing.
        metrics, exports = returned if isinstance(returned, tuple) else (None, None)
        self.result = result.Result(
            self.plan.task.name, "done", checkpoints.latest_step(estimator.model_dir),
            "own_train", evaluation_log.plain_metrics(metrics or {}),
            tuple(tf.compat.as_str_any(path) for path in exports or () if path))
        if self.plan.task.is_chief:
            checkpoints.write_result(estimator.model_dir, self.result)
        return returned

    def _combine(self, train_op: tf.Operation) -> None:
        # The graph of a strategy has all replicas, or must be alike in all processes.
        if not tf.distribute.has_strategy():
            model_fn_adapter.combine(train_op, self.task)

    def _serve(self, estimator: Any) -> NoReturn:
        """Serves variables until an Estimator, whose own ps never ends, has trained its own way."""
        task, since, model_dir = self.task, time.time(), estimator.model_dir
        config = estimator.config
        is_done = ps.serve_silent(task, lambda: checkpoints.has_result_since(model_dir, since),
                                  self.plan.config, bool(config.train_distribute), config.protocol)
        step = checkpoints.latest_step(model_dir)
        self.result = (result.Result(task.name, "done", step, "own_train") if is_done else
                       result.Result(task.name, "lost", step, "every trainer is gone"))
        raise SystemExit(self.result.exit_code)

    @contextlib.contextmanager
    def _inside(self) -> Iterator[None]:
        """Leaves this program's own calls of Estimators to TensorFlow, in this thread."""
        self._of_thread.is_inside = True
        try:
            yield
        finally:
            self._of_thread.is_inside = False


def _trains_its_own_way(estimator: Any) -> bool:
    """Returns whether an Estimator's class, such as adanet's, defines a `train` of its own."""
    definer = next(kind for kind in type(estimator).__mro__ if "train" in vars(kind))
    return not definer.__module__.startswith("tensorflow_estimator.")


def _alone(estimator: Any) -> Any:
    """Returns the Estimator for one process; its config keeps the platform's names."""
    session_config = tf.compat.v1.ConfigProto()
    session_config.CopyFrom(estimator.config.session_config or tf.compat.v1.ConfigProto())
    # A session of the cluster needs the tasks that these name.
    del session_config.device_filters[:]
    alone = copy.copy(estimator)
    for name, value in (
            ("_config", estimator_training.config_alone(estimator.config, session_config)),
            ("_session_config", session_config), ("_device_fn", None)):
        private_api.set_part(alone, name, value)
    return alone
