"""The evaluator: evaluates and exports checkpoints as they come, and ends with the training."""

from __future__ import annotations

import math
import time

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines
from estimator_trainer import errors
from estimator_trainer.coordination import checkpoints
from estimator_trainer.coordination.job_state import JobState
from estimator_trainer.coordination.job_state import JobStateReader
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.coordination.watchdog import Watchdog
from estimator_trainer.estimator.builder import Experiment
from estimator_trainer.evaluation.record import EvaluationRecord
from estimator_trainer.roles import outcome

_TICK_SECS = 0.25


def run(experiment: Experiment, record: EvaluationRecord, final: list[tf.estimator.Exporter],
        state_reader: JobStateReader, stop: Stop, watchdog: Watchdog) -> JobState:
    """Evaluates every checkpoint it can until training has ended, the final one included.

    The Estimator's own evaluator ends only at `max_steps`: never when the input ran out first or
    training stopped early, and after a sleep of `throttle_secs` even then (training.py).

    Returns:
      How training ended.

    Raises:
      Interrupted: if this task is asked to stop, or cannot see the final checkpoint.
    """
    model_dir, throttle_secs = experiment.estimator.model_dir, experiment.eval_spec.throttle_secs
    rhythm = deadlines.rhythm(model_dir)
    looks_at, lost_at = 0.0, math.inf
    while True:
        stop.check()
        # In this order: what is the latest after the end is the last.
        final_state = state_reader.final_state()
        if final_state and (final_state.status != "done" or final_state.finisher):
            return final_state
        if final_state or time.monotonic() >= looks_at:
            looks_at = time.monotonic() + rhythm.checkpoint_secs
            latest = checkpoints.latest(model_dir, known=record.checkpoint_path)
            if final_state and _finishes(experiment, record, final, final_state, latest):
                return final_state
            if not final_state and latest not in ("", record.checkpoint_path):
                looks_at = time.monotonic() + throttle_secs
                _evaluate(experiment, record, latest)
                state_reader.expect_end_at(record.metrics.get("global_step", 0))
        if final_state:
            lost_at = min(lost_at, time.monotonic() + deadlines.FINAL_CHECKPOINT_SECS)
            if time.monotonic() > lost_at:
                raise errors.Interrupted(
                    "lost", f"training ended with a checkpoint of step {final_state.step}, and"
                    f" {model_dir} does not show it whole", "evaluator")
        watchdog.tick()
        stop.sleep(rhythm.evaluator_secs if final_state else _TICK_SECS)


def _finishes(experiment: Experiment, record: EvaluationRecord,
              final: list[tf.estimator.Exporter], final_state: JobState, latest: str) -> bool:
    """Evaluates and exports the final checkpoint; returns False if it cannot be read now."""
    if checkpoints.step_of(latest) < final_state.step:
        return False
    if not record.checkpoint_path:
        outcome.restore(experiment.estimator.model_dir, record, final_state.step)
    if latest != record.checkpoint_path:
        _evaluate(experiment, record, latest)
    if latest != record.checkpoint_path:
        return False
    outcome.finish(experiment, experiment.estimator, record, final)
    return True


def _evaluate(experiment: Experiment, record: EvaluationRecord, path: str) -> None:
    try:
        outcome.evaluate(experiment, experiment.estimator, record, path)
    except errors.TrainerError:
        raise
    except Exception:
        if checkpoints.is_whole(path):
            raise
        # Few are kept, and training went on meanwhile.
        logging.warning("the checkpoint of step %d is gone or damaged: goes on with the newest",
                        checkpoints.step_of(path))
