"""A job on Google Cloud is Vertex AI's CustomJob, or AI Platform's trainingInput before it.

https://cloud.google.com/vertex-ai/docs/reference/rest/v1/CustomJobSpec
https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#traininginput
"""

from __future__ import annotations

import re
import shlex
from typing import Any, Sequence

from estimator_trainer.settings.job_config import GPU_TYPES
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

VERTEX_COMMENT = """\
Written by `estimator-trainer manifest`: a CustomJobSpec for Vertex AI.
The pools' places say what they are: the chief, the workers, the ps, the evaluator.
Vertex AI restarts a task that exits with any code but 0, up to its own limits; it knows no code
that means "do not", so a job whose model fails (1) or is misconfigured (2) fails after those."""

AI_PLATFORM_COMMENT = """\
Written by `estimator-trainer manifest`: a Job of AI Platform Training, which came before Vertex
AI. Google has ended the service for most projects: `manifest --platform=vertex` is the one to
use where that is so."""

# A package without an image is made for the TensorFlow of this prebuilt container:
# https://cloud.google.com/vertex-ai/docs/training/pre-built-containers
_EXECUTOR = "us-docker.pkg.dev/vertex-ai/training/tf-{kind}.2-15.py310:latest"
EXECUTOR_TENSORFLOW = "2.15"

_MACHINE = "n1-standard-4"
# STANDARD_1 brings its own machines, for this many workers and ps.
_STANDARD_1 = (4, 3)
_REGION = re.compile(r"[a-z]+-[a-z]+\d+")
_AI_PLATFORM_GPUS = GPU_TYPES[:GPU_TYPES.index("NVIDIA_TESLA_A100") + 1]


def problems(job: JobConfig, config: TrainerConfig) -> list[str]:
    """Returns a sentence for each setting that Google Cloud would not take."""
    found = []
    if not _REGION.fullmatch(job.region):
        found.append(f"region is {job.region!r} (from --region); expected a region of Google"
                     " Cloud. For example: --region=us-central1")
    if job.platform == "vertex":
        if not job.image and not _package_folder(job, config).startswith("gs://"):
            found.append(
                f"image is missing (no --image), and staging_bucket is {job.staging_bucket!r} (from"
                f" --staging_bucket), model_dir {config.model_dir!r} (from --model_dir); expected"
                " an image, or one of them in a bucket, to which the source package is copied. For"
                " example: --staging_bucket=gs://bucket")
        return found
    if not job.image:
        found.append(
            "image is missing (no --image); expected one for AI Platform, whose own containers"
            " end at Python 3.7, too old for this program. For example: --image=REGISTRY/digits:1")
    if job.gpus and job.gpu_type not in _AI_PLATFORM_GPUS:
        found.append(
            f"gpu_type is {job.gpu_type!r} (from --gpu_type); expected one of"
            f" {', '.join(sorted(_AI_PLATFORM_GPUS))} for AI Platform. For example:"
            " --gpu_type=NVIDIA_TESLA_T4")
    return found


def custom_job(job: JobConfig, config: TrainerConfig, flags: Sequence[str],
               package: str) -> dict[str, Any]:
    """Returns the CustomJobSpec.

    Args:
      job: The job; without an image, Vertex AI installs the package in a container of its own.
      config: The settings of every task.
      flags: The flags of every task.
      package: Name of the source package's file.
    """
    # "All worker pools except the first one ... can be skipped by providing an empty value",
    # which Google's SDK writes so (python-aiplatform, utils/worker_spec_utils.py).
    pools = [_pool(job, config, flags, package, place) if count else {}
             for place, count in enumerate(_counts(job))]
    while not pools[-1]:
        pools.pop()
    spec: dict[str, Any] = {"workerPoolSpecs": pools}
    if not job.max_restarts:
        spec["scheduling"] = {"disableRetries": True}
    if config.model_dir.startswith("gs://"):
        spec["baseOutputDirectory"] = {"outputUriPrefix": config.model_dir}
    return spec


def has_empty_pool(job: JobConfig) -> bool:
    """Returns whether a pool is empty before one that is not, as in an evaluator without ps.

    `gcloud ai custom-jobs create --config` (528.0) refuses such a file, which the service takes.
    """
    _, *others = (bool(count) for count in _counts(job))
    return others != sorted(others, reverse=True)


def training_job(job: JobConfig, config: TrainerConfig, flags: Sequence[str]) -> dict[str, Any]:
    """Returns the Job of AI Platform."""
    _, workers, ps, evaluators = _counts(job)
    accelerator = {"acceleratorConfig": {"type": job.gpu_type, "count": job.gpus}}
    gpu = accelerator if job.gpus else {}
    content: dict[str, Any] = {"region": job.region, "masterConfig": {"imageUri": job.image} | gpu}
    if (workers, ps) == _STANDARD_1 and not (evaluators or job.machine_type or job.gpus):
        content["scaleTier"] = "STANDARD_1"
    else:
        machine = job.machine_type or _MACHINE
        content |= {"scaleTier": "CUSTOM", "masterType": machine}
        for name, count in (("worker", workers), ("parameterServer", ps),
                            ("evaluator", evaluators)):
            if count:
                content |= {f"{name}Type": machine, f"{name}Count": count}
        if gpu and workers:
            content["workerConfig"] = {"imageUri": job.image} | gpu
    # Otherwise a custom container is told of a `master`, which no strategy and no evaluator knows.
    content["useChiefInTfConfig"] = job.chief_name == "chief"
    if config.model_dir.startswith("gs://"):
        content["jobDir"] = config.model_dir
    content["args"] = list(flags)
    return {"trainingInput": content}


def commands(job: JobConfig, config: TrainerConfig, folder: str, package: str) -> list[str]:
    """Returns what to type to run the job."""
    if job.platform == "ai-platform":
        # A name has letters, digits and underscores, and is used once.
        name = f"{job.name.replace('-', '_')}_$(date +%Y%m%d_%H%M%S)"
        return [f"gcloud ai-platform jobs submit training {name} --region={job.region}"
                f" --config={folder}/job.yaml"]
    lines = []
    if not job.image:
        lines.append(f"gcloud storage cp {folder}/{package}"
                     f" {shlex.quote(_package_uri(job, config, package))}")
    if has_empty_pool(job):
        return lines + [
            'curl -X POST -H "Authorization: Bearer $(gcloud auth print-access-token)"'
            f' -H "Content-Type: application/json" -d @{folder}/job.json'
            f' "https://{job.region}-aiplatform.googleapis.com/v1/projects/'
            f'$(gcloud config get project)/locations/{job.region}/customJobs"']
    return lines + [f"gcloud ai custom-jobs create --region={job.region}"
                    f" --display-name={job.name} --config={folder}/job.yaml"]


def _counts(job: JobConfig) -> tuple[int, int, int, int]:
    """Returns how many primary replicas, workers, ps and evaluators there are.

    Both platforms always have a primary, so without a chief it is the first worker.
    """
    return 1, job.worker - (0 if job.chief else 1), job.ps, job.evaluator


def _pool(job: JobConfig, config: TrainerConfig, flags: Sequence[str], package: str,
          place: int) -> dict[str, Any]:
    has_gpus = job.gpus and place < 2
    machine: dict[str, Any] = {"machineType": job.machine_type or _MACHINE}
    if has_gpus:
        machine |= {"acceleratorType": job.gpu_type, "acceleratorCount": job.gpus}
    pool: dict[str, Any] = {"machineSpec": machine, "replicaCount": _counts(job)[place]}
    if job.image:
        pool["containerSpec"] = {"imageUri": job.image, "command": ["estimator-trainer"],
                                 "args": list(flags)}
    else:
        pool["pythonPackageSpec"] = {
            "executorImageUri": _EXECUTOR.format(kind="gpu" if has_gpus else "cpu"),
            "packageUris": [_package_uri(job, config, package)],
            "pythonModule": "estimator_trainer", "args": list(flags)}
    return pool


def _package_uri(job: JobConfig, config: TrainerConfig, package: str) -> str:
    return f"{_package_folder(job, config)}/{package}"


def _package_folder(job: JobConfig, config: TrainerConfig) -> str:
    return job.staging_bucket.rstrip("/") or f"{config.model_dir.rstrip('/')}/source"
