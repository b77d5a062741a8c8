"""`manifest`."""

from __future__ import annotations

from estimator_trainer.config import TrainerConfig
from estimator_trainer.job_config import JobConfig


def write(job: JobConfig, config: TrainerConfig, flags: tuple[str, ...]) -> str:
    raise NotImplementedError
