"""A script is every task of a cluster, and all of them end."""

from __future__ import annotations

import json
import signal
import subprocess

import pytest

from tests.support import event_files, jobs, slow_jobs

pytestmark = pytest.mark.cluster

_WHOLE = jobs.REPO / "tests" / "program" / "scripts" / "whole.py"


def _launched(tmp_path, job_flags, *script_flags):
    """Launches the script as every task; returns what ran, and the logs by task."""
    ran = subprocess.run(
        [*jobs.PROGRAM, "launch", f"--log_dir={tmp_path}/logs", *job_flags, "--", "run",
         "--noreport", str(_WHOLE), "--", f"--output_dir={tmp_path}/model", *script_flags],
        text=True, capture_output=True, timeout=120, env=jobs.environment(), check=False)
    logs = {path.stem: path.read_text() for path in (tmp_path / "logs").glob("*.log")}
    return ran, logs


def test_a_script_is_chief_worker_ps_and_evaluator(tmp_path):
    ran, logs = _launched(tmp_path, ["--worker=1", "--ps=1", "--evaluator=1"],
                          "--learning_rate=0.05", "--again")
    assert ran.returncode == 2, ran.stdout
    for name in ("worker-0", "ps-0", "evaluator-0"):
        assert "status=done" in logs[name].splitlines()[-1], logs[name]
    # The evaluator made the final evaluation and exports; the chief alone goes on in the script.
    result = json.loads((tmp_path / "model" / "result.json").read_text())
    assert event_files.read(tmp_path / "model")["./loss"]
    assert result["role"] == "evaluator:0" and result["metrics"]["accuracy"] > 0.7
    assert {path.split("/")[-2] for path in result["exports"]} == {"at_the_end", "each_time"}
    [line] = [line for line in logs["chief-0"].splitlines() if line.startswith("{")]
    assert json.loads(line)["returned"] == "None"  # As plain returns in a cluster.
    assert json.loads(line)["accuracy"] == pytest.approx(result["metrics"]["accuracy"])
    assert not any("{" in line[:1] for line in logs["worker-0"].splitlines())
    assert "trains a second time in one job with a ps" in logs["chief-0"]


@pytest.mark.soak
def test_a_ps_ends_when_an_estimator_has_trained_its_own_way(tmp_path):
    ran = subprocess.run(
        [*jobs.PROGRAM, "launch", f"--log_dir={tmp_path}/logs", "--worker=1", "--ps=1", "--", "run",
         str(_WHOLE.with_name("epochs.py")), "--", str(tmp_path / "model"), "--own", "--once",
         "--and-evaluate"],
        text=True, capture_output=True, timeout=120, env=jobs.environment(), check=False)
    assert ran.returncode == 0, ran.stdout
    log = (tmp_path / "logs" / "ps-0.log").read_text()
    assert "status=done step=" in log.splitlines()[-1] and "reason=own_train" in log, log


@pytest.mark.soak
def test_a_script_with_its_own_train_and_roles_is_every_task(tmp_path):
    ran = subprocess.run(
        [*jobs.PROGRAM, "launch", f"--log_dir={tmp_path}/logs", "--worker=1", "--ps=1",
         "--evaluator=1", "--", "run", str(_WHOLE.with_name("own_lookups.py")), "--",
         str(tmp_path / "model")],
        text=True, capture_output=True, timeout=120, env=jobs.environment(), check=False)
    logs = {path.stem: path.read_text() for path in (tmp_path / "logs").glob("*.log")}
    assert ran.returncode == 0, (ran.stdout, logs)
    assert "reason=own_train" in logs["ps-0"].splitlines()[-1], logs["ps-0"]
    assert "status=done" in logs["worker-0"].splitlines()[-1], logs["worker-0"]
    assert "lookups 1\n" in logs["chief-0"], logs["chief-0"]
    assert event_files.read(tmp_path / "model")["eval/loss"]


def test_a_chief_beside_an_evaluator_calls_saving_listeners(tmp_path):
    args = ["run", str(_WHOLE.with_name("listens.py")), "--", str(tmp_path / "model")]
    with jobs.running(tmp_path, jobs.cluster(chief=1), args, evaluator=True) as tasks:
        jobs.wait(list(tasks.values()), 60)
    assert "SEEN [(0, 2048.0, 2048.0), (2, 512.0, 512.0), " in tasks["chief:0"].log


@pytest.mark.soak
def test_a_script_trains_by_all_reduce_beside_an_evaluator(tmp_path):
    ran, logs = _launched(tmp_path, ["--worker=1", "--evaluator=1"], "--all_reduce")
    assert ran.returncode == 0, ran.stdout
    assert all("status=done step=120" in log.splitlines()[-1] for log in logs.values()), logs


@pytest.mark.soak
def test_a_scripts_strategy_gives_up_a_task_that_never_starts(tmp_path):
    script = tmp_path / "waits.py"
    script.write_text("import tensorflow as tf\ntf.distribute.MultiWorkerMirroredStrategy()\n")
    tf_config = {"cluster": jobs.cluster(chief=1, worker=1), "task": {"type": "worker", "index": 0}}
    task = jobs.start(tmp_path, "worker:0", ["run", str(script), "--stall_timeout_secs=8"],
                      json.dumps(tf_config))
    try:
        jobs.wait_for(lambda: task.code is not None, 40)
    finally:
        jobs.kill(task)
    assert task.code == -signal.SIGALRM and "waits.py" in task.log


@pytest.mark.parametrize("stopper, spec", [
    ("worker", "TrainSpec"), slow_jobs.soak("chief", "TrainSpec"),
    slow_jobs.soak("worker", "EstimatorSpec"), slow_jobs.soak("chief", "EstimatorSpec")])
def test_a_hook_of_one_trainer_stops_all_trainers_of_an_all_reduce_at_once(stopper, spec, tmp_path):
    hosts = jobs.cluster(chief=1, worker=1)
    args = ["run", str(_WHOLE.with_name("stops.py")), "--", str(tmp_path / "model"), stopper, spec]
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait(list(tasks.values()), 60)
    lines = {task.last_line.partition(" ")[2] for task in tasks.values()}
    assert lines == {"status=done step=8 reason=stopped_by_hook"}, lines
    assert jobs.saved_step(tmp_path / "model") == 8
    assert jobs.result(tmp_path / "model")["metrics"]["global_step"] == 8


@pytest.mark.parametrize("way, code", [
    ("max", 0), slow_jobs.soak("train", 0), slow_jobs.soak("input", 0),
    slow_jobs.soak("fail", 1)])
def test_a_script_with_its_own_synchronous_optimizer_ends(way, code, tmp_path):
    args = ["run", str(_WHOLE.with_name("synchronizes.py")), "--", str(tmp_path / "model"), way]
    with jobs.running(tmp_path, jobs.cluster(chief=1, worker=1, ps=1), args) as tasks:
        jobs.wait_for(lambda: all(task.code is not None for task in tasks.values()), 60)
    assert {task.code for task in tasks.values()} == {code}, [t.log for t in tasks.values()]
    assert ("ENDED" in tasks["chief:0"].log) == (code == 0)
    if code:
        assert "the update fails" in tasks["chief:0"].log
