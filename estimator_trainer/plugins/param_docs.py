"""Reads what plug-ins say of their params, without importing them.

A param's text is the comment behind its entry in DEFAULT_PARAMS, or its line in a table in the
module's docstring (`  name    text`), or what the module says of it that it is included from.
"""

from __future__ import annotations

import ast
import dataclasses
import io
import pathlib
import re
import tokenize
from typing import Any

from estimator_trainer.plugins import param_defaults

_ROW = re.compile(r"  (\w+) {2,}(\S.*)")
_MORE = re.compile(r" {6,}(\S.*)")


@dataclasses.dataclass(frozen=True)
class Declared:
    """The DEFAULT_PARAMS of a module.

    Attributes:
      own: The entries that it writes itself, by key.
      included: The dotted names of the modules whose entries it takes over.
      texts: Text of each param that has one, own and included, by key.
    """

    own: dict[str, Any]
    included: tuple[str, ...]
    texts: dict[str, str]


def read(path: pathlib.Path) -> Declared:
    """Reads a module's source."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    node = param_defaults.literal(tree)
    if node is None:
        return Declared({}, (), {})
    included = param_defaults.included(node, tree)
    texts: dict[str, str] = {}
    for inner in included.values():
        texts |= read(inner).texts
    texts |= _table(ast.get_docstring(tree) or "") | _comments(node, source)
    own = {ast.literal_eval(key): ast.literal_eval(value)
           for key, value in zip(node.keys, node.values) if key is not None}
    return Declared(own, tuple(included), texts)


def _comments(node: ast.Dict, source: str) -> dict[str, str]:
    """Returns the comments behind the entries, with the lines of comment that follow."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {token.start[0]: token.string.lstrip("# ") for token in tokens
                if token.type == tokenize.COMMENT}
    lines = source.splitlines()
    found = {}
    for key, value in zip(node.keys, node.values):
        line = value.end_lineno or 0
        text = [comments[line]] if key is not None and line in comments else []
        while text and line < len(lines) and lines[line].lstrip().startswith("#"):
            line += 1
            text.append(comments[line])
        if text:
            found[ast.literal_eval(key)] = " ".join(text)  # type: ignore[arg-type]
    return found


def _table(docstring: str) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in docstring.splitlines():
        row, more = _ROW.fullmatch(line), _MORE.fullmatch(line)
        if row:
            name = row[1]
            found[name] = row[2]
        elif more and name:
            found[name] += f" {more[1]}"
        else:
            name = ""
    return found
