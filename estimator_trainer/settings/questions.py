"""The questions that a command line asks in place of a run: for help, for the version."""

from __future__ import annotations

from typing import Sequence

from estimator_trainer.settings import command_table
from estimator_trainer.settings.command_table import COMMANDS

_HELP = ("help", "h", "helpfull")


def asks_version(argv: Sequence[str]) -> bool:
    """Returns whether --version is one of the flags."""
    return "version" in _questions(argv)[1]


def help_topic(argv: Sequence[str]) -> str | None:
    """Returns the command whose help is asked for, "" for all of them, or None for no help.

    `--help`, `-h` and `--helpfull` ask as flags, not as values of others nor after `--`, and the
    word `help` asks before or behind a command.

    Raises:
      ConfigError: if there is no such command.
    """
    words, flag_names = _questions(argv)
    topic = [word for word in words if word != "help"][:1]
    if not set(_HELP) & set(flag_names) and "help" not in (words[:1] + words[1:][-1:]):
        return None
    if topic and topic[0] not in COMMANDS:
        # An answer without a mistake in it does not wait for absl's flags.
        from estimator_trainer.settings import command_line
        raise command_line.unknown(topic[0])
    return topic[0] if topic else ""


def _questions(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the words and the names of the flags before `--`, be the flags known or not."""
    fields = command_table.fields_of(argv[0] if argv else "")
    with_value = {field.name for field in fields if not isinstance(field.default, bool)}
    with_value |= {"flagfile", "job_dir"} if fields is command_table.TASK_FIELDS else {"flagfile"}
    words, flag_names = [], []
    left = iter(argv[:argv.index("--")] if "--" in argv else argv)
    for word in left:
        name = word.lstrip("-").replace("-", "_")
        if not word.startswith("-"):
            words.append(word)
            continue
        flag_names.append(name)
        if name in with_value:
            next(left, None)  # This is the flag's value, whatever it looks like.
    return words, flag_names
