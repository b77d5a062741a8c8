"""Early stopping ends training when a metric has not improved for a number of steps.

The task that evaluates decides after each evaluation, and requests the end of the job. Checkpoints
hold no trace of this, so a later run in the same model_dir trains on;
`tf.estimator.experimental.stop_if_no_decrease_hook` stores its flag there, raises under most
strategies, and leaves the evaluator waiting (early_stopping.py).
"""

from __future__ import annotations

import math
from typing import Any, Callable

from absl import logging
import tensorflow as tf

from estimator_trainer.evaluation import evaluation_log, exporters
from estimator_trainer.result import Status
from estimator_trainer.settings.trainer_config import TrainerConfig

REASON = "early_stopping"
# Requests the end of training, with a status, a reason and a task.
RequestEnd = Callable[[Status, str, str], None]


class EarlyStopping(tf.estimator.Exporter):
    """An exporter that checks every evaluation, and exports nothing."""

    name = REASON

    def __init__(self, config: TrainerConfig, request_end: RequestEnd, task: str):
        """Makes the exporter; `task` is the name of this task."""
        self._metric, self._mode = config.early_stopping_metric, config.early_stopping_mode
        self._patience_steps = config.early_stopping_steps
        self._request_end, self._task = request_end, task
        self._best, self._best_step = math.nan, 0

    def export(self, estimator: Any, export_path: str, checkpoint_path: str,
               eval_result: dict[str, Any], is_the_final_export: bool) -> None:
        metrics = evaluation_log.plain_metrics(eval_result)
        evaluation_log.check_metric("early_stopping_metric", self._metric, metrics)
        value, step = metrics[self._metric], metrics["global_step"]
        if math.isnan(self._best) or exporters.is_better(value, self._best, self._mode):
            self._best, self._best_step = value, step
        elif step - self._best_step >= self._patience_steps:
            logging.info("early stopping at step %d: %s was best, %.4g, at step %d", step,
                         self._metric, self._best, self._best_step)
            self._request_end("done", REASON, self._task)
