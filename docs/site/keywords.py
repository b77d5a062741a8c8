"""Makes estimator_trainer/python/keywords.py: `python -m docs.site.keywords --write`.

Without --write it prints the file. It imports no TensorFlow.
"""

from __future__ import annotations

import dataclasses
import pathlib
import sys
from typing import Any, Sequence

from estimator_trainer.python import keyword_settings

COMMAND = "python -m docs.site.keywords --write"
FILE = pathlib.Path(__file__).resolve().parents[2] / "estimator_trainer/python/keywords.py"
COMMANDS = ("train", "evaluate", "predict", "export", "check", "launch")
# The functions have these as named arguments.
_NAMED = ("model_fn", "input_fn", "model_dir")

_HEAD = f'''\
"""The keywords of the functions in `api.py`, for type checkers and editors: made by `{COMMAND}`."""

import os
from typing import Any, Literal, Sequence, TypedDict
'''


def source() -> str:
    """Returns the file."""
    return _HEAD + "".join(map(_class, COMMANDS))


def main(argv: Sequence[str]) -> None:
    """Prints the file, or writes it."""
    if "--write" in argv:
        FILE.write_text(source(), encoding="utf-8")
    else:
        print(source(), end="")


def _class(command: str) -> str:
    """Returns the class of one function's keywords."""
    lines = ["", "", f"class {command.capitalize()}(TypedDict, total=False):",
             f'    """Keywords of `estimator_trainer.{command}`."""', ""]
    lines += [f"    {field.name}: {_type(field)}" for field in keyword_settings.fields_of(command)
              if field.name not in _NAMED]
    return "\n".join(lines) + "\n"


def _type(field: dataclasses.Field[Any]) -> str:
    if field.name in keyword_settings.PLUGINS:
        return "Any"
    if choices := field.metadata["choices"]:
        return _wrapped(f"    {field.name}: Literal[", choices)
    if field.name in keyword_settings.PATTERNS:
        return "str | Sequence[str]"
    if isinstance(field.default, tuple):
        return "Sequence[str]"
    is_path = field.name in keyword_settings.PATHS
    return "str | os.PathLike[str]" if is_path else type(field.default).__name__


def _wrapped(head: str, choices: Sequence[str]) -> str:
    """Returns a Literal of choices, broken into lines of at most 100 characters."""
    lines = ["Literal["]
    used = len(head)
    for i, choice in enumerate(choices):
        word = f'"{choice}"' + ("," if i + 1 < len(choices) else "]")
        if used + len(word) + 1 > 100:
            lines.append(" " * 8)
            used = 8
        lines[-1] += ("" if lines[-1].endswith(("[", "        ")) else " ") + word
        used += len(word) + 1
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
