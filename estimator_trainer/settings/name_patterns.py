"""Patterns of variables' names, as `--warm_start_vars` and `--freeze` take them.

Standard library only, so a mistake is reported before TensorFlow is imported.
"""

from __future__ import annotations

import re
from typing import Iterable
import warnings

# A comma within brackets is a part of a regular expression.
_COMMA = re.compile(r",(?![^\[({]*[\])}])")


def split(text: str) -> tuple[str, ...]:
    """Returns the patterns in a text, which commas separate."""
    return tuple(filter(None, (part.strip() for part in _COMMA.split(text))))


def matches(pattern: str, name: str) -> bool:
    """Returns whether a pattern stands for a variable, as TensorFlow's own collections take it.

    A pattern is a regular expression that matches from the beginning of the name on, so a scope
    stands for all variables below it.
    """
    return bool(re.match(pattern, name) or re.match(pattern, f"{name}:0"))


def problem(setting: str, text: str) -> str:
    """Returns what is wrong with the patterns of a setting, or ""."""
    for pattern in split(text):
        try:
            # Python warns of what a later version may read in another way.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            return (f"{setting} is {text!r} (from --{setting}), and {pattern!r} is no regular"
                    f" expression: {error}. For example: --{setting}='conv.*,dense/kernel'")
    return ""


def renames(pairs: Iterable[str]) -> dict[str, str]:
    """Returns the old name, or scope, by the new one."""
    return {new: old for old, _, new in (pair.partition("=") for pair in pairs)}


def rename_problem(pairs: Iterable[str]) -> str:
    """Returns what is wrong with renames, or ""."""
    for pair in pairs:
        old, _, new = pair.partition("=")
        if not old or not new or "=" in new or old.endswith("/") != new.endswith("/"):
            return (f"warm_start_rename has {pair!r} (from --warm_start_rename); expected"
                    " OLD=NEW, two names, or two scopes that end with a slash. For example:"
                    " --warm_start_rename=dense/kernel=logits/kernel,encoder/=backbone/")
    return ""
