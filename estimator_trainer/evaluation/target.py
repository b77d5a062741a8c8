"""The target of `stop_at`: training ends at the first evaluation that reaches it."""

from __future__ import annotations

from typing import Any

from absl import logging
import tensorflow as tf

from estimator_trainer.coordination import checkpoints
from estimator_trainer.evaluation import evaluation_log, exporters
from estimator_trainer.record import record_file
from estimator_trainer.settings import length
from estimator_trainer.settings.trainer_config import TrainerConfig


class StopAt(tf.estimator.Exporter):
    """Ends training at the first evaluation that reaches the target; exports nothing."""

    name = length.STOP_AT

    def __init__(self, config: TrainerConfig, request_end: exporters.RequestEnd, task: str):
        self._text, self._request_end, self._task = config.stop_at, request_end, task

    def export(self, estimator: Any, export_path: str, checkpoint_path: str,
               eval_result: dict[str, Any], is_the_final_export: bool) -> None:
        metrics = evaluation_log.plain_metrics(eval_result)
        check_target(self._text, metrics)
        if is_reached(self._text, metrics):
            logging.info("step %d reaches the target: %s", metrics["global_step"], self._text)
            self._request_end("done", self.name, self._task)


def is_reached(text: str, metrics: dict[str, Any]) -> bool:
    """Returns whether an evaluation has reached the target that `text` names; "" names none."""
    target = length.target(text)
    return target is not None and target.is_reached(metrics)


def check_target(text: str, names: Any) -> None:
    """Raises ConfigError if the metric of a target is not among `names`."""
    target = length.target(text)
    if target:
        evaluation_log.check_metric("stop_at", target.metric, names, "loss<=0.1")


def had_reached(config: TrainerConfig) -> bool:
    """Returns whether an earlier run in model_dir has ended, or can end, with the target reached.

    In a cluster training goes on while a checkpoint is evaluated, and the last one, which is the
    model, may miss the target by a little. The training has ended all the same.
    """
    latest = checkpoints.latest(config.model_dir)
    if not config.stop_at or not latest:
        return False
    # The chief's other reads warn of a damaged file.
    ended = checkpoints.read_result(config.model_dir, lambda sentence: None)
    metrics = evaluation_log.kept(config.model_dir, latest) or {}
    if ended and ended.status == "done" and ended.step == checkpoints.step_of(latest):
        record = record_file.read_if_whole(config.model_dir)
        is_same = record and record.settings.get("stop_at") == config.stop_at
        if ended.reason == length.STOP_AT and is_same:
            return True
        metrics = ended.metrics
    return is_reached(config.stop_at, metrics)
