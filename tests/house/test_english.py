"""The English that a program can check: first words of texts, dead references, and old words."""

from __future__ import annotations

import ast
import io
import re
import tokenize

import pytest

from tests.support import jobs

FOLDERS = ("estimator_trainer", "model_fns", "input_fns", "benchmarks", "docs", "examples", "tests")
FILES = sorted(path for folder in FOLDERS for path in (jobs.REPO / folder).rglob("*.py"))
# "Of the model.", "It is called once.", alone or as the text of an attribute: name the thing.
_NO_SUBJECT = re.compile(r"(\w+: )?(Of|As of) [a-z`\"]|(It|They|That|Those|What|Who|So)\b")
# Numbers in a list that no reader of the repository has.
_DEAD = re.compile(r"\bpains? P\d+")
_SECTIONS = ("Returns:", "Yields:", "Args:", "Raises:")
# A line of a section of a docstring: a name, or several, maybe a type, and the text.
_ENTRY = re.compile(r"    ?[*\w, ]+(?:\([^)]*\))?: (.*)")
# The field's word for each old one. In names alone: texts of pages and messages are free.
_OLD_WORDS = {
    "obstacle": "unsupported, reason", "ballot": "vote, consensus", "beat": "heartbeat",
    "bend": "patch", "bent": "patched", "upstream": "patches", "feed": "prefetch",
    "pace": "loop size", "sight": "observation", "rhythm": "poll intervals",
    "carried": "passthrough", "notes": "shared files", "given": "user_set, passed, script's",
    "tell": "log, print", "told": "logged, printed", "telling": "reporting", "teller": "reporter",
    "hear": "receive", "heard": "received", "ask": "request", "asked": "requested",
    "asking": "requesting", "say": "print", "said": "printed", "saying": "printing"}
_PLURALS = {f"{word}s": word for word in _OLD_WORDS}
# Names that keep such a word: where, by the beginning of the path, and why.
_KEPT_NAMES = {
    "beat": ("estimator_trainer/coordination/", "a key of job.json and script.json"),
    "given": ("estimator_trainer/record/run_record.py", "a key of record.json"),
    "notes": ("estimator_trainer/c", "what `check` prints below a plan"),
    "_notes": ("estimator_trainer/cluster/", "what `check` prints below a plan"),
    "feed_dict": ("", "TensorFlow's"),
    **{name: ("estimator_trainer/compat/contrib/learn/", "a name of tf.contrib.learn") for name in (
        "feed_dicts", "feed_fn", "get_feed_dict_fn", "run_feeds", "run_feeds_iter")},
    "tell": ("input_fns/reading/file_system.py", "a method of Python's files"),
    "feed_tensors": ("estimator_trainer/compat/contrib/", "a name of tf.contrib.predictor"),
    "feed_previous": ("estimator_trainer/compat/contrib/legacy_seq2seq/", "TensorFlow's"),
    "test_upstream1": ("tests/compat/", "tests of TensorFlow's contrib itself"),
    "upstream1_runner": ("tests/compat/", "the same"),
    "upstream1_different": ("tests/compat/", "the same"),
    "test_upstream": ("tests/compat/", "tests of tensorflow/estimator itself"),
    "test_a_file_of_upstream_tests_runs_to_its_end": ("tests/compat/", "the same"),
    "_UPSTREAM": ("", "the sources of TensorFlow, and its logger"),
}


def _texts(path):
    """Yields the line and the text of each comment, and of each part of a docstring."""
    source = path.read_text(encoding="utf-8")
    previous = -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != previous + 1:  # Else the comment goes on.
                yield token.start[0], token.string.lstrip("#: ")
            previous = token.start[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _parts(getattr(node, "lineno", 1), ast.get_docstring(node) or "")


def _parts(line, docstring):
    """Yields the first line of each paragraph, and the text of each argument and attribute."""
    is_new = True
    for text in docstring.splitlines():
        entry = _ENTRY.match(text) if text.startswith("  ") else None
        if entry:
            yield line, entry[1]
        elif is_new and text.strip():
            yield line, text.strip()
        is_new = not text.strip() or text.strip() in _SECTIONS


def _names(tree):
    """Yields the line and the name of all that a module defines."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.alias) and node.asname:
            yield node.lineno, node.asname


def _old_words(place, name):
    """Returns the old words in a name of snake_case or CamelCase."""
    if name in _KEPT_NAMES and place.startswith(_KEPT_NAMES[name][0]):
        return []
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return [word.lower() for word in words
            if word.lower() in _OLD_WORDS or word.lower() in _PLURALS]


def _found():
    """Returns what no text and no name may have, as (place, name or text, advice)."""
    found = [(f"{path.relative_to(jobs.REPO)}:{line}", text[:50], "name the thing")
             for path in FILES for line, text in _texts(path)
             if _NO_SUBJECT.match(text) or _DEAD.search(text)]
    names = [(f"{path.relative_to(jobs.REPO)}:{line}", name)
             for path in FILES for line, name in _names(ast.parse(path.read_text("utf-8")))]
    names += [(str(path.relative_to(jobs.REPO)), path.stem) for folder in FOLDERS
              for path in (jobs.REPO / folder).rglob("*") if "__pycache__" not in path.parts]
    return found + [(place, name, _OLD_WORDS[_PLURALS.get(word, word)])
                    for place, name in names for word in _old_words(place, name)]


@pytest.mark.cluster
def test_a_text_names_its_subject_and_a_name_is_in_the_fields_words():
    assert not _found()
