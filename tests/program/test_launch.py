"""A job of many tasks runs by one command, which shows, restarts and ends them, and leaves none."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from estimator_trainer.launcher import launch
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs, plain_lines

pytestmark = pytest.mark.any_tensorflow

_TIMEOUT_SECS = 120
# Processes and their forks keep this variable in the environment that they were started with.
_MARK = "LAUNCHED_BY_TEST"
_SLOW = [f"--{kind}={jobs.REPO}/tests/support/slow.py" for kind in ("model_fn", "input_fn")]


@contextlib.contextmanager
def _launched(tmp_path, job_flags, task_flags):
    """Starts `launch`; at the end no process of the job may be left, whatever happened."""
    log_path = tmp_path / "launch.log"
    args = ["launch", *job_flags, "--", *_SLOW, "--log_every_steps=10",
            f"--model_dir={tmp_path}/model", *task_flags]
    with log_path.open("wb") as log:
        process = subprocess.Popen([*jobs.PROGRAM, *plain_lines.of(args)], stdout=log, stderr=log,
                                   env=jobs.environment(**{_MARK: str(tmp_path)}),
                                   start_new_session=True)
    launcher = jobs.Task("launch", process, log_path)
    try:
        yield launcher
        jobs.wait_for(lambda: not _processes(tmp_path), 20)
    finally:
        for pid in _processes(tmp_path):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        jobs.kill(launcher)


def _processes(tmp_path):
    """Returns the pids of all processes that this test's launcher has started, and its own."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            variables = path.read_bytes().decode(errors="replace").split("\0")
            if f"{_MARK}={tmp_path}" in variables and _is_alive(path.parent):
                found.append(int(path.parent.name))
    return found


def _is_alive(folder):
    return (folder / "stat").read_text().rpartition(")")[2].split()[0] != "Z"


def _pid(tmp_path, role, index):
    """Returns the pid of a task's process, by the name that lists of processes show."""
    [found] = [pid for pid in _processes(tmp_path)
               if pathlib.Path(f"/proc/{pid}/comm").read_text() == f"{role}:{index}\n"]
    return found


def _ends(launcher, timeout_secs=_TIMEOUT_SECS):
    jobs.wait_for(lambda: launcher.code is not None, timeout_secs)
    return launcher.code


def _trains(launcher, name):
    return re.search(rf"^{name} +\|.*  step [1-9]", launcher.log, re.MULTILINE)


def _row(launcher, name):
    """Returns the task's row of the closing table."""
    rows = re.findall(rf"^launch +\| {name} +(.*)$", launcher.log, re.MULTILINE)
    return rows[-1]


@pytest.mark.soak  # tests/house/test_reference.py launches such a job, and reads what it leaves.
@pytest.mark.cluster
def test_a_job_of_every_role_runs_to_its_end(tmp_path):
    flags = ["--chief=1", "--worker=2", "--ps=1", "--evaluator=1"]
    with _launched(tmp_path, flags, ["--train_steps=150"]) as launcher:
        assert _ends(launcher) == 0, launcher.log
    for name in ("chief:0", "worker:0", "worker:1", "ps:0", "evaluator:0"):
        assert re.search(r" done +\d+ .* 0$", _row(launcher, name)), launcher.log
        log = (tmp_path / "model" / "logs" / f"{name.replace(':', '-')}.log").read_text()
        assert f"role={name} status=done" in log
    assert "job done, exit 0" in launcher.last_line and "first failure" not in launcher.log
    step = jobs.saved_step(tmp_path / "model")
    assert 150 <= step <= 153 and jobs.evaluated_steps(tmp_path / "model")[-1] == step


@pytest.mark.soak
@pytest.mark.cluster
def test_eight_tasks_run_on_two_cores(tmp_path):
    flags = ["--worker=4", "--ps=2", "--evaluator=1"]
    with _launched(tmp_path, flags, ["--train_steps=100"]) as launcher:
        assert _ends(launcher) == 0, launcher.log
    assert 100 <= jobs.saved_step(tmp_path / "model") <= 105


@pytest.mark.cluster
@pytest.mark.soak
def test_a_failing_model_ends_the_job_and_is_named(tmp_path):
    flags = ["--train_steps=1000", "--param=nan_step=30"]
    # Each task imports TensorFlow itself, as on a machine with GPUs.
    job = ["--worker=1", "--ps=1", "--noshare_import"]
    with _launched(tmp_path, job, flags) as launcher:
        assert _ends(launcher) == 1, launcher.log
    assert re.search(r"launch +\| first failure: (chief|worker):0, exit 1: the loss became NaN in"
                     r".*its log: .*0\.log", launcher.log), launcher.log
    assert "restarts" in launcher.log and "starts it again" not in launcher.log


@pytest.mark.cluster
@pytest.mark.parametrize("job, extra, name", [
    (["--worker=2", "--ps=1"], [], "worker:1"),
    pytest.param(["--worker=1", "--ps=1"], [], "ps:0", marks=pytest.mark.soak),
    pytest.param(["--worker=1"], ["--train_distribute=multi_worker_mirrored"], "worker:0",
                 marks=pytest.mark.soak)])
def test_a_job_completes_when_a_task_is_killed_once(job, extra, name, tmp_path):
    flags = ["--train_steps=800", "--save_checkpoints_steps=50", "--peer_timeout_secs=10", *extra]
    with _launched(tmp_path, job, flags) as launcher:
        jobs.wait_for(lambda: _trains(launcher, "chief:0"), _TIMEOUT_SECS)
        role, _, index = name.partition(":")
        os.kill(_pid(tmp_path, role, int(index)), signal.SIGKILL)
        assert _ends(launcher) == 0, launcher.log
    assert f"{name}: killed by SIGKILL; starts it again (1 of 3)" in launcher.log
    assert f"first failure: {name}, killed by SIGKILL" in launcher.log
    assert int(_row(launcher, name).split()[-1]) >= 1
    assert jobs.evaluated_steps(tmp_path / "model")[-1] == jobs.saved_step(tmp_path / "model")


@pytest.mark.soak
@pytest.mark.cluster
def test_a_task_that_dies_every_time_is_left_and_named(tmp_path):
    plugin = tmp_path / "dies.py"
    plugin.write_text("import json, os, signal\n"
                      "from slow import *\n"
                      "if json.loads(os.environ['TF_CONFIG'])['task']['type'] == 'worker':\n"
                      "    os.kill(os.getpid(), signal.SIGKILL)\n")
    flags = [f"--model_fn={plugin}", "--train_steps=100000"]
    os.symlink(jobs.REPO / "tests" / "support" / "slow.py", tmp_path / "slow.py")
    with _launched(tmp_path, ["--worker=1", "--ps=1", "--max_restarts=1"], flags) as launcher:
        assert _ends(launcher) == 137, launcher.log
    assert "worker:0: killed by SIGKILL after 1 restarts: gives up; ends the job" in launcher.log
    assert "first failure: worker:0, killed by SIGKILL" in launcher.log
    assert re.search(r"exit 143 +\d+ ", _row(launcher, "chief:0"))


@pytest.mark.cluster
@pytest.mark.parametrize("number, moment", [
    pytest.param(signal.SIGINT, "start", marks=pytest.mark.soak), (signal.SIGINT, "training"),
    pytest.param(signal.SIGINT, "end", marks=pytest.mark.soak),
    pytest.param(signal.SIGTERM, "training", marks=pytest.mark.soak)])
def test_a_signal_ends_every_task(number, moment, tmp_path):
    shows = {"start": "tasks on", "training": r"chief:0 .*  step \d\d\d/", "end": "status=done"}
    steps = "--train_steps=60" if moment == "end" else "--train_steps=5000"
    with _launched(tmp_path, ["--worker=1", "--ps=1"], [steps]) as launcher:
        jobs.wait_for(lambda: re.search(shows[moment], launcher.log), _TIMEOUT_SECS)
        os.kill(launcher.process.pid, number)
        code = _ends(launcher, 60)
    assert code in ((0, 143) if moment == "end" else (143,)), launcher.log
    assert "Traceback" not in launcher.log and f"exit {code}" in launcher.last_line
    if moment == "training":
        assert jobs.saved_step(tmp_path / "model") >= 50


@pytest.mark.soak
@pytest.mark.cluster
def test_a_second_signal_kills_every_task_at_once(tmp_path):
    flags = ["--train_steps=5000", "--param=step_secs=1000"]
    with _launched(tmp_path, ["--worker=1", "--ps=1"], flags) as launcher:
        jobs.wait_for(lambda: "training from step" in launcher.log, _TIMEOUT_SECS)
        os.kill(launcher.process.pid, signal.SIGINT)
        jobs.wait_for(lambda: "requests every task" in launcher.log, 5)
        os.kill(launcher.process.pid, signal.SIGINT)
        assert _ends(launcher, 20) == 143, launcher.log


@pytest.mark.cluster
def test_no_task_outlives_a_launcher_that_is_killed(tmp_path):
    with _launched(tmp_path, ["--worker=1", "--ps=1"], ["--train_steps=5000"]) as launcher:
        jobs.wait_for(lambda: _trains(launcher, "chief:0"), _TIMEOUT_SECS)
        assert len(_processes(tmp_path)) == 5  # The launcher, its fork server, three tasks.
        jobs.kill(launcher)


def test_what_no_task_could_run_is_refused_once_before_any_starts(tmp_path):
    ran = jobs.program("launch", "--worker=2", "--", "--train_distribute=mirrored",
                       f"--model_dir={tmp_path}/m")
    assert ran.returncode == 2 and ran.stdout == "" and not (tmp_path / "m").exists()
    assert ran.stderr.startswith("estimator-trainer: train_distribute is 'mirrored'")
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize("job, task, gpus, expected", [
    ({}, {}, [], sys.platform == "linux"), ({}, {}, ["0"], False),
    ({"share_import": False}, {}, [], False), ({}, {"xla": True}, [], False),
    ({}, {"verbose": True}, [], False), ({}, {"log_device_placement": True}, [], False)])
def test_tasks_share_an_import_where_a_fork_equals_a_new_process(job, task, gpus, expected):
    assert launch.can_fork(JobConfig(**job), TrainerConfig(**task), gpus) is expected


@pytest.mark.cluster
@pytest.mark.soak  # A failing task is that of test_a_failing_model_ends_the_job_and_is_named too.
def test_an_evaluator_that_fails_fails_alone_and_the_chief_evaluates(tmp_path):
    plugin = tmp_path / "dies.py"
    plugin.write_text("import json, os\n"
                      "import slow\n"
                      "def input_fn(mode, params, input_context=None):\n"
                      "    params = {**slow.DEFAULT_PARAMS, **params}\n"
                      "    role = json.loads(os.environ['TF_CONFIG'])['task']['type']\n"
                      "    if mode == 'eval' and role == 'evaluator':\n"
                      "        raise OSError('this host has no evaluation data')\n"
                      "    return slow.input_fn(mode, params, input_context)\n")
    os.symlink(jobs.REPO / "tests" / "support" / "slow.py", tmp_path / "slow.py")
    flags = [f"--input_fn={plugin}", "--train_steps=300"]
    with _launched(tmp_path, ["--worker=1", "--ps=1", "--evaluator=1"], flags) as launcher:
        assert _ends(launcher) == 0, launcher.log
    assert "evaluator:0: exit 1; the job goes on without it" in launcher.log
    assert re.search(r"first failure: evaluator:0, exit 1: OSError: this host has no evaluation"
                     r" data \(its log: ", launcher.log), launcher.log
    assert all("done" in _row(launcher, f"{role}:0") for role in ("chief", "worker", "ps"))
    result = jobs.result(tmp_path / "model")
    assert result["status"] == "done" and result["role"] == "chief:0" and result["metrics"]
    assert len(result["exports"]) == 1


@pytest.mark.soak
@pytest.mark.cluster
def test_tensorboard_shows_the_job_while_it_runs_and_ends_with_it(tmp_path):
    pytest.importorskip("tensorboard")
    with _launched(tmp_path, ["--worker=1", "--ps=1", "--tensorboard"],
                   ["--train_steps=0", "--save_summary_steps=10"]) as launcher:
        def address():
            return re.search(r"TensorBoard: (http://\S+)", launcher.log_path.read_text())

        def tags():
            with contextlib.suppress(OSError), urllib.request.urlopen(
                    f"{address()[1]}data/plugin/scalars/tags", timeout=10) as answer:
                return json.load(answer)

        jobs.wait_for(address, _TIMEOUT_SECS)
        jobs.wait_for(lambda: "loss" in str(tags()), _TIMEOUT_SECS)
        launcher.process.send_signal(signal.SIGTERM)
        assert _ends(launcher) == 143
        assert tags() is None
