"""Reads files of flags: --flagfile=FILE stands for the lines of the file, as in absl.

absl itself reads such a file in the encoding of the locale, and takes a byte order mark at its
beginning for a part of the first flag.
"""

import codecs
import os.path
import pathlib
import shlex
from typing import Iterator, Sequence

from estimator_trainer.errors import ConfigError, Problem, Setting

NAME = "flagfile"
_COMMENTS = ("#", "//")
_EXPECTED = "a text file in UTF-8, one flag a line"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def expanded(argv: Sequence[str]) -> list[str]:
    """Returns the words with the lines of flag files in place of --flagfile, or ConfigError."""
    return list(_expanded(argv, ()))


def paths(argv: Sequence[str]) -> Iterator[str]:
    """Yields the values of --flagfile."""
    words = iter(argv)
    for word in words:
        if name_of(word) == NAME:
            yield _path(word, words)


def lines(path: str) -> list[str]:
    """Returns the lines of a flag file, with blank lines and comments; ConfigError if unreadable.

    Windows writes a byte order mark, which is left out.
    """
    try:
        content = pathlib.Path(whole := os.path.expanduser(path)).read_bytes()
        if content.startswith(_UTF_16):
            copy = f"{whole}.utf8"
            raise ConfigError(Problem(
                NAME, path, "which is in UTF-16", _EXPECTED,
                f"iconv -f UTF-16 -t UTF-8 {shlex.quote(whole)} > {shlex.quote(copy)}, and "
                f"{Setting(NAME, copy)}"))
        return [line.strip() for line in content.decode("utf-8-sig").splitlines()]
    except (OSError, ValueError) as error:
        raise ConfigError(Problem(
            NAME, path, f"which cannot be read: {getattr(error, 'strerror', None) or error}",
            _EXPECTED, Setting("train_steps", 1000))) from error


def name_of(word: str) -> str:
    """Returns the name of a flag, which a blank or `=` may follow; "" for another word."""
    name = word.lstrip("-").partition("=")[0].partition(" ")[0].replace("-", "_")
    return name if word.startswith("-") else ""


def _expanded(argv: Sequence[str], within: tuple[str, ...]) -> Iterator[str]:
    words = iter(argv)
    for word in words:
        if name_of(word) != NAME:
            yield word
        elif path := _path(word, words):
            whole = os.path.realpath(os.path.expanduser(path))
            if whole in within:
                raise ConfigError(Problem(NAME, path, "which reads itself again", _EXPECTED))
            flags = [line for line in lines(path) if line and not line.startswith(_COMMENTS)]
            yield from _expanded(flags, (*within, whole))


def _path(word: str, words: Iterator[str]) -> str:
    """Returns the value of a flag, which may be the next word; "" if there is none."""
    return (word.partition("=")[2] if "=" in word else next(words, "")).strip()
