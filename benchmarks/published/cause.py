"""Why a program failed, in one line, from its output."""

from __future__ import annotations

import re

_ERROR = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|Exit|NotImplemented)\w*: .*[^:]$"
                    r"|^FATAL .+$")
_OWN = re.compile(r"^(?:estimator-trainer|error|ERROR)\b.*: (.+)$")
# In Python 2 a map has a length, tabs go to the next multiple of 8, and text is `unicode`.
_PYTHON_2 = ("object of type 'map' has no len()", "TabError: ", "name 'unicode' is not defined")
_LENGTH = 220


def of(output: str) -> str:
    """Returns the line of the error that ended the program, "" if it printed none."""
    lines = [line.strip() for line in output.splitlines()]
    for pattern in (_ERROR, _OWN):
        found = [line for line in lines if pattern.match(line)]
        if found:
            written = any(error in found[-1] for error in _PYTHON_2)
            return _short(found[-1]) + (" (written for Python 2)" if written else "")
    printed = [line for line in lines if line and not line.startswith("role=")]
    return _short(printed[-1]) if printed else ""


def _short(line: str) -> str:
    """Returns the line without paths of this machine, which are meaningless elsewhere."""
    line = re.sub(r"(?<![\w.])/[\w.+\-/]*/([\w.+\-]+)", r"\1", line)
    return line if len(line) <= _LENGTH else line[:_LENGTH - 3] + "..."
