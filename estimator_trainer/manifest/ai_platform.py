"""Jobs for AI Platform Training, the predecessor of Vertex AI: a trainingInput.

https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#traininginput
"""

from __future__ import annotations

from typing import Any, Sequence

from estimator_trainer.errors import Problem, Setting
from estimator_trainer.manifest import platform, vertex
from estimator_trainer.manifest.platform import Platform
from estimator_trainer.settings.job_config import GPU_TYPES, JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

_COMMENT = """\
Written by `estimator-trainer manifest`: a Job of AI Platform Training, which came before Vertex
AI. Google has ended the service for most projects: `manifest --platform=vertex` is the one to
use where that is so."""

# STANDARD_1 has machines of its own for this number of workers and ps.
_STANDARD_1 = (4, 3)
_GPUS = GPU_TYPES[:GPU_TYPES.index("NVIDIA_TESLA_A100") + 1]


def _problems(job: JobConfig, config: TrainerConfig) -> list[Problem]:
    found = vertex.region_problems(job)
    if not job.image:
        found.append(Problem(
            "image", example=Setting("image", "REGISTRY/digits:1"),
            expected="one for AI Platform, whose own containers end at Python 3.7, too old for this"
            " program"))
    if job.gpus and job.gpu_type not in _GPUS:
        found.append(Problem(
            "gpu_type", job.gpu_type, example=Setting("gpu_type", "NVIDIA_TESLA_T4"),
            expected=f"one of {', '.join(sorted(_GPUS))} for AI Platform"))
    return found


def _files(job: JobConfig, config: TrainerConfig, flags: Sequence[str]) -> dict[str, bytes]:
    return platform.job([_training_job(job, config, flags)], _COMMENT)


def _training_job(job: JobConfig, config: TrainerConfig, flags: Sequence[str]) -> dict[str, Any]:
    _, workers, ps, evaluators = vertex.counts(job)
    accelerator = {"acceleratorConfig": {"type": job.gpu_type, "count": job.gpus}}
    gpu = accelerator if job.gpus else {}
    content: dict[str, Any] = {"region": job.region, "masterConfig": {"imageUri": job.image} | gpu}
    if (workers, ps) == _STANDARD_1 and not (evaluators or job.machine_type or job.gpus):
        content["scaleTier"] = "STANDARD_1"
    else:
        machine = job.machine_type or vertex.MACHINE
        content |= {"scaleTier": "CUSTOM", "masterType": machine}
        for name, count in (("worker", workers), ("parameterServer", ps),
                            ("evaluator", evaluators)):
            if count:
                content |= {f"{name}Type": machine, f"{name}Count": count}
        if gpu and workers:
            content["workerConfig"] = {"imageUri": job.image} | gpu
    # Without this, TF_CONFIG has a `master`, which strategies and evaluators do not support.
    content["useChiefInTfConfig"] = job.chief_name == "chief"
    if config.model_dir.startswith("gs://"):
        content["jobDir"] = config.model_dir
    content["args"] = list(flags)
    return {"trainingInput": content}


def _commands(job: JobConfig, config: TrainerConfig, folder: str) -> list[str]:
    # A name consists of letters, digits and underscores, and must be new.
    name = f"{job.name.replace('-', '_')}_$(date +%Y%m%d_%H%M%S)"
    return [f"gcloud ai-platform jobs submit training {name} --region={job.region}"
            f" --config={folder}/job.yaml"]


PLATFORM = Platform(problems=_problems, files=_files, commands=_commands, takes_master=True)
