"""The evaluator evaluates and exports checkpoints as they come, and ends with the training."""

from __future__ import annotations

import contextlib
import math
import time

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors
from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import checkpoints, evaluator_heartbeat
from estimator_trainer.coordination.job_state import JobState, JobStateReader
from estimator_trainer.coordination.membership import Membership
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.coordination.watchdog import Watchdog
from estimator_trainer.estimator import loaded_plugins, strategy
from estimator_trainer.evaluation import early_stopping, exporters, kept_evaluation
from estimator_trainer.evaluation.evaluation_log import EvaluationLog
from estimator_trainer.record import run_history
from estimator_trainer.result import Result
from estimator_trainer.roles import (announcement, experiment as experiment_lib, final_evaluation,
                                     outcome, preflight)
from estimator_trainer.roles.experiment import Experiment
from estimator_trainer.settings.trainer_config import TrainerConfig

_TICK_SECS = 0.25


def run(plan: Plan, stop: Stop, state_reader: JobStateReader, watchdog: Watchdog) -> Result:
    """Shows that there is an evaluator, and evaluates until training has ended.

    Raises:
      Interrupted: if this task is asked to stop, or the job was.
      TrainerError: if training failed.
    """
    config, task = plan.config, plan.task
    if not plan.is_evaluated:
        return outcome.follow(task, _wait_for_end(state_reader, stop, watchdog))
    strategies = strategy.of_plan(plan)
    parts = loaded_plugins.load(plan)
    record = experiment_lib.record_of(plan, stop, watchdog, lambda: _is_replaced(state_reader))
    experiment = experiment_lib.build(
        plan, parts, strategies, record, hooks=None,
        stopping=early_stopping.build(config, state_reader.request_end, task.name))
    evaluation = kept_evaluation.build(experiment.estimator, parts, record)
    preflight.check(plan, parts, evaluation)
    final = exporters.at_the_end(config, parts, record)
    announcement.log(plan, parts)
    final_evaluation.restore(config.model_dir, record, checkpoints.latest_step(config.model_dir))
    with (evaluator_heartbeat.sending_heartbeats(config.model_dir, lambda: record.step),
          evaluation.used_by(experiment.estimator) if evaluation else contextlib.nullcontext()):
        _wait_for_own_job(config, task, state_reader, stop, watchdog)
        final_state = evaluate_all(experiment, record, final, state_reader, stop, watchdog)
        ended = outcome.follow(task, final_state)
        if final_state.finisher:
            # The chief has evaluated, and tells of it in result.json.
            return ended
        final_evaluation.judge(plan, parts, experiment.estimator, record, stop)
        return outcome.report(config, task, record, final_state.step, final_state.reason,
                              run_history.as_recorded(config.model_dir))


def _is_replaced(state_reader: JobStateReader) -> bool:
    """Returns whether the chief took this evaluator for gone, and evaluates in its place."""
    final_state = state_reader.poll_final_state()
    return bool(final_state and final_state.finisher)


def _wait_for_end(state_reader: JobStateReader, stop: Stop, watchdog: Watchdog) -> JobState:
    """Returns how training ended, of a script that evaluates nothing."""
    logging.info("the script trains only: waits for the end of training")
    while True:
        stop.check()
        final_state = state_reader.poll_final_state()
        if final_state:
            return final_state
        watchdog.tick()
        stop.sleep(_TICK_SECS)


def _wait_for_own_job(config: TrainerConfig, task: TaskConfig, state_reader: JobStateReader,
                      stop: Stop, watchdog: Watchdog) -> None:
    """Waits as long as the training of another cluster goes on in model_dir."""
    membership = Membership(config.model_dir, task, state_reader)
    while (now := state_reader.poll()) and now.status == "running" and not membership.check(now):
        watchdog.tick()
        stop.check()
        stop.sleep(_TICK_SECS)


def evaluate_all(experiment: Experiment, record: EvaluationLog,
                 final: list[tf.estimator.Exporter], state_reader: JobStateReader, stop: Stop,
                 watchdog: Watchdog) -> JobState:
    """Evaluates every checkpoint it can until training has ended, the final one included.

    The Estimator's own evaluator ends only at `max_steps`: never when the input ran out first or
    training stopped early, and after a sleep of `throttle_secs` even then (training.py).

    Returns:
      How training ended.

    Raises:
      Interrupted: if this task is asked to stop, or cannot see the final checkpoint.
    """
    model_dir, throttle_secs = experiment.estimator.model_dir, experiment.eval_spec.throttle_secs
    poll_intervals = deadlines.poll_intervals(model_dir)
    looks_at, lost_at = 0.0, math.inf
    while True:
        stop.check()
        # The order matters: the checkpoint that is the latest after the end is the last.
        final_state = state_reader.poll_final_state()
        if final_state and (final_state.status != "done" or final_state.finisher):
            return final_state
        if final_state or time.monotonic() >= looks_at:
            looks_at = time.monotonic() + poll_intervals.checkpoint_secs
            latest = checkpoints.latest(model_dir, known=record.checkpoint_path)
            if final_state and _finishes(experiment, record, final, final_state, latest):
                # The chief may have taken this evaluator for gone since.
                return state_reader.poll_final_state() or final_state
            if not final_state and latest not in ("", record.checkpoint_path):
                looks_at = time.monotonic() + throttle_secs
                _evaluate(experiment, record, latest)
                state_reader.poll_often_from(record.metrics.get("global_step", 0))
        if final_state:
            lost_at = min(lost_at, time.monotonic() + deadlines.FINAL_CHECKPOINT_SECS)
            if time.monotonic() > lost_at:
                raise errors.Interrupted(
                    "lost", f"training ended with a checkpoint of step {final_state.step}, and"
                    f" {model_dir} does not show it whole", "evaluator")
        watchdog.tick()
        stop.sleep(poll_intervals.evaluator_secs if final_state else _TICK_SECS)


def _finishes(experiment: Experiment, record: EvaluationLog,
              final: list[tf.estimator.Exporter], final_state: JobState, latest: str) -> bool:
    """Evaluates and exports the final checkpoint; returns False if it cannot be read now."""
    if checkpoints.step_of(latest) < final_state.step:
        return False
    if latest != record.checkpoint_path:
        _evaluate(experiment, record, latest)
    if latest != record.checkpoint_path:
        return False
    final_evaluation.finish(experiment.eval_spec, experiment.estimator, record, final,
                            experiment.train_spec.max_steps)
    return True


def _evaluate(experiment: Experiment, record: EvaluationLog, path: str) -> None:
    try:
        final_evaluation.evaluate(experiment.eval_spec, experiment.estimator, record, path,
                                  experiment.train_spec.max_steps)
    except errors.TrainerError:
        raise
    except Exception:
        if checkpoints.is_whole(path):
            raise
        # Few checkpoints are kept, and training went on meanwhile.
        logging.warning("the checkpoint of step %d is gone or damaged: goes on with the newest",
                        checkpoints.step_of(path))
