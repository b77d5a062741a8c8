"""Parses flags, and says in one sentence what is wrong with them."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from typing import Any, Callable, Iterable, Iterator, Sequence

from absl import flags

from estimator_trainer import errors
from estimator_trainer.settings import command_table
from estimator_trainer.settings.help_page import EXAMPLE


def flags_of(word: str) -> flags.FlagValues:
    """Returns the flags that a command line takes which begins with `word`."""
    fields = command_table.fields_of(word)
    return trainer_flags() if fields is command_table.TASK_FIELDS else of(fields)


def trainer_flags() -> flags.FlagValues:
    """Returns the flags of a run."""
    values = of(command_table.TASK_FIELDS)
    flags.DEFINE_string("job_dir", "", "The platforms' name of --model_dir.", flag_values=values)
    return values


def parsed(argv: Sequence[str], values: flags.FlagValues) -> tuple[list[str], dict[str, Any]]:
    """Returns the words that are no flags, and the flags' values."""
    try:
        words = values(["estimator-trainer", *with_underscores(argv, values)])[1:]
    except (flags.Error, ValueError) as error:
        if problem := unreadable(argv):
            raise errors.ConfigError(problem) from error
        if not isinstance(error, flags.Error):
            raise
        raise errors.ConfigError(_flag_problem(
            error, values, argv)) from error
    others = [word for word in words if word not in command_table.COMMANDS]
    if problem := stray(others, argv):
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
        source = source_of(error.flagname, argv) or "the command line"
        return (f"flag --{error.flagname} (from {source}) is unknown; expected a flag that"
                f" `estimator-trainer --help` lists.{near}")
    match = re.match(r"flag --(\w+)=(.*?): ", str(error), re.DOTALL)
    if match and match.group(1) in values:
        name, got = match.groups()
        kind = {"bool": "true or false", "int": "an integer"}.get(
            values[name].flag_type(), "text")
        file = source_of(name, argv)
        return (f"{name} is {got!r} (from --{name}{f' in {file}' if file else ''}); expected"
                f" {kind}. For example: --{name}={values[name].default}")
    return f"the flags cannot be read: {error}. For example: {EXAMPLE}"


def of(fields: Iterable[dataclasses.Field[Any]]) -> flags.FlagValues:
    """Defines the flags on a FlagValues of our own, so that none of a plug-in's collide."""
    values = flags.FlagValues()  # type: ignore[no-untyped-call]
    for field in fields:
        define = _define(field)
        default = list(field.default) if isinstance(field.default, tuple) else field.default
        define(field.name, default, field.metadata["help"], flag_values=values)
    return values


def _define(field: dataclasses.Field[Any]) -> Callable[..., Any]:
    # What a user writes there may have a comma.
    if field.name in ("param", "plugin_flag", "model_dir") and isinstance(field.default, tuple):
        return flags.DEFINE_multi_string
    by_type: dict[type, Callable[..., Any]] = {
        bool: flags.DEFINE_boolean, int: flags.DEFINE_integer, str: flags.DEFINE_string,
        tuple: flags.DEFINE_list}
    return by_type[type(field.default)]


def with_underscores(argv: Sequence[str], values: flags.FlagValues) -> list[str]:
    """Lets --job-dir, as the platforms write it, stand for --job_dir; so for every flag."""

    def fix(word: str) -> str:
        name, equals, value = word.partition("=")
        bare = "--" + name.lstrip("-").replace("-", "_")
        return bare + equals + value if bare[2:].removeprefix("no") in values or bare[
            2:] in values else word

    return [fix(word) if re.match(r"--\w", word) else word for word in argv]


def source_of(name: str, argv: Sequence[str]) -> str:
    """Returns `--flagfile=FILE` if a flag stands in such a file and not on the line, else "".

    Args:
      name: The flag, without dashes.
      argv: The words of the command line.
    """
    name = name.replace("-", "_")
    if any(_name(word) == name for word in argv):
        return ""
    for path in _paths(argv):
        if any(_name(line.strip()) == name for line in _lines(path)):
            return f"--flagfile={path}"
    return ""


def unreadable(argv: Sequence[str]) -> str:
    """Returns what is wrong with the first flag file that cannot be read; "" if all can."""
    for path in _paths(argv):
        try:
            pathlib.Path(path).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            return (f"flagfile is {path!r} (from --flagfile), which cannot be read:"
                    f" {getattr(error, 'strerror', None) or error}; expected a text file, one flag"
                    " a line. For example: --train_steps=1000")
    return ""


def stray(words: Sequence[str], argv: Sequence[str]) -> str:
    """Returns what is wrong with the first line of a flag file that is no flag; "" for none.

    Such a line may be the rest of a secret that a line break has cut.

    Args:
      words: The words that are no flags, of the line and of the files.
      argv: The words of the command line.
    """
    for path in _paths(argv):
        for number, line in enumerate(_lines(path), 1):
            if line.strip() in words and line.strip() not in argv:
                return (f"line {number} of {path!r} (from --flagfile) is no flag, but a text of"
                        f" {len(line.strip())} characters; expected one flag a line. For example:"
                        " --train_steps=1000")
    return ""


def _paths(argv: Sequence[str]) -> Iterator[str]:
    for i, word in enumerate(argv):
        if _name(word) == "flagfile":
            path = word.partition("=")[2] or (argv[i + 1] if i + 1 < len(argv) else "")
            yield path.strip()


def _lines(path: str) -> list[str]:
    try:
        return pathlib.Path(path).expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []


def _name(word: str) -> str:
    if not word.startswith("-"):
        return ""
    return word.lstrip("-").partition("=")[0].partition(" ")[0].replace("-", "_")
