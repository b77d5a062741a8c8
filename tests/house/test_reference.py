"""docs/reference.md is what its program makes, and tells what the program and real jobs show."""

from __future__ import annotations

import ast
import fnmatch
import json
import os
import re
import subprocess
import sys

import pytest

from docs.site import reference, reference_words as words
from estimator_trainer import errors, result
from estimator_trainer.coordination import checkpoints, stop
from estimator_trainer.evaluation import exporters
from estimator_trainer.settings.command_table import COMMANDS
from estimator_trainer.training import end_of_training
from tests.support import jobs

PAGE = reference.PAGE.read_text(encoding="utf-8")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_[A-Z_]*")
# Steps that take a while: no trainer has made all of them before another is there.
_FLAGS = (*(f"--{kind}={jobs.REPO}/tests/support/slow.py" for kind in ("model_fn", "input_fn")),
          "--train_steps=150", "--eval_every_steps=75", "--log_every_steps=25", "--report")


def _names(table):
    """Returns what is code in the first column of a table."""
    return {name for row in table for name in re.findall(r"`([^`]+)`", row[0])}


def _section(heading):
    return PAGE.partition(f"\n{heading}\n")[2].partition("\n#")[0]


def _listed_fields(heading):
    return set(re.findall(r"^\| `(\w+)` \|", _section(heading), re.MULTILINE))


def test_the_page_is_what_the_program_makes_without_tensorflow(tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise ImportError('TensorFlow was imported')\n")
    made = subprocess.run(
        [sys.executable, "-m", "docs.site.reference"], cwd=jobs.REPO, capture_output=True,
        text=True, timeout=60, check=False,
        env=jobs.environment(PYTHONPATH=f"{tmp_path}{os.pathsep}{jobs.REPO}"))
    assert made.returncode == 0, made.stderr
    assert made.stdout == PAGE, f"docs/reference.md is old. Type: {reference.COMMAND}"


def test_every_link_within_the_page_works_and_anchors_are_unique():
    headings = re.findall(r"^#+ (.*)", re.sub(r"^```.*?^```", "", PAGE, flags=re.M | re.S), re.M)
    anchors = [reference.reference_flags.slug(heading) for heading in headings]
    anchors += re.findall(r'<a id="([^"]+)">', PAGE)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= set(anchors)


def test_every_flag_of_every_command_has_a_row():
    flags = re.findall(r"^\| <a id=\"flag-[\w-]+\"></a>`--(\w+)[=`]", PAGE, re.MULTILINE)
    fields = {id(field): field.name for command in COMMANDS.values() for field in command.flags}
    assert sorted(flags) == sorted(fields.values())


def test_every_variable_of_the_environment_has_a_row():
    tree = ast.parse((jobs.REPO / "estimator_trainer" / "environment.py").read_text())
    read = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and
            isinstance(node.value, str) and _VARIABLE.fullmatch(node.value)}
    listed = _names(words.VARIABLES)
    assert len(read) > 10
    # A name that ends in `_` is the beginning of several.
    assert not [name for name in read if not any(
        each == name or name.endswith("_") and each.startswith(name) for each in listed)]
    # And none is listed that is not there: `PYTHONUNBUFFERED` is a word without `_`.
    assert not [each for each in listed - {"PYTHONUNBUFFERED"} if not each.startswith("-") and
                "_" in each and each.isupper() and each not in read and
                not any(name.endswith("_") and each.startswith(name) for name in read)]


def test_the_exit_codes_are_those_of_the_program():
    of_errors = {each.exit_code for each in vars(errors).values()
                 if isinstance(each, type) and issubclass(each, errors.TrainerError)}
    codes = {*result.EXIT_CODES.values(), *of_errors, result.exit_code("failed", "configuration")}
    assert codes == set(words.EXIT_CODES)
    shown = {int(code): status for code, status in re.findall(
        r"^\| (\d+) \| (\w+) \|", _section("## Exit codes"), re.MULTILINE)}
    assert shown == {number: status for status, number in result.EXIT_CODES.items()} | {2: "failed"}


def test_the_reasons_are_those_of_the_program():
    listed = _names(words.REASONS)
    of_code = {exporters.EARLY_STOPPING, end_of_training.BY_HOOK,
               end_of_training.REQUESTED_BY_ANOTHER, result.CONFIGURATION,
               *(number.name for number in stop._SIGNALS)}
    in_docstring = set(re.findall(r'"(\w+_\w+)"', result.Result.__doc__ or ""))
    assert listed == of_code | in_docstring
    statuses = {status for row in words.REASONS for status in row[1].split(", ")}
    assert statuses == set(result.EXIT_CODES)


@pytest.fixture(scope="module", name="local")
def _local(tmp_path_factory):
    """Returns the model_dir of a training in one process."""
    folder = tmp_path_factory.mktemp("local")
    ran = jobs.trainer(*_FLAGS, "--exporters=final,latest,best", "--param=step_secs=0.0",
                       f"--model_dir={folder}")
    assert ran.returncode == 0, ran.stderr
    return folder, ran.stderr.splitlines()[-1]


@pytest.fixture(scope="module", name="launched")
def _launched(tmp_path_factory):
    """Returns the model_dir of a job of every role."""
    folder = tmp_path_factory.mktemp("launched")
    ran = jobs.program("launch", "--worker=1", "--ps=1", "--evaluator=1", "--", *_FLAGS,
                       f"--model_dir={folder}")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


def _check_files(folder, *left_by):
    """Each file that a job left has a row, and each row of these jobs has a file."""
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    rows = [row for row in words.FILES if row.left_by in left_by]
    patterns = [row.pattern for row in rows]
    assert not [name for name in files if not any(
        fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    assert not [pattern for pattern in patterns if not fnmatch.filter(files, pattern)]


def _check_history(folder, listed):
    """Each line has the fields listed for its kind, and there are no other kinds."""
    lines = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    assert {line["kind"] for line in lines} - words.HISTORY_RARE == (
        set(listed) - words.HISTORY_RARE)
    for line in lines:
        fields, known = set(line) - {"task", "kind", "time"}, words.HISTORY[line["kind"]][1].split()
        assert fields <= set(known), line
        assert line["kind"] == "sample" or set(known) - fields <= words.HISTORY_OPTIONAL, line


@pytest.mark.cluster
@pytest.mark.any_tensorflow
def test_the_page_lists_the_files_of_a_local_training(local):
    folder, _ = local
    _check_files(folder, "training", "exporters")
    _check_history(folder, ["start", "model", "trains", "train", "evaluation", "end"])


@pytest.mark.cluster
@pytest.mark.any_tensorflow
def test_the_page_lists_the_files_of_a_launched_job(launched):
    _check_files(launched, "training", "cluster", "launch")
    _check_history(launched, words.HISTORY)


def test_every_field_of_the_history_has_a_meaning():
    fields = {name for _, names in words.HISTORY.values() for name in names.split()}
    assert {"task", "kind", "time", *fields} == set(words.HISTORY_FIELDS)


@pytest.mark.cluster
@pytest.mark.any_tensorflow
def test_the_page_lists_the_fields_of_the_results(local):
    folder, last_line = local
    assert set(jobs.result(folder)) == _listed_fields("### result.json")
    assert set(json.loads((folder / "best.json").read_text())) == _listed_fields("### best.json")
    assert checkpoints.read_best(folder)
    assert last_line == "role=local status=done step=150 reason=train_steps"
    last = _section("### The last line").partition("These are the reasons")[0]
    assert re.findall(r"(\w+)=", last_line) == re.findall(r"^\| `(\w+)` \|", last, re.MULTILINE)
