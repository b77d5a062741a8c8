"""Markdown that GitHub and the site show alike: tables, and texts that a program wrote."""

from __future__ import annotations

import re
from typing import Iterable, Sequence

_CODE = re.compile(r"(`[^`]*`)")
# A flag, or several behind each other, with the `--` that may stand before.
_FLAGS = re.compile(r"(?<![\w-])(?:-- )?--[a-z]\w*(?:=[^\s,;.)]+)?(?: --[a-z]\w*(?:=[^\s,;.)]+)?)*")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table, in whose cells `|` means itself."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in line) + " |"
                     for line in lines)


def text(plain: str) -> str:
    """Returns a text of the program as Markdown: flags become code, and no sign means markup."""
    parts = _CODE.split(plain)
    return "".join(part if i % 2 else _outside_code(part) for i, part in enumerate(parts))


def code(value: str) -> str:
    """Returns a value as code; nothing for an empty one."""
    return f"`{value}`" if value else ""


def _outside_code(part: str) -> str:
    found = _FLAGS.split(part)
    flags = [f"`{match}`" for match in _FLAGS.findall(part)] + [""]
    return "".join(re.sub(r"([*<])", r"\\\1", plain) + flag
                   for plain, flag in zip(found, flags, strict=True))
