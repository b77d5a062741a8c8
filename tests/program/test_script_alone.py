"""A script that makes its own Estimator runs as a task alone, as published."""

from __future__ import annotations

import json
import os
import signal

import pytest
import tensorflow as tf

from tests.support import jobs

pytestmark = pytest.mark.cluster

_PROGRAMS = jobs.REPO / "tests" / "program" / "scripts"


def _result(model_dir):
    return json.loads((model_dir / "result.json").read_text())


def _printed(out):
    return json.loads(out.strip().splitlines()[-1])


def test_a_script_gets_what_a_task_has_and_goes_on_after_training(tmp_path):
    ran = jobs.trainer("run", "whole.py", "--", f"--output_dir={tmp_path}/model", cwd=_PROGRAMS)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.splitlines()[-1] == "role=local status=done step=120 reason=train_steps"
    result, printed = _result(tmp_path / "model"), _printed(ran.stdout)
    metrics, exports = result["metrics"], result["exports"]
    assert metrics["accuracy"] == pytest.approx(printed["accuracy"]) and metrics["accuracy"] > 0.8
    assert metrics["global_step"] == 120
    for folder in [*(path for path in exports), printed["exported"]]:
        assert tf.saved_model.contains_saved_model(folder)
    # The script exports once at the end, although throttle_secs forbids evaluations for 600 s.
    assert sorted(path.split("/")[-2] for path in exports) == [
        "at_the_end", "each_time", "each_time"]
    assert "deprecated" not in ran.stderr and "Traceback" not in ran.stderr


def test_a_missing_metric_of_a_script_fails_its_first_evaluation(tmp_path):
    ran = jobs.trainer("run", "--early_stopping_metric=acuracy", "--early_stopping_steps=50",
                       "whole.py", "--", f"--output_dir={tmp_path}/model", cwd=_PROGRAMS)
    assert ran.returncode == 2 and "Traceback" not in ran.stderr, ran.stderr
    assert "early_stopping_metric is 'acuracy' (from --early_stopping_metric)" in ran.stderr
    assert "Did you mean 'accuracy'?" in ran.stderr


def test_a_script_may_train_and_evaluate_in_turns(tmp_path):
    ran = jobs.trainer("run", str(_PROGRAMS / "epochs.py"), "--",
                       str(tmp_path / "model"), "--predict", "--exit=3")
    assert ran.returncode == 3, ran.stderr
    assert ran.stdout.count("accuracy") == 3 and "predicted 160" in ran.stdout
    assert ran.stderr.splitlines()[-1] == (
        'role=local status=failed step=120 reason="exit code 3"')


@pytest.mark.parametrize("more", [[], ["--own"]])
def test_a_scripts_model_dir_that_is_a_pattern_is_refused(more, tmp_path):
    ran = jobs.trainer("run", str(_PROGRAMS / "epochs.py"), "--", f"{tmp_path}/run[1]", *more)
    assert ran.returncode == 2 and "Traceback" not in ran.stderr, ran.stderr
    assert "run[1]' (from the script's Estimator), and TensorFlow takes [ in a path" in ran.stderr
    assert f"For example: model_dir='{tmp_path}/run-1'" in ran.stderr
    assert not list(tmp_path.iterdir())


def test_an_estimator_with_its_own_train_trains_its_own_way(tmp_path):
    ran = jobs.trainer("run", str(_PROGRAMS / "epochs.py"), "--", str(tmp_path / "model"), "--own")
    assert ran.returncode == 0 and ran.stdout.count("trains its own way") == 3, ran.stderr
    assert "Own has a `train` of its own, which runs as it is" in ran.stderr
    assert ran.stderr.splitlines()[-1] == "role=local status=done step=120 reason=own_train"
    assert _result(tmp_path / "model")["reason"] == "own_train"


def test_lookups_are_fused_for_an_estimator_with_its_own_train(tmp_path):
    ran = jobs.trainer("run", str(_PROGRAMS / "own_lookups.py"), "--", str(tmp_path / "model"))
    assert ran.returncode == 0 and ran.stdout == "lookups 1\n", ran.stderr


def test_an_estimator_with_its_own_train_leaves_metrics_and_exports(tmp_path):
    ran = jobs.trainer("run", str(_PROGRAMS / "epochs.py"), "--", str(tmp_path / "model"), "--own",
                       "--and-evaluate")
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.splitlines()[-1] == "role=local status=done step=160 reason=own_train"
    result = _result(tmp_path / "model")
    assert result["metrics"]["global_step"] == 160 and result["metrics"]["accuracy"] > 0.8
    [export] = result["exports"]
    assert tf.saved_model.contains_saved_model(export)


def test_a_signal_or_a_hook_stops_a_script_and_the_same_command_goes_on(tmp_path):
    args = ["run", str(_PROGRAMS / "whole.py"), "--", f"--output_dir={tmp_path}/model"]
    task = jobs.start(tmp_path, "local", [*args, "--secs_per_step=0.1"])
    try:
        jobs.wait_for(lambda: "step 20/120" in task.log, 60)
        os.kill(task.process.pid, signal.SIGTERM)
        jobs.wait([task], 60)
    finally:
        jobs.kill(task)
    assert task.code == 143
    stopped = _result(tmp_path / "model")
    assert stopped["status"] == "stopped" and 20 <= stopped["step"] < 120
    ran = jobs.trainer(*args, "--stop_at=80")
    assert ran.returncode == 0, ran.stderr
    ended = _result(tmp_path / "model")
    assert ended["reason"] == "stopped_by_hook" and ended["metrics"] and 80 <= ended["step"] < 90
    ran = jobs.trainer(*args, "--fail")
    assert f"training from step {ended['step']} to 120" in ran.stderr
    assert ran.returncode == 1 and "ValueError: made up" in ran.stderr
    assert ran.stderr.splitlines()[-1].startswith("role=local status=failed step=120")


@pytest.mark.parametrize("more", [[], ["train"]])
def test_a_saving_listener_runs_tensors_of_the_model_fn(more, tmp_path):
    ran = jobs.trainer("run", str(_PROGRAMS / "listens.py"), "--", f"{tmp_path}/model", *more)
    assert ran.returncode == 0, ran.stderr
    values = [(0, 2048.0), (2, 512.0), (4, 128.0), (6, 32.0)]
    assert f"SEEN {[(step, twice, twice) for step, twice in values]}" in ran.stdout


def test_a_script_gets_what_the_estimator_returns_and_its_run_config_holds(tmp_path):
    ran = jobs.trainer("run", str(_PROGRAMS / "returns.py"), "--", str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    # Plain TensorFlow prints the same.
    assert ran.stdout.splitlines() == [
        "METRICS [('a_mean', 'float32', 16.0), ('loss', 'float32', 256.0),"
        " ('pair', 'ndarray', [16.0, 32.0]), ('global_step', 'int64', 6)]",
        "EXPORTS [('bytes', '/both/export/latest', True), ('bytes', '/both/export/final', True)]",
        "GRAPHS []", "RUNS 3 []", "RUNS 6 []"]


@pytest.mark.parametrize("args, sentence", [
    (["nothing.py"], "there is no such file or module"),
    ([], "expected one script"),
    (["whole.py", "--learning_rate=1"], "own flags go after `--`: -- --learning_rate=1"),
    (["--model_fn=cnn", "whole.py"], "flag --model_fn (from the command line) is unknown"),
])
def test_a_mistake_gets_one_sentence(args, sentence, capfd, monkeypatch):
    from estimator_trainer import cli
    monkeypatch.chdir(_PROGRAMS)
    assert cli.main(["run", *args]) == 2
    assert sentence in capfd.readouterr().err
