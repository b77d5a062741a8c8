"""Jobs on a real Slurm: slurmctld, three slurmd and munge on loopback, and what its users type."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time
from typing import Callable, Iterator

import pytest

from tests.support import jobs, pages, slurm

pytestmark = [pytest.mark.soak, pytest.mark.cluster, pytest.mark.timeout(280)]
_FLAGS = ["--model_fn=linear", "--input_fn=digits", "--noreport", "--num_evaluations=0"]
_TRAINER = [sys.executable, "-m", "estimator_trainer"]
_SOON_SECS = 90


_VARIABLES = {"PYTHONPATH": str(jobs.REPO), "TF_CPP_MIN_LOG_LEVEL": "3"}


@pytest.fixture(scope="module", autouse=True)
def _there_is_a_slurm() -> None:
    if reason := slurm.missing():
        pytest.skip(reason)


@pytest.fixture(scope="module", name="cluster")
def _cluster(tmp_path_factory) -> Iterator[slurm.Cluster]:
    with slurm.cluster(tmp_path_factory.mktemp("slurm"), _VARIABLES) as running:
        yield running


def _until(is_so: Callable[[], bool], what: str, secs: float = _SOON_SECS) -> None:
    deadline = time.monotonic() + secs
    while not is_so():
        assert time.monotonic() < deadline, f"{what} did not come in {secs} s"
        time.sleep(0.3)


def _last_lines(text: str) -> list[str]:
    return sorted(line.partition(" step=")[0] for line in text.splitlines()
                  if line.startswith("role="))


_ROLES = ["chief:0", "evaluator:0", "ps:0", "worker:0", "worker:1"]


def test_srun_on_two_nodes_trains_with_every_role(cluster, tmp_path):
    done = cluster.run("srun", "-N2", "-n5", *_TRAINER, *_FLAGS, "--num_ps=1",
                       "--num_evaluators=1", "--train_steps=300", f"--model_dir={tmp_path}/m")
    assert done.returncode == 0, done.stdout + done.stderr
    assert _last_lines(done.stderr) == [f"role={role} status=done" for role in _ROLES]
    assert "in which this is rank 4 of 5" in done.stderr
    result = json.loads((tmp_path / "m" / "result.json").read_text())
    assert result["status"] == "done" and 300 <= result["step"] <= 303
    assert result["metrics"]["accuracy"] > 0.5


def test_an_all_reduce_in_each_distribution_of_the_ranks(cluster, tmp_path):
    done = cluster.run(
        "srun", "-N2", "-n3", "--distribution=cyclic", *_TRAINER, *_FLAGS, "--train_steps=40",
        "--train_distribute=multi_worker_mirrored", f"--model_dir={tmp_path}/m")
    assert done.returncode == 0, done.stdout + done.stderr
    assert _last_lines(done.stderr) == [
        f"role={role} status=done" for role in ("chief:0", "worker:0", "worker:1")]


def test_two_jobs_beside_each_other_on_a_node_do_not_meet(cluster, tmp_path):
    both = [cluster.popen("srun", "-N1", "-n2", "--nodelist=tnode-01", *_TRAINER, *_FLAGS,
                          "--num_ps=1", "--train_steps=200", f"--model_dir={tmp_path}/{name}")
            for name in "ab"]
    texts = [each.communicate(timeout=120)[0] for each in both]
    assert [each.returncode for each in both] == [0, 0], "\n".join(texts)
    for text in texts:
        assert _last_lines(text) == ["role=chief:0 status=done", "role=ps:0 status=done"]


def test_check_in_a_task_shows_where_the_cluster_comes_from(cluster, tmp_path):
    done = cluster.run("srun", "-n2", *_TRAINER, "check", "--num_ps=1",
                       f"--model_dir={tmp_path}/m")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("the cluster is that of Slurm's step") == 2
    wrong = cluster.run("srun", "-n2", *_TRAINER, "check", "--num_ps=2",
                        f"--model_dir={tmp_path}/m")
    assert wrong.returncode == 2 and "expected a chief beside them" in wrong.stdout


def test_the_ports_that_slurm_reserves_for_a_step_are_taken(tmp_path):
    (tmp_path / "slurm").mkdir()
    with slurm.cluster(tmp_path / "slurm", _VARIABLES, "MpiParams=ports=21000-21999\n") as other:
        done = other.run("srun", "-n2", "--resv-ports=2", *_TRAINER, "check", "--num_ps=1",
                         f"--model_dir={tmp_path}/m")
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"chief='tnode-01:(\d+)' ps='tnode-01:(\d+)'", done.stdout)
    assert len(found) == 2 and found[0] == found[1]
    assert all(21000 <= int(port) <= 21999 for port in found[0])


def _manifest(folder: pathlib.Path, *flags: str,
              more: tuple[str, ...] = ("--nodes=2",)) -> pathlib.Path:
    done = subprocess.run(
        [*_TRAINER, "manifest", "--platform=slurm", "--name=digits", "--worker=2", "--ps=1",
         "--evaluator=1", "--cpus=1", "--memory_gib=1", *more, "--", *_FLAGS, *flags],
        cwd=folder, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(jobs.REPO)})
    assert done.returncode == 0, done.stderr
    return folder / "manifest" / "job.sbatch"


def _state(cluster: slurm.Cluster, job: str) -> tuple[str, str]:
    """Returns the state of a job, and how often it went back into the queue."""
    words = cluster.run("scontrol", "--oneliner", "show", "job", job).stdout.split()
    fields = dict(word.partition("=")[::2] for word in words)
    return fields["JobState"], fields["Restarts"]


def _submitted(cluster: slurm.Cluster, script: pathlib.Path, *options: str) -> str:
    done = cluster.run("sbatch", "--parsable", *options, str(script))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_script_that_manifest_writes_goes_on_after_a_stop_and_ends(cluster, tmp_path):
    folder = tmp_path / "my jobs"
    folder.mkdir()
    job = _submitted(cluster, _manifest(folder, "--train_steps=100000000", "--model_dir=m"))
    chief = folder / f"digits-{job}-0.log"
    _until(lambda: chief.exists() and "training from step" in chief.read_text(), "training")
    # As Slurm does before a time limit, by --signal.
    assert cluster.run("scancel", "--signal=TERM", job).returncode == 0
    _until(lambda: _state(cluster, job) == ("PENDING", "1"), "the requeue")
    saved = jobs.saved_step(folder / "m")
    assert saved > 0 and "status=stopped" in chief.read_text()
    for rank in range(5):
        assert (folder / f"digits-{job}-{rank}.log").exists()
    # Slurm keeps it back for two minutes. Its owner need not wait so long, but a start within the
    # second in which the job was ended counts as one of before.
    time.sleep(2)
    cluster.run("scontrol", "update", f"JobId={job}", "StartTime=now")
    _until(lambda: f"training from step {saved}" in chief.read_text(), "the second start")
    assert cluster.run("scancel", job).returncode == 0
    _until(lambda: _state(cluster, job)[0] == "CANCELLED", "the end")
    _until(lambda: chief.read_text().count("status=stopped") == 2, "the second checkpoint")
    time.sleep(2)
    assert _state(cluster, job) == ("CANCELLED", "1")  # The job stays cancelled.


@pytest.mark.parametrize("flags, code", [
    (["--model_fn=linear"], 0), (["--model_fn=./broken.py"], 1)])
def test_a_job_that_is_done_or_failed_does_not_come_again(cluster, tmp_path, flags, code):
    (tmp_path / "broken.py").write_text("def model_fn(features, labels, mode):\n    1 / 0\n")
    flags = [*flags, "--train_steps=50", "--model_dir=m"]
    script = _manifest(tmp_path, *flags)
    done = cluster.run("sbatch", "--wait", "--parsable", str(script))
    logs = "".join(path.read_text() for path in sorted(tmp_path.glob("*.log")))
    assert done.returncode == code, logs
    state = _state(cluster, done.stdout.strip())
    assert state == ("FAILED" if code else "COMPLETED", "0")


def test_the_tasks_of_both_components_of_a_job_with_gpus_are_one_cluster(cluster, tmp_path):
    script = _manifest(tmp_path, "--model_dir=m", more=("--gpus=2", "--worker=1"))
    text = script.read_text()
    script.write_text(text.replace("    --num_ps=1", "    check --num_ps=1"))
    done = cluster.run("sbatch", "--wait", str(script))
    logs = [path.read_text() for path in sorted(tmp_path.glob("digits-*-*.log"))]
    assert done.returncode == 0, "".join(logs)
    clusters = {line for log in logs for line in log.splitlines() if line.startswith("cluster")}
    assert len(logs) == 4 and len(clusters) == 1
    assert [re.findall("^task +(.*)$", log, re.MULTILINE) for log in logs] == [
        ["chief:0"], ["worker:0"], ["ps:0"], ["evaluator:0"]]


def test_a_further_job_adds_a_worker_and_takes_it_away(cluster, tmp_path):
    """The script is that of the manual."""
    [script] = [block.text for block in pages.blocks(pages.DOCS / "slurm.md")
                if block.title == "elastic.sbatch"]
    first, *ports = (each.rpartition(":")[2] for each in jobs.free_addresses(4))
    for old, new in zip(("7000", "7001", "7002", "7003"), (first, *ports)):
        script = script.replace(f":{old}", f":{new}")
    slow = jobs.REPO / "tests" / "support" / "slow.py"
    program = shlex.join([*_TRAINER, f"--model_fn={slow}", f"--input_fn={slow}", "--noreport"])
    path = tmp_path / "elastic.sbatch"
    path.write_text(script.replace("estimator-trainer", program).replace("=2000", "=4000"))
    job = _submitted(cluster, path, "--ntasks=3", f"--chdir={tmp_path}")
    log = tmp_path / f"slurm-{job}.out"
    _until(lambda: log.exists() and "worker:1  step " in log.read_text(), "training")
    done = cluster.run("sbatch", "--parsable", "--ntasks=1", "--nodelist=tnode-02",
                       f"--chdir={tmp_path}", str(path), "join")
    joined = tmp_path / f"slurm-{done.stdout.strip()}.out"
    _until(lambda: joined.exists() and "worker:3  step " in joined.read_text(), "a worker")
    _until(lambda: "worker:3 has joined" in log.read_text(), "its name")
    assert cluster.run("scancel", done.stdout.strip()).returncode == 0
    _until(lambda: "worker:3 has left" in log.read_text(), "its end")
    _until(lambda: _state(cluster, job)[0] == "COMPLETED", "the end")
    assert _last_lines(log.read_text()) == [
        f"role={role} status=done" for role in ("ps:0", "worker:0", "worker:1")]


def test_a_job_whose_roles_get_unequal_resources_trains(cluster, tmp_path):
    # The trainers fill two nodes, and the ps has the third.
    script = _manifest(tmp_path, "--model_dir=m", "--train_steps=50", more=(
        "--worker=3", "--evaluator=0", "--gpus=2", "--resources=ps:memory_gib=2,cpus=2"))
    done = cluster.run("sbatch", "--wait", str(script), timeout_secs=250)
    logs = "".join(path.read_text() for path in sorted(tmp_path.glob("digits-*.log")))
    assert done.returncode == 0, logs
    assert _last_lines(logs) == [f"role={role} status=done" for role in (
        "chief:0", "ps:0", "worker:0", "worker:1", "worker:2")]
