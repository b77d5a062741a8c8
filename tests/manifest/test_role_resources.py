"""Each role of a job gets its own CPUs, memory, GPUs, nodes and image, on every platform."""

from __future__ import annotations

import json
import pathlib
import re
import tarfile
from typing import Any

import pytest

from estimator_trainer import cli, errors
from estimator_trainer.manifest import source_package
from tests.support import platform_schemas
from tests.support.manifests import documents, objects, write

pytestmark = [pytest.mark.usefixtures("own_folder"), pytest.mark.any_tensorflow]
_JOB = ("--worker=2", "--ps=1", "--evaluator=1")
_TOLERATION = {"key": "dedicated", "operator": "Equal", "value": "ps", "effect": "NoSchedule"}
_FILE = {"all": {"node_selector": {"zone": "a"}},
         "worker": {"gpus": 4, "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]},
         "ps": {"memory_gib": 64, "cpus": 8, "node_selector": {"pool": "memory"},
                "tolerations": [_TOLERATION], "priority_class": "high", "image": "REGISTRY/ps:1"},
         "evaluator": {"memory_gib": 2, "cpus": 1, "gpus": 1}}


def _write_file(content: Any = None) -> str:
    pathlib.Path("roles.json").write_text(json.dumps(_FILE if content is None else content))
    return "--resources=roles.json"


def _pods(platform: str, values: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Returns the spec of each role's pods."""
    if platform == "kubernetes":
        return {value["metadata"]["name"].rpartition("-")[2]: value["spec"]["template"]["spec"]
                for value in values if value["kind"] == "Job"}
    spec = values[-1]["spec"]
    if platform == "jobset":
        return {job["name"]: job["template"]["spec"]["template"]["spec"]
                for job in spec["replicatedJobs"]}
    return {role.lower(): each["template"]["spec"]
            for role, each in spec["tfReplicaSpecs"].items()}


@pytest.mark.parametrize("platform", ["tfjob", "kubernetes", "jobset"])
def test_a_file_gives_the_pods_of_each_role_their_own_resources(platform: str) -> None:
    values = objects(f"--platform={platform}", *_JOB, _write_file())
    for value in values:
        platform_schemas.check_kubernetes(value)
    pods = _pods(platform, values)
    resources = {role: pod["containers"][0]["resources"] for role, pod in pods.items()}
    assert resources["chief"] == {"requests": {"cpu": "2", "memory": "8Gi"},
                                  "limits": {"memory": "8Gi"}}
    assert resources["worker"]["limits"] == {"memory": "8Gi", "nvidia.com/gpu": "4"}
    assert resources["ps"]["requests"] == {"cpu": "8", "memory": "64Gi"}
    assert resources["evaluator"]["limits"] == {"memory": "2Gi", "nvidia.com/gpu": "1"}
    assert [pods[role]["nodeSelector"] for role in ("chief", "ps")] == [
        {"zone": "a"}, {"zone": "a", "pool": "memory"}]
    assert pods["ps"]["tolerations"] == [_TOLERATION]
    assert {pod.get("priorityClassName") for pod in pods.values()} == {None, "high"}
    assert [pods[role]["containers"][0]["image"] for role in ("ps", "worker")] == [
        "REGISTRY/ps:1", "REGISTRY/digits:1"]
    # NCCL needs every port.
    (policy,) = [value for value in values if value["kind"] == "NetworkPolicy"]
    assert "ports" not in policy["spec"]["ingress"][0]


def test_flags_have_the_effect_of_a_file() -> None:
    _write_file({"ps": _FILE["ps"]})
    assert objects(*_JOB, "--resources=roles.json") == objects(
        *_JOB, "--resources=ps:memory_gib=64,cpus=8,node_selector=pool:memory,priority_class=high",
        "--resources=ps:tolerations=dedicated=ps:NoSchedule,image=REGISTRY/ps:1")


def test_a_role_goes_before_all_and_all_before_the_plain_flags() -> None:
    values = objects(*_JOB, "--gpus=2", "--cpus=4", "--resources=worker:gpus=1",
                     "--resources=all:cpus=3,tolerations=spot:NoExecute")
    pods = _pods("kubernetes", values)
    found = {role: pod["containers"][0]["resources"] for role, pod in pods.items()}
    assert {each["requests"]["cpu"] for each in found.values()} == {"3"}
    assert [found[role]["limits"].get("nvidia.com/gpu") for role in (
        "chief", "worker", "ps")] == ["2", "1", None]
    assert pods["chief"]["tolerations"] == [
        {"key": "spot", "operator": "Exists", "effect": "NoExecute"}]


def test_an_image_has_cuda_if_a_role_that_runs_it_has_gpus() -> None:
    write(*_JOB, "--resources=worker:gpus=1")
    assert "and-cuda" in pathlib.Path("manifest/Dockerfile").read_text()
    write(*_JOB, "--resources=worker:gpus=1,image=REGISTRY/gpu:1")
    assert "and-cuda" not in pathlib.Path("manifest/Dockerfile").read_text()


def test_vertex_gives_each_pool_its_own_machines() -> None:
    write("--platform=vertex", "--image=", *_JOB, "--resources=evaluator:image=REGISTRY/eval:1",
          "--resources=worker:machine_type=g2-standard-24,gpus=2,gpu_type=NVIDIA_L4",
          "--resources=ps:machine_type=n1-highmem-16")
    (spec,) = documents()
    platform_schemas.check_google("aiplatform.v1", "GoogleCloudAiplatformV1CustomJobSpec", spec)
    pools = spec["workerPoolSpecs"]
    assert [pool["machineSpec"] for pool in pools] == [
        {"machineType": "n1-standard-4"},
        {"machineType": "g2-standard-24", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 2},
        {"machineType": "n1-highmem-16"}, {"machineType": "n1-standard-4"}]
    assert ["tf-gpu" in pool.get("pythonPackageSpec", {}).get("executorImageUri", "")
            for pool in pools] == [False, True, False, False]
    assert pools[3]["containerSpec"]["imageUri"] == "REGISTRY/eval:1"


def test_vertex_without_a_chief_has_the_workers_machines_first() -> None:
    write("--platform=vertex", "--chief=0", "--worker=2", "--ps=1",
          "--resources=worker:machine_type=a2-highgpu-1g")
    (spec,) = documents()
    assert [pool["machineSpec"]["machineType"] for pool in spec["workerPoolSpecs"]] == [
        "a2-highgpu-1g", "a2-highgpu-1g", "n1-standard-4"]


def test_ai_platform_gives_each_role_its_own_machines() -> None:
    write("--platform=ai-platform", "--worker=4", "--ps=3", "--evaluator=1",
          "--resources=ps:machine_type=n1-highmem-8",
          "--resources=evaluator:gpus=1,gpu_type=NVIDIA_TESLA_P4")
    (job,) = documents()
    platform_schemas.check_google("ml.v1", "GoogleCloudMlV1__Job", job)
    content = job["trainingInput"]
    assert [content[f"{name}Type"] for name in (
        "master", "worker", "parameterServer", "evaluator")] == [
            "n1-standard-4", "n1-standard-4", "n1-highmem-8", "n1-standard-4"]
    assert content["evaluatorConfig"] == {
        "imageUri": "REGISTRY/digits:1",
        "acceleratorConfig": {"type": "NVIDIA_TESLA_P4", "count": 1}}
    assert "workerConfig" not in content and content["masterConfig"] == {
        "imageUri": "REGISTRY/digits:1"}


@pytest.mark.parametrize("platform", ["tfjob", "kubernetes", "jobset"])
def test_tensorboard_is_a_deployment_that_no_task_and_no_peer_sees(platform: str) -> None:
    printed = write(f"--platform={platform}", *_JOB, "--name=ctr", "--volume=disk:/shared",
                    "--tensorboard", "--resources=tensorboard:cpus=3", "--resources=all:gpus=0",
                    "--resources=all:node_selector=zone:a", flags=["--model_dir=/shared/ctr"])
    values = documents()
    for value in values:
        platform_schemas.check_kubernetes(value)
    (deployment,) = [value for value in values if value["kind"] == "Deployment"]
    assert deployment["metadata"]["name"] == "ctr-tensorboard"
    template = deployment["spec"]["template"]
    labels = template["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"] == labels
    (policy,) = [value for value in values if value["kind"] == "NetworkPolicy"]
    assert not policy["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    (container,) = template["spec"]["containers"]
    assert [*container["command"], *container["args"]] == ["tensorboard", "--logdir=/shared/ctr"]
    assert "ports" not in container and container["resources"] == {
        "requests": {"cpu": "3", "memory": "4Gi"}, "limits": {"memory": "4Gi"}}
    assert {"name": "shared", "mountPath": "/shared"} in container["volumeMounts"]
    assert template["spec"]["nodeSelector"] == {"zone": "a"}
    assert template["spec"]["securityContext"]["runAsNonRoot"] is True
    assert "kubectl port-forward -n default deployment/ctr-tensorboard 6006" in printed
    # `kubectl delete` before another run leaves TensorBoard.
    assert "tensorboard" not in printed.partition("kubectl delete")[2]


def test_an_image_has_tensorboard_on_request_alone() -> None:
    found = []
    for flags in ([], ["--tensorboard"]):
        write("--platform=kubernetes", *flags)
        with tarfile.open(f"manifest/{source_package.NAME}") as tar:
            found.append(tar.extractfile(f"{source_package.STEM}/setup.py").read())  # type: ignore
    assert [b"'tensorboard', 'setuptools<82'" in each for each in found] == [False, True]


@pytest.mark.parametrize("platform, command, words", [
    ("vertex", [], "which vertex does not run"), ("slurm", [], "which slurm does not run"),
    ("ai-platform", [], "which ai-platform does not run"),
    ("kubernetes", ["predict", "--output=/p/", "--data=/a.csv", "--export_dir=/e"],
     "and the tasks predict"),
    ("kubernetes", ["run", "my.py"], "and the script chooses its model_dir")])
def test_tensorboard_is_refused_where_it_cannot_run(
        platform: str, command: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    pathlib.Path("my.py").touch()
    assert cli.main(["manifest", f"--platform={platform}", "--tensorboard", "--image=a:1", "--",
                     *(command or ["--model_dir=gs://bucket/ctr"])]) == 2
    folder = "gs://bucket/job" if command else "gs://bucket/ctr"
    assert (f"tensorboard is True (from --tensorboard), {words}; expected TensorBoard by its own"
            f" command. For example: tensorboard --logdir={folder}\n") in capsys.readouterr().err


@pytest.mark.parametrize("platform, text, expected", [
    ("kubernetes", "pss:cpus=4", "in which 'pss' is not a role; expected one of chief, worker, ps,"
     " evaluator, data_worker, tensorboard, all. Did you mean 'ps'? For example:"
     " --resources=ps:memory_gib=16,cpus=4"),
    ("kubernetes", "ps:cpu=4", "in which 'cpu' is not a key that kubernetes has; expected one of"
     " cpus, memory_gib, gpus, image, node_selector, tolerations, priority_class. Did you mean"
     " 'cpus'?"),
    ("vertex", "ps:priority_class=high", "'priority_class' is not a key that vertex has"),
    ("kubernetes", "worker:gpu_type=NVIDIA_L4", "'gpu_type' is not a key that kubernetes has"),
    ("kubernetes", "ps:memory_gib=16G", "in which memory_gib of ps is '16G'; expected a whole"
     " number from 1 to 1048576"),
    ("kubernetes", "ps:gpus=-1", "expected a whole number from 0 to 1024"),
    ("vertex", "worker:gpu_type=L4", "in which gpu_type of worker is 'L4'; expected one of NVIDIA"),
    ("kubernetes", "evaluator:cpus=1", "and the job has no evaluator; expected a role of the job,"
     " or --evaluator=1"),
    ("kubernetes", "tensorboard:cpus=1", "expected a role of the job, or --tensorboard."),
    ("kubernetes", "ps", "expected ROLE:key=value,key=value, or FILE.json"),
    ("kubernetes", "ps:image=two words", "expected a name without spaces"),
    ("kubernetes", "ps:node_selector=pool", "expected KEY:VALUE"),
    ("kubernetes", "ps:tolerations=a:Never", "expected KEY=VALUE:EFFECT or KEY:EFFECT with"),
    ("kubernetes", "none.json", "which cannot be read (No such file or directory)")])
def test_a_wrong_text_is_one_sentence(platform: str, text: str, expected: str) -> None:
    with pytest.raises(errors.ConfigError, match=re.escape(expected)) as caught:
        write(f"--platform={platform}", "--worker=1", "--ps=1", f"--resources={text}")
    assert str(caught.value).startswith(f"resources is {text!r} (from --resources)")
    assert not pathlib.Path("manifest").exists()


@pytest.mark.parametrize("content, expected", [
    ({"ps": {"cpus": True}}, "in which cpus of ps is True"),
    ({"ps": {"node_selector": {"pool": 3}}}, "node_selector of ps is {'pool': 3}"),
    ({"ps": {"tolerations": [{"key": "a", "effekt": "NoSchedule"}]}}, "tolerations of ps is"),
    ({"ps": 3}, "in which not each role has an object"),
    ([], "in which not each role has an object")])
def test_a_wrong_file_is_one_sentence(content: Any, expected: str) -> None:
    with pytest.raises(errors.ConfigError, match=re.escape(expected)):
        write("--worker=1", "--ps=1", _write_file(content))


def test_a_file_may_have_roles_that_the_job_has_not() -> None:
    assert len(_pods("kubernetes", objects("--worker=1", "--ps=1", _write_file()))) == 3
