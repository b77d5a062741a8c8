"""Parses flags, and says in one sentence what is wrong with them."""

from __future__ import annotations

import re
from typing import Any, Sequence

from absl import flags

from estimator_trainer import errors
from estimator_trainer.settings import command_table
from estimator_trainer.settings import flag_files
from estimator_trainer.settings import flag_values
from estimator_trainer.settings.help_page import EXAMPLE


def flags_of(word: str) -> flags.FlagValues:
    """Returns the flags that a command line takes which begins with `word`."""
    fields = command_table.fields_of(word)
    return trainer_flags() if fields is command_table.TASK_FIELDS else flag_values.of(fields)


def trainer_flags() -> flags.FlagValues:
    """Returns the flags of a run."""
    values = flag_values.of(command_table.TASK_FIELDS)
    flags.DEFINE_string("job_dir", "", "The platforms' name of --model_dir.", flag_values=values)
    return values


def parsed(argv: Sequence[str], values: flags.FlagValues) -> tuple[list[str], dict[str, Any]]:
    """Returns the words that are no flags, and the flags' values."""
    try:
        words = values(["estimator-trainer", *flag_values.with_underscores(argv, values)])[1:]
    except (flags.Error, ValueError) as error:
        if problem := flag_files.unreadable(argv):
            raise errors.ConfigError(problem) from error
        if not isinstance(error, flags.Error):
            raise
        raise errors.ConfigError(_flag_problem(
            error, values, argv)) from error
    others = [word for word in words if word not in command_table.COMMANDS]
    if problem := flag_files.stray(others, argv):
        raise errors.ConfigError(problem)
    return words, values.flag_values_dict()


def cut(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the words before the first `--`, and those after it."""
    words = list(argv)
    cut = words.index("--") if "--" in words else len(words)
    return words[:cut], words[cut + 1:]


def _flag_problem(error: flags.Error, values: flags.FlagValues, argv: Sequence[str]) -> str:
    if isinstance(error, flags.UnrecognizedFlagError):
        near = errors.near_match(error.flagname, values)
        near = near.replace("'", "'--", 1) if near else ""
        if "max_restarts" in values and error.flagname in trainer_flags():
            near = f" The flags of every task go after `--`: -- --{error.flagname}=..."
        if "train_steps" in values and "model_fn" not in values:
            near = f" A script's own flags go after `--`: -- --{error.flagname}=..."
        source = flag_files.source_of(error.flagname, argv) or "the command line"
        return (f"flag --{error.flagname} (from {source}) is unknown; expected a flag that"
                f" `estimator-trainer --help` lists.{near}")
    match = re.match(r"flag --(\w+)=(.*?): ", str(error), re.DOTALL)
    if match and match.group(1) in values:
        name, got = match.groups()
        kind = {"bool": "true or false", "int": "an integer"}.get(
            values[name].flag_type(), "text")
        file = flag_files.source_of(name, argv)
        return (f"{name} is {got!r} (from --{name}{f' in {file}' if file else ''}); expected"
                f" {kind}. For example: --{name}={values[name].default}")
    return f"the flags cannot be read: {error}. For example: {EXAMPLE}"
