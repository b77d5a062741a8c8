"""A Platform is a scheduler that `manifest` writes for: platform_table has each by its name."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Callable, Mapping, Sequence

import yaml  # type: ignore[import-untyped]

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


# PyYAML leaves bare what its own rules of YAML 1.1 take for a string. Kubernetes reads `y`, `n`,
# `1e3`, `0o17` and `08` as booleans and numbers, so what is no plain word gets double quotes.
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_./-]+")
_WIDTH = 1 << 20
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    """Writes each value where it stands, without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _string(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    style = None if _WORD.fullmatch(value) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)


_Dumper.add_representer(str, _string)


def text(values: Sequence[Mapping[str, Any]], comment: str) -> str:
    """Returns one YAML file: the comment, then a document for each value."""
    lines = "".join(f"# {line}\n" for line in comment.splitlines())
    documents: str = yaml.dump_all(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True,
                                   width=_WIDTH)
    # PyYAML escapes control characters, and not the marks that turn the direction of writing; a
    # text with one has double quotes.
    return lines + _TURNING.sub(lambda match: f"\\u{ord(match[0]):04x}", documents)


def job(values: Sequence[Mapping[str, Any]], comment: str) -> dict[str, bytes]:
    """Returns the file of a job: its name and its content."""
    return {"job.yaml": text(values, comment).encode()}
