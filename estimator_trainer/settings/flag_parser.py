"""Parses flags, and finds what is wrong with them."""

import dataclasses
import re
from typing import Any, Callable, Sequence

from absl import flags

from estimator_trainer import redaction
from estimator_trainer.errors import ConfigError, near_match, Problem, Setting, UNKNOWN, Words
from estimator_trainer.settings import command_table, flag_file
from estimator_trainer.settings.job_config import RANGES

# Two names are this alike if one is the other with a letter or two wrong.
_LIKENESS = 0.8
# Values of these flags may have a comma; those of `track` are separated later.
_WITH_COMMAS = ("param", "plugin_flag", "model_dir", "resources", "track", "tune", "eval_set")
_PLAIN_VALUE = re.compile(r"[+-]?\d[\d.e+-]{0,20}|[A-Za-z][a-z_]{0,20}")
_SECRETS = ("password", "passwd", "passphrase", "secret", "token", "api_key", "access_key", "key",
            "auth", "credentials")


def flags_of(word: str = "train") -> flags.FlagValues:
    """Returns the flags of a command line that begins with `word`, apart from absl's own."""
    values = flags.FlagValues()  # type: ignore[no-untyped-call]
    fields = command_table.fields_of(word)
    for field in fields:
        define = _define(field)
        default = list(field.default) if isinstance(field.default, tuple) else field.default
        default = str(default) if field.name in RANGES else default
        define(field.name, default, field.metadata["help"], flag_values=values)
    if fields is command_table.TASK_FIELDS:
        define = flags.DEFINE_string
        define("job_dir", "", "The platforms' name of --model_dir.", flag_values=values)
    return values


def parsed(argv: Sequence[str], values: flags.FlagValues) -> tuple[list[str], dict[str, Any]]:
    """Returns the words that are not flags, and the flags' values."""
    read = flag_file.expanded(argv)
    try:
        words = values(["estimator-trainer", *_with_underscores(read, values)])[1:]
    except flags.Error as error:
        raise ConfigError(_flag_problem(error, values, argv)) from error
    others = [word for word in words if word not in command_table.COMMANDS]
    if problem := _stray(others, argv):
        raise ConfigError(problem)
    settings = values.flag_values_dict()
    if "track" in settings:
        settings["track"] = tuple(
            name for text in settings["track"] for name in text.split(",") if name)
    return words, settings


def with_tuned(argv: Sequence[str], values: flags.FlagValues) -> tuple[list[str], list[str]]:
    """Returns the words with a tuning service's flags as --param, and the params as key=value.

    A service passes each hyperparameter as a flag of its name, `--learning_rate=0.01`.
    """
    words, tuned = [], []
    for word in _with_underscores(argv, values):
        name, is_set, value = word.removeprefix("--").partition("=")
        if word.startswith("--") and is_set and name not in (*values, "flagfile", "undefok"):
            tuned.append(f"{name.replace('-', '_')}={value}")
            word = f"--param={tuned[-1]}"
        words.append(word)
    return words, tuned


def cut(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the words before the first `--`, and those after it."""
    words = list(argv)
    end = words.index("--") if "--" in words else len(words)
    return words[:end], words[end + 1:]


def _flag_problem(error: flags.Error, values: flags.FlagValues,
                  argv: Sequence[str]) -> Problem | str:
    if isinstance(error, flags.UnrecognizedFlagError):
        near = near_match(f"--{error.flagname}", [f"--{name}" for name in values], _LIKENESS)
        name = error.flagname.replace("-", "_")
        typed = f"{name}={_value_of(name, argv)}"
        if "param" in values and not near:
            near = f" A param of a plug-in is set by --param {typed}"
        if "max_restarts" in values and error.flagname in flags_of():
            near = f" The flags of the tasks themselves go after `--`: -- --{typed}"
        if "train_steps" in values and "model_fn" not in values:
            near = f" A script's own flags go after `--`: -- --{typed}"
        source = _source_of(error.flagname, argv) or "the command line"
        return Problem(f"flag --{error.flagname}", UNKNOWN, source=source, advice=near,
                       expected="a flag that `estimator-trainer COMMAND --help` lists")
    match = re.match(r"flag --(\w+)=(.*?): ", str(error), re.DOTALL)
    if match and match.group(1) in values:
        name, got = match.groups()
        kind = {"bool": "true or false", "int": "an integer", "float": "a number"}.get(
            values[name].flag_type(), "text")
        file = _source_of(name, argv)
        return Problem(name, got, source=f"--{name} in {file}" if file else "", expected=kind,
                       example=Setting(name, values[name].default))
    return f"the flags cannot be read: {error}. For example: {command_table.EXAMPLE}"


def _define(field: dataclasses.Field[Any]) -> Callable[..., Any]:
    if field.name in _WITH_COMMAS and isinstance(field.default, tuple):
        return flags.DEFINE_multi_string
    if field.name in RANGES:
        return flags.DEFINE_string
    by_type: dict[type, Callable[..., Any]] = {
        bool: flags.DEFINE_boolean, int: flags.DEFINE_integer, float: flags.DEFINE_float,
        str: flags.DEFINE_string, tuple: flags.DEFINE_list}
    return by_type[type(field.default)]


def _with_underscores(argv: Sequence[str], values: flags.FlagValues) -> list[str]:
    """Returns the words with flags as --job_dir, where a platform writes --job-dir."""

    def fix(word: str) -> str:
        name, equals, value = word.partition("=")
        bare = name.lstrip("-").replace("-", "_")
        is_flag = bare.removeprefix("no") in values or bare in values
        return f"--{bare}{equals}{value}" if is_flag else word

    return [fix(word) if re.match(r"--\w", word) else word for word in argv]


def _source_of(name: str, argv: Sequence[str]) -> str:
    """Returns `--flagfile=FILE` if a flag is in such a file and not on the line, else ""."""
    name = name.replace("-", "_")
    if any(flag_file.name_of(word) == name for word in argv):
        return ""
    for path in flag_file.paths(argv):
        if any(flag_file.name_of(line) == name for line in flag_file.lines(path)):
            return f"--flagfile={path}"
    return ""


def _value_of(name: str, argv: Sequence[str]) -> str:
    """Returns the value that a flag has on the line, if it is a number or a word; else "..."."""
    found = [word.partition("=")[2] for word in argv if flag_file.name_of(word) == name]
    # The flag is unknown, and may be a secret's with a slip in its name.
    is_plain = found and _PLAIN_VALUE.fullmatch(found[0]) and not redaction.is_secret(name)
    return found[0] if is_plain and not near_match(name, _SECRETS) else "..."


def _stray(words: Sequence[str], argv: Sequence[str]) -> Problem | None:
    """Returns the problem of the first line of a flag file that is not a flag; None for none.

    The line itself is not shown: it may be the rest of a secret with a line break.
    """
    for path in flag_file.paths(argv):
        for number, line in enumerate(flag_file.lines(path), 1):
            if line in words and line not in argv:
                return Problem(
                    f"line {number} of {path!r}", Words(f"a text of {len(line)} characters"),
                    "which does not begin with `--`", "one flag a line",
                    Setting("train_steps", 1000),
                    Setting("flagfile"))
    return None
