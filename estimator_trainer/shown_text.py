"""A text as a terminal may show it: no secret of a URL, and nothing that steers the terminal.

Names, values and messages of errors come from files, from the network and from other users. With
an escape sequence one could move the cursor and write over other lines, with a carriage return
replace its own line, with a line break begin a line that looks like the program's own.
"""

from __future__ import annotations

import re

from estimator_trainer import redaction

# Control characters but for tab and line break, marks that turn the direction of writing, line
# separators of Unicode, and halves of characters, which no stream can write.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e"
                      "\u2066-\u2069\ud800-\udfff]")
# The last line of a process, a line of the log, a sentence.
_LIKE_OURS = re.compile(r"\n(?=role=|\d\d:\d\d:\d\d |estimator-trainer: )")
_COLOUR = re.compile(r"(\x1b\[[0-9;]{0,20}m)")


def of(text: str) -> str:
    """Returns a text of one or more lines as it may be shown; control characters as `\\x1b`."""
    return printable(redaction.without_credentials(text))


def printable(text: str) -> str:
    """Returns a text whose control characters are written out."""
    return STEERING.sub(_written_out, text.replace("\r\n", "\n"))


def message(text: str) -> str:
    """Returns a message whose further lines cannot be taken for lines of the program itself."""
    return _LIKE_OURS.sub("\n  ", of(text))


def line(text: str, is_coloured: bool) -> str:
    """Returns a line that a task printed, with its colours where they are wanted.

    A progress bar writes its line over and over; the last state is shown.
    """
    parts = _COLOUR.split(text.rstrip("\r\n").rpartition("\r")[2])
    colours = parts[1::2] if is_coloured else [""] * len(parts[1::2])
    shown = redaction.without_credentials("".join(
        part + colour for part, colour in zip(map(printable, parts[::2]), [*colours, ""])))
    return f"{shown}\x1b[0m" if colours and is_coloured else shown


def _written_out(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"
