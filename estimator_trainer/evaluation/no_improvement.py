"""Training until evaluations get no better: its bounds, its best checkpoint, and its end."""

import dataclasses
import math
from typing import Any, Callable

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination import checkpoints
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.evaluation import event_files, exporters
from estimator_trainer.evaluation.evaluation_log import EvaluationLog, plain_metrics
from estimator_trainer.settings import length as length_lib
from estimator_trainer.settings.trainer_config import TrainerConfig

# Returns a number of steps.
LeastSteps = Callable[[], int]


def length_of(plugins: LoadedPlugins) -> length_lib.Length:
    """Returns the length of a training on the data of the plug-ins."""
    batch_size = plugins.data.get("global_batch_size") or plugins.params.get("batch_size")
    return length_lib.by_rows(plugins.train_examples,
                              batch_size if isinstance(batch_size, int) else 0)


def least_steps(config: TrainerConfig, length: length_lib.Length,
                evaluations: EvaluationLog) -> LeastSteps:
    """Returns the function that returns the least steps from one evaluation to the next.

    The first evaluation counts its examples, on which the others depend.
    """
    if _has_own_clock(config):
        return lambda: 0
    return lambda: length.steps_between(evaluations.examples)


def _has_own_clock(config: TrainerConfig) -> bool:
    """Returns whether the user has set when to save and evaluate."""
    return bool(config.eval_every_steps or config.save_checkpoints_steps
                or config.save_checkpoints_secs)


def bounded(config: TrainerConfig, length: length_lib.Length) -> TrainerConfig:
    """Returns the settings with the bound of training, and with the steps between evaluations.

    Settings of the user stay.
    """
    most = config.train_steps or length.most_steps
    if _has_own_clock(config):
        return dataclasses.replace(config, train_steps=most)
    return dataclasses.replace(
        config, train_steps=most, num_evaluations=math.ceil(most / length.every_steps))


class NoImprovement(tf.estimator.Exporter):
    """Keeps a copy of the best checkpoint, and ends training if none is better for long enough.

    `model_dir/best.json` holds the best so far, so a restart continues to count from there.
    """

    name = length_lib.NO_IMPROVEMENT

    def __init__(self, config: TrainerConfig, length: length_lib.Length,
                 evaluations: EvaluationLog, request_end: exporters.RequestEnd, task: str):
        self._config, self._request_end, self._task = config, request_end, task
        self._length, self._least_steps = length, least_steps(config, length, evaluations)

    def export(self, estimator: Any, export_path: str, checkpoint_path: str,
               eval_result: dict[str, Any], is_the_final_export: bool) -> None:
        model_dir, metrics = estimator.model_dir, plain_metrics(eval_result)
        best, step = checkpoints.read_best(model_dir), metrics["global_step"]
        if exporters.is_best(metrics, best, self._config):
            checkpoints.copy_best(model_dir, checkpoint_path)
            checkpoints.write_best(model_dir, exporters.as_best(metrics, self._config),
                                   checkpoint_path)
        elif best and not best.ended and step - best.step >= self._length.patience_steps(
                max(self._least_steps(), self._config.checkpoints.every_steps or 0)):
            checkpoints.write_best_file(model_dir, dataclasses.replace(
                best, ended=self.name, last_step=step))
            self._request_end("done", self.name, self._task)


def restore(model_dir: str, evaluations: EvaluationLog, best: checkpoints.Best) -> None:
    """Puts into the log the evaluation of the best checkpoint, which is the latest now."""
    path = checkpoints.latest(model_dir)
    if evaluations.checkpoint_path == path or not best.metrics:
        return
    evaluations.restore(path, best.metrics, exporters.newest_of(model_dir, best.step))


def described(model_dir: str, best: checkpoints.Best, length: length_lib.Length) -> str:
    """Returns a sentence on how training ended, and with which checkpoint."""
    passes = f"{best.last_step / length.pass_steps:.3g} epochs (" if length.pass_steps else ""
    steps = f"{passes}{best.last_step:,} steps{')' * bool(passes)}"
    found = (f"the best was at step {best.step:,}, {best.metric} {best.value:.4g}, and is the"
             " model.")
    if best.ended == length_lib.NO_IMPROVEMENT:
        count = sum(best.step < each["global_step"] <= best.last_step
                    for each in event_files.read(model_dir) if "eval_name" not in each)
        return (f"Training ended after {steps}: {count} evaluation{'s' * (count != 1)} without"
                f" improvement; {found}")
    if best.ended == length_lib.MOST_STEPS:
        more = errors.Setting("train_steps", 2 * best.last_step)
        return (f"Training ended after {steps}, its bound; {found} Evaluations may improve"
                f" further: {more}.")
    return f"Training ended after {steps} ({best.ended}); {found}"
