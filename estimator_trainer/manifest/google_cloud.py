"""What the platforms of Google Cloud share: their regions, machines and counts of replicas."""

from __future__ import annotations

import re

from estimator_trainer.settings.job_config import JobConfig

MACHINE = "n1-standard-4"
_REGION = re.compile(r"[a-z]+-[a-z]+\d+")


def region_problems(job: JobConfig) -> list[str]:
    """Returns a sentence if the region is none."""
    if _REGION.fullmatch(job.region):
        return []
    return [f"region is {job.region!r} (from --region); expected a region of Google"
            " Cloud. For example: --region=us-central1"]


def counts(job: JobConfig) -> tuple[int, int, int, int]:
    """Returns how many primary replicas, workers, ps and evaluators there are.

    All platforms always have a primary, so without a chief it is the first worker.
    """
    return 1, job.worker - (0 if job.chief else 1), job.ps, job.evaluator
