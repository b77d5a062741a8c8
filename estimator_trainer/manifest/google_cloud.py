"""Jobs for Google Cloud: a CustomJob of Vertex AI, or a trainingInput of AI Platform before it.

https://cloud.google.com/vertex-ai/docs/reference/rest/v1/CustomJobSpec
https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#traininginput
"""

import json
import re
import shlex
from typing import Any, Sequence

from estimator_trainer.errors import Problem, Setting
from estimator_trainer.manifest import platform, role_resources, source_package, tuning
from estimator_trainer.settings.job_config import GPU_TYPES, JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

_VERTEX_COMMENT = """\
Written by `estimator-trainer manifest`: a {} for Vertex AI.
The order of the pools is: the chief, the workers, the ps, the evaluators.
Vertex AI restarts a task that exits with any code but 0, up to its own limits. No code prevents
restarts, so that a job whose model fails (1) or is misconfigured (2) fails after those limits."""
_AI_PLATFORM_COMMENT = """\
Written by `estimator-trainer manifest`: a Job of AI Platform Training, which came before Vertex
AI. Google has ended the service for most projects: `manifest --platform=vertex` is the one to
use where that is so."""

_REGION = re.compile(r"[a-z]+-[a-z]+\d+")
_MACHINE = "n1-standard-4"
# A package without an image is made for the TensorFlow of this prebuilt container:
# https://cloud.google.com/vertex-ai/docs/training/pre-built-containers
_EXECUTOR = "us-docker.pkg.dev/vertex-ai/training/tf-{kind}.2-15.py310:latest"
_EXECUTOR_TENSORFLOW = "2.15"
# AI Platform's STANDARD_1 has machines of its own for this number of workers and ps.
_STANDARD_1 = (4, 3)
_ROLE_KEYS = ("gpus", "gpu_type", "machine_type", "image")
_AI_PLATFORM_GPUS = GPU_TYPES[:GPU_TYPES.index("NVIDIA_TESLA_A100") + 1]


def _pool_problems(job: JobConfig) -> list[Problem]:
    found = platform.no_data_workers(
        job, f"and {job.platform} has pools for the chief, the workers, the ps and the evaluators"
        " alone")
    if _REGION.fullmatch(job.region):
        return found
    return [*found, Problem("region", job.region, expected="a region of Google Cloud",
                            example=Setting("region", "us-central1"))]


def _counts(job: JobConfig) -> tuple[int, int, int, int]:
    """Returns the numbers of primaries (the chief, or else a worker), workers, ps, evaluators."""
    return 1, job.worker - (0 if job.chief else 1), job.ps, job.evaluator


def _resources(job: JobConfig) -> list[role_resources.Resources]:
    """Returns what a task gets, in the order of `_counts`."""
    return [role_resources.of_role(job, role)
            for role in ("chief" if job.chief else "worker", "worker", "ps", "evaluator")]


def _uses_package(job: JobConfig) -> bool:
    """Returns whether a role has no image."""
    return not all(each.image for each in role_resources.of_roles(job).values())


def _vertex_problems(job: JobConfig, config: TrainerConfig) -> list[Problem]:
    found = _pool_problems(job)
    if _uses_package(job) and not _package_uri(job, config.model_dir).startswith("gs://"):
        found.append(Problem(
            "image", beside=Setting("staging_bucket", job.staging_bucket),
            why=f"and model_dir is {config.model_dir!r} (from {Setting('model_dir')})",
            expected="an image, or one of them in a bucket, to which the source package is copied",
            example=Setting("staging_bucket", "gs://bucket")))
    return found


def _vertex_files(job: JobConfig, config: TrainerConfig, flags: Sequence[str]) -> dict[str, bytes]:
    # "All worker pools except the first one ... can be skipped by providing an empty value",
    # as in Google's SDK (python-aiplatform, utils/worker_spec_utils.py).
    pools = [_pool(job, config, flags, place) if count else {}
             for place, count in enumerate(_counts(job))]
    while not pools[-1]:
        pools.pop()
    spec: dict[str, Any] = {"workerPoolSpecs": pools}
    if not job.max_restarts:
        spec["scheduling"] = {"disableRetries": True}
    if config.model_dir.startswith("gs://"):
        spec["baseOutputDirectory"] = {"outputUriPrefix": config.model_dir}
    search = tuning.of_vertex(job, config, spec) if job.tune else None
    if not _has_empty_pool(job):
        kind = "HyperparameterTuningJob" if search else "CustomJobSpec"
        return platform.job([search or spec], _VERTEX_COMMENT.format(kind))
    body = search or {"displayName": job.name, "jobSpec": spec}
    return {"job.json": (json.dumps(body, indent=2) + "\n").encode()}


def _has_empty_pool(job: JobConfig) -> bool:
    """Returns whether an empty pool precedes another, such as an evaluator without ps.

    `gcloud ai custom-jobs create --config` (528.0) refuses such a file, but the service accepts it.
    """
    _, *others = (bool(count) for count in _counts(job))
    return others != sorted(others, reverse=True)


def _pool(job: JobConfig, config: TrainerConfig, flags: Sequence[str],
          place: int) -> dict[str, Any]:
    own = _resources(job)[place]
    machine: dict[str, Any] = {"machineType": own.machine_type or _MACHINE}
    if own.gpus:
        machine |= {"acceleratorType": own.gpu_type, "acceleratorCount": own.gpus}
    pool: dict[str, Any] = {"machineSpec": machine, "replicaCount": _counts(job)[place]}
    if own.image:
        pool["containerSpec"] = {"imageUri": own.image, "command": ["estimator-trainer"],
                                 "args": list(flags)}
    else:
        # Vertex AI installs the package in a prebuilt container.
        pool["pythonPackageSpec"] = {
            "executorImageUri": _EXECUTOR.format(kind="gpu" if own.gpus else "cpu"),
            "packageUris": [_package_uri(job, config.model_dir)],
            "pythonModule": "estimator_trainer", "args": list(flags)}
    return pool


def _package_uri(job: JobConfig, model_dir: str) -> str:
    folder = job.staging_bucket.rstrip("/") or f"{model_dir.rstrip('/')}/source"
    return f"{folder}/{source_package.NAME}"


def _vertex_commands(job: JobConfig, config: TrainerConfig, folder: str) -> list[str]:
    uri = shlex.quote(_package_uri(job, config.model_dir))
    copy = [f"gcloud storage cp {folder}/{source_package.NAME} {uri}"] * _uses_package(job)
    if _has_empty_pool(job):
        kind = "hyperparameterTuningJobs" if job.tune else "customJobs"
        return copy + [
            'curl -X POST -H "Authorization: Bearer $(gcloud auth print-access-token)"'
            f' -H "Content-Type: application/json" -d @{folder}/job.json'
            f' "https://{job.region}-aiplatform.googleapis.com/v1/projects/'
            f'$(gcloud config get project)/locations/{job.region}/{kind}"']
    numbers = (f" --max-trial-count={job.trials}"
               f" --parallel-trial-count={min(job.parallel_trials, job.trials)}")
    return copy + [f"gcloud ai {'hp-tuning' if job.tune else 'custom'}-jobs create"
                   f" --region={job.region} --display-name={job.name}"
                   f" --config={folder}/job.yaml{numbers if job.tune else ''}"]


def _ai_platform_problems(job: JobConfig, config: TrainerConfig) -> list[Problem]:
    found = _pool_problems(job)
    if _uses_package(job):
        found.append(Problem(
            "image", example=Setting("image", "REGISTRY/digits:1"),
            expected="one for AI Platform, whose own containers end at Python 3.7, too old for this"
            " program"))
    wrong = [each.gpu_type for each in role_resources.of_roles(job).values()
             if each.gpus and each.gpu_type not in _AI_PLATFORM_GPUS]
    if wrong:
        found.append(Problem(
            "gpu_type", wrong[0], example=Setting("gpu_type", "NVIDIA_TESLA_T4"),
            expected=f"one of {', '.join(sorted(_AI_PLATFORM_GPUS))} for AI Platform"))
    return found


def _ai_platform_files(job: JobConfig, config: TrainerConfig,
                       flags: Sequence[str]) -> dict[str, bytes]:
    counts, resources = _counts(job), _resources(job)
    content: dict[str, Any] = {"region": job.region}
    is_plain = not (job.machine_type or job.gpus or job.resources)
    if counts[1:] == (*_STANDARD_1, 0) and is_plain:
        content |= {"scaleTier": "STANDARD_1", "masterConfig": {"imageUri": job.image}}
    else:
        content["scaleTier"] = "CUSTOM"
        for name, count, own in zip(("master", "worker", "parameterServer", "evaluator"), counts,
                                    resources):
            if count:
                content[f"{name}Type"] = own.machine_type or _MACHINE
                content |= {f"{name}Count": count} if name != "master" else {}
                container: dict[str, Any] = {"imageUri": own.image}
                if own.gpus:
                    container["acceleratorConfig"] = {"type": own.gpu_type, "count": own.gpus}
                # Other roles without a configuration have the master's image.
                if name == "master" or own.gpus or own.image != resources[0].image:
                    content[f"{name}Config"] = container
    # Without this, TF_CONFIG has a `master`, which strategies and evaluators do not support.
    content["useChiefInTfConfig"] = job.chief_name == "chief"
    if config.model_dir.startswith("gs://"):
        content["jobDir"] = config.model_dir
    content["args"] = list(flags)
    if job.tune:
        content["hyperparameters"] = tuning.of_ai_platform(job, config)
    return platform.job([{"trainingInput": content}], _AI_PLATFORM_COMMENT)


def _ai_platform_commands(job: JobConfig, config: TrainerConfig, folder: str) -> list[str]:
    # A name consists of letters, digits and underscores, and must be new.
    name = f"{job.name.replace('-', '_')}_$(date +%Y%m%d_%H%M%S)"
    return [f"gcloud ai-platform jobs submit training {name} --region={job.region}"
            f" --config={folder}/job.yaml"]


VERTEX = platform.Platform(
    _vertex_problems, _vertex_files, _vertex_commands, _ROLE_KEYS, mount=lambda job: "/gcs",
    tensorflow=lambda job: (
        source_package.tensorflow_here() if job.image else _EXECUTOR_TENSORFLOW))
AI_PLATFORM = platform.Platform(
    _ai_platform_problems, _ai_platform_files, _ai_platform_commands, _ROLE_KEYS, takes_master=True)
