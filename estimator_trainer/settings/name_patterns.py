"""Patterns of variables' names, as `--warm_start_vars` and `--freeze` take them.

Standard library only, so a mistake is reported before TensorFlow is imported.
"""

from __future__ import annotations

import re
from typing import Iterable
import warnings

from estimator_trainer.errors import Problem, Setting

# A comma within brackets is a part of a regular expression.
_COMMA = re.compile(r",(?![^\[({]*[\])}])")


def split(text: str) -> tuple[str, ...]:
    """Returns the patterns in a text, which commas separate."""
    return tuple(filter(None, (part.strip() for part in _COMMA.split(text))))


def matches(pattern: str, name: str) -> bool:
    """Returns whether a pattern matches a variable, as in TensorFlow's own collections.

    A pattern is a regular expression that matches from the beginning of the name, so a scope
    matches all variables below it.
    """
    return bool(re.match(pattern, name) or re.match(pattern, f"{name}:0"))


def problem(setting: str, text: str) -> Problem | None:
    """Returns the first wrong pattern of a setting, or None."""
    for pattern in split(text):
        try:
            # Python warns of syntax that a later version may read in another way.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            return Problem(setting, text, f"in which {pattern!r} is no regular expression: {error}",
                           example=Setting(setting, "conv.*,dense/kernel"))
    return None


def renames(pairs: Iterable[str]) -> dict[str, str]:
    """Returns the old name, or scope, by the new one."""
    return {new: old for old, _, new in (pair.partition("=") for pair in pairs)}


def rename_problem(pairs: Iterable[str]) -> Problem | None:
    """Returns the first wrong rename, or None."""
    for pair in pairs:
        old, _, new = pair.partition("=")
        if not old or not new or "=" in new or old.endswith("/") != new.endswith("/"):
            return Problem(
                "warm_start_rename", pair, verb="has",
                expected="OLD=NEW, two names, or two scopes that end with a slash",
                example=Setting("warm_start_rename",
                                ("dense/kernel=logits/kernel", "encoder/=backbone/")))
    return None
