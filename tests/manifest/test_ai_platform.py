"""`manifest` writes jobs of AI Platform that fit its schema."""

from __future__ import annotations

import pathlib

import pytest
import yaml

from estimator_trainer import errors
from tests.support import platform_schemas
from tests.support.manifests import counts, documents, SHAPES, write

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.cluster
def test_text_fits_ai_platforms_schema_in_every_shape() -> None:
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


def test_text_calls_the_chief_master_on_request() -> None:
    write("--platform=ai-platform", "--chief_name=master", "--worker=1", "--ps=1")
    content = yaml.safe_load(pathlib.Path("manifest/job.yaml").read_text())["trainingInput"]
    assert content["useChiefInTfConfig"] is False
    with pytest.raises(errors.ConfigError, match="--chief_name=chief --evaluator=1"):
        write("--platform=vertex", "--chief_name=master")


def test_text_gives_gpus_to_chief_and_workers() -> None:
    write("--platform=ai-platform", "--worker=4", "--ps=3", "--gpus=1")
    (job,) = documents()
    platform_schemas.check_google("ml.v1", "GoogleCloudMlV1__Job", job)
    gpu = {"type": "NVIDIA_TESLA_T4", "count": 1}
    assert job["trainingInput"]["masterConfig"]["acceleratorConfig"] == gpu
    assert job["trainingInput"]["workerConfig"]["acceleratorConfig"] == gpu
    assert "parameterServerConfig" not in job["trainingInput"]
    assert job["trainingInput"]["scaleTier"] == "CUSTOM"
