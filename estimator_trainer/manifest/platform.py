"""A Platform is a scheduler that `manifest` writes for: platform_table has each by its name."""

from __future__ import annotations

import dataclasses
from typing import Callable, Sequence

from estimator_trainer.manifest import source_package
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig


def _nothing(job: JobConfig) -> str:
    return ""


def _tensorflow_here(job: JobConfig) -> str:
    return source_package.tensorflow_here()


@dataclasses.dataclass(frozen=True)
class Platform:
    """What `manifest` has to know of one scheduler.

    Attributes:
      problems: Returns a sentence for each setting that the scheduler would not take.
      files: Returns the job's files, contents by name; the flags are those of every task.
      commands: Returns what to type to run the job; the folder, quoted for a shell, holds the
        files.
      mount: Returns the directory that all tasks share, "/" where they share every one, or "".
      mount_advice: Words of a warning about a model_dir outside `mount`, before "a bucket".
      shares_disk: Whether tasks find the program, plug-ins and paths as they are here, so that
        no code is packed.
      takes_master: Whether the job can be told to name its chief `master`.
      tensorflow: Returns the version of TensorFlow that the source package is made for.
    """

    problems: Callable[[JobConfig, TrainerConfig], list[str]]
    files: Callable[[JobConfig, TrainerConfig, Sequence[str]], dict[str, bytes]]
    commands: Callable[[JobConfig, TrainerConfig, str], list[str]]
    mount: Callable[[JobConfig], str] = _nothing
    mount_advice: str = ""
    shares_disk: bool = False
    takes_master: bool = False
    tensorflow: Callable[[JobConfig], str] = _tensorflow_here
