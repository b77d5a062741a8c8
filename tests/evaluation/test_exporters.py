"""Exports and the best checkpoint stay right when another process exports meanwhile."""

from __future__ import annotations

import importlib.util
import time

import pytest
import tensorflow as tf

from estimator_trainer.checks import machine_check
from estimator_trainer.coordination import checkpoints
from estimator_trainer.evaluation import exporters
from estimator_trainer.evaluation.evaluation_log import EvaluationLog
from estimator_trainer.roles.final_evaluation import FinalEvaluation
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import line_model

pytestmark = pytest.mark.cluster


class _Job:
    """A model with two checkpoints, and what happens while one of them is exported."""

    def __init__(self, folder):
        spec = importlib.util.spec_from_file_location("line", line_model.write(folder))
        line = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(line)
        self.model_dir, self.meanwhile = str(folder / "model"), lambda: None
        self.estimator = tf.estimator.Estimator(line.model_fn, self.model_dir,
                                                params=line.DEFAULT_PARAMS)
        for steps in (1, 4):
            self.estimator.train(lambda: line.input_fn("train", line.DEFAULT_PARAMS),
                                 max_steps=steps)
        self.best = exporters.BestExporter(
            TrainerConfig(best_metric="loss", best_mode="min"), self.receiver)

    def receiver(self):
        self.meanwhile()
        x = tf.compat.v1.placeholder(tf.float32, [None])
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    def path(self, step):
        return f"{self.model_dir}/model.ckpt-{step}"

    def export(self, exporter, step, loss):
        return exporter.export(self.estimator, f"{self.model_dir}/export/best", self.path(step),
                               {"global_step": step, "loss": loss}, False)

    def exports(self):
        return tf.io.gfile.glob(f"{self.model_dir}/export/best/*")

    def kept(self):
        return sorted(tf.io.gfile.listdir(f"{self.model_dir}/best_checkpoint"))

    def remove(self, step):
        for path in tf.io.gfile.glob(f"{self.path(step)}.*"):
            tf.io.gfile.remove(path)


@pytest.fixture
def job(tmp_path):
    return _Job(tmp_path)


def _of(step):
    return ["checkpoint", *(f"model.ckpt-{step}.{end}"
                            for end in ("data-00000-of-00001", "index", "meta"))]


def test_best_exporter_keeps_a_better_best_of_another_process(job):
    """A chief takes an evaluator that stands still for gone, and exports in its place."""
    other = []

    def chief_exports():
        job.meanwhile = lambda: None
        time.sleep(1)  # TensorFlow names an export after its second.
        other.append(job.export(job.best, 4, 0.25))

    job.meanwhile = chief_exports
    assert job.export(job.best, 1, 1.0) is None
    assert checkpoints.read_best(job.model_dir).step == 4
    assert checkpoints.latest_best(job.model_dir).endswith("-4") and job.kept() == _of(4)
    assert job.exports() == [tf.compat.as_str_any(other[0])]


def test_best_exporter_keeps_the_best_beside_a_deleted_one(job):
    job.export(job.best, 1, 1.0)
    before = checkpoints.read_best(job.model_dir)
    job.remove(4)
    with pytest.raises(tf.errors.NotFoundError):
        job.export(job.best, 4, 0.25)
    assert checkpoints.read_best(job.model_dir) == before
    assert job.kept() == _of(1) and len(job.exports()) == 1


def test_best_exporter_replaces_the_best_by_a_better_one(job):
    job.export(job.best, 1, 1.0)
    job.export(job.best, 4, 0.25)
    assert checkpoints.read_best(job.model_dir).step == 4 and job.kept() == _of(4)


def test_during_training_exports_nothing_beside_another_process(job, tmp_path):
    is_replaced = []
    evaluations = EvaluationLog(is_made_elsewhere=lambda: bool(is_replaced))
    exporter = exporters.RecordedExporter(
        tf.estimator.LatestExporter("best", job.receiver), evaluations)
    job.export(evaluations, 1, 1.0)
    kept = (tmp_path / "model" / "evaluated.json").read_text()
    assert job.export(exporter, 1, 1.0)
    is_replaced.append(True)
    job.export(evaluations, 4, 0.25)
    assert job.export(exporter, 4, 0.25) is None
    assert len(job.exports()) == 1 and evaluations.step == 4
    assert (tmp_path / "model" / "evaluated.json").read_text() == kept


def test_at_the_end_leaves_one_of_two_equal_exports(job):
    """A chief exports, too, while the export of an evaluator stands still."""
    is_replaced = []
    latest = tf.estimator.LatestExporter("best", job.receiver)
    exporter = exporters.RecordedExporter(
        latest, EvaluationLog(is_made_elsewhere=lambda: bool(is_replaced)))

    def chief_exports():
        job.meanwhile = lambda: None
        time.sleep(1)
        is_replaced.append(job.export(latest, 4, 0.25))

    job.meanwhile = chief_exports
    assert job.export(exporter, 4, 0.25) is None
    assert job.exports() == [tf.compat.as_str_any(is_replaced[0])]


def test_at_the_end_exports_what_a_lost_evaluator_evaluated(job):
    job.export(EvaluationLog(), 4, 0.25)
    evaluations = EvaluationLog()
    exporter = exporters.RecordedExporter(
        tf.estimator.LatestExporter("best", job.receiver), evaluations)
    spec = tf.estimator.EvalSpec(lambda: pytest.fail("evaluated again"), exporters=[exporter])
    FinalEvaluation(spec, job.estimator, evaluations, [], max_steps=4).finish()
    assert evaluations.metrics == {"global_step": 4, "loss": 0.25}
    assert evaluations.exports == job.exports() and len(evaluations.exports) == 1


def test_best_exporter_takes_files_removed_meanwhile_as_gone(job, tmp_path):
    """A listing still has them; a link to nothing stands for one."""
    link = tmp_path / "model" / "model.ckpt-4.data-00000-of-00001"
    whole = checkpoints.all_of(job.model_dir)
    link.unlink()
    link.symlink_to("gone")
    assert checkpoints.is_whole(job.path(1)) and not checkpoints.is_whole(job.path(4))
    assert checkpoints.all_of(job.model_dir)[4] < whole[4]
    assert 0 < machine_check.checkpoint_bytes(job.model_dir) < whole[4]
