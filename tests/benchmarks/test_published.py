"""Tests of the published programs: what the page says, and the libraries from PyPI really run."""

from __future__ import annotations

import importlib.util
import json

import pytest

from benchmarks.published import cause, page, results
from benchmarks.published.catalog import PROGRAMS
from tests.support import jobs

_PAGE = jobs.REPO / "docs" / "compatibility.md"
_DRIVERS = jobs.REPO / "benchmarks" / "published" / "drivers"


@pytest.mark.any_tensorflow
def test_the_page_has_what_was_found():
    assert page.agrees(_PAGE, results.read())


@pytest.mark.any_tensorflow
def test_each_program_of_the_catalog_was_tried_with_its_commands():
    found = results.read()["programs"]
    assert sorted(found) == sorted(program.name for program in PROGRAMS)
    for program in PROGRAMS:
        assert found[program.name]["commands"] == results.commands(program)


@pytest.mark.any_tensorflow
def test_at_least_12_of_15_programs_run_on_the_newest_tensorflow():
    found = results.read()
    tensorflows = sorted(found["tensorflow"], key=lambda name: [*map(int, name.split("."))])
    assert tensorflows[0] == "2.15" and len(tensorflows) >= 2
    for tensorflow in tensorflows:
        tried = [entry["results"][tensorflow] for entry in found["programs"].values()]
        assert len(tried) >= 15 and sum(map(page.runs, tried)) >= 12
        assert all(outcome["cause"] for outcome in tried if not page.runs(outcome))


@pytest.mark.any_tensorflow
def test_the_page_counts_how_many_run():
    programs = results.read()["programs"].values()
    running = [sum(page.runs(entry["results"][tensorflow]) for entry in programs)
               for tensorflow in ("2.15", "2.21")]
    sentence = "Of {} published programs, unchanged, {} run on TensorFlow 2.15 and {} on 2.21"
    assert sentence.format(len(programs), *running) in _PAGE.read_text()


@pytest.mark.any_tensorflow
def test_readme_counts_the_programs_of_the_sample():
    _, _, section = _PAGE.read_text().partition("## Programs of a sample\n")
    tried, _, untried = section.partition("\n## ")[0].partition("### At the first try\n")
    rows, firsts = ([line.split("|")[3].strip() for line in part.splitlines()
                     if line.startswith("| [")] for part in (tried, untried))
    assert f"{rows.count('runs')} of {len(rows)} run: 48 did at the first try" in tried
    ran = firsts.count("runs")
    assert f"{ran} of {len(firsts)} ran at the first try" in untried
    readme = (jobs.REPO / "README.md").read_text()
    assert (f"Of {len(firsts)} published TensorFlow 1 programs, tried last, {ran} ran unchanged at"
            f" the first try; all {len(rows) + len(firsts)} run now") in readme


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("output,line", [
    ("Traceback\n  File x\nValueError: of one thing\n\nTraceback\nKeyError: 'b'\nrole=local\n",
     "KeyError: 'b'"),
    ("a.b.NotFoundError: /tmp/x/data/a.txt: no such file", "a.b.NotFoundError: a.txt: no such"
     " file"),
    ("working\nno script here\nrole=local status=failed step=0", "no script here"),
    ("", "")])
def test_a_cause_is_one_line_without_folders_of_a_machine(output, line):
    assert cause.of(output) == line


@pytest.mark.cluster
@pytest.mark.soak
@pytest.mark.parametrize("package,steps", [
    ("deepctr", 8), ("tensorflow_ranking", 8), ("adanet", 10), ("tensorflow_gan", 8)])
def test_a_library_from_pypi_trains_and_evaluates(tmp_path, package, steps):
    if not importlib.util.find_spec(package):
        pytest.skip(f"{package} is not installed: pip install {package}")
    program, = (program for program in PROGRAMS if program.source == package)
    command = program.commands[0].replace("DRIVERS", str(_DRIVERS)).replace("OUT", str(tmp_path))
    ran = jobs.trainer(*command.split())
    assert ran.returncode == 0, ran.stderr
    found = json.loads((tmp_path / "result.json").read_text())
    assert (found["status"], found["step"]) == ("done", steps)
    assert found["metrics"]["global_step"] == steps
