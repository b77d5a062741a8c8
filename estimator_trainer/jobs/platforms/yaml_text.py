"""YAML text of plain dicts, lists, strings, numbers and booleans.

Every string that a YAML reader could take for something else is in double quotes, in which YAML
reads JSON's escapes (https://yaml.org/spec/1.2.2/#57-escaped-characters).
"""

from __future__ import annotations

import json
import re
from typing import Any, Mapping, Sequence

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
# What YAML 1.1 reads as a boolean or as nothing.
_WORDS = ("true", "false", "yes", "no", "on", "off", "y", "n", "null")


def documents(values: Sequence[Mapping[str, Any]], comment: str) -> str:
    """Returns one YAML file: the comment, then a document for each value."""
    lines = [f"# {line}" for line in comment.splitlines()]
    return "\n".join([*lines, "\n---\n".join("\n".join(_block(value)) for value in values), ""])


def _block(value: Any) -> list[str]:
    """Returns the lines of a dict or list that is not empty, not indented."""
    lines = []
    items = value.items() if isinstance(value, Mapping) else ((None, item) for item in value)
    for key, item in items:
        head = "-" if key is None else f"{_scalar(key)}:"
        if not (isinstance(item, (Mapping, list)) and item):
            lines.append(f"{head} {_scalar(item)}")
            continue
        inner = [f"  {line}" for line in _block(item)]
        # The first key of a list's item goes behind its dash.
        lines += [f"- {inner[0].strip()}", *inner[1:]] if key is None else [head, *inner]
    return lines


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) and value.lower() not in _WORDS else _quoted(value)
    return json.dumps(value)


def _quoted(text: str) -> str:
    """Returns JSON's form, with what YAML does not allow in a file escaped too."""
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}"
                   for char in json.dumps(text, ensure_ascii=False))
