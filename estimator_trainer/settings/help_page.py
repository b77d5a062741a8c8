"""The text of `--help`, for the program and for one command."""

from __future__ import annotations

import dataclasses
import textwrap
from typing import Any, Iterable

from estimator_trainer.settings.command_table import COMMANDS, OutputConfig
from estimator_trainer.settings.host_lists import HostLists
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import RankConfig, TrainerConfig

EXAMPLE = "estimator-trainer --model_fn=cnn --input_fn=digits --model_dir=/tmp/digits"
_SETTINGS = (TrainerConfig, OutputConfig, JobConfig, HostLists)
_FLAGFILE = "  --flagfile=FILE  reads more flags from a file, one a line."


def text(command: str = "") -> str:
    """Returns the page of one command, or of the whole program if `command` is empty."""
    return _of_command(command) if command else _of_program()


def _of_program() -> str:
    lines = ["Train and evaluate a tf.estimator model from a model_fn and an input_fn.", "",
             "usage: estimator-trainer [command] [--flag=value ...]", "", "Commands:"]
    for name, command in COMMANDS.items():
        first, *more = textwrap.wrap(command.help, 84)
        lines += [f"  {name:10}{first}", *(f"  {'':10}{line}" for line in more)]
    fields = {field.name: field for config in _SETTINGS for field in dataclasses.fields(config)}
    # The flags that a TrainerConfig inherits belong beside the lists of hosts.
    ranks = [fields.pop(field.name) for field in dataclasses.fields(RankConfig)]
    return "\n".join([*lines, *_flags([*fields.values(), *ranks]), "", _FLAGFILE, "",
                      "  estimator-trainer COMMAND --help shows one command.", "",
                      f"For example: {EXAMPLE}"])


def _of_command(name: str) -> str:
    command = COMMANDS[name]
    lines = [*textwrap.wrap(command.help, 92), "",
             f"usage: estimator-trainer {name} {command.usage}"]
    if command.is_job:
        lines += ["", "FLAGS are those of every task: estimator-trainer train --help lists them."]
    return "\n".join([*lines, *_flags(command.flags), "", _FLAGFILE])


def _flags(fields: Iterable[dataclasses.Field[Any]]) -> list[str]:
    """Returns the lines of the flags, each group below its heading."""
    lines: list[str] = []
    group = ""
    for field in fields:
        if field.metadata["group"] != group:
            group = field.metadata["group"]
            lines += ["", f"{group}:"]
        lines += _flag(field)
    return lines


def _flag(field: dataclasses.Field[Any]) -> list[str]:
    default = ",".join(field.default) if isinstance(field.default, tuple) else field.default
    choices = f" One of: {', '.join(field.metadata['choices'])}." if field.metadata[
        "choices"] else ""
    shown = f" (default: {default})" if default not in ("", False) else ""
    lines = textwrap.wrap(f"{field.metadata['help']}{choices}{shown}", 84)
    return [f"  --{field.name}", *(f"        {line}" for line in lines)]
