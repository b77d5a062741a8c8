"""Platforms, which are the schedulers that `manifest` writes for, and their YAML."""

import dataclasses
import re
from typing import Any, Callable, Mapping, Sequence

import yaml  # type: ignore[import-untyped]

from estimator_trainer.errors import Problem, Setting
from estimator_trainer.manifest import source_package
from estimator_trainer.settings.job_config import JobConfig, PREDICT
from estimator_trainer.settings.trainer_config import TrainerConfig

Files = Callable[[JobConfig, TrainerConfig, Sequence[str]], dict[str, bytes]]
Problems = Callable[[JobConfig, TrainerConfig], list[Problem]]
_OfJob = Callable[[JobConfig], str]


@dataclasses.dataclass(frozen=True)
class Platform:
    """The functions and properties of one scheduler.

    Attributes:
      problems: Returns a problem for each setting that the scheduler does not accept.
      files: Returns the job's files, contents by name, from the flags of every task.
      commands: Returns the commands that run the job; the folder of the files is quoted.
      role_keys: The keys of --resources that the scheduler has.
      mount: Returns the directory that all tasks share, or "".
      mount_advice: Words of a warning about a model_dir outside `mount`, before "a bucket".
      scales_workers: Whether the number of workers may change while the job runs.
      runs_tensorboard: Whether `files` has TensorBoard beside the tasks, with --tensorboard.
      shares_disk: Whether tasks use the program, plug-ins and paths of this machine, so that no
        code is packed.
      takes_master: Whether the chief may be named `master`.
      tensorflow: Returns the version of TensorFlow for the source package.
    """

    problems: Problems
    files: Files
    commands: Callable[[JobConfig, TrainerConfig, str], list[str]]
    role_keys: tuple[str, ...]
    mount: _OfJob = dataclasses.field(default=lambda job: "")
    mount_advice: str = ""
    scales_workers: bool = False
    runs_tensorboard: bool = False
    shares_disk: bool = False
    takes_master: bool = False
    tensorflow: _OfJob = dataclasses.field(default=lambda job: source_package.tensorflow_here())


def does_predict(flags: Sequence[str]) -> bool:
    """Returns whether the tasks of a job predict, each its share of the files."""
    return list(flags[:1]) == [PREDICT]


def no_data_workers(job: JobConfig, why: str) -> list[Problem]:
    """Returns a problem if a job has data workers, on a platform that has no such tasks."""
    return [Problem("data_worker", job.data_worker, why, "none, or another platform",
                    Setting("platform", "jobset"))] if job.data_worker else []


# PyYAML writes strings bare by its own rules of YAML 1.1. Kubernetes reads `y`, `n`, `1e3`, `0o17`
# and `08` as booleans and numbers. Therefore all but plain words get double quotes.
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_./-]+")
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    """Writes each value in place, without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(str, lambda dumper, value: dumper.represent_scalar(
    "tag:yaml.org,2002:str", value, None if _WORD.fullmatch(value) else '"'))

# The number of workers is a class of its own.
_Dumper.add_multi_representer(int, lambda dumper, value: dumper.represent_int(int(value)))


def job(values: Sequence[Mapping[str, Any]], comment: str) -> dict[str, bytes]:
    """Returns one YAML file by its name: the comment, then a document for each value."""
    lines = "".join(f"# {line}\n" for line in comment.splitlines())
    documents: str = yaml.dump_all(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True,
                                   width=1 << 20)
    # PyYAML escapes control characters, but not the marks that change the direction of writing. A
    # text with a mark has double quotes.
    documents = _TURNING.sub(lambda match: f"\\u{ord(match[0]):04x}", documents)
    return {"job.yaml": (lines + documents).encode()}
