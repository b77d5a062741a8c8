"""The shown value is what a message repeats of TF_CONFIG: short, and nothing of its `job`.

`job` holds the user's arguments, which may be secrets.
"""

from __future__ import annotations

import re
from typing import Any

_JOB = re.compile(r"""(["']job\\*["'])\s*:.*""", re.IGNORECASE | re.DOTALL)
# A text that is no JSON may lack the quotes.
_JOB_OF_TEXT = re.compile(r"""(\bjob\b["'\\]*)\s*[:=].*""", re.IGNORECASE | re.DOTALL)
_MOST_CHARACTERS = 120


def of(value: Any, path: str, is_whole: bool = False) -> str:
    """Returns a value as a message shows it.

    Args:
      value: The value, or None if it is missing.
      path: Its JSON path.
      is_whole: Whether it is the whole text, which is no JSON.
    """
    if value is None:
        return "missing"
    if '["job"]' in path.lower():
        return "..."
    shown = _JOB.sub(r"\1...", repr(value))
    if is_whole:
        shown = repr(_JOB_OF_TEXT.sub(r"\1...", value))
    return shown if len(shown) <= _MOST_CHARACTERS else shown[:_MOST_CHARACTERS - 3] + "..."
