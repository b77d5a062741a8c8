"""Further sets of evaluation data: in every kind of job, in every place of the main evaluation."""

from __future__ import annotations

import json
import subprocess
import textwrap

import pytest

import estimator_trainer
from estimator_trainer.evaluation import event_files
from estimator_trainer.reports import curves, run_files
from tests.support import event_files as written, jobs

pytestmark = pytest.mark.cluster

# The loss of an evaluation is the distance of the step from `best_at` of its data.
_MODULE = """
    import tensorflow as tf
    DEFAULT_PARAMS = {"best_at": 10.0, "rows": 4, "end": True}

    def model_fn(features, labels, mode):
        w = tf.compat.v1.get_variable("w", [], initializer=tf.zeros_initializer())
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": features["x"] * w})
        step = tf.compat.v1.train.get_or_create_global_step()
        loss = tf.reduce_mean(tf.abs(tf.cast(step, tf.float32) - features["x"])) + 0 * w
        with tf.control_dependencies([tf.compat.v1.assign_add(w, 1.0)]):
            train_op = tf.compat.v1.assign_add(step, 1).op
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={
            "part/mean": tf.compat.v1.metrics.mean(features["x"])})

    def input_fn(mode, params):
        x = tf.fill([params["rows"]], params["best_at"])
        x = tf.data.Dataset.from_tensor_slices(({"x": x}, x)).batch(2)
        return x if mode != "train" and params["end"] else x.repeat()
"""
_SETTINGS = {"save_checkpoints_steps": 10, "report": False, "exporters": ["best"]}


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    path = tmp_path_factory.mktemp("plugin") / "distance.py"
    path.write_text(textwrap.dedent(_MODULE))
    return str(path)


@pytest.fixture(scope="module")
def trained(tmp_path_factory, module):
    """A training of 40 steps, whose best checkpoint a further set chooses."""
    seen = []
    model_dir = tmp_path_factory.mktemp("sets") / "model"
    result = estimator_trainer.train(
        module, module, model_dir, eval_set=["late:best_at=30,rows=2", "later:best_at=90"],
        best_metric="late/loss", train_steps=40, on_evaluation=seen.append, **_SETTINGS)
    return model_dir, result, seen


def _lines(model_dir, kind):
    lines = [json.loads(line) for line in (model_dir / "history.jsonl").read_text().splitlines()]
    return [line for line in lines if line["kind"] == kind]


def test_each_set_has_its_events_its_lines_and_its_metrics(trained):
    model_dir, result, seen = trained
    expected = {"loss": 30, "late/loss": 10, "later/loss": 50, "late/part/mean": 30}
    assert {name: result.metrics[name] for name in expected} == expected
    found = [(each["global_step"], each.get("eval_name", ""), each["loss"])
             for each in event_files.read(str(model_dir))]
    assert [each[::2] for each in found if each[1] == "late"] == [
        (10, 20), (20, 10), (30, 0), (40, 10)]
    assert [each[2] for each in found if not each[1]] == [0, 10, 20, 30]
    late = [line for line in _lines(model_dir, "evaluation_set") if line["eval_name"] == "late"]
    assert [(line["step"], line["metrics"]["loss"], line["examples"]) for line in late] == [
        (10, 20, 2), (20, 10, 2), (30, 0, 2), (40, 10, 2)]
    # A function that decides by the loss of an evaluation gets each one once.
    assert [(each["loss"], each["late/loss"]) for each in seen] == [
        (0, 20), (10, 10), (20, 0), (30, 10)]


def test_the_metric_of_a_set_chooses_the_best_checkpoint(trained):
    model_dir, _, _ = trained
    best = json.loads((model_dir / "best.json").read_text())
    assert (best["metric"], best["step"], best["value"]) == ("late/loss", 30, 0)


def test_the_page_has_a_curve_for_each_set_beside_the_main_one(trained):
    [loss] = [each for each in curves.of_training([run_files.read(str(trained[0]))])
              if each["title"].startswith("loss")]
    found = {each["label"]: each for each in loss["series"]}
    assert found["evaluation late"]["value"] == [20, 10, 0, 10]
    assert found["evaluation"]["value"] == [0, 10, 20, 30]
    looks = [(each["colour"], each["dash"]) for each in found.values()]
    assert len(set(looks)) == len(found) == 4


def test_a_rerun_and_evaluate_take_the_sets_of_the_record(trained, module):
    model_dir, result, _ = trained
    again = estimator_trainer.train(module, module, model_dir, train_steps=40, **_SETTINGS)
    assert again.was_finished and again.metrics == result.metrics
    found = estimator_trainer.evaluate(model_dir, checkpoint="best")
    assert (found["global_step"], found["loss"], found["late/loss"]) == (30, 20, 0)
    # Each evaluation is in the event files once.
    assert written.read(model_dir)["eval_late/loss"] == [10, 20, 30, 40]
    other = estimator_trainer.train(
        module, module, model_dir, train_steps=40, best_metric="loss",
        eval_set=["late:best_at=35", "other:best_at=41"], **_SETTINGS)
    assert other.was_finished
    assert (other.metrics["late/loss"], other.metrics["other/loss"]) == (5, 1)


def test_a_set_may_end_training_early(tmp_path, module):
    result = estimator_trainer.train(
        module, module, tmp_path, eval_set=["early:best_at=0"], train_steps=200,
        early_stopping_metric="early/loss", early_stopping_steps=20,
        **{**_SETTINGS, "exporters": ["none"]})
    assert (result.reason, result.step) == ("early_stopping", 30)


@pytest.mark.parametrize("settings, expected", [
    ({"eval_set": ["late:end=false"]}, "eval_set 'late' yields a dataset without end in mode"),
    ({"eval_set": ["part:best_at=1"]}, "the model has a metric 'part/mean', as if it were one of"),
    ({"eval_set": ["late:best_at=1"], "best_metric": "late/acc"}, "late/loss")])
def test_a_mistake_is_found_before_training(tmp_path, module, settings, expected):
    with pytest.raises(estimator_trainer.ConfigError, match=expected):
        estimator_trainer.train(module, module, tmp_path / "model", train_steps=40,
                                **_SETTINGS, **settings)
    assert not list((tmp_path / "model").glob("model.ckpt*"))


def _launched(tmp_path, job, *words):
    ran = subprocess.run(
        [*jobs.PROGRAM, "launch", f"--log_dir={tmp_path}/logs", *job, "--", *words],
        text=True, capture_output=True, timeout=180, env=jobs.environment(), check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads((tmp_path / "model" / "result.json").read_text())


@pytest.mark.soak
@pytest.mark.parametrize("job", [
    ["--worker=1", "--ps=1", "--evaluator=1"], ["--worker=1", "--ps=1", "--evaluator=2"],
    ["--worker=1", "--ps=1"],
    ["--worker=1", "--ps=1", "--chief_name=master"]])
def test_the_task_of_a_cluster_that_evaluates_takes_every_set(tmp_path, module, job):
    result = _launched(
        tmp_path, job, f"--model_fn={module}", f"--input_fn={module}",
        f"--model_dir={tmp_path}/model", "--train_steps=40", "--save_checkpoints_steps=10",
        "--eval_set=late:best_at=1000")
    step = result["metrics"]["global_step"]
    assert (result["metrics"]["loss"], result["metrics"]["late/loss"]) == (step - 10, 1000 - step)
    assert written.read(tmp_path / "model")["eval_late/loss"]
    lines = _lines(tmp_path / "model", "evaluation_set")
    # Several evaluators share out the checkpoints.
    assert {line["task"].split(":")[0] for line in lines} == {result["role"].split(":")[0]}
