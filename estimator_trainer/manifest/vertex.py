"""Jobs for Vertex AI: a CustomJob.

https://cloud.google.com/vertex-ai/docs/reference/rest/v1/CustomJobSpec
"""

from __future__ import annotations

import json
import re
import shlex
from typing import Any, Sequence

from estimator_trainer.errors import Problem, Setting
from estimator_trainer.manifest import platform, source_package
from estimator_trainer.manifest.platform import Platform
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

_COMMENT = """\
Written by `estimator-trainer manifest`: a CustomJobSpec for Vertex AI.
The order of the pools is: the chief, the workers, the ps, the evaluator.
Vertex AI restarts a task that exits with any code but 0, up to its own limits. No code prevents
restarts, so that a job whose model fails (1) or is misconfigured (2) fails after those limits."""

# A package without an image is made for the TensorFlow of this prebuilt container:
# https://cloud.google.com/vertex-ai/docs/training/pre-built-containers
_EXECUTOR = "us-docker.pkg.dev/vertex-ai/training/tf-{kind}.2-15.py310:latest"
_EXECUTOR_TENSORFLOW = "2.15"


def _problems(job: JobConfig, config: TrainerConfig) -> list[Problem]:
    found = region_problems(job)
    if not job.image and not _package_folder(job, config).startswith("gs://"):
        found.append(Problem(
            "image", beside=Setting("staging_bucket", job.staging_bucket),
            why=f"and model_dir is {config.model_dir!r} (from {Setting('model_dir')})",
            expected="an image, or one of them in a bucket, to which the source package is copied",
            example=Setting("staging_bucket", "gs://bucket")))
    return found


def _files(job: JobConfig, config: TrainerConfig, flags: Sequence[str]) -> dict[str, bytes]:
    spec = _custom_job(job, config, flags)
    if _has_empty_pool(job):
        body = {"displayName": job.name, "jobSpec": spec}
        return {"job.json": (json.dumps(body, indent=2) + "\n").encode()}
    return platform.job([spec], _COMMENT)


def _custom_job(job: JobConfig, config: TrainerConfig, flags: Sequence[str]) -> dict[str, Any]:
    # "All worker pools except the first one ... can be skipped by providing an empty value",
    # as in Google's SDK (python-aiplatform, utils/worker_spec_utils.py).
    pools = [_pool(job, config, flags, place) if count else {}
             for place, count in enumerate(counts(job))]
    while not pools[-1]:
        pools.pop()
    spec: dict[str, Any] = {"workerPoolSpecs": pools}
    if not job.max_restarts:
        spec["scheduling"] = {"disableRetries": True}
    if config.model_dir.startswith("gs://"):
        spec["baseOutputDirectory"] = {"outputUriPrefix": config.model_dir}
    return spec


def _has_empty_pool(job: JobConfig) -> bool:
    """Returns whether an empty pool precedes another, such as an evaluator without ps.

    `gcloud ai custom-jobs create --config` (528.0) refuses such a file, but the service accepts it.
    """
    _, *others = (bool(count) for count in counts(job))
    return others != sorted(others, reverse=True)


def _commands(job: JobConfig, config: TrainerConfig, folder: str) -> list[str]:
    lines = []
    if not job.image:
        lines.append(f"gcloud storage cp {folder}/{source_package.NAME}"
                     f" {shlex.quote(_package_uri(job, config))}")
    if _has_empty_pool(job):
        return lines + [
            'curl -X POST -H "Authorization: Bearer $(gcloud auth print-access-token)"'
            f' -H "Content-Type: application/json" -d @{folder}/job.json'
            f' "https://{job.region}-aiplatform.googleapis.com/v1/projects/'
            f'$(gcloud config get project)/locations/{job.region}/customJobs"']
    return lines + [f"gcloud ai custom-jobs create --region={job.region}"
                    f" --display-name={job.name} --config={folder}/job.yaml"]


def _pool(job: JobConfig, config: TrainerConfig, flags: Sequence[str],
          place: int) -> dict[str, Any]:
    has_gpus = job.gpus and place < 2
    machine: dict[str, Any] = {"machineType": job.machine_type or MACHINE}
    if has_gpus:
        machine |= {"acceleratorType": job.gpu_type, "acceleratorCount": job.gpus}
    pool: dict[str, Any] = {"machineSpec": machine,
                            "replicaCount": counts(job)[place]}
    if job.image:
        pool["containerSpec"] = {"imageUri": job.image, "command": ["estimator-trainer"],
                                 "args": list(flags)}
    else:
        # Vertex AI installs the package in a prebuilt container.
        pool["pythonPackageSpec"] = {
            "executorImageUri": _EXECUTOR.format(kind="gpu" if has_gpus else "cpu"),
            "packageUris": [_package_uri(job, config)],
            "pythonModule": "estimator_trainer", "args": list(flags)}
    return pool


def _package_uri(job: JobConfig, config: TrainerConfig) -> str:
    return f"{_package_folder(job, config)}/{source_package.NAME}"


def _package_folder(job: JobConfig, config: TrainerConfig) -> str:
    return job.staging_bucket.rstrip("/") or f"{config.model_dir.rstrip('/')}/source"


def _mount(job: JobConfig) -> str:
    return "/gcs"


def _tensorflow(job: JobConfig) -> str:
    return source_package.tensorflow_here() if job.image else _EXECUTOR_TENSORFLOW


PLATFORM = Platform(problems=_problems, files=_files, commands=_commands, mount=_mount,
                    tensorflow=_tensorflow)
MACHINE = "n1-standard-4"
_REGION = re.compile(r"[a-z]+-[a-z]+\d+")


def region_problems(job: JobConfig) -> list[Problem]:
    """Returns a problem if the region is not a region of Google Cloud."""
    if _REGION.fullmatch(job.region):
        return []
    return [Problem("region", job.region, expected="a region of Google Cloud",
                    example=Setting("region", "us-central1"))]


def counts(job: JobConfig) -> tuple[int, int, int, int]:
    """Returns the numbers of primary replicas, workers, ps and evaluators.

    A job always has a primary; without a chief, the first worker is the primary.
    """
    return 1, job.worker - (0 if job.chief else 1), job.ps, job.evaluator
