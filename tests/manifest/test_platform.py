"""Jobs of `manifest` have data workers, and workers that join, on platforms that can run them."""

from __future__ import annotations

import json
import pathlib
import shlex
from typing import Any

import pytest

from estimator_trainer import errors
from estimator_trainer.cluster import task_config
from tests.support import platform_schemas
from tests.support.manifests import expanded, objects, write

pytestmark = [pytest.mark.usefixtures("own_folder"), pytest.mark.any_tensorflow]
_ROLES = ("--worker=1", "--ps=1", "--data_worker=2", "--resources=data_worker:cpus=4")


@pytest.mark.parametrize("platform", ["kubernetes", "jobset"])
def test_pods_of_data_workers_know_their_addresses_and_get_their_resources(platform) -> None:
    values = objects(f"--platform={platform}", *_ROLES)
    for value in values:
        platform_schemas.check_kubernetes(value)
    if platform == "kubernetes":
        [job] = [value for value in values
                 if value["metadata"]["name"] == "estimator-trainer-data-worker"]
        host = "estimator-trainer-data-worker-{}.estimator-trainer:2222"
    else:
        [job] = [each["template"] for each in values[-1]["spec"]["replicatedJobs"]
                 if each["name"] == "data-worker"]
        host = "estimator-trainer-data-worker-0-{}.estimator-trainer:2222"
    assert job["spec"]["completions"] == 2
    [container] = job["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["requests"]["cpu"] == "4"
    task = task_config.parse(expanded(container["env"][1]["value"], {"INDEX": "1"}))
    assert (task.name, task.address) == ("data_worker:1", host.format(1))
    assert task.counts == {"chief": 1, "worker": 1, "ps": 1}


@pytest.mark.parametrize("platform", ["kubernetes", "jobset"])
def test_network_policy_lets_data_workers_reach_the_dispatcher(platform) -> None:
    [policy] = [value for value in objects(f"--platform={platform}", *_ROLES)
                if value["kind"] == "NetworkPolicy"]
    [rule] = policy["spec"]["ingress"]
    # The dispatcher has a port of its own, and only the pods of the job reach it.
    assert "ports" not in rule and rule["from"][0]["podSelector"]["matchLabels"]


@pytest.mark.parametrize("platform", ["tfjob", "vertex", "ai-platform"])
def test_platforms_without_such_tasks_refuse_data_workers(platform) -> None:
    with pytest.raises(errors.ConfigError, match="(?s)data_worker is 2.*--platform=jobset"):
        write(f"--platform={platform}", "--worker=1", "--ps=1", "--data_worker=2")


@pytest.mark.parametrize("platform", ["kubernetes", "jobset", "tfjob"])
def test_network_policy_opens_every_port_to_the_job_for_a_data_service(platform) -> None:
    job = (f"--platform={platform}", "--worker=1", "--ps=1")
    [policy] = [value for value in objects(*job, flags=["--data_service"])
                if value["kind"] == "NetworkPolicy"]
    assert "ports" not in policy["spec"]["ingress"][0]
    [policy] = [value for value in objects(*job) if value["kind"] == "NetworkPolicy"]
    assert policy["spec"]["ingress"][0]["ports"] == [{"protocol": "TCP", "port": 2222}]


def _jobs_of_roles(platform: str, *job_flags: str) -> dict[str, dict[str, Any]]:
    """Returns the spec of the Job of each role, whose schema is checked."""
    values = objects(f"--platform={platform}", *job_flags)
    for value in values:
        platform_schemas.check_kubernetes(value)
    if platform == "jobset":
        return {each["name"]: each["template"]["spec"]
                for each in values[-1]["spec"]["replicatedJobs"]}
    return {value["metadata"]["name"].rpartition("-")[2]: value["spec"]
            for value in values if value["kind"] == "Job"}


@pytest.mark.parametrize("platform", ["kubernetes", "jobset"])
def test_pods_know_the_workers_that_may_come_if_a_worker_needs_them_to(platform) -> None:
    jobs = _jobs_of_roles(platform, "--worker=2:4", "--ps=2", "--evaluator=1")
    known = {}
    for role, job in jobs.items():
        assert job["completions"] == job["parallelism"]  # Both may change, but only together.
        [container] = job["template"]["spec"]["containers"]
        text = expanded(container["env"][1]["value"], {"INDEX": "0"})
        known[role] = json.loads(text)["cluster"]["worker"]
    assert [len(known[role]) for role in ("chief", "evaluator", "ps", "worker")] == [2, 2, 4, 4]
    assert known["chief"] == known["ps"][:2] and known["ps"] == known["worker"]
    assert jobs["worker"]["completions"] == 2
    # One lost ps ends every worker, and there may be four.
    assert jobs["worker"]["backoffLimit"] == 3 * 4 and jobs["ps"]["backoffLimit"] == 3 * 2


@pytest.mark.parametrize("platform, job", [
    ("kubernetes", "job/estimator-trainer-worker"), ("jobset", "job/estimator-trainer-worker-0")])
def test_printed_command_changes_the_number_of_workers(platform, job) -> None:
    [line] = [line for line in write(
        f"--platform={platform}", "--worker=2:4", "--ps=1").splitlines() if "patch" in line]
    assert line.endswith("   # 2 to 4 workers, at any time")
    assert f"# {line.strip()}" in pathlib.Path("manifest/job.yaml").read_text()
    words = shlex.split(line, comments=True)
    assert words[:-1] == ["kubectl", "patch", "-n", "default", job, "-p"]
    assert json.loads(words[-1]) == {"spec": {"completions": 4, "parallelism": 4}}


@pytest.mark.parametrize("platform", ["slurm", "tfjob", "vertex", "ai-platform"])
def test_platforms_of_a_fixed_number_of_workers_name_those_that_change_it(platform) -> None:
    with pytest.raises(errors.ConfigError,
                       match="worker is '2:4'.*kubernetes, jobset, or `launch`.*--worker=4"):
        write(f"--platform={platform}", "--worker=2:4", "--ps=1")


@pytest.mark.parametrize("job_flags, flags, message", [
    (["--chief=0", "--ps=1"], [], "whose pod is made like those .* --chief=1"),
    (["--ps=1"], ["--sync_replicas=2"], "a synchronous step needs the trainers .* --worker=2"),
    ([], ["--train_distribute=multi_worker_mirrored"], "the job has no ps")])
def test_workers_do_not_join_a_job_that_cannot_do_without_one(job_flags, flags, message) -> None:
    with pytest.raises(errors.ConfigError, match=f"worker is '2:4'.*{message}"):
        write("--worker=2:4", *job_flags, flags=flags)


def test_last_ranks_of_slurm_are_data_workers() -> None:
    write("--platform=slurm", "--image=", *_ROLES, "--evaluator=1")
    script = pathlib.Path("manifest/job.sbatch").read_text()
    assert "--num_data_workers=2" in script
    assert script.index("#SBATCH --ntasks=4") < script.index("#SBATCH --ntasks=2")
    assert "--cpus-per-task=4" in script


def test_chief_beside_data_workers_alone_trains_by_itself() -> None:
    [*_, jobset] = objects("--platform=jobset", "--data_worker=1")
    pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    text = expanded(pod["containers"][0]["env"][1]["value"], {"INDEX": "0"})
    task = task_config.parse(text)
    assert task.is_local and task.data_workers
    assert [task.declared_address] == json.loads(text)["cluster"]["chief"]
