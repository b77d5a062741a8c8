"""Makes estimator_trainer/python/keywords.py: `python -m docs.site.keywords --write`.

Without --write it prints the file. It imports no TensorFlow.
"""

from __future__ import annotations

import dataclasses
import inspect
import pathlib
import sys
import textwrap
from typing import Any, Sequence

from estimator_trainer.python import keyword_settings

COMMAND = "python -m docs.site.keywords --write"
FILE = pathlib.Path(__file__).resolve().parents[2] / "estimator_trainer/python/keywords.py"
COMMANDS = ("train", "evaluate", "average", "predict", "export", "check", "launch")
_WIDTH = 100
# The functions have these as named arguments.
_NAMED = ("model_fn", "input_fn", "model_dir")

_HEAD = f'''\
"""The keywords of the functions in `api.py`, for type checkers and editors.

`{COMMAND}` makes this file.
"""

import os
from typing import Any, Literal, Sequence, TypedDict
'''


def source() -> str:
    """Returns the file."""
    fields = {command: _fields(command) for command in COMMANDS}
    shared = {name: field for name, field in fields["train"].items()
              if all(name in each for each in fields.values())}
    return _HEAD + _class("_Task", "TypedDict", "Keywords of every function.", shared) + "".join(
        _class(command.capitalize(), _base(command), f"Keywords of `estimator_trainer.{command}`.",
               {name: field for name, field in fields[command].items()
                if name not in (fields["train"] if _base(command) == "Train" else shared)})
        for command in COMMANDS)


def _base(command: str) -> str:
    """Returns the class whose keywords a function has too."""
    return "Train" if command in ("check", "launch") else "_Task"


def _fields(command: str) -> dict[str, dataclasses.Field[Any]]:
    return {field.name: field for field in keyword_settings.fields_of(command)
            if field.name not in _NAMED}


def main(argv: Sequence[str]) -> None:
    """Prints the file, or writes it."""
    if "--write" in argv:
        FILE.write_text(source(), encoding="utf-8")
    else:
        print(source(), end="")


def _class(name: str, base: str, doc: str, fields: dict[str, dataclasses.Field[Any]]) -> str:
    """Returns a class of keywords."""
    lines = ["", "", f"class {name}({base}, total=False):", f'    """{doc}"""']
    if fields:
        lines += ["", *(f"    {field.name}: {_type(field)}" for field in fields.values())]
    return "\n".join(lines) + "\n"


def _type(field: dataclasses.Field[Any]) -> str:
    """Returns the type of a keyword as source, in lines of at most 100 characters."""
    text = inspect.formatannotation(keyword_settings.type_of(field))
    text = text.replace("collections.abc.", "").replace("'", '"')
    if len(field.name) + len(text) <= _WIDTH - 6:
        return text
    listed = text.removeprefix("Literal[")
    return "Literal[\n" + textwrap.fill(listed, _WIDTH, initial_indent=" " * 8,
                                        subsequent_indent=" " * 8)


if __name__ == "__main__":
    main(sys.argv[1:])
