"""The settings that a Python program passes by keyword, checked like flags."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Mapping

from estimator_trainer.errors import ConfigError, near_match, Problem, Setting, UNKNOWN
from estimator_trainer.settings.trainer_config import TrainerConfig

_KINDS = {bool: "True or False", int: "an integer", str: "a text", tuple: "a list of texts"}
# A Python program may pass several patterns as a list.
_PATTERNS = ("warm_start_vars", "freeze")


def config_of(given: Mapping[str, Any]) -> TrainerConfig:
    """Returns the settings of these keywords, with defaults for the others.

    Raises:
      ConfigError: for an unknown name, or a value of another type or out of its range.
    """
    defaults = {field.name: field.default for field in dataclasses.fields(TrainerConfig)}
    for name in sorted(given.keys() - defaults.keys()):
        raise ConfigError(Problem(
            f"setting {name!r}", UNKNOWN, source=Setting(name),
            expected="a flag that `estimator-trainer train --help` lists, without dashes",
            advice=near_match(name, defaults), example=Setting("train_steps", 1000)))
    settings = {name: _typed(name, value, defaults[name]) for name, value in given.items()}
    if settings.get("train_epochs"):
        settings.setdefault("train_steps", 0)
    return TrainerConfig(**settings)


def words_of(config: TrainerConfig, given: Mapping[str, Any]) -> list[str]:
    """Returns the same settings as flags of a command line."""
    words = []
    for name in given:
        value = getattr(config, name)
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no{name}")
        elif name in ("param", "plugin_flag"):
            words += [f"--{name}={each}" for each in value]
        else:
            words.append(f"--{name}={','.join(value) if isinstance(value, tuple) else value}")
    return words


def _typed(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, str) and isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(default, tuple) and isinstance(value, (list, tuple)) and all(
            isinstance(each, str) for each in value):
        return tuple(value)
    if name in _PATTERNS and isinstance(value, (list, tuple)) and all(
            isinstance(each, str) for each in value):
        return ",".join(value)
    if type(value) is type(default):
        return value
    raise ConfigError(Problem(name, value, expected=_KINDS[type(default)],
                              example=Setting(name, default)))
