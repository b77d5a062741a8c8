"""`evaluate` and `export`: the use of checkpoints after training, in one process."""

import contextlib
import dataclasses
import posixpath
from typing import Any, Callable, ContextManager, Iterator

import tensorflow as tf

from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import checkpoint_choice, checkpoints
from estimator_trainer.errors import ConfigError, Problem, Setting
from estimator_trainer.estimator import builder, loaded_plugins
from estimator_trainer.estimator.starting_checkpoint import CheckpointFit
from estimator_trainer.evaluation import evaluation_log, event_files, exporters, kept_evaluation
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
    log = evaluation_log.EvaluationLog(on_batch, sets=plugins.eval_sets)
    kept = kept_evaluation.build(single, plugins, log)
    assert kept is not None
    recorded = plan.recorded.record.settings if plan.recorded else None
    is_same = recorded is None or not plan.changes and (
        plan.config.eval_steps == recorded.get("eval_steps", 0))

    def events(known: set[tuple[int, str]], path: str, name: str,
               is_same_set: bool = True) -> ContextManager[None]:
        is_mean = path == checkpoints.latest_average(plan.config.model_dir)
        is_due = is_same and is_same_set and not is_mean and (
            exporters.saved_step(path), name) not in known
        return (contextlib.nullcontext() if is_due else
                estimator_patches.discarding_events(single))

    def evaluate_one(path: str) -> dict[str, Any]:
        fits, known = CheckpointFit(plan.config, path), _known(plan.config.model_dir)
        with fits.explained(), events(known, path, ""):
            result = dict(single.evaluate(
                plugins.input_fn, steps=plan.config.eval_steps or None, hooks=[log.progress, fits],
                checkpoint_path=path))
        evaluation_log.log_metrics(evaluation_log.plain_metrics(result), log.progress)
        for each in log.sets:
            is_same_set = recorded is None or each.loaded.text in recorded.get("eval_set", ())
            with events(known, path, each.name, is_same_set):
                result |= each.evaluate(single, path)
        metrics = evaluation_log.plain_metrics(result)
        evaluation_log.emit_evaluation(metrics, log.progress)
        return {**metrics, **evaluation_log.array_metrics(result)}

    with kept.used_by(single):
        yield evaluate_one


def _known(model_dir: str) -> set[tuple[int, str]]:
    """Returns the steps and the sets of which event files have an evaluation."""
    return {(metrics["global_step"], metrics.get("eval_name", ""))
            for metrics in event_files.read(model_dir)}


def export(plan: Plan) -> str:
    """Exports a SavedModel from the selected checkpoint; returns the path of the export."""
    path = one_checkpoint(plan.config, "export")
    plugins = loaded_plugins.load(dataclasses.replace(plan, eval_sets=()))
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
