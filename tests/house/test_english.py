"""The English that a program can check: sentences without a subject, and dead references."""

from __future__ import annotations

import ast
import io
import re
import tokenize

from tests.support import jobs

FILES = sorted(path for folder in ("estimator_trainer", "model_fns", "input_fns", "benchmarks",
                                   "docs", "examples", "tests")
               for path in (jobs.REPO / folder).rglob("*.py"))
# "Of the model.", alone or as the text of an attribute; what is meant has to be named.
_NO_SUBJECT = re.compile(r"(\w+: )?(Of|As of) [a-z`\"]")
# Numbers in a list that no reader of the repository has.
_DEAD = re.compile(r"\bpains? P\d+")


def _texts(path):
    """Yields the line and the text of each comment and docstring, paragraph by paragraph."""
    source = path.read_text(encoding="utf-8")
    previous = -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != previous + 1:  # Else the comment goes on.
                yield token.start[0], token.string.lstrip("#: ")
            previous = token.start[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            for line in (ast.get_docstring(node) or "").splitlines():
                # What is indented by four goes on from the line before.
                if not line.startswith("    "):
                    yield getattr(node, "lineno", 1), line.strip()


def test_a_text_names_what_it_is_about():
    assert not [(path, line, text) for path in FILES for line, text in _texts(path)
                if _NO_SUBJECT.match(text) or _DEAD.search(text)]
