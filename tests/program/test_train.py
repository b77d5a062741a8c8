"""Local runs train, evaluate and export, through the command line's own entry point."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys

import pytest

from estimator_trainer import errors
from tests.support import jobs

pytestmark = pytest.mark.cluster


@pytest.mark.soak
def test_verbose_brings_tensorflows_own_lines_back(tmp_path, data_dir):
    ran = jobs.trainer(f"--model_dir={tmp_path}", "--train_steps=2", "--verbose",
                       f"--param=data_dir={data_dir}")
    assert "Calling model_fn." in ran.stderr and "Graph was finalized." in ran.stderr


def test_an_existing_module_trains_by_path_unchanged(plain, run, tmp_path):
    run(*plain, f"--model_dir={tmp_path}/m", "--train_steps=0", "--exporters=final,latest")
    result = jobs.result(tmp_path / "m")
    assert result["step"] == 4 and result["reason"] == "input_exhausted"
    assert len(result["exports"]) == 2
    out, _ = run("predict", *plain, f"--model_dir={tmp_path}/m", "--forward_key=id")
    assert [json.loads(line)["id"] for line in out.splitlines()] == list(range(64))


@pytest.mark.parametrize("flags, steps", [
    (["--train_epochs=3"], 12), (["--train_epochs=3", "--global_batch_size=32"], 6),
    (["--train_epochs=3", "--train_steps=5"], 5)])
def test_epochs_and_batch_of_an_input_without_such_params_are_flags(
        flags, steps, plain, run, tmp_path):
    run(*plain, *flags, f"--model_dir={tmp_path}/m", "--exporters=none")
    assert jobs.result(tmp_path / "m")["step"] == steps


def test_epochs_of_an_input_without_end_are_refused(plain, run, tmp_path):
    endless = tmp_path / "endless.py"
    endless.write_text((tmp_path / "my_input.py").read_text().replace(
        "def input_fn():", "def input_fn(mode):").replace(
            "batch(16)", "batch(16).repeat(None if mode == 'train' else 1)"))
    _, err = run(*plain, f"--input_fn={endless}", "--train_epochs=3", f"--model_dir={tmp_path}/m",
                 expected_code=2)
    assert "yields a dataset without end in mode 'train'" in err and "Traceback" not in err


def test_epochs_and_batch_of_an_input_that_has_such_params_are_its_params(run, tmp_path):
    _, err = run("--model_fn=linear", "--train_epochs=2", "--global_batch_size=100",
                 "--exporters=none", f"--model_dir={tmp_path}/m")
    assert jobs.result(tmp_path / "m")["step"] == 2 * 1442 // 100
    assert "batch_size=100" in err and "epochs=2" in err


def test_a_run_resumes_and_a_finished_one_prints_its_metrics(plain, run, tmp_path):
    flags = [*plain, f"--model_dir={tmp_path}/m"]
    run(*flags, "--train_steps=2")
    _, err = run(*flags, "--train_steps=4")
    assert "training from step 2 to 4" in err
    before = jobs.result(tmp_path / "m")
    _, err = run(*flags, "--train_steps=4")
    assert "step 4 was evaluated before" in err
    after = jobs.result(tmp_path / "m")
    assert after["was_finished"] and after["note"].startswith("Nothing was trained: ")
    assert after == {**before, "was_finished": True, "note": after["note"]}
    shutil.rmtree(tmp_path / "m" / "export")
    _, err = run(*flags, "--train_steps=4")
    assert jobs.result(tmp_path / "m")["metrics"] == before["metrics"]
    assert pathlib.Path(jobs.result(tmp_path / "m")["exports"][0], "saved_model.pb").exists()


def test_evaluation_runs_every_n_steps_on_the_whole_set(run, tmp_path, data_dir):
    _, err = run("--model_fn=linear", f"--model_dir={tmp_path}", "--train_steps=50",
                 "--eval_every_steps=20", f"--param=data_dir={data_dir}",
                 "--param=batch_size=2")
    assert jobs.evaluated_steps(tmp_path) == [20, 40, 50]
    assert re.findall(r"\((\d+) examples", err) == ["355"] * 3


def test_only_so_many_checkpoints_are_kept_and_each_can_be_evaluated(run, tmp_path):
    flags = ["--model_fn=linear", f"--model_dir={tmp_path}"]
    run(*flags, "--train_steps=50", "--save_checkpoints_steps=10", "--keep_checkpoint_max=3")
    out, _ = run("evaluate", *flags, "--checkpoint=all")
    assert [json.loads(line)["global_step"] for line in out.splitlines()] == [30, 40, 50]
    out, _ = run("evaluate", *flags, "--checkpoint=step=40")
    assert json.loads(out)["global_step"] == 40
    _, err = run("evaluate", *flags, "--checkpoint=step=7", expected_code=2)
    assert "it has those of steps: 30, 40, 50" in err


def test_one_seed_gives_one_model(run, tmp_path):
    losses = []
    for name in ("a", "b"):
        run("--model_fn=linear", f"--model_dir={tmp_path}/{name}", "--train_steps=20", "--seed=7")
        losses.append(jobs.result(tmp_path / name)["metrics"])
    assert losses[0] == losses[1]


def test_a_new_run_starts_from_anothers_variables(run, tmp_path):
    run("--model_fn=linear", f"--model_dir={tmp_path}/old", "--train_steps=300")
    run("--model_fn=linear", f"--model_dir={tmp_path}/new", "--train_steps=1",
        f"--warm_start_from={tmp_path}/old", "--param=learning_rate=0.0")
    old, new = jobs.result(tmp_path / "old")["metrics"], jobs.result(tmp_path / "new")["metrics"]
    assert new["global_step"] == 1 and new["loss"] == pytest.approx(old["loss"], rel=1e-5)


@pytest.mark.soak
def test_the_best_export_survives_a_restart_with_a_worse_model(run, tmp_path):
    flags = ["--model_fn=linear", f"--model_dir={tmp_path}", "--exporters=best"]
    run(*flags, "--train_steps=200")
    best = json.loads((tmp_path / "best.json").read_text())
    _, err = run(*flags, "--train_steps=210", "--param=learning_rate=1000")
    assert json.loads((tmp_path / "best.json").read_text()) == best
    assert len(list((tmp_path / "export" / "best").iterdir())) == 1
    out, _ = run("evaluate", *flags, "--checkpoint=best")
    assert json.loads(out)["loss"] == pytest.approx(best["value"])


def test_errors_know_their_exit_codes():
    assert errors.TrainerError.exit_code == 1 and errors.TaskConfigError([""]).exit_code == 2


def test_a_terminal_gets_a_progress_bar_with_the_time_left(tmp_path, data_dir):
    ours, theirs = pty.openpty()
    with subprocess.Popen(
            [sys.executable, "-m", "estimator_trainer", "--model_fn=linear", "--train_steps=3000",
             "--log_every_steps=1000", f"--model_dir={tmp_path}", f"--param=data_dir={data_dir}"],
            stderr=theirs, env=jobs.environment()) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # Linux answers so when the other end is closed.
            while chunk := os.read(ours, 4096):
                shown += chunk
    os.close(ours)
    assert process.returncode == 0
    bar = r"\r +\d+%\|\S* *\| \d+/3000 steps \[00:0\d<00:\d\d, loss \S+, accuracy 0\.\d+\]"
    assert re.search(bar, shown.decode())
    lines = shown.split(b"\r\n")
    assert lines[-2] == b"role=local status=done step=3000 reason=train_steps"
