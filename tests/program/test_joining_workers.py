"""Workers join and leave a job with ps while it trains, and the job ends as without them."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

from tests.support import jobs, manifests, plain_lines, slow_jobs

pytestmark = pytest.mark.cluster

_TIMEOUT_SECS = 120
_SLOW = [f"--{kind}={jobs.REPO}/tests/support/slow.py" for kind in ("model_fn", "input_fn")]


def _trains(launcher, name):
    return re.search(rf"^{name} +\|.*  step [1-9]", launcher.log, re.MULTILINE)


def _launch(tmp_path, job_flags, task_flags):
    args = ["launch", *job_flags, "--", *_SLOW, "--log_every_steps=10", "--noreport",
            f"--model_dir={tmp_path}/model", *task_flags]
    log_path = tmp_path / "launch.log"
    with log_path.open("wb") as log:
        return jobs.Task("launch", subprocess.Popen(
            [*jobs.PROGRAM, *plain_lines.of(args)], stdout=log, stderr=log,
            env=jobs.environment(), start_new_session=True), log_path)


def _pid(launcher, name):
    """Returns the pid of a task, by the name that lists of processes show."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            comm, _, rest = path.read_text().partition(" (")[2].rpartition(")")
            if comm == name and int(rest.split()[1]) == launcher.process.pid:
                return int(path.parent.name)
    raise AssertionError(f"no process of {name}")


def _row(launcher, name):
    return re.findall(rf"^launch +\| {name} +(.*)$", launcher.log, re.MULTILINE)[-1]


@pytest.mark.soak
@pytest.mark.parametrize("flags", [
    [], ["--train_distribute=parameter_server"]])
def test_workers_join_leave_and_are_killed_while_a_job_trains(tmp_path, flags):
    wanted = tmp_path / "model" / "logs" / "workers"
    launcher = _launch(tmp_path, ["--worker=1:3", "--ps=1"], ["--train_steps=3000", *flags])
    try:
        jobs.wait_for(lambda: _trains(launcher, "chief:0"), _TIMEOUT_SECS)
        wanted.write_text("3\n")
        jobs.wait_for(lambda: all(_trains(launcher, f"worker:{i}") for i in (1, 2)), _TIMEOUT_SECS)
        wanted.write_text("2\n")
        jobs.wait_for(lambda: "worker:2 has left" in launcher.log, _TIMEOUT_SECS)
        os.kill(_pid(launcher, "worker:1"), signal.SIGKILL)
        jobs.wait_for(lambda: launcher.code is not None, _TIMEOUT_SECS)
    finally:
        jobs.kill(launcher)
    assert launcher.code == 0, launcher.log
    assert _row(launcher, "worker:2").split()[1] == "left"
    assert re.search(r" done +\d+ .* 1$", _row(launcher, "worker:1")), launcher.log
    assert "job done, exit 0" in launcher.last_line
    assert 3000 <= jobs.saved_step(tmp_path / "model") <= 3003


@pytest.mark.soak
@pytest.mark.parametrize("way", ["killed", "stopped", "stopped at once"])
def test_a_worker_of_an_unknown_index_trains_and_is_not_missed(tmp_path, way):
    """The chief of a user's own cluster lists one worker, and its ps the address of more."""
    args = slow_jobs.flags(tmp_path, "--train_steps=1500")
    hosts = jobs.cluster(chief=1, worker=6, ps=1)
    at_start = {**hosts, "worker": hosts["worker"][:1]}
    tasks = {}
    for role, index, cluster in (("ps", 0, hosts), ("chief", 0, at_start), ("worker", 0, at_start),
                                 ("worker", 5, hosts)):
        name = f"{role}:{index}"
        tasks[name] = jobs.start(tmp_path, name, args, json.dumps(
            {"cluster": cluster, "task": {"type": role, "index": index}}))
    try:
        jobs.wait_for(lambda: slow_jobs.trains(tasks["worker:5"]) if way != "stopped at once" else
                      "worker:5 has joined" in tasks["chief:0"].log, _TIMEOUT_SECS)
        if way == "killed":
            jobs.kill(tasks["worker:5"])
        else:
            slow_jobs.send(tasks["worker:5"], signal.SIGTERM)
            jobs.wait_for(lambda: tasks["worker:5"].code is not None, _TIMEOUT_SECS)
        joined = tasks.pop("worker:5")
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    finally:
        for task in tasks.values():
            jobs.kill(task)
    slow_jobs.assert_codes(tasks, 0)
    assert joined.code == (-signal.SIGKILL if way == "killed" else 143)
    assert "worker:5 has joined" in tasks["chief:0"].log
    assert ("worker:5 has left" in tasks["chief:0"].log) == (way != "killed")
    assert "made no step for" not in tasks["chief:0"].log
    assert 1500 <= jobs.saved_step(pathlib.Path(tmp_path, "model")) <= 1502


@pytest.mark.soak
def test_pods_of_a_manifest_join_leave_and_come_again(tmp_path, own_folder):
    """Kubernetes' part is played here: it starts and ends the pods of one Job by their index."""
    text = json.dumps(manifests.objects("--worker=1:3", "--ps=1", "--evaluator=1"))
    hosts = sorted(set(re.findall(r"[-\w]+\.estimator-trainer:2222", text)))
    for host, address in zip(hosts, jobs.free_addresses(len(hosts))):
        text = text.replace(host, address)
    pods = {value["metadata"]["name"].rpartition("-")[2]: value["spec"]["template"]["spec"]
            for value in json.loads(text) if value["kind"] == "Job"}
    # A busy machine takes a while to start the pods.
    args = slow_jobs.flags(tmp_path, "--train_steps=1500", "--param=step_secs=0.05")

    def start(role, index):
        variables = {each["name"]: each.get("value") for each in pods[role]["containers"][0]["env"]}
        return jobs.start(tmp_path, f"{role}:{index}", args, manifests.expanded(
            variables["TF_CONFIG"], {"INDEX": str(index)}))

    tasks = {role: start(role, 0) for role in ("ps", "chief", "worker", "evaluator")}
    try:
        jobs.wait_for(lambda: slow_jobs.trains(tasks["worker"]), _TIMEOUT_SECS)
        more = [start("worker", index) for index in (1, 2)]
        tasks |= {task.name: task for task in more}
        jobs.wait_for(lambda: all(map(slow_jobs.trains, more)), _TIMEOUT_SECS)
        for task in more:
            slow_jobs.send(task, signal.SIGTERM)
        jobs.wait_for(lambda: all(task.code is not None for task in more), _TIMEOUT_SECS)
        assert [task.code for task in more] == [143, 143]
        tasks["worker:1"] = start("worker", 1)
        del tasks["worker:2"]
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
        late = start("worker", 2)
        jobs.wait([late], _TIMEOUT_SECS)
    finally:
        for task in tasks.values():
            jobs.kill(task)
    slow_jobs.assert_codes({**tasks, "late": late}, 0)
    assert "worker:1 has left" in tasks["chief"].log
    assert "reads the same share" not in tasks["worker"].log
    assert 1500 <= jobs.saved_step(tmp_path / "model") <= 1503


@pytest.mark.soak
def test_a_worker_that_no_ps_knows_is_refused_and_the_job_goes_on(tmp_path):
    args = slow_jobs.flags(tmp_path, "--train_steps=1000")
    hosts = jobs.cluster(chief=1, worker=2, ps=1)
    at_start = {**hosts, "worker": hosts["worker"][:1]}
    with jobs.running(tmp_path, at_start, args) as tasks:
        stranger = jobs.start(tmp_path, "worker:1", args, json.dumps(
            {"cluster": hosts, "task": {"type": "worker", "index": 1}}))
        try:
            jobs.wait_for(lambda: stranger.code is not None, _TIMEOUT_SECS)
        finally:
            jobs.kill(stranger)
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    assert stranger.code == 2 and "fetches tensors from workers" in stranger.log, stranger.log
    slow_jobs.assert_codes(tasks, 0)
