"""The table of the platforms has those, and only those, that --platform takes."""

from __future__ import annotations

from estimator_trainer.manifest import manifest
from estimator_trainer.settings import job_config


def test_every_platform_of_the_flag_is_in_the_table() -> None:
    assert tuple(manifest.BY_NAME) == job_config.PLATFORMS
