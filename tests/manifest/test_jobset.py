"""`manifest` writes JobSets that fit their schema, whose pods agree, and which end rightly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from estimator_trainer.cluster import task_config
from tests.support import platform_schemas
from tests.support.manifests import counts, documents, expanded, objects, SHAPES, write

pytestmark = pytest.mark.usefixtures("own_folder")


def test_text_fits_jobsets_schema_and_all_pods_agree() -> None:
    for shape, strategy in SHAPES:
        policy, jobset = objects("--platform=jobset", *counts(shape),
                                 flags=[f"--train_distribute={strategy}"])
        platform_schemas.check_kubernetes(policy)
        platform_schemas.check_kubernetes(jobset)
        jobs = {job["name"]: job for job in jobset["spec"]["replicatedJobs"]}
        assert set(jobs) == {role for role, count in shape.items() if count}
        tasks = [task for role in jobs for task in _tasks(jobset, role)]
        assert len(tasks) == sum(shape.values())
        assert len({json.dumps(task.cluster) for task in tasks if not task.is_local}) <= 1
        assert {task.has_evaluator for task in tasks} == {bool(shape["evaluator"])}
        assert sum(task.is_chief for task in tasks) == 1


def _tasks(jobset: dict[str, Any], role: str) -> list[task_config.TaskConfig]:
    """Returns the task of each pod of a role, at the address that JobSet gives the pod."""
    name, network = jobset["metadata"]["name"], jobset["spec"]["network"]
    (job,) = (job for job in jobset["spec"]["replicatedJobs"] if job["name"] == role)
    spec = job["template"]["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert network["enableDNSHostnames"] and network["publishNotReadyAddresses"]
    assert job["replicas"] == 1 and spec["completions"] == spec["parallelism"]
    tasks = []
    for index in range(spec["completions"]):
        text = expanded(container["env"][1]["value"], {"INDEX": str(index)})
        task = task_config.parse(text)
        # JobSet's reference of `network`: NAME-REPLICATEDJOB-JOBINDEX-PODINDEX.SUBDOMAIN
        host = f"{name}-{role}-0-{index}.{network['subdomain']}:2222"
        assert json.loads(text)["cluster"][role][index] == host
        assert task.name in (f"{role}:{index}", "local")
        tasks.append(task)
    return tasks


def test_text_makes_a_jobset_end_and_restart_by_exit_code() -> None:
    policy, jobset = objects("--platform=jobset", "--worker=2", "--ps=1", "--max_restarts=5")
    spec = jobset["spec"]
    # Without a failurePolicy the first failed Job fails the JobSet, which is not made again.
    assert "failurePolicy" not in spec and spec["successPolicy"] == {"operator": "All"}
    labels = policy["spec"]["podSelector"]["matchLabels"]
    for job in spec["replicatedJobs"]:
        inner = job["template"]["spec"]
        assert inner["backoffLimit"] == 5 * inner["completions"]
        assert inner["podFailurePolicy"]["rules"] == [
            {"action": "FailJob", "onExitCodes": {
                "containerName": "tensorflow", "operator": "In", "values": [1, 2]}},
            {"action": "Ignore",
             "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
        assert labels.items() <= inner["template"]["metadata"]["labels"].items()
        assert inner["template"]["spec"]["restartPolicy"] == "Never"


@pytest.mark.cluster
def test_name_problems_allow_names_that_jobset_takes() -> None:
    write("--platform=jobset", "--name=" + "n" * 40, "--worker=1000", "--ps=1", "--evaluator=1")
    for job in documents()[1]["spec"]["replicatedJobs"]:
        last = job["template"]["spec"]["completions"] - 1
        # JobSet's webhook adds the five characters that Kubernetes ends a pod's name with.
        assert len(f"{'n' * 40}-{job['name']}-0-{last}-abcde") <= 63


@pytest.mark.parametrize("path, wrong", [
    ("network.hostNetwork", True), ("successPolicy.operator", "Most"),
    ("replicatedJobs.0.replica", 1), ("replicatedJobs.0.template.spec.backoffLimit", "3"),
    ("replicatedJobs.0.template.spec.template.spec.restartpolicy", "Never")])
def test_schemas_refuse_what_jobset_would_refuse(path: str, wrong: Any) -> None:
    jobset = objects("--platform=jobset", "--worker=1", "--ps=1")[1]
    inner: Any = jobset["spec"]
    *steps, last = path.split(".")
    for step in steps:
        inner = inner[int(step) if step.isdigit() else step]
    inner[last] = wrong
    with pytest.raises(AssertionError, match=last):
        platform_schemas.check_kubernetes(jobset)


def test_schemas_are_of_every_kubernetes_from_1_29_on() -> None:
    sources = platform_schemas.kubernetes()["sources"]
    minors = [int(source.split()[1].split(".")[0]) for source in sources
              if source.startswith("kubernetes ")]
    assert minors == list(range(29, minors[-1] + 1)) and minors[-1] >= 37
    assert "kubeflow_training 1.5.0" in sources and "kubeflow_training 1.9.4" in sources
