"""`launch`."""

from __future__ import annotations

from estimator_trainer.config import TrainerConfig
from estimator_trainer.environment import Environment
from estimator_trainer.job_config import JobConfig


def run(job: JobConfig, config: TrainerConfig, flags: tuple[str, ...],
        variables: Environment) -> int:
    raise NotImplementedError
