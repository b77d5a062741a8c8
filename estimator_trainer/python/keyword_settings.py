"""The flags of a command as keyword arguments of the Python function of its name."""

from collections.abc import Sequence
import dataclasses
import numbers
import os
from typing import Any, Literal, Mapping

from estimator_trainer.errors import (ConfigError, did_you_mean, near_match, Param, Problem,
                                      Setting, UNKNOWN)
from estimator_trainer.settings.command_table import COMMANDS
from estimator_trainer.settings.job_config import RANGES
from estimator_trainer.settings.trainer_config import TrainerConfig

_KINDS = {bool: "True or False", int: "an integer", float: "a number", str: "a text",
          tuple: "a list of texts"}
# The functions have arguments of their own for these, or run in one process.
_ARGUMENTS = ("param", "tf1", "tf1_op_seeds", "data", "share")
# A Python program may pass several values of these texts as a list.
LISTED = ("warm_start_vars", "freeze", "serving_input")
# Names in other libraries.
_ELSEWHERE = {"steps": "train_steps", "max_steps": "train_steps", "num_steps": "train_steps",
              "epochs": "train_epochs", "num_epochs": "train_epochs",
              "batch_size": "global_batch_size", "output_dir": "model_dir", "job_dir": "model_dir",
              "callbacks": "on_evaluation", "validation_data": "eval_data", "target": "label",
              "hparams": "params", "model": "model_fn", "workers": "worker"}
# A plug-in may be a function, a class, an Estimator or a Keras model.
PLUGINS = ("model_fn", "input_fn", "train_input_fn", "eval_input_fn", "serving_input_fn")


def fields_of(command: str) -> tuple[dataclasses.Field[Any], ...]:
    """Returns the flags of a command that its function takes as keywords, in their order."""
    task = {field.name for field in dataclasses.fields(TrainerConfig)}
    flags = COMMANDS[command].flags
    if COMMANDS[command].is_job:
        return (*flags, *fields_of("train"))
    return tuple(field for field in flags if field.name in task and field.name not in _ARGUMENTS)


def type_of(field: dataclasses.Field[Any]) -> Any:
    """Returns the type of the values that a setting may have as a keyword."""
    if field.name in PLUGINS:
        return Any
    if field.metadata["choices"]:
        return Literal[field.metadata["choices"]]
    if field.name in LISTED:
        return str | Sequence[str]
    if isinstance(field.default, tuple):
        return Sequence[str]
    if field.name in RANGES:
        return int | str
    return str | os.PathLike[str] if field.metadata["is_path"] else type(field.default)


def config_of(user_set: Mapping[str, Any], command: str = "train") -> TrainerConfig:
    """Returns the settings of a call, with defaults for the others, or raises ConfigError."""
    defaults = {field.name: field.default for field in dataclasses.fields(TrainerConfig)}
    for name in sorted(user_set.keys() - defaults.keys()):
        known = ["params", *(each.name for each in fields_of(command))]
        near = _meant(name) or near_match(name, known)
        raise ConfigError(Problem(
            f"keyword {name!r}", UNKNOWN, source=f"estimator_trainer.{command}",
            expected=f"a keyword that help(estimator_trainer.{command}) lists; a param of a"
            " plug-in goes into params={...}", advice=near,
            example="" if near else Param(name, user_set[name])))
    settings = {name: typed(name, value, defaults[name]) for name, value in user_set.items()}
    if settings.get("train_epochs"):
        settings.setdefault("train_steps", 0)
    return TrainerConfig(**settings)


def _meant(name: str) -> str:
    """Returns the setting that other libraries call by a name, as a question; "" for none."""
    return did_you_mean(_ELSEWHERE.get(name, ""))


def words_of(config: TrainerConfig, user_set: Mapping[str, Any]) -> list[str]:
    """Returns the same settings as flags of a command line."""
    words = []
    for name in user_set:
        value = getattr(config, name)
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no{name}")
        elif name in ("param", "plugin_flag", "eval_set"):
            words += [f"--{name}={each}" for each in value]
        else:
            words.append(f"--{name}={','.join(value) if isinstance(value, tuple) else value}")
    return words


def typed(name: str, value: Any, default: Any) -> Any:
    """Returns the value of a keyword in the type of its default, or raises ConfigError."""
    if isinstance(default, str) and isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        if isinstance(default, tuple):
            return tuple(value)
        if name in LISTED:
            return ",".join(value)
    if type(value) is type(default):
        return value
    if type(default) is int and hasattr(value, "__index__") and not isinstance(value, bool):
        return int(value)  # An integer of NumPy.
    if type(default) is float and isinstance(value, numbers.Real) and not isinstance(value, bool):
        return float(value)
    raise ConfigError(Problem(name, value, expected=_KINDS[type(default)],
                              example=Setting(name, default)))
