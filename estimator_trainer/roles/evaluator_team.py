"""Several evaluators of one job: the first leads and decides, the others only evaluate.

The lead alone writes events, exports, keeps the best checkpoint and stops early, in the order of
steps, whoever evaluated: TensorBoard drops later steps when another file, or a later event, holds
an earlier one.
"""

import time
from typing import Any

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors, task_events
from estimator_trainer.coordination import checkpoints, evaluator_heartbeat, shared_evaluation
from estimator_trainer.coordination.job_state import JobState
from estimator_trainer.evaluation import (evaluation_log, event_files, exporters as exporters_lib,
                                          shared_result)
from estimator_trainer.patches import estimator_patches
from estimator_trainer.roles import final_evaluation
from estimator_trainer.roles.task_run import FollowerRun

_TICK_SECS = 0.25


def evaluate_all(run: FollowerRun, final: final_evaluation.FinalEvaluation) -> JobState:
    """Has every checkpoint evaluated until training has ended, as evaluator:0 of several.

    Raises Interrupted if this task is to stop, or cannot see the final checkpoint.
    """
    model_dir = final.estimator.model_dir
    results = _Results(final)
    with (estimator_patches.discarding_events(final.estimator),
          _lead(run, final, results.unused) as lead):
        lost_secs, ended_at = deadlines.FINAL_CHECKPOINT_SECS, 0.0
        while True:
            run.stop.check()
            final_state = run.state.poll_final_state()
            if final_state and (final_state.status != "done" or final_state.finisher):
                return final_state
            results.use(lead)
            step = lead.own_step
            if step is not None:
                results.add(step, _measured(final, lead.path_of(step)))
                lead.finish_own(is_gone=not results.has(step))
                run.state.poll_often_from(step)
            elif final_state and lead.is_complete:
                break
            if final_state and not lead.has_last:
                ended_at = ended_at or time.monotonic()
                if time.monotonic() - ended_at > lost_secs:
                    raise errors.Interrupted(
                        "lost", f"training ended with a checkpoint of step {final_state.step}, and"
                        f" {model_dir} does not show it whole", run.task.name)
            run.watchdog.tick()
            if step is None:
                run.stop.sleep(_TICK_SECS)
    final.finish()
    # The chief may have taken this evaluator for gone meanwhile.
    return run.state.poll_final_state() or final_state


def assist(run: FollowerRun, final: final_evaluation.FinalEvaluation) -> JobState:
    """Evaluates what evaluator:0 gives to this task, until the last evaluation has been made."""
    model_dir, index = final.estimator.model_dir, run.task.index
    with (estimator_patches.discarding_events(final.estimator),
          shared_evaluation.Member(model_dir, index) as member):
        while True:
            run.stop.check()
            final_state = run.state.poll_final_state()
            if final_state and (
                    final_state.status != "done" or final_state.finisher or member.is_over or
                    evaluator_heartbeat.has_evaluated(model_dir, final_state.step)):
                return final_state
            step = member.take()
            if step is not None:
                saved = shared_result.saved(model_dir, step)
                metrics = _measured(final, shared_evaluation.path_of(model_dir, step))
                if metrics is not None:
                    shared_result.write(model_dir, step, saved, metrics)
                member.finish("gone" if metrics is None else "done")
                continue
            # Without the chief and without the lead, the watchdog ends this process.
            if not final_state or member.silent_secs < deadlines.FINAL_CHECKPOINT_SECS:
                run.watchdog.tick()
            run.stop.sleep(_TICK_SECS)


def _lead(run: FollowerRun, final: final_evaluation.FinalEvaluation,
          unused: set[int]) -> shared_evaluation.Lead:
    """Returns the lead, which leaves out what earlier processes have evaluated."""
    model_dir, config = final.estimator.model_dir, run.config
    known = {metrics["global_step"] for metrics in event_files.read(model_dir)
             if metrics.get("eval_name", "") == (final.spec.name or "")}
    found = set(map(checkpoints.step_of, checkpoints.paths_in(model_dir)))
    if final.evaluations.checkpoint_path:
        known.add(checkpoints.step_of(final.evaluations.checkpoint_path))
    return shared_evaluation.Lead(
        model_dir, run.state, final.spec.throttle_secs, known & found | unused, unused,
        is_last_only=config.is_until_no_improvement)


def _measured(final: final_evaluation.FinalEvaluation, path: str) -> dict[str, Any] | None:
    """Evaluates and logs a checkpoint; returns None if it is gone."""
    with final_evaluation.unless_gone(path):
        return final.evaluations.with_sets(final.estimator, path, final.measure(path))
    return None


class _Results:
    """Uses the results of all evaluators, in the order of steps."""

    def __init__(self, final: final_evaluation.FinalEvaluation):
        self._final, self._model_dir = final, final.estimator.model_dir
        log = final.evaluations
        # Before the Estimator's events are discarded.
        self._folders = {"": final.estimator.eval_dir(final.spec.name), **{
            each.name: final.estimator.eval_dir(each.name) for each in log.sets}}
        self._own: dict[int, dict[str, Any]] = {}
        # The numbers whose events this process has written, by step.
        self._written: dict[int, dict[str, Any]] = {}
        self._missing_since: dict[int, float] = {}
        self.unused = shared_result.unused(self._model_dir)

    def has(self, step: int) -> bool:
        """Returns whether this process has a result of its own."""
        return step in self._own

    def add(self, step: int, metrics: dict[str, Any] | None) -> None:
        """Adds a result of this process; None: the checkpoint is gone."""
        if metrics is not None:
            self._own[step] = metrics

    def use(self, lead: shared_evaluation.Lead) -> None:
        """Writes events and runs the exporters for each result whose turn it is."""
        while (step := lead.next_finished()) is not None:
            is_own = step in self._own
            metrics = self._own.pop(step) if is_own else shared_result.read(self._model_dir, step)
            if metrics is None:
                since = self._missing_since.setdefault(step, time.monotonic())
                if time.monotonic() - since < deadlines.FINAL_CHECKPOINT_SECS:
                    return
                logging.warning("cannot read the evaluation of step %d: evaluates again", step)
                self._missing_since.pop(step)
                lead.use(step, again=True)
                continue
            if not is_own:
                task_events.emit("result", {
                    "step": step, "metrics": evaluation_log.plain_metrics(metrics)})
            self._use(lead.path_of(step), step, metrics)
            shared_result.remove(self._model_dir, step)
            lead.use(step)

    def _use(self, path: str, step: int, metrics: dict[str, Any]) -> None:
        final, later = self._final, sorted(each for each in self._written if each > step)
        # A plot begins again at an earlier step, so the later ones follow once more.
        for each, found in ((step, metrics), *((each, self._written[each]) for each in later)):
            self._write(found, shared_evaluation.path_of(self._model_dir, each))
        self._written[step] = evaluation_log.plain_metrics(metrics)
        for exporter in final.spec.exporters:
            if later and (exporter is final.evaluations or _is_of_latest(exporter)):
                continue
            if exporter is final.evaluations:
                final.evaluations.keep(self._model_dir, path, metrics)
                continue
            with final_evaluation.unless_gone(path, exporter.name):
                final.follow(path, metrics, [exporter])

    def _write(self, metrics: dict[str, Any], path: str) -> None:
        """Writes the events of each set."""
        for name, folder in self._folders.items():
            with tf.Graph().as_default():
                event_files.write(folder, self._final.evaluations.part(metrics, name), path)


def _is_of_latest(exporter: tf.estimator.Exporter) -> bool:
    return isinstance(exporter, exporters_lib.RecordedExporter) and exporter.is_of_latest
