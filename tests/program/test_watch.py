"""`evaluate --watch` evaluates what a training elsewhere saves, and ends with it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap

import pytest

import estimator_trainer
from estimator_trainer import cli
from tests.support import jobs, line_model, slow_jobs


def _lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


@pytest.mark.cluster
def test_watch_of_a_finished_training_evaluates_its_last_checkpoint(tmp_path, capfd):
    plugin = line_model.write(tmp_path)
    estimator_trainer.train(model_fn=str(plugin), input_fn=str(plugin), train_steps=20,
                            model_dir=tmp_path / "model", exporters=("none",), report=False)
    steps = jobs.evaluated_steps(tmp_path / "model")
    capfd.readouterr()
    assert cli.main(["evaluate", "--watch", f"--model_dir={tmp_path}/model"]) == 0
    [found] = _lines(capfd.readouterr().out)
    assert found["global_step"] == 20 and found["loss"] > 0
    # The step was evaluated before, so the curve gets no second point.
    assert jobs.evaluated_steps(tmp_path / "model") == steps


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("argv, sentence", [
    (["train", "--watch"], "which only `evaluate` takes, and the command is `train`"),
    (["evaluate", "--watch", "--checkpoint=all"], "which evaluates each new checkpoint"),
    (["evaluate", "--watch"], "model_dir is missing")])
def test_watch_refuses_what_it_cannot_do(argv, sentence, capsys, monkeypatch):
    monkeypatch.delenv("AIP_MODEL_DIR", raising=False)
    assert cli.main(argv) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.cluster
@pytest.mark.soak
def test_watch_waits_for_a_training_and_ends_with_it(tmp_path):
    watch = jobs.start(tmp_path, "watch", [
        "evaluate", "--watch", f"--model_dir={tmp_path}/model"])
    try:
        jobs.wait_for(lambda: "waits for a training" in watch.log, slow_jobs.TIMEOUT_SECS)
        training = jobs.trainer(*slow_jobs.flags(
            tmp_path, "--train_steps=200", "--save_checkpoints_steps=50", "--param=step_secs=0.05"))
        assert training.returncode == 0, training.stderr
        jobs.wait([watch], slow_jobs.TIMEOUT_SECS)
        steps = [each["global_step"] for each in _lines(watch.log)]
        assert steps == sorted(set(steps)) and steps[-1] == 200 and len(steps) > 1
        assert "training has ended: done at step 200, train_steps" in watch.log
    finally:
        jobs.kill(watch)


@pytest.mark.cluster
@pytest.mark.soak
@pytest.mark.parametrize("end, code", [("SIGTERM", 143), ("--max_secs=15", 0)])
def test_watch_of_a_plain_estimator_ends_on_request(tmp_path, end, code):
    plugin = line_model.write(tmp_path)
    script = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import tensorflow as tf
        import line
        params = dict(line.DEFAULT_PARAMS)
        tf.estimator.Estimator(line.model_fn, {str(tmp_path / 'model')!r}, params=params).train(
            lambda: line.input_fn("train", params), steps=30)
    """)
    flags = [end] if code == 0 else []
    watch = jobs.start(tmp_path, "watch", [
        "evaluate", "--watch", f"--model_fn={plugin}", f"--input_fn={plugin}", "--eval_steps=2",
        f"--model_dir={tmp_path}/model", *flags])
    try:
        jobs.wait_for(lambda: "waits for a training" in watch.log, slow_jobs.TIMEOUT_SECS)
        compat = "from estimator_trainer import compat\ncompat.install()"
        subprocess.run([sys.executable, "-c", f"{compat}\n{script}"],
                       env=jobs.environment(), check=True, timeout=slow_jobs.TIMEOUT_SECS)
        jobs.wait_for(lambda: any(each["global_step"] == 30 for each in _lines(watch.log)),
                      slow_jobs.TIMEOUT_SECS)
        if code:
            slow_jobs.send(watch, signal.SIGTERM)
        jobs.wait_for(lambda: watch.code is not None, slow_jobs.TIMEOUT_SECS)
        assert watch.code == code, watch.log
        assert jobs.evaluated_steps(tmp_path / "model")[-1] == 30
    finally:
        jobs.kill(watch)
