"""The shown value is what a message repeats of TF_CONFIG: short, and nothing of its `job`.

`job` holds the user's arguments, which may be secrets. Of a text that is no JSON nobody knows where
`job` begins and ends, so that only its length and the names of its keys are shown.
"""

from __future__ import annotations

import re
from typing import Any

_JOB = re.compile(r"""(["']job\\*["'])\s*:.*""", re.IGNORECASE | re.DOTALL)
_MOST_CHARACTERS = 120
# Only names that every platform uses: what else looks like a key may be a part of a secret.
_KEY = re.compile(r"\b(cluster|task|job|environment|type|index|trial|chief|master|worker|ps"
                  r"|evaluator|workerpool[0-3])\b(?=[\"'\\]*\s*[:=\[{])")
_MOST_KEYS = 6
# A host has no user, and what stands before `@` may be a password.
_BEFORE_HOST = re.compile(r"[^\s'\"\[\]{},]+@")


def of(value: Any, path: str) -> str:
    """Returns a value as a message shows it.

    Args:
      value: The value, or None if it is missing.
      path: Its JSON path.
    """
    if value is None:
        return "missing"
    if '["job"]' in path.lower():
        return "..."
    if not path and value and isinstance(value, (str, list)):
        return f"a {'text' if isinstance(value, str) else 'list'} of length {len(value)}"
    shown = _BEFORE_HOST.sub("****@", _JOB.sub(r"\1...", repr(value)))
    return shown if len(shown) <= _MOST_CHARACTERS else shown[:_MOST_CHARACTERS - 3] + "..."


def of_text(text: str) -> str:
    """Returns what a message shows of a text that is no JSON: its length, and its first keys."""
    keys = list(dict.fromkeys(match[0] for match in _KEY.finditer(text)))
    named = f" with {', '.join(keys[:_MOST_KEYS])}" if keys else ""
    return f"{len(text)} character{'s' * (len(text) != 1)}{named}"
