"""Writes the YAML file of a job, in which every reader of YAML finds the same strings."""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

import yaml  # type: ignore[import-untyped]

# PyYAML leaves bare what its own rules of YAML 1.1 take for a string. Kubernetes reads `y`, `n`,
# `1e3`, `0o17` and `08` as booleans and numbers, so what is no plain word gets double quotes.
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_./-]+")
_WIDTH = 1 << 20
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    """Writes each value where it stands, without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _string(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    style = None if _WORD.fullmatch(value) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)


_Dumper.add_representer(str, _string)


def text(values: Sequence[Mapping[str, Any]], comment: str) -> str:
    """Returns one YAML file: the comment, then a document for each value."""
    lines = "".join(f"# {line}\n" for line in comment.splitlines())
    documents: str = yaml.dump_all(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True,
                                   width=_WIDTH)
    # PyYAML escapes control characters, and not the marks that turn the direction of writing; a
    # text with one has double quotes.
    return lines + _TURNING.sub(lambda match: f"\\u{ord(match[0]):04x}", documents)


def job(values: Sequence[Mapping[str, Any]], comment: str) -> dict[str, bytes]:
    """Returns the file of a job: its name and its content."""
    return {"job.yaml": text(values, comment).encode()}
