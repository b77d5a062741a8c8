"""The table of the schedulers, by the names that --platform takes (PLATFORMS of job_config)."""

from __future__ import annotations

from typing import Mapping

from estimator_trainer.manifest import ai_platform
from estimator_trainer.manifest import jobset
from estimator_trainer.manifest import kubernetes
from estimator_trainer.manifest import slurm
from estimator_trainer.manifest import tfjob
from estimator_trainer.manifest import vertex
from estimator_trainer.manifest.platform import Platform

BY_NAME: Mapping[str, Platform] = {
    "tfjob": tfjob.PLATFORM,
    "kubernetes": kubernetes.PLATFORM,
    "jobset": jobset.PLATFORM,
    "vertex": vertex.PLATFORM,
    "ai-platform": ai_platform.PLATFORM,
    "slurm": slurm.PLATFORM,
}
