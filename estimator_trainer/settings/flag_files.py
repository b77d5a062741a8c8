"""The files of --flagfile: which of them a flag stands in, for messages."""

from __future__ import annotations

import pathlib
from typing import Iterator, Sequence


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
