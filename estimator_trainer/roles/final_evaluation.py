"""The final evaluation and export are made once, of the checkpoint with which training ended."""

import contextlib
import dataclasses
import posixpath
from typing import Any, Iterator, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import checkpoints
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.evaluation import (evaluation_log, exporters as exporters_lib, hints,
                                          judgement)
from estimator_trainer.record import record_file
from estimator_trainer.reports import tensorboard
from estimator_trainer.roles.task_run import TaskRun


@dataclasses.dataclass(frozen=True)
class FinalEvaluation:
    """The evaluations of a job up to the final one, and the exports that follow them.

    Attributes:
      spec: The evaluation's input, steps and exporters; `evaluations` is one of these.
      estimator: An Estimator of the model that computes in this process alone.
      exporters: The exporters of the final export.
      max_steps: The last step of training, whose export is the final one; None: there is none.
    """

    spec: tf.estimator.EvalSpec
    estimator: tf.estimator.Estimator
    evaluations: evaluation_log.EvaluationLog
    exporters: Sequence[tf.estimator.Exporter]
    max_steps: int | None

    def evaluate(self, path: str) -> None:
        """Evaluates one checkpoint and runs the exporters that follow every evaluation."""
        self.follow(path, self.measure(path), self.spec.exporters)

    def measure(self, path: str) -> dict[str, Any]:
        """Evaluates one checkpoint, and returns the metrics as `Estimator.evaluate` does."""
        spec = self.spec
        return dict(self.estimator.evaluate(spec.input_fn, steps=spec.steps, hooks=spec.hooks,
                                            checkpoint_path=path, name=spec.name))

    def follow(self, path: str, metrics: dict[str, Any],
               exporters: Sequence[tf.estimator.Exporter]) -> None:
        """Runs exporters after the evaluation of a checkpoint."""
        is_final = bool(self.max_steps and metrics["global_step"] >= self.max_steps)
        self._export(exporters, path, metrics, is_final)

    def finish(self) -> None:
        """Evaluates the last checkpoint and makes the final export, each if it is missing."""
        model_dir, log = self.estimator.model_dir, self.evaluations
        latest = checkpoints.latest(model_dir, known=log.checkpoint_path)
        if not latest:
            logging.warning("training ended without a checkpoint: nothing to evaluate or export")
            return
        if log.unfinished:
            _remove_unfinished(log, model_dir)
        is_final = bool(self.max_steps and checkpoints.step_of(latest) >= self.max_steps)
        if log.checkpoint_path != latest:
            # An evaluator that is gone may have evaluated it.
            _restore_kept(model_dir, log, latest)
        if log.checkpoint_path != latest:
            self.evaluate(latest)
        else:
            log.complete(self.estimator)
            cut_off = [each for each in self.spec.exporters if log.is_cut_off
                       and isinstance(each, exporters_lib.RecordedExporter)]
            self._export(self._missing(cut_off), latest, log.metrics, is_final)
        missing = self._missing([each for each in self.exporters
                                 if each.name not in log.final_exporters])
        self._export(missing, latest, log.result or log.metrics, is_final=True)

    def judge(self, run: TaskRun, plugins: LoadedPlugins, losses: Sequence[float] = ()) -> None:
        """Writes what a report shows of the last evaluation, into files and events.

        `losses` are those of the lines of the training that has ended in this process.
        """
        if run.config.report:
            content = judgement.write(self.estimator, plugins, self.evaluations,
                                      run.config.eval_steps, run.stop,
                                      run.config.column_importance)
            for hint in hints.of_training(losses, content, plugins.params) if content else ():
                logging.warning("%s.", hint)
            tensorboard.write(self.estimator.model_dir,
                              self.evaluations.part(self.evaluations.metrics), content)

    def _missing(self, exporters: Sequence[tf.estimator.Exporter]) -> list[tf.estimator.Exporter]:
        """Returns the exporters whose folder has no export that the log knows."""
        return [exporter for exporter in exporters if not any(
            self._folder(exporter) == posixpath.dirname(path) for path in self.evaluations.exports)]

    def _export(self, exporters: Sequence[tf.estimator.Exporter], path: str,
                metrics: dict[str, Any], is_final: bool) -> None:
        for exporter in exporters:
            exporter.export(self.estimator, self._folder(exporter), path, metrics,
                            is_the_final_export=is_final)

    def _folder(self, exporter: tf.estimator.Exporter) -> str:
        return posixpath.join(self.estimator.model_dir, "export", exporter.name)


@contextlib.contextmanager
def unless_gone(path: str, exporter: str = "") -> Iterator[None]:
    """Ends a `with` statement with a warning where it failed because a checkpoint is gone.

    Few checkpoints are kept, and training went on meanwhile. Another failure stays one. `exporter`
    names the one that was to export the checkpoint; "" if it was to be evaluated.
    """
    try:
        yield
    except errors.TrainerError:
        raise
    except Exception:
        if checkpoints.is_whole(path):
            raise
        if exporter:
            logging.warning("the checkpoint of step %d is gone: %s cannot export it",
                            checkpoints.step_of(path), exporter)
        else:
            logging.warning("the checkpoint of step %d is gone or damaged: goes on with the newest",
                            checkpoints.step_of(path))


def _remove_unfinished(evaluations: evaluation_log.EvaluationLog, model_dir: str) -> None:
    """Removes the exports, and completes the records, left unfinished before this process began."""
    for path in evaluations.unfinished.intersection(exporters_lib.unfinished(model_dir)):
        if path.endswith(".new"):
            export = posixpath.dirname(posixpath.dirname(path))
            record_file.copy_into(export, model_dir, exporters_lib.exported_step(export) or 0)
            continue
        logging.info("removes %s, an export that a killed process left unfinished", path)
        tf.io.gfile.rmtree(path)


def restore(plan: Plan, evaluations: evaluation_log.EvaluationLog, step: int) -> None:
    """Puts into the log what earlier processes evaluated and exported of the final checkpoint.

    A further set that the earlier run evaluated on other data is left out.
    """
    model_dir = plan.config.model_dir
    before, latest = checkpoints.read_result(model_dir), checkpoints.latest(model_dir)
    if before and before.status == "done" and before.step == step == before.metrics.get(
            "global_step"):
        logging.info("step %d was evaluated before: see result.json", step)
        evaluations.restore(
            latest, before.metrics, filter(tf.io.gfile.exists, before.exports), is_cut_off=False)
    elif latest:
        _restore_kept(model_dir, evaluations, latest)
    known = plan.recorded.record.settings.get("eval_set", ()) if plan.recorded else ()
    evaluations.forget([each.name for each in evaluations.sets if each.loaded.text
                        and each.loaded.text not in known])


def _restore_kept(model_dir: str, evaluations: evaluation_log.EvaluationLog, path: str) -> None:
    """Puts into the log what was evaluated and exported of a checkpoint, if it was the last."""
    metrics = evaluation_log.kept(model_dir, path)
    if metrics is None:
        return
    logging.info("step %d was evaluated before: exports what is missing", checkpoints.step_of(path))
    evaluations.restore(path, metrics,
                        exporters_lib.exports_of(model_dir, int(metrics.get("global_step", 0))))
