"""The evaluator: evaluates and exports checkpoints as they come, and ends with the training."""

from __future__ import annotations

import time

from absl import logging
import tensorflow as tf

from estimator_trainer import checkpoints
from estimator_trainer import errors
from estimator_trainer import lifecycle
from estimator_trainer.ending import Ending
from estimator_trainer.ending import Watch
from estimator_trainer.estimator import Experiment
from estimator_trainer.exporters import EvaluationRecord
from estimator_trainer.monitor import Monitor
from estimator_trainer.stop import Stop

_POLL_SECS = 0.5


def run(experiment: Experiment, record: EvaluationRecord, final: list[tf.estimator.Exporter],
        watch: Watch, stop: Stop, monitor: Monitor) -> Ending:
    """Evaluates every checkpoint it can until training has ended, the final one included.

    The Estimator's own evaluator ends only at `max_steps`: never when the input ran out first or
    training stopped early, and after a sleep of `throttle_secs` even then (training.py).

    Returns:
      How training ended.

    Raises:
      Interrupted: if this task is asked to stop.
    """
    estimator, _, eval_spec = experiment
    earliest = 0.0
    while True:
        stop.check()
        # In this order: what is the latest after the end is the last.
        ending = watch.ending()
        if ending and (ending.status != "done" or ending.finisher):
            return ending
        latest = estimator.latest_checkpoint()
        if ending and not record.checkpoint_path:
            lifecycle.restore(estimator.model_dir, record, ending.step)
        if latest in (None, record.checkpoint_path):
            if ending:
                lifecycle.finish(experiment, estimator, record, final)
                return ending
        elif ending or time.monotonic() >= earliest:
            earliest = time.monotonic() + eval_spec.throttle_secs
            _evaluate(experiment, record, latest)
            continue
        monitor.tick()
        stop.wait(_POLL_SECS)


def _evaluate(experiment: Experiment, record: EvaluationRecord, path: str) -> None:
    try:
        lifecycle.evaluate(experiment, experiment.estimator, record, path)
    except errors.TrainerError:
        raise
    except Exception:
        if checkpoints.is_whole(path):
            raise
        # Few are kept, and training went on meanwhile (pains P30).
        logging.warning("the checkpoint of step %d is gone or damaged: goes on with the newest",
                        checkpoints.step_of(path))
