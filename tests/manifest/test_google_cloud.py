"""`manifest` writes jobs of Vertex AI and AI Platform that fit their schemas and gcloud."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import threading
from typing import Any, Iterator

import pytest
import yaml

from estimator_trainer import errors
from estimator_trainer.manifest import manifest, source_package
from estimator_trainer.plugins import source_files
from estimator_trainer.settings import command_line, job_config
from tests.support import platform_schemas
from tests.support.manifests import counts, documents, ODD, SHAPES, write

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.cluster
@pytest.mark.parametrize("image", [
    "REGISTRY/digits:1", pytest.param("", marks=pytest.mark.soak)])
def test_files_fit_vertexs_schema_at_fixed_places(image: str) -> None:
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


def test_files_without_an_image_install_the_package() -> None:
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


def test_files_take_the_package_from_a_staging_bucket() -> None:
    pathlib.Path("trainer").mkdir()
    for name in ("__init__", "task", "model"):
        pathlib.Path("trainer", f"{name}.py").write_text("")
    job = command_line.parse(["manifest", "--platform=vertex", "--staging_bucket=gs://stage/",
                              "--worker=2", "--ps=1", "--", "run", "trainer.task", "--", "--x=1"])
    text = manifest.write(job.job, job.config, job.flags,
                          source_files.find_script(job.script, job.arguments))
    (spec,) = documents()
    python = spec["workerPoolSpecs"][0]["pythonPackageSpec"]
    assert python["packageUris"] == [f"gs://stage/{source_package.NAME}"]
    assert python["args"] == ["run", "trainer.task", "--", "--x=1"]
    assert f"gcloud storage cp manifest/{source_package.NAME} gs://stage/" in text
    with tarfile.open(f"manifest/{source_package.NAME}") as tar:
        assert f"{source_package.STEM}/trainer/model.py" in tar.getnames()


def test_gpu_types_are_vertex_ais_and_in_part_ai_platforms() -> None:
    vertex = platform_schemas.google("aiplatform.v1")["GoogleCloudAiplatformV1MachineSpec"]
    assert set(job_config.GPU_TYPES) <= set(vertex["properties"]["acceleratorType"]["enum"])
    legacy = platform_schemas.google("ml.v1")["GoogleCloudMlV1__AcceleratorConfig"]
    here = [name for name in job_config.GPU_TYPES if name in legacy["properties"]["type"]["enum"]]
    assert here == list(job_config.GPU_TYPES[:len(here)])
    assert here[-1] == "NVIDIA_TESLA_A100"


def test_files_with_an_empty_pool_go_to_the_service_itself() -> None:
    text = write("--platform=vertex", "--worker=2", "--evaluator=1",
                 flags=["--train_distribute=multi_worker_mirrored"])
    assert "wrote manifest/job.json" in text and "-d @manifest/job.json" in text
    assert "gcloud ai custom-jobs create" not in text
    assert documents()[0]["workerPoolSpecs"][2] == {}


@pytest.mark.cluster
@pytest.mark.skipif(not shutil.which("gcloud"), reason="no gcloud here")
@pytest.mark.parametrize("platform", ["vertex", "ai-platform"])
def test_files_are_taken_by_gcloud_and_sent_whole(platform: str, tmp_path: pathlib.Path) -> None:
    text = write(f"--platform={platform}", "--worker=2", "--ps=1", "--evaluator=1", flags=ODD)
    sent = sent_by_gcloud(text, tmp_path)
    (written,) = documents()
    api, schema = (("aiplatform.v1", "GoogleCloudAiplatformV1CustomJob") if platform == "vertex"
                   else ("ml.v1", "GoogleCloudMlV1__Job"))
    platform_schemas.check_google(api, schema, sent)
    got = sent["jobSpec"] if platform == "vertex" else {"trainingInput": sent["trainingInput"]}
    if platform == "ai-platform":
        del got["trainingInput"]["enableWebAccess"]  # A default of its own.
    # The service writes 64-bit integers as strings, as JSON has them.
    assert integers_as_text(got) == integers_as_text(written)


def sent_by_gcloud(text: str, folder: pathlib.Path, kind: str = "customJobs") -> Any:
    """Runs the last `gcloud ai` that `manifest` has printed; returns what it sends to a service."""
    (command,) = [line for line in text.splitlines() if line.startswith("  gcloud ai")]
    (folder / "token").write_text("made-up")
    answer = f'{{"name": "projects/p/locations/us-central1/{kind}/1"}}'
    with _service(answer.encode()) as (url, bodies):
        settings = {"CONFIG": str(folder / "gcloud"), "CORE_PROJECT": "p",
                    "AUTH_ACCESS_TOKEN_FILE": str(folder / "token"), "CORE_DISABLE_PROMPTS": "1",
                    "CORE_DISABLE_USAGE_REPORTING": "1", "API_ENDPOINT_OVERRIDES_ML": url,
                    "API_ENDPOINT_OVERRIDES_AIPLATFORM": url}
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False,
                              env={"PATH": os.environ["PATH"]} | {
                                  f"CLOUDSDK_{key}": value for key, value in settings.items()})
    assert done.returncode == 0, done.stderr
    (sent,) = bodies
    return sent


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


def integers_as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: integers_as_text(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [integers_as_text(inner) for inner in value]
    return str(value) if type(value) is int else value


@pytest.mark.cluster
def test_files_fit_ai_platforms_schema_in_every_shape() -> None:
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


def test_files_call_the_chief_master_on_request() -> None:
    write("--platform=ai-platform", "--chief_name=master", "--worker=1", "--ps=1")
    content = yaml.safe_load(pathlib.Path("manifest/job.yaml").read_text())["trainingInput"]
    assert content["useChiefInTfConfig"] is False
    with pytest.raises(errors.ConfigError, match="--chief_name=chief --evaluator=1"):
        write("--platform=vertex", "--chief_name=master")


def test_files_give_gpus_to_chief_and_workers() -> None:
    write("--platform=ai-platform", "--worker=4", "--ps=3", "--gpus=1")
    (job,) = documents()
    platform_schemas.check_google("ml.v1", "GoogleCloudMlV1__Job", job)
    gpu = {"type": "NVIDIA_TESLA_T4", "count": 1}
    assert job["trainingInput"]["masterConfig"]["acceleratorConfig"] == gpu
    assert job["trainingInput"]["workerConfig"]["acceleratorConfig"] == gpu
    assert "parameterServerConfig" not in job["trainingInput"]
    assert job["trainingInput"]["scaleTier"] == "CUSTOM"
