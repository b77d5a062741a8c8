"""`manifest` writes jobs that the platforms' own schemas accept, and whose tasks all agree."""

from __future__ import annotations

import contextlib
import http.server
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import threading
from typing import Any, Iterator, Sequence

import platform_schemas
import pytest
import yaml

from estimator_trainer import cli
from estimator_trainer import command_line
from estimator_trainer import errors
from estimator_trainer import job_config
from estimator_trainer import manifest
from estimator_trainer import ports
from estimator_trainer import task_config
from estimator_trainer import topology
from estimator_trainer.platforms import source_package
from estimator_trainer.platforms import yaml_text

PLATFORMS = job_config.PLATFORMS
# What a shell, YAML or Kubernetes could take for something else.
ODD = ["--warm_start_vars=a $(HOME) $$(INDEX) $$$(X) $ ${Y} 'one' \"two\" \\ back: # yes",
       "--params_file=", "--early_stopping_metric=größe 💥\u2028\x7f\ttab\nline", "--seed=0"]
# Roles, and the strategy that trains them.
SHAPES = [({"chief": c, "worker": w, "ps": p, "evaluator": e}, d)
          for c, (w, p, d), e in itertools.product(
              (0, 1), ((2, 1, "none"), (4, 3, "parameter_server"),
                       (3, 0, "multi_worker_mirrored"), (1, 1, "none")), (0, 1))]
SHAPES += [({"chief": 1, "worker": 0, "ps": 0, "evaluator": e}, "none") for e in (0, 1)]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(*job_flags: str, flags: Sequence[str] = ()) -> str:
    """Runs `manifest`; returns what it prints. Its files are in manifest/."""
    if not any(flag.startswith("--image") for flag in job_flags):
        job_flags = (*job_flags, "--image=REGISTRY/digits:1")
    words = ["manifest", *job_flags, "--", "--model_dir=gs://bucket/job", *flags]
    line = command_line.parse(words)
    return manifest.write(line.job, line.config, line.flags)


def documents() -> list[dict[str, Any]]:
    """Returns what the job's file holds; of a REST request, the CustomJobSpec."""
    body = pathlib.Path("manifest/job.json")
    if body.exists():
        job = json.loads(body.read_text())
        platform_schemas.check_google("aiplatform.v1", "GoogleCloudAiplatformV1CustomJob", job)
        body.unlink()
        return [job["jobSpec"]]
    return list(yaml.safe_load_all(pathlib.Path("manifest/job.yaml").read_text(encoding="utf-8")))


def counts(shape: dict[str, int]) -> list[str]:
    return [f"--{role}={count}" for role, count in shape.items()]


def expanded(text: str, variables: dict[str, str]) -> str:
    """Returns a pod's text as Kubernetes expands it: $(NAME) where it knows it, and $$ to $.

    https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#Container
    """
    def one(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        return variables.get(match[1], match[0])
    return re.sub(r"\$\$|\$\(([^)]*)\)", one, text)


@pytest.mark.cluster
def test_every_shape_fits_kubernetes_schemas_and_all_pods_agree() -> None:
    for shape, strategy in SHAPES:
        write("--platform=kubernetes", *counts(shape), flags=[f"--train_distribute={strategy}"])
        values = documents()
        for value in values:
            platform_schemas.check_kubernetes(value)
        assert [v["kind"] for v in values][:2] == ["Service", "NetworkPolicy"]
        found = values[2:]
        assert {job["metadata"]["name"] for job in found} == {
            f"estimator-trainer-{role}" for role, count in shape.items() if count}
        tasks = [task for job in found for task in _tasks(job)]
        assert len(tasks) == sum(shape.values())
        clusters = {json.dumps(task.cluster) for task in tasks if not task.is_local}
        assert len(clusters) <= 1
        assert {task.has_evaluator for task in tasks} == {bool(shape["evaluator"])}
        assert sum(task.is_chief for task in tasks) == 1
        trainers = [task.input_pipeline_id for task in tasks if task.is_trainer]
        assert sorted(trainers) == list(range(shape["chief"] + shape["worker"]))


def _tasks(job: dict[str, Any]) -> list[task_config.TaskConfig]:
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


def test_a_kubernetes_job_ends_and_restarts_by_exit_code_and_admits_only_its_own_pods() -> None:
    write("--worker=2", "--ps=1", "--max_restarts=5", "--namespace=team-a", "--name=ctr",
          "--gpus=2", "--volume=disk:/shared", "--cpus=4", "--memory_gib=16")
    service, policy, *found = documents()
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"] is True
    labels = {role["metadata"]["name"]: role["spec"]["template"]["metadata"]["labels"]
              for role in found}
    for selector in (service["spec"]["selector"], policy["spec"]["podSelector"]["matchLabels"]):
        assert all(selector.items() <= pod.items() for pod in labels.values())
    # Every port, because NCCL's are of its own choice.
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
        assert container["volumeMounts"] == [{"name": "shared", "mountPath": "/shared"}]
        assert job["metadata"]["namespace"] == "team-a"


@pytest.mark.parametrize("platform", ["tfjob", "kubernetes"])
def test_without_gpus_only_the_tasks_port_is_open(platform: str) -> None:
    write(f"--platform={platform}", "--worker=1", "--ps=1")
    (policy,) = [d for d in documents() if d["kind"] == "NetworkPolicy"]
    (rule,) = policy["spec"]["ingress"]
    assert rule["ports"] == [{"protocol": "TCP", "port": 2222}]
    assert rule["from"] == [{"podSelector": policy["spec"]["podSelector"]}]
    key = "training.kubeflow.org/job-name" if platform == "tfjob" else "app.kubernetes.io/instance"
    assert policy["spec"]["podSelector"]["matchLabels"][key] == "estimator-trainer"


@pytest.mark.cluster
def test_every_shape_fits_tfjobs_schema() -> None:
    keys = {"chief": "Chief", "worker": "Worker", "ps": "PS", "evaluator": "Evaluator"}
    for shape, strategy in SHAPES:
        write("--platform=tfjob", *counts(shape), flags=[f"--train_distribute={strategy}"])
        policy, tfjob = documents()
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
            (container,) = spec["template"]["spec"]["containers"]
            assert container["name"] == "tensorflow"
            assert container["ports"] == [{"name": "tfjob-port", "containerPort": 2222}]


@pytest.mark.cluster
@pytest.mark.parametrize("image", ["REGISTRY/digits:1", ""])
def test_every_shape_fits_vertexs_schema_at_fixed_places(image: str) -> None:
    for shape, strategy in SHAPES:
        write("--platform=vertex", f"--image={image}", *counts(shape),
              flags=[f"--train_distribute={strategy}"])
        (spec,) = documents()
        platform_schemas.check_google("aiplatform.v1", "GoogleCloudAiplatformV1CustomJobSpec", spec)
        places = [1, shape["worker"] - (not shape["chief"]), shape["ps"], shape["evaluator"]]
        while not places[-1]:
            places.pop()
        pools = spec["workerPoolSpecs"]
        assert [pool.get("replicaCount", 0) for pool in pools] == places
        assert all(pool for pool, count in zip(pools, places) if count)
        assert all(pool == {} for pool, count in zip(pools, places) if not count)
        kinds = {key for pool in pools for key in pool if key.endswith("Spec")}
        assert kinds == {"machineSpec", "containerSpec" if image else "pythonPackageSpec"}
        assert spec["baseOutputDirectory"] == {"outputUriPrefix": "gs://bucket/job"}


def test_vertex_without_an_image_installs_the_package_on_the_container_it_was_made_for() -> None:
    text = write("--platform=vertex", "--image=", "--worker=1", "--ps=1", "--gpus=2",
                 "--gpu_type=NVIDIA_L4", "--machine_type=g2-standard-24", "--max_restarts=0")
    (spec,) = documents()
    chief, worker, ps = spec["workerPoolSpecs"]
    uri = f"gs://bucket/job/source/{source_package.NAME}"
    assert chief["pythonPackageSpec"]["packageUris"] == [uri]
    assert chief["pythonPackageSpec"]["pythonModule"] == "estimator_trainer"
    assert "tf-gpu.2-15" in worker["pythonPackageSpec"]["executorImageUri"]
    assert "tf-cpu.2-15" in ps["pythonPackageSpec"]["executorImageUri"]
    assert worker["machineSpec"] == {"machineType": "g2-standard-24", "acceleratorCount": 2,
                                     "acceleratorType": "NVIDIA_L4"}
    assert "acceleratorType" not in ps["machineSpec"]
    assert spec["scheduling"] == {"disableRetries": True}
    with tarfile.open(f"manifest/{source_package.NAME}") as tar:
        setup = tar.extractfile(f"{source_package.STEM}/setup.py").read()  # type: ignore
    assert b"'tensorflow==2.15.*'" in setup
    assert f"gcloud storage cp manifest/{source_package.NAME} {uri}" in text
    assert "docker" not in text and not pathlib.Path("manifest/Dockerfile").exists()


@pytest.mark.cluster
def test_every_shape_fits_ai_platforms_schema() -> None:
    for shape, strategy in SHAPES:
        write("--platform=ai-platform", *counts(shape), flags=[f"--train_distribute={strategy}"])
        (job,) = documents()
        platform_schemas.check_google("ml.v1", "GoogleCloudMlV1__Job", job)
        content = job["trainingInput"]
        workers = shape["worker"] - (not shape["chief"])
        if (workers, shape["ps"], shape["evaluator"]) == (4, 3, 0):
            assert content["scaleTier"] == "STANDARD_1" and "workerCount" not in content
        else:
            assert content["scaleTier"] == "CUSTOM" and content["masterType"]
            assert [content.get(f"{name}Count", 0) for name in (
                "worker", "parameterServer", "evaluator")] == [
                    workers, shape["ps"], shape["evaluator"]]
            for name in ("worker", "parameterServer", "evaluator"):
                assert (f"{name}Count" in content) == (f"{name}Type" in content)
        assert content["jobDir"] == "gs://bucket/job" and content["region"] == "us-central1"
        assert content["masterConfig"]["imageUri"] == "REGISTRY/digits:1"
        assert content["useChiefInTfConfig"] is True
    assert "ended the service" in pathlib.Path("manifest/job.yaml").read_text()


def test_ai_platform_calls_the_chief_master_where_asked_and_others_refuse() -> None:
    write("--platform=ai-platform", "--chief_name=master", "--worker=1", "--ps=1")
    content = yaml.safe_load(pathlib.Path("manifest/job.yaml").read_text())["trainingInput"]
    assert content["useChiefInTfConfig"] is False
    with pytest.raises(errors.ConfigError, match="--chief_name=chief --evaluator=1"):
        write("--platform=vertex", "--chief_name=master")


def test_a_param_that_names_a_file_here_is_refused() -> None:
    with pytest.raises(errors.ConfigError, match="which the job does not pack"):
        write(flags=["--model_fn=keras_model", "--param", "keras_model=./mine.py:build"])


def test_ai_platform_gpus_are_the_chiefs_and_the_workers() -> None:
    write("--platform=ai-platform", "--worker=4", "--ps=3", "--gpus=1")
    (job,) = documents()
    platform_schemas.check_google("ml.v1", "GoogleCloudMlV1__Job", job)
    gpu = {"type": "NVIDIA_TESLA_T4", "count": 1}
    assert job["trainingInput"]["masterConfig"]["acceleratorConfig"] == gpu
    assert job["trainingInput"]["workerConfig"]["acceleratorConfig"] == gpu
    assert "parameterServerConfig" not in job["trainingInput"]
    assert job["trainingInput"]["scaleTier"] == "CUSTOM"


@pytest.mark.cluster
def test_what_the_platforms_tell_the_tasks_is_the_same_job_to_them() -> None:
    for shape, strategy in SHAPES:
        if sum(shape.values()) == 1:
            continue  # No platform sets TF_CONFIG then.
        write("--platform=tfjob", *counts(shape), flags=[f"--train_distribute={strategy}"])
        replicas = documents()[1]["spec"]["tfReplicaSpecs"]
        operators = {key.lower(): spec["replicas"] for key, spec in replicas.items()}
        write("--platform=vertex", *counts(shape), flags=[f"--train_distribute={strategy}"])
        pools = [pool.get("replicaCount", 0) for pool in documents()[0]["workerPoolSpecs"]]
        vertexs = dict(zip(("chief", "worker", "ps"), pools))
        normal = []
        for roles in (operators, vertexs):
            cluster = {role: [f"{role}-{i}:2222" for i in range(count)]
                       for role, count in roles.items() if count}
            role = "chief" if "chief" in cluster else "worker"
            task = task_config.parse(json.dumps(
                {"cluster": cluster, "task": {"type": role, "index": 0}}))
            assert task.is_chief and not topology.problems(task, strategy, "none")
            normal.append({role: len(hosts) for role, hosts in task.cluster.items()})
        assert normal[0] == normal[1]


def test_the_gpu_types_are_vertex_ais_and_in_part_ai_platforms() -> None:
    vertex = platform_schemas.google("aiplatform.v1")["GoogleCloudAiplatformV1MachineSpec"]
    assert set(job_config.GPU_TYPES) <= set(vertex["properties"]["acceleratorType"]["enum"])
    legacy = platform_schemas.google("ml.v1")["GoogleCloudMlV1__AcceleratorConfig"]
    here = [name for name in job_config.GPU_TYPES if name in legacy["properties"]["type"]["enum"]]
    assert here == list(job_config.GPU_TYPES[:len(here)])
    assert here[-1] == "NVIDIA_TESLA_A100"


@pytest.mark.parametrize("platform", PLATFORMS)
def test_flags_reach_every_task_unchanged(platform: str) -> None:
    write(f"--platform={platform}", "--worker=2", "--ps=1", "--evaluator=1", flags=ODD)
    sent = ["--model_dir=gs://bucket/job", *ODD]
    found = list(_values_of("args", documents()))
    assert len(found) == (1 if platform == "ai-platform" else 4)
    for args in found:
        if platform in ("tfjob", "kubernetes"):
            args = [expanded(arg, {"INDEX": "0", "HOME": "/root", "X": "x"}) for arg in args]
        assert args == sent


def _values_of(key: str, value: Any) -> Any:
    if isinstance(value, dict):
        yield from (inner for name, inner in value.items() if name == key)
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, (dict, list)):
            yield from _values_of(key, inner)


@pytest.mark.parametrize("value", [
    {"a": [[1, [2, 3]], {"b": {}}, []], "c": True, "d": None, "e": 1.5, "f": -3},
    {text: text for text in (
        "", " ", "yes", "No", "NULL", "~", "1", "1e3", "0x1", "2001-01-01", "a: b", "- a", "#",
        "a#", "'", '"', "\\", "\n", "\t", "é", "💥", "\u2028", "\ufeff", "\x85", "\x7f", "\x00",
        "=", "<<", "!x", "&a", "*a", "%", "@", "`", "a/b.c-d_e", ".inf", "n", "on", "8Gi",
        "a\nb", "{", "[")},
    [{"a": 1}, {"b": [{"c": {"d": "e"}}, "f"]}, [{"g": 1, "h": {"i": [1]}}]],
], ids=["shapes", "strings", "lists"])
def test_yaml_reads_back_as_what_was_written(value: Any) -> None:
    text = yaml_text.documents([value, value], "A comment,\nof two lines.")
    assert list(yaml.safe_load_all(text)) == [value, value]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_nothing_of_the_environment_gets_into_the_files(
        platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "TF_CONFIG_TOKEN"):
        monkeypatch.setenv(name, "s3cr3t-value")
    pathlib.Path(".env").write_text("KEY=s3cr3t-value")
    text = write(f"--platform={platform}", "--worker=1", "--ps=1")
    with tarfile.open(f"manifest/{source_package.NAME}") as tar:
        packed = b"".join(tar.extractfile(m).read() for m in tar if m.isfile())  # type: ignore
    files = b"".join(path.read_bytes() for path in pathlib.Path("manifest").iterdir())
    assert b"s3cr3t" not in packed + files + text.encode()


@pytest.mark.parametrize("platform, commands", [
    ("tfjob", ["docker build -t REGISTRY/digits:1 manifest", "docker push REGISTRY/digits:1",
               "kubectl apply -f manifest/job.yaml"]),
    ("kubernetes", ["docker build -t REGISTRY/digits:1 manifest", "kubectl apply -f manifest/job"]),
    ("vertex", ["docker push REGISTRY/digits:1", "gcloud ai custom-jobs create --region=us-central1"
                " --display-name=estimator-trainer --config=manifest/job.yaml"]),
    ("ai-platform", ["gcloud ai-platform jobs submit training estimator_trainer_$(date",
                     " --config=manifest/job.yaml"]),
])
def test_it_says_what_it_wrote_and_what_to_type_next(
        platform: str, commands: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["manifest", f"--platform={platform}", "--worker=1", "--ps=1",
                     "--image=REGISTRY/digits:1", "--", "--model_dir=gs://bucket/job"]) == 0
    text = capsys.readouterr().out
    for name in ("job.yaml", "Dockerfile", source_package.NAME):
        assert f"wrote manifest/{name}" in text and pathlib.Path("manifest", name).stat().st_size
    assert all(command in text for command in commands)
    assert "WARNING" not in text


def test_a_vertex_job_with_an_empty_pool_between_others_goes_to_the_service_itself() -> None:
    text = write("--platform=vertex", "--worker=2", "--evaluator=1",
                 flags=["--train_distribute=multi_worker_mirrored"])
    assert "wrote manifest/job.json" in text and "-d @manifest/job.json" in text
    assert "gcloud ai custom-jobs create" not in text
    assert documents()[0]["workerPoolSpecs"][2] == {}


@pytest.mark.cluster
@pytest.mark.skipif(not shutil.which("gcloud"), reason="no gcloud here")
@pytest.mark.parametrize("platform", ["vertex", "ai-platform"])
def test_gcloud_takes_the_file_and_sends_all_of_it(platform: str, tmp_path: pathlib.Path) -> None:
    text = write(f"--platform={platform}", "--worker=2", "--ps=1", "--evaluator=1", flags=ODD)
    (command,) = [line for line in text.splitlines() if line.startswith("  gcloud ai")]
    (tmp_path / "token").write_text("made-up")
    with _service(b'{"name": "projects/p/locations/us-central1/customJobs/1"}') as (url, bodies):
        settings = {"CONFIG": str(tmp_path / "gcloud"), "CORE_PROJECT": "p",
                    "AUTH_ACCESS_TOKEN_FILE": str(tmp_path / "token"), "CORE_DISABLE_PROMPTS": "1",
                    "CORE_DISABLE_USAGE_REPORTING": "1", "API_ENDPOINT_OVERRIDES_ML": url,
                    "API_ENDPOINT_OVERRIDES_AIPLATFORM": url}
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False,
                              env={"PATH": os.environ["PATH"]} | {
                                  f"CLOUDSDK_{key}": value for key, value in settings.items()})
    assert done.returncode == 0, done.stderr
    (sent,) = bodies
    (written,) = documents()
    api, schema = (("aiplatform.v1", "GoogleCloudAiplatformV1CustomJob") if platform == "vertex"
                   else ("ml.v1", "GoogleCloudMlV1__Job"))
    platform_schemas.check_google(api, schema, sent)
    got = sent["jobSpec"] if platform == "vertex" else {"trainingInput": sent["trainingInput"]}
    if platform == "ai-platform":
        del got["trainingInput"]["enableWebAccess"]  # A default of its own.
    # It writes 64-bit integers as strings, as JSON has them.
    assert _integers_as_text(got) == _integers_as_text(written)


@contextlib.contextmanager
def _service(answer: bytes) -> Iterator[tuple[str, list[Any]]]:
    """Gives a local address that answers any POST, and the bodies that it was sent."""
    bodies: list[Any] = []

    class Handler(http.server.BaseHTTPRequestHandler):

        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/", bodies
        finally:
            server.shutdown()


def _integers_as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _integers_as_text(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_integers_as_text(inner) for inner in value]
    return str(value) if type(value) is int else value


@pytest.mark.parametrize("job_flags, flags, says", [
    (["--name=Bad_Name"], [], ["name is 'Bad_Name' (from --name)", "--name=digits"]),
    (["--name=1st"], [], ["name is '1st'"]),
    (["--name=" + "n" * 41], [], ["at most 40"]),
    (["--namespace=-x"], [], ["namespace is '-x' (from --namespace)"]),
    (["--image=two words"], [], ["image is 'two words' (from --image)"]),
    (["--image="], [], ["image is missing (no --image)"]),
    (["--volume=shared"], [], ["volume is 'shared' (from --volume)", "--volume=training:/shared"]),
    (["--platform=vertex", "--region=Mars"], [], ["region is 'Mars' (from --region)"]),
    (["--platform=vertex", "--image="], ["--model_dir=/shared"],
     ["image is missing (no --image), and model_dir is '/shared'"]),
    (["--platform=ai-platform", "--image="], [], ["image is missing", "Python 3.7"]),
    (["--platform=ai-platform", "--gpus=1", "--gpu_type=NVIDIA_L4"], [],
     ["gpu_type is 'NVIDIA_L4'", "NVIDIA_TESLA_A100"]),
    (["--gpu_type=RTX"], [], ["gpu_type is 'RTX' (from --gpu_type)"]),
    (["--platform=nomad"], [], ["platform is 'nomad' (from --platform)"]),
    ([], ["--model_dir="], ["model_dir is missing (no --model_dir after `--`)", "gs://bucket/job"]),
    ([], ["--model_dir=out"], ["model_dir is 'out' (from --model_dir), relative to"]),
    ([], ["--warm_start_from=old/run"], ["warm_start_from is 'old/run'"]),
    ([], ["--flagfile=my.flags"], ["'--flagfile=my.flags' (after `--`)"]),
    ([], ["--warm_start_vars=\udcff"], ["is not UTF-8"]),
    ([], ["--train_distribute=mirrored"], ["train_distribute is 'mirrored'", "span"]),
    ([], ["--model_fn=nope"], ["model_fn is 'nope'"]),
    ([], ["--param=nope=1"], ["nope"]),
    (["--output_dir=file.txt"], [], ["output_dir is 'file.txt' (from --output_dir)"]),
])
def test_what_could_not_run_is_refused_in_a_sentence_and_nothing_is_written(
        job_flags: list[str], flags: list[str], says: list[str]) -> None:
    pathlib.Path("file.txt").touch()
    pathlib.Path("my.flags").write_text("--seed=1")
    with pytest.raises(errors.ConfigError) as error:
        write("--worker=2", "--ps=1", *job_flags, flags=flags)
    assert all(part in str(error.value) for part in says), error.value
    assert "\n" not in str(error.value)
    assert not pathlib.Path("manifest").exists()


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(errors.ConfigError) as error:
        write("--worker=2", "--name=A", "--namespace=B", flags=["--model_dir=", "--model_fn=nope"])
    starts = [line.partition(" is ")[0] for line in str(error.value).splitlines()]
    assert starts == ["train_distribute", "model_dir", "model_fn", "name", "namespace"]


def test_a_model_dir_inside_the_containers_is_warned_of_and_one_that_is_mounted_is_not() -> None:
    for platform in PLATFORMS:
        text = write(f"--platform={platform}", flags=["--model_dir=/tmp/digits"])
        assert text.count("WARNING: model_dir is '/tmp/digits' (from --model_dir)") == 1
    assert "WARNING" not in write("--volume=disk:/shared", flags=["--model_dir=/shared/job"])
    assert "WARNING" in write("--volume=disk:/shared", flags=["--model_dir=/shared-not"])
    assert "WARNING" not in write("--platform=vertex", flags=["--model_dir=/gcs/bucket/job"])
    (spec,) = documents()
    assert "baseOutputDirectory" not in spec


def test_the_ports_and_the_variables_of_this_machine_do_not_matter(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_is_free", lambda address: False)
    monkeypatch.setenv("TF_CONFIG", "{not json")
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "0")
    write("--worker=1", "--ps=1")


def test_a_checker_that_accepted_anything_would_prove_nothing() -> None:
    write("--worker=1", "--ps=1", "--platform=kubernetes")
    service, policy, job = documents()[:3]
    write("--worker=1", "--ps=1", "--platform=tfjob")
    tfjob = documents()[1]
    for value, path, wrong in [
            (service, "spec.publishNotReady", True), (service, "spec.ports.0.port", "2222"),
            (policy, "spec.ingress.0.form", []), (policy, "spec.podSelector", []),
            (job, "spec.backoffLimit", "3"), (job, "spec.template.spec.containers.0.arg", []),
            (job, "spec.podFailurePolicy.rules.0.action", None),
            (job, "spec.template.spec.containers.0.name", None),
            (tfjob, "spec.runPolicy.cleanPodsPolicy", "All"), (tfjob, "spec.tfReplicaSpecs", None),
            (tfjob, "spec.tfReplicaSpecs.Chief.replicas", "1"),
            (tfjob, "spec.tfReplicaSpecs.Chief.template.spec.containers.0.image", 1)]:
        platform_schemas.check_kubernetes(value)
        with pytest.raises(AssertionError):
            platform_schemas.check_kubernetes(_changed(value, path, wrong))
    write("--platform=vertex", "--worker=1", "--ps=1")
    (spec,) = documents()
    for path, wrong in [("workerPoolSpec", []), ("workerPoolSpecs.0.replicas", 1),
                        ("workerPoolSpecs.0.machineSpec.acceleratorType", "RTX"),
                        ("workerPoolSpecs.0.replicaCount", "one"), ("workerPoolSpecs", {}),
                        ("workerPoolSpecs.0.containerSpec.args", [1]),
                        ("scheduling.disableRetries", "yes"), ("worker_pool_specs", [])]:
        with pytest.raises(AssertionError):
            platform_schemas.check_google("aiplatform.v1", "GoogleCloudAiplatformV1CustomJobSpec",
                                          _changed(spec, path, wrong))


def _changed(value: Any, path: str, new: Any) -> Any:
    """Returns a copy with one value set; None removes it."""
    copy = json.loads(json.dumps(value))
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    inner = copy
    for step in steps:
        inner = inner.setdefault(step, {}) if isinstance(inner, dict) else inner[step]
    if new is None:
        del inner[last]
    else:
        inner[last] = new
    return copy
