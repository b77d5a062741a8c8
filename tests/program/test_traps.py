"""Failures that are late or silent in a plain Estimator are early here, or logged."""

from __future__ import annotations

import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

from estimator_trainer import cli
from estimator_trainer.checks import machine_check
from estimator_trainer.coordination import checkpoint_choice
from estimator_trainer.evaluation import exporters
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs

pytestmark = pytest.mark.cluster

_MODEL = """
    import tensorflow as tf
    DEFAULT_PARAMS = {"width": 1, "moves": 1}
    def model_fn(features, labels, mode, params):
        w = tf.compat.v1.get_variable("w", [params["width"]])
        y = features["x"] * tf.reduce_mean(w)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
        loss = tf.reduce_mean(tf.square(y - labels))
        metrics = {"error": tf.compat.v1.metrics.mean_absolute_error(labels, y)}
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
        step = tf.compat.v1.train.get_global_step()
        train_op = optimizer.minimize(loss)
        for _ in range(params["moves"]):
            with tf.control_dependencies([train_op]):
                train_op = tf.compat.v1.assign_add(step, 1).op
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op,
                                          eval_metric_ops=metrics)
    def input_fn(mode):
        x = tf.data.Dataset.range(60).map(lambda i: tf.cast(i, tf.float32) / 60.0)
        x = x.map(lambda i: ({"x": i}, 2 * i)).batch(3)
        return x.repeat() if mode == "train" else x
"""


@pytest.fixture
def run(tmp_path, capfd):
    """Trains in this process with the model above and some flags; returns code and stderr."""
    path = tmp_path / "model.py"
    path.write_text(textwrap.dedent(_MODEL))

    def train(*flags, model_dir=tmp_path / "m"):
        sys.modules.pop("model", None)
        code = cli.main([f"--model_fn={path}", f"--input_fn={path}", f"--model_dir={model_dir}",
                         "--train_steps=50", *flags])
        return code, capfd.readouterr().err

    return train


def _write(tmp_path, old, new):
    path = tmp_path / "model.py"
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize("flag", ["--best_metric", "--early_stopping_metric"])
def test_a_metric_that_does_not_exist_fails_before_the_first_step(flag, run, tmp_path):
    code, err = run("--exporters=best", f"{flag}=errors")
    assert code == 2 and "expected one of error, global_step, loss. Did you mean 'error'?" in err
    assert "Traceback" not in err and not (tmp_path / "m").exists()


def test_a_metric_of_several_numbers_is_evaluated_but_never_best(run, tmp_path):
    _write(tmp_path, "metrics = {", """metrics = {
            "errors": tf.compat.v1.metrics.mean_tensor(tf.stack([loss, 2 * loss])),""")
    code, err = run("--exporters=best", "--best_metric=errors")
    assert code == 2 and "expected one of error, global_step, loss" in err
    code, err = run()
    assert code == 0, err
    result = json.loads((tmp_path / "m" / "result.json").read_text())
    assert sorted(result["metrics"]) == ["error", "global_step", "loss"]


def test_a_bug_in_the_exports_graph_is_found_before_the_first_step(run, tmp_path):
    _write(tmp_path, 'predictions={"y": y}', 'predictions={"y": labels + 1}')
    code, err = run()
    assert code == 1 and "TypeError" in err and "training from step" not in err
    assert run("--exporters=none")[0] == 0


def test_a_bug_in_the_evaluations_graph_is_found_before_the_first_step(run, tmp_path):
    _write(tmp_path, "metrics = {", 'metrics = {} if mode == "train" else {"e": 1 / 0,')
    code, err = run()
    assert code == 1 and "ZeroDivisionError" in err and "training from step" not in err


def test_a_checkpoint_that_does_not_fit_is_described_on_one_screen(run, tmp_path):
    assert run("--param=width=3")[0] == 0
    code, err = run("--param=width=4", "--train_steps=60", "--allow_changed=width")
    assert code == 2 and "of another shape: w is [3] there, [4] in the model" in err
    assert len(err.splitlines()) < 25 and "Traceback" not in err
    for command in ("evaluate", "predict"):
        code, err = run(command, "--param=width=4")
        assert code == 2 and "of another shape: w is [3] there" in err and "Traceback" not in err
    _write(tmp_path, '"w"', '"weights"')
    _, err = run("--train_steps=60")
    assert re.search(r"not in the checkpoint: weights\n.*only in the checkpoint: w\n", err)


def test_a_global_step_that_does_not_move_is_a_warning(run, tmp_path):
    _write(tmp_path, "x.repeat()", "x.repeat(25)")
    code, err = run("--param=moves=0")
    assert code == 0 and err.count("the global step stayed at 0 for ") == 1
    assert "reason=input_exhausted" in err


def test_a_global_step_that_moves_by_two_is_a_warning(run):
    code, err = run("--param=moves=2")
    assert code == 0 and err.count("the global step moves by 2 a step") == 1


def test_an_input_that_ends_early_is_logged(run, tmp_path):
    _write(tmp_path, "x.repeat()", "x.repeat(2)")
    code, err = run()
    assert code == 0 and "stopped at 40 of 50: training input exhausted" in err
    assert "status=done step=40 reason=input_exhausted" in err


def test_an_evaluation_of_part_of_the_set_is_logged(run):
    assert "evaluation covers 5 of 20 batches" in run("--eval_steps=5")[1]


def test_a_local_run_stops_early_and_a_later_one_trains_on(run, tmp_path):
    flags = ["--early_stopping_metric=error", "--early_stopping_mode=max",
             "--early_stopping_steps=20", "--eval_every_steps=10"]
    code, err = run(*flags, "--train_steps=500")
    assert code == 0 and "status=done step=30 reason=early_stopping" in err.replace(
        "step=31", "step=30")
    step = jobs.saved_step(tmp_path / "m")
    code, err = run(f"--train_steps={step + 10}")
    assert f"training from step {step} to {step + 10}" in err


def test_early_stopping_ignores_nan():
    requests = []
    hook = exporters.EarlyStopping(
        TrainerConfig(early_stopping_metric="m", early_stopping_steps=20),
        lambda *request: requests.append(request), "local")
    for step, value in [(10, math.nan), (20, 1.0), (30, 0.5), (40, math.nan), (49, 0.6)]:
        hook.export(None, "", "", {"m": value, "global_step": step}, False)
    assert not requests
    hook.export(None, "", "", {"m": 0.7, "global_step": 50}, False)
    assert requests == [("done", "early_stopping", "local")]


@pytest.mark.parametrize("damage", [
    "truncated", *(pytest.param(each, marks=pytest.mark.soak) for each in ("missing", "index"))])
def test_a_damaged_checkpoint_is_passed_over(damage, run, tmp_path):
    run("--save_checkpoints_steps=20", "--param=width=1000")
    data = tmp_path / "m" / "model.ckpt-50.data-00000-of-00001"
    index = tmp_path / "m" / "model.ckpt-50.index"
    if damage == "truncated":
        data.write_bytes(data.read_bytes()[:1000])
    elif damage == "missing":
        data.unlink()
    else:
        index.write_bytes(index.read_bytes()[:100])
    code, err = run("--param=width=1000")
    assert code == 0, err
    assert "the checkpoint of step 50 is damaged; falls back to step 40" in err
    assert jobs.saved_step(tmp_path / "m") == 50


@pytest.mark.soak
def test_a_whole_checkpoint_is_not_taken_for_damaged(run, tmp_path):
    run()
    before = (tmp_path / "m" / "checkpoint").read_text()
    checkpoint_choice.fall_back(str(tmp_path / "m"))
    assert (tmp_path / "m" / "checkpoint").read_text() == before


def test_a_model_dir_that_cannot_be_written_is_a_sentence(run):
    code, err = run(model_dir=pathlib.Path("/proc/model"))
    assert code == 2 and "model_dir is '/proc/model' (from --model_dir), which cannot be" in err
    assert "Traceback" not in err


def test_a_full_disk_is_a_sentence_and_keeps_the_checkpoint(run, tmp_path, monkeypatch):
    # With so little room at the start, training would be refused.
    monkeypatch.setattr(machine_check, "bytes_at", lambda folder: 1 << 40)
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", disk], check=False,
                      capture_output=True).returncode:
        pytest.skip("this machine does not let us mount a small disk")
    try:
        code, err = run("--param=width=100000", "--save_checkpoints_steps=20", "--exporters=none",
                        "--train_steps=100", model_dir=disk / "m")
        kept = jobs.saved_step(disk / "m")
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)
    assert code == 1 and re.search(r"cannot be written: .*No space left on device", err), err
    assert "Traceback" not in err and kept == 20


@pytest.mark.soak
def test_a_finished_run_makes_only_what_is_missing(run, tmp_path):
    run()
    result = json.loads((tmp_path / "m" / "result.json").read_text())
    _, err = run()
    assert "step 50 was evaluated before" in err and "exported" not in err
    shutil.rmtree(tmp_path / "m" / "export")
    _, err = run()
    again = json.loads((tmp_path / "m" / "result.json").read_text())
    assert again["metrics"] == result["metrics"] and len(again["exports"]) == 1
    (tmp_path / "m" / "result.json").unlink()
    (tmp_path / "m" / "evaluated.json").unlink()
    _, err = run()
    assert "evaluated step 50" in err and "training from step" not in err
