"""What the documents name exists: files, folders, packages, commands, plug-ins, deadlines."""

from __future__ import annotations

import ast
import re

import pytest

from estimator_trainer import deadlines
from tests.house import test_layering
from tests.support import jobs

PACKAGE = jobs.REPO / "estimator_trainer"
ARCHITECTURE = (jobs.REPO / "docs" / "architecture.md").read_text()
DOCUMENTS = sorted([*jobs.REPO.glob("*.md"), *(jobs.REPO / "docs").glob("*.md"),
                    *(jobs.REPO / "benchmarks").glob("*.md")])
# A path of this repository, or of the package: it ends in "/" or in a known kind of file.
_PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)*(?:/|\.(?:py|md|cfg|txt|json|gz)))`")
# Files and folders that the program writes, and names that stand for any.
_MADE = {"result.json", "best.json", "record.json", "evaluated.json", "evaluation.json",
         "history.jsonl",
         "report.html", "comparison.html", "assets.extra/",
         "job.json", "lease.json", "script.json", "job.yaml", "dataset.json", "scaling.json",
         "my_model.py", "check-TASK.json", "eval/", "export/final/", "latest/", "best/",
         "best_checkpoint/", "tasks/", "history/"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_every_file_and_folder_that_a_document_names_exists(path):
    for name in _PATH.findall(path.read_text(encoding="utf-8")):
        if name in _MADE or "NAME" in name or name.startswith("model_dir/"):
            continue
        places = [jobs.REPO / name, PACKAGE / name, path.parent / name]
        assert any(place.exists() for place in places) or list(jobs.REPO.rglob(name)), name


def test_every_test_that_the_manual_names_exists():
    tests = {path.name: path.read_text() for path in (jobs.REPO / "tests").rglob("test_*.py")}
    named = {name for path in (jobs.REPO / "docs").glob("*.md")
             for name in re.findall(r"`(?:[\w/]*/)?(test_\w+(?:\.py)?)`", path.read_text())}
    assert len(named) > 20
    for name in named:
        assert name in tests or any(f"def {name}(" in text for text in tests.values()), name


def test_every_package_says_in_one_sentence_what_lives_there():
    for path in PACKAGE.rglob("__init__.py"):
        if path.parent in (PACKAGE, PACKAGE / "compat"):
            continue  # Public modules, with their manuals.
        text = ast.get_docstring(ast.parse(path.read_text())) or ""
        assert text.endswith(".") and len(text.splitlines()) == 1, path


def test_the_architecture_names_every_package_in_its_order():
    drawn = ARCHITECTURE.partition("## The packages")[2]
    places = [re.search(rf"\b{name}\b/?", drawn).start() for name in test_layering.PACKAGES
              if "." not in name]
    assert places == sorted(places)


def test_the_architecture_tells_every_deadline():
    told = ARCHITECTURE.partition("## Deadlines")[2].partition("\n## ")[0]
    for name, value in vars(deadlines).items():
        if name.isupper() and isinstance(value, (int, float)):
            assert f"`{name}`" in told, name
            row = next(line for line in told.splitlines() if f"`{name}`" in line)
            assert re.search(rf"\b{value:g}\b", row), row
