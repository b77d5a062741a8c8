"""Plain command lines, whose jobs make no page, and no evaluations but those that a test asks for.
"""

from __future__ import annotations

from typing import Sequence

# A page, and ten evaluations, take each job half a second. Tests of these ask for them.
_PLAIN = ("--noreport", "--num_evaluations=0")
_NO_TRAINING = ("evaluate", "predict", "export", "manifest", "tf-config", "show", "report", "check",
                "init", "list", "completion", "help")


def of(args: Sequence[str]) -> list[str]:
    """Returns a command line whose job has no page and no evaluations that it does not ask for."""
    words = list(args)
    if not words or words[0] in _NO_TRAINING:
        return words
    place = words.index("--") + 1 if words[0] == "launch" and "--" in words else 0
    if words[place:place + 1] == ["run"]:
        return [*words[:place + 1], _PLAIN[0], *words[place + 1:]]
    if words[0] == "launch" and not place:
        return words
    return [*words[:place], *_PLAIN, *words[place:]]
