"""The page of symptoms keeps its promises: rows are whole, commands parse, messages are real.

A text in “ ” is a message of this program, with `...` for the parts that vary. Each part
between two `...` has to be in one text of the source, in the page's order. What the page has in
backquotes is a command, code, or a message of TensorFlow, Python or a platform.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
import shlex

import pytest

from estimator_trainer import cli, errors
from estimator_trainer.settings import command_line
from tests.support import jobs

pytestmark = pytest.mark.any_tensorflow

TEXT = (jobs.REPO / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
_FEWEST_ROWS = 40
_CODE = re.compile(r"(`+)(.+?)\1")
# A message has a part of at least this length, for shorter ones are everywhere: " is ", ": ".
_FEWEST_LETTERS = 8
_VARIES = "\0"
_PLACEHOLDER = re.compile(r"%[-+.\d]*[sdrgf]")


def _rows() -> list[list[str]]:
    """Returns the cells of each row of the page's tables, without the rows of headings."""
    lines = [line for line in TEXT.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in rows if row[0] != "What you see"]


def _commands() -> list[str]:
    found = []
    for _, code in _CODE.findall(TEXT):
        _, name, words = code.replace("\\|", "|").partition("estimator-trainer ")
        found += [words] if name else []
    return sorted(set(found))


def _messages() -> list[str]:
    return re.findall(r"“([^”]*\w[^”]*)”", TEXT)


@functools.cache
def _source_texts() -> tuple[str, ...]:
    """Returns every text of the program's source, with a mark for what a format fills in."""
    found = []
    for folder in ("estimator_trainer", "input_fns", "model_fns"):
        for path in sorted((jobs.REPO / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            found += [_shown(node) for node in ast.walk(tree) if id(node) not in docs]
    return tuple(text for text in found if len(text) >= _FEWEST_LETTERS)


def _shown(node: ast.AST) -> str:
    """Returns the text of a string, or "" for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _PLACEHOLDER.sub(_VARIES, node.value).replace("%%", "%")
    if isinstance(node, ast.JoinedStr):
        return "".join(_shown(part) or _VARIES for part in node.values)
    if isinstance(node, ast.BinOp):
        return _shown(node.left) + (_shown(node.right) or _VARIES)
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Problem", "errors.Problem"):
        return _sentence(node)
    return ""


def _sentence(call: ast.Call) -> str:
    """Returns the sentence of a Problem, with a mark for each value."""
    names = [field.name for field in dataclasses.fields(errors.Problem)]
    passed = dict(zip(names, call.args)) | {each.arg: each.value for each in call.keywords}
    value = ast.unparse(passed.get("value", ast.Name("MISSING")))
    texts = {name: _shown(passed[name]) or _VARIES for name in passed
             if name not in ("value", "beside", "example")}
    if "beside" in passed:
        other = passed["beside"]
        texts["beside"] = errors.Setting(
            (_shown(other.args[0]) if isinstance(other, ast.Call) else "") or _VARIES, _VARIES)
    return str(errors.Problem(**{"field": _VARIES, **texts, "value": getattr(
        errors, value.rpartition(".")[2], errors.Words(_VARIES))}))


def _is_in_source(message: str) -> bool:
    parts = [re.escape(part.strip()) for part in message.split("...") if part.strip()]
    pattern = re.compile(".*".join(parts), re.S)
    return any(pattern.search(text) for text in _source_texts())


def test_the_page_has_many_rows_of_symptom_cause_and_command():
    rows = _rows()
    assert len(rows) >= _FEWEST_ROWS
    for row in rows:
        assert len(row) == 3 and all(row), row
        assert "`" in row[2] or "](" in row[2], row


def test_a_symptom_stands_once():
    symptoms = [row[0] for row in _rows()]
    assert len(symptoms) == len(set(symptoms))


@pytest.mark.parametrize("command", _commands())
def test_every_command_of_the_page_parses(command):
    words = shlex.split(command)
    if cli.help_topic(words) is None and not cli.wants_version(words):
        command_line.parse(words)


@pytest.mark.cluster
@pytest.mark.parametrize("message", _messages())
def test_every_message_on_the_page_is_one_of_the_program(message):
    longest = max(len(part.strip()) for part in message.split("..."))
    assert longest >= _FEWEST_LETTERS, "too short to be found"
    assert _is_in_source(message), message
