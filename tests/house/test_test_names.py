"""A test is found from the name of what it tests, and its name can be read at once."""

from __future__ import annotations

import ast

from tests.support import jobs

_TESTS = jobs.REPO / "tests"
_FILES = sorted(path.relative_to(_TESTS) for path in _TESTS.rglob("test_*.py"))
# Folders of whole programs, of house rules and of comparisons: they mirror no module.
_WHOLE = ("program", "house", "benchmarks", "equality", "compat", "oracle")
# Files of several modules.
_SEVERAL = {"input_fns/test_contract.py"}
# Folders of modules outside of estimator_trainer.
_OUTSIDE = ("input_fns", "model_fns")
_LONGEST = 70


def _is_mirror(path):
    """Returns whether a module or package has the file's name, or its beginning before a `_`."""
    folder = (jobs.REPO if path.parts[0] in _OUTSIDE else jobs.REPO / "estimator_trainer")
    words = path.stem.removeprefix("test_").split("_")
    names = ["_".join(words[:end]) for end in range(len(words), 0, -1)]
    return any((folder / path.parent / f"{name}.py").exists()
               or (folder / path.parent / name / "__init__.py").exists() for name in names)


def test_each_file_of_tests_mirrors_a_module():
    assert not [str(path) for path in _FILES if path.parts[0] not in _WHOLE
                and str(path) not in _SEVERAL and not _is_mirror(path)]


def test_names_of_tests_are_short():
    names = [node.name for path in _FILES
             for node in ast.walk(ast.parse((_TESTS / path).read_text(encoding="utf-8")))
             if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    assert not [name for name in names if len(name) > _LONGEST]
