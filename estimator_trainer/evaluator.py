"""The evaluator: evaluates and exports checkpoints as they come, and ends with the training."""

from __future__ import annotations

import time

import tensorflow as tf

from estimator_trainer import lifecycle
from estimator_trainer.ending import Ending
from estimator_trainer.ending import Watch
from estimator_trainer.estimator import Experiment
from estimator_trainer.exporters import EvaluationRecord

_POLL_SECS = 0.5


def run(experiment: Experiment, record: EvaluationRecord, final: list[tf.estimator.Exporter],
        watch: Watch) -> Ending:
    """Evaluates every checkpoint it can until training has ended, the final one included.

    The Estimator's own evaluator ends only at `max_steps`: never when the input ran out first or
    training stopped early, and after a sleep of `throttle_secs` even then (training.py).

    Returns:
      How training ended.
    """
    estimator, _, eval_spec = experiment
    earliest = 0.0
    while True:
        # In this order: what is the latest after the end is the last.
        ending = watch.ending()
        if ending and ending.status == "failed":
            return ending
        latest = estimator.latest_checkpoint()
        if latest in (None, record.checkpoint_path):
            if ending:
                lifecycle.finish(experiment, estimator, record, final)
                return ending
        elif ending or time.monotonic() >= earliest:
            earliest = time.monotonic() + eval_spec.throttle_secs
            lifecycle.evaluate(experiment, estimator, record, latest)
            continue
        time.sleep(_POLL_SECS)
