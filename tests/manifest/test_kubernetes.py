"""`manifest` writes jobs of Kubernetes, TFJobs and JobSets that fit their schemas and all agree."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import pytest

from estimator_trainer import errors
from estimator_trainer.cluster import task_config
from estimator_trainer.manifest import kubernetes
from tests.support import platform_schemas
from tests.support.manifests import counts, documents, expanded, objects, SHAPES, write

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.cluster
def test_files_fit_kubernetes_schemas_and_all_pods_agree() -> None:
    for shape, strategy in SHAPES:
        values = objects("--platform=kubernetes", *counts(shape),
                         flags=[f"--train_distribute={strategy}"])
        for value in values:
            platform_schemas.check_kubernetes(value)
        assert [v["kind"] for v in values][:2] == ["Service", "NetworkPolicy"]
        found = values[2:]
        assert {job["metadata"]["name"] for job in found} == {
            f"estimator-trainer-{role}" for role, count in shape.items() if count}
        tasks = [task for job in found for task in _tasks_of_job(job)]
        assert len(tasks) == sum(shape.values())
        clusters = {json.dumps(task.cluster) for task in tasks if not task.is_local}
        assert len(clusters) <= 1
        assert {task.has_evaluator for task in tasks} == {bool(shape["evaluator"])}
        assert sum(task.is_chief for task in tasks) == 1
        trainers = [task.input_pipeline_id for task in tasks if task.is_trainer]
        assert sorted(trainers) == list(range(shape["chief"] + shape["worker"]))


def _tasks_of_job(job: dict[str, Any]) -> list[task_config.TaskConfig]:
    """Returns the task of each pod of a Job, at the address that Kubernetes gives the pod."""
    spec = job["spec"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    assert spec["completionMode"] == "Indexed" and spec["completions"] == spec["parallelism"]
    assert [v["name"] for v in container["env"]] == ["INDEX", "TF_CONFIG"]  # In this order.
    path = container["env"][0]["valueFrom"]["fieldRef"]["fieldPath"]
    assert path == "metadata.annotations['batch.kubernetes.io/job-completion-index']"
    tasks = []
    for index in range(spec["completions"]):
        text = expanded(container["env"][1]["value"], {"INDEX": str(index)})
        task = task_config.parse(text)
        host = f"{job['metadata']['name']}-{index}.{pod['subdomain']}:2222"
        role = job["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"]
        assert json.loads(text)["cluster"][role][index] == host
        assert task.name in (f"{role}:{index}", "local")
        assert task.is_local or role == "evaluator" or task.address == host
        tasks.append(task)
    return tasks


def test_job_spec_restarts_by_exit_code_and_admits_its_own_pods() -> None:
    write("--worker=2", "--ps=1", "--max_restarts=5", "--namespace=team-a", "--name=ctr",
          "--gpus=2", "--volume=disk:/shared", "--cpus=4", "--memory_gib=16")
    service, policy, *found = documents()
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"] is True
    labels = {role["metadata"]["name"]: role["spec"]["template"]["metadata"]["labels"]
              for role in found}
    for selector in (service["spec"]["selector"], policy["spec"]["podSelector"]["matchLabels"]):
        assert all(selector.items() <= pod.items() for pod in labels.values())
    # Every port is open, because NCCL chooses its own.
    assert policy["spec"]["ingress"] == [{"from": [{"podSelector": policy["spec"]["podSelector"]}]}]
    for job in found:
        count = job["spec"]["completions"]
        assert job["spec"]["backoffLimit"] == 5 * count
        rules = job["spec"]["podFailurePolicy"]["rules"]
        assert rules[0] == {"action": "FailJob", "onExitCodes": {
            "containerName": "tensorflow", "operator": "In", "values": [1, 2]}}
        pod = job["spec"]["template"]["spec"]
        assert pod["restartPolicy"] == "Never" and pod["terminationGracePeriodSeconds"] > 60
        (container,) = pod["containers"]
        limits = {"memory": "16Gi"}
        if not job["metadata"]["name"].endswith("-ps"):
            limits["nvidia.com/gpu"] = "2"
        assert container["resources"] == {"requests": {"cpu": "4", "memory": "16Gi"},
                                          "limits": limits}
        assert job["metadata"]["namespace"] == "team-a"


@pytest.mark.parametrize("platform", ["tfjob", "kubernetes", "jobset"])
def test_pod_spec_keeps_to_the_restricted_standard(
        platform: str) -> None:
    # https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
    write(f"--platform={platform}", "--worker=1", "--ps=1", "--volume=disk:/shared/")
    values = documents()
    pods = [value["spec"]["template"]["spec"] for value in values if value["kind"] == "Job"]
    if platform != "kubernetes":
        spec = values[1]["spec"]
        pods = [each["template"]["spec"].get("template", each["template"])["spec"]
                for each in spec.get("replicatedJobs", spec.get("tfReplicaSpecs", {}).values())]
    assert len(pods) == 3
    for pod in pods:
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True}
        user = kubernetes.USER
        assert user > 0 and pod["securityContext"] == {
            "runAsNonRoot": True, "runAsUser": user, "runAsGroup": user, "fsGroup": user,
            "fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": {"type": "RuntimeDefault"}}
        assert container["volumeMounts"] == [{"name": "tmp", "mountPath": "/tmp"},
                                             {"name": "shared", "mountPath": "/shared"}]
        assert pod["volumes"] == [
            {"name": "tmp", "emptyDir": {}},
            {"name": "shared", "persistentVolumeClaim": {"claimName": "disk"}}]


@pytest.mark.parametrize("platform, is_root", [
    ("tfjob", False), ("kubernetes", False), ("jobset", False), ("vertex", True),
    ("ai-platform", True)])
def test_pod_spec_runs_as_the_images_user(
        platform: str, is_root: bool) -> None:
    # Kubernetes needs a number to see that a user is not root. Google's services document nothing.
    write(f"--platform={platform}")
    lines = pathlib.Path("manifest/Dockerfile").read_text().splitlines()
    user = kubernetes.USER
    found = [line for line in lines if line.startswith(("USER", "WORKDIR", "ENV HOME"))]
    assert found == ([] if is_root else ["ENV HOME=/tmp", "WORKDIR /tmp", f"USER {user}:{user}"])
    # A file that one layer adds, another can only hide.
    assert len([line for line in lines if line.startswith("RUN")]) == 1


def test_mount_of_a_claim_for_temporary_files() -> None:
    # Kubernetes refuses two volumes at one path.
    write("--platform=kubernetes", "--volume=disk:/tmp")
    pod = documents()[-1]["spec"]["template"]["spec"]
    assert [volume["name"] for volume in pod["volumes"]] == ["shared"]
    assert pod["containers"][0]["volumeMounts"] == [{"name": "shared", "mountPath": "/tmp"}]


@pytest.mark.parametrize("platform", ["tfjob", "kubernetes", "jobset"])
def test_network_policy_opens_only_the_tasks_port_without_gpus(platform: str) -> None:
    write(f"--platform={platform}", "--worker=1", "--ps=1")
    (policy,) = [d for d in documents() if d["kind"] == "NetworkPolicy"]
    (rule,) = policy["spec"]["ingress"]
    assert rule["ports"] == [{"protocol": "TCP", "port": 2222}]
    assert rule["from"] == [{"podSelector": policy["spec"]["podSelector"]}]
    key = "training.kubeflow.org/job-name" if platform == "tfjob" else "app.kubernetes.io/instance"
    assert policy["spec"]["podSelector"]["matchLabels"][key] == "estimator-trainer"


@pytest.mark.cluster
def test_files_fit_tfjobs_schema_in_every_shape() -> None:
    keys = {"chief": "Chief", "worker": "Worker", "ps": "PS", "evaluator": "Evaluator"}
    for shape, strategy in SHAPES:
        policy, tfjob = objects("--platform=tfjob", *counts(shape),
                                flags=[f"--train_distribute={strategy}"])
        platform_schemas.check_kubernetes(policy)
        platform_schemas.check_kubernetes(tfjob)
        replicas = tfjob["spec"]["tfReplicaSpecs"]
        assert {key: spec["replicas"] for key, spec in replicas.items()} == {
            keys[role]: count for role, count in shape.items() if count}
        assert tfjob["spec"]["runPolicy"] == {"cleanPodPolicy": "None",
                                              "backoffLimit": 3 * sum(shape.values())}
        for spec in replicas.values():
            # 1 and 2 are permanent to it, 142 and 143 are not.
            assert spec["restartPolicy"] == "ExitCode"
            # The operator fails the job when a running pod is deleted, so autoscalers must not.
            assert spec["template"]["metadata"]["annotations"] == {
                "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
                "karpenter.sh/do-not-disrupt": "true"}
            (container,) = spec["template"]["spec"]["containers"]
            assert container["name"] == "tensorflow"
            assert container["ports"] == [{"name": "tfjob-port", "containerPort": 2222}]


@pytest.mark.parametrize("flags", [
    ["--param", "password=SEKRET"], ["--param=password=SEKRET"], ["--", "--password", "SEKRET"]])
def test_problems_warn_of_a_secret_in_clear_without_its_value(flags) -> None:
    own = pathlib.Path("own.py")
    own.write_text("def model_fn(features): ...\ndef input_fn(): ...\n")
    printed = write(flags=["--model_fn=./own.py", "--input_fn=./own.py", *flags])
    assert "WARNING: " in printed and "password=**** is written into the job as it is" in printed
    assert "SEKRET" not in printed
    # The tasks need it.
    assert "SEKRET" in pathlib.Path("manifest/job.yaml").read_text()
    assert "written into the job" not in write(
        flags=["--model_fn=./own.py", "--input_fn=./own.py", "--param=password_file=/run/p"])


@pytest.mark.parametrize("flag, expected", [
    ("--max_restarts=2000000000", "at most 2147483647 for all tasks together"),
    ("--gpus=3000000000", "gpus is 3000000000 (from --gpus); expected at most 1024 for one task"),
    ("--volume=data..v1-:/x", "expected CLAIM:PATH")])
def test_problems_of_numbers_that_kubernetes_cannot_hold(flag: str, expected: str) -> None:
    with pytest.raises(errors.ConfigError, match=re.escape(expected)):
        write("--platform=kubernetes", "--worker=1", "--ps=1", flag)


def test_name_problems_allow_dots_in_a_claims_name() -> None:
    write("--platform=kubernetes", "--volume=data.v1:/x", flags=["--model_dir=/x/job"])
    volumes = documents()[-1]["spec"]["template"]["spec"]["volumes"]
    assert {"claimName": "data.v1"} in [each.get("persistentVolumeClaim") for each in volumes]


def test_files_fit_jobsets_schema_and_all_pods_agree() -> None:
    for shape, strategy in SHAPES:
        policy, jobset = objects("--platform=jobset", *counts(shape),
                                 flags=[f"--train_distribute={strategy}"])
        platform_schemas.check_kubernetes(policy)
        platform_schemas.check_kubernetes(jobset)
        jobs = {job["name"]: job for job in jobset["spec"]["replicatedJobs"]}
        assert set(jobs) == {role for role, count in shape.items() if count}
        tasks = [task for role in jobs for task in _tasks_of_jobset(jobset, role)]
        assert len(tasks) == sum(shape.values())
        assert len({json.dumps(task.cluster) for task in tasks if not task.is_local}) <= 1
        assert {task.has_evaluator for task in tasks} == {bool(shape["evaluator"])}
        assert sum(task.is_chief for task in tasks) == 1


def _tasks_of_jobset(jobset: dict[str, Any], role: str) -> list[task_config.TaskConfig]:
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


def test_files_make_a_jobset_end_and_restart_by_exit_code() -> None:
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
