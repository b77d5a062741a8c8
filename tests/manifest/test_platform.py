"""The jobs of `manifest` have data workers on each platform that has a place for them."""

from __future__ import annotations

import json
import pathlib

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


@pytest.mark.parametrize("platform", ["kubernetes", "jobset", "slurm"])
def test_platforms_refuse_a_number_of_workers_that_changes(platform) -> None:
    with pytest.raises(errors.ConfigError, match="worker is '2:4'.*one number.*--worker=4"):
        write(f"--platform={platform}", "--worker=2:4", "--ps=1")


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
