"""The settings that a Python program gives by keywords, checked as flags are."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Mapping

from estimator_trainer import errors, redaction
from estimator_trainer.settings.trainer_config import TrainerConfig

_KINDS = {bool: "True or False", int: "an integer", str: "a text", tuple: "a list of texts"}

# Texts of several patterns, which a Python program may give as a list.
_PATTERNS = ("warm_start_vars", "freeze")


def config_of(given: Mapping[str, Any]) -> TrainerConfig:
    """Returns the settings of these keywords, and the defaults of the others.

    Raises:
      ConfigError: for an unknown name, or a value of another type or out of its range.
    """
    defaults = {field.name: field.default for field in dataclasses.fields(TrainerConfig)}
    unknown = sorted(given.keys() - defaults.keys())
    if unknown:
        raise errors.ConfigError(
            f"{unknown[0]} (from {unknown[0]}=) is no setting; expected one that"
            " `estimator-trainer train --help` lists, without dashes."
            f"{errors.near_match(unknown[0], defaults)} For example: train_steps=1000")
    settings = {name: _typed(name, value, defaults[name]) for name, value in given.items()}
    if settings.get("train_epochs"):
        settings.setdefault("train_steps", 0)
    return TrainerConfig(**settings)


def words_of(config: TrainerConfig, given: Mapping[str, Any]) -> list[str]:
    """Returns the flags that say the same on a command line."""
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
    raise errors.ConfigError(
        f"{name} is {redaction.masked(name, value)!r} (from {name}=); expected"
        f" {_KINDS[type(default)]}. For example:"
        f" {name}={list(default) if isinstance(default, tuple) else default!r}")
