"""`evaluate` and `export`: the use of checkpoints after training, in one process."""

import contextlib
import posixpath
from typing import Any, Callable, Iterator

import tensorflow as tf

from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import checkpoint_choice, checkpoints
from estimator_trainer.errors import ConfigError, Problem, Setting
from estimator_trainer.estimator import builder, loaded_plugins
from estimator_trainer.estimator.starting_checkpoint import CheckpointFit
from estimator_trainer.evaluation import evaluation_log, event_files, exporters
from estimator_trainer.evaluation.kept_evaluation import KeptEvaluation
from estimator_trainer.patches import estimator_patches
from estimator_trainer.settings.trainer_config import TrainerConfig


def evaluate(plan: Plan) -> list[dict[str, Any]]:
    """Evaluates the checkpoints that `config.checkpoint` selects; see `evaluating`.

    The metrics of each checkpoint come oldest first.
    """
    paths = checkpoint_choice.select(plan.config.model_dir, plan.config.checkpoint)
    with evaluating(plan) as evaluate_one:
        return [evaluate_one(path) for path in paths]


@contextlib.contextmanager
def evaluating(plan: Plan, on_batch: Callable[[], None] = lambda: None
               ) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Yields the function that evaluates a checkpoint within a `with` statement, by its path.

    Event files get the evaluations of steps that they lack, if data and model are as recorded, but
    none of a mean of checkpoints. The metrics have `global_step`; a metric of several numbers, such
    as a confusion matrix, is nested lists. `on_batch` is called after each batch.
    """
    plugins = loaded_plugins.load(plan)
    single = builder.for_one_process(plan.config, plugins)
    hook = evaluation_log.EvaluationProgress(on_batch)
    is_same = plan.recorded is None or not plan.changes and (
        plan.config.eval_steps == plan.recorded.record.settings.get("eval_steps", 0))

    def evaluate_one(path: str) -> dict[str, Any]:
        fits = CheckpointFit(plan.config, path)
        is_mean = path == checkpoints.latest_average(plan.config.model_dir)
        is_due = is_same and not is_mean and (
            exporters.saved_step(path) not in _known(plan.config.model_dir))
        with fits.explained(), (contextlib.nullcontext() if is_due else
                                estimator_patches.discarding_events(single)):
            found = single.evaluate(
                plugins.input_fn, steps=plan.config.eval_steps or None, hooks=[hook, fits],
                checkpoint_path=path)
        metrics = evaluation_log.plain_metrics(found)
        evaluation_log.log_evaluation(metrics, hook)
        return {**metrics, **evaluation_log.array_metrics(found)}

    with KeptEvaluation(single, plugins.input_fn, [hook], plugins.starts_over).used_by(single):
        yield evaluate_one


def _known(model_dir: str) -> set[int]:
    """Returns the steps of which event files have an evaluation."""
    return {metrics["global_step"] for metrics in event_files.read(model_dir)
            if "eval_name" not in metrics}


def export(plan: Plan) -> str:
    """Exports a SavedModel from the selected checkpoint; returns the path of the export."""
    path = one_checkpoint(plan.config, "export")
    plugins = loaded_plugins.load(plan)
    single = builder.for_one_process(plan.config, plugins)
    folder = posixpath.join(plan.config.model_dir, "export", "manual")
    exported = exporters.export_with_record(
        lambda: single.export_saved_model(folder, plugins.receiver_fn, checkpoint_path=path),
        plan.config.model_dir, checkpoints.step_of(path))
    return str(tf.compat.as_str_any(exported))


def one_checkpoint(config: TrainerConfig, command: str) -> str:
    """Returns the checkpoint that `config.checkpoint` selects for a command that takes one."""
    if config.checkpoint == "all":
        raise ConfigError(Problem("checkpoint", "all", f"and {command} takes one",
                                  example=Setting("checkpoint", "latest")))
    [path] = checkpoint_choice.select(config.model_dir, config.checkpoint)
    return path
