"""The names in documents exist: files, folders, packages, commands, plug-ins, deadlines."""

from __future__ import annotations

import ast
import pathlib
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
         "report.html", "comparison.html", "runs.html", "report.json", "assets.extra/",
         "job.json", "lease.json", "script.json", "job.yaml", "dataset.json", "scaling.json",
         "my_model.py", "check-TASK.json", "eval/", "export/final/", "latest/", "best/",
         "best_checkpoint/", "average/", "tasks/", "history/", "evaluators/",
         "evaluators/evaluator-N.json", "evaluators/step-N.json", "trackers.json", "_done/",
         "_files.json"}


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


def test_every_package_has_one_sentence_on_what_lives_there():
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


def test_every_name_in_the_architecture_exists():
    texts = {path.stem: path.read_text() for path in PACKAGE.rglob("*.py")}
    named = re.findall(r"`(?:\w+[./])*?(\w+)(?:\.py)?:(\w+)`", ARCHITECTURE)
    assert len(named) > 20
    assert not [(module, name) for module, name in named
                if not re.search(rf"^(?:def |class )?{name}\b", texts.get(module, ""), re.M)]
    assert not [module for module in re.findall(r"\(used by ([^)]*)\)", ARCHITECTURE)
                for module in re.findall(r"[\w.]+", module)
                if not (PACKAGE / f"{module.replace('.', '/')}.py").exists()]
    assert not [name for name in re.findall(r"`([A-Z_]+_SECS)`", ARCHITECTURE)
                if not hasattr(deadlines, name)]


def test_every_deadline_has_its_reason_above_or_beside():
    lines = pathlib.Path(deadlines.__file__).read_text().splitlines()
    constant = re.compile(r"[A-Z_]+ = ")
    assert not [line for before, line in zip(lines, lines[1:]) if constant.match(line)
                and not (before.startswith("# ") or "  # " in line
                         or constant.match(before) and "  # " not in before)]
