"""Programs of TensorFlow 1 get the answers of TensorFlow 1.15.5 under --tf1."""

from __future__ import annotations

from importlib import metadata
import json
import sys

import pytest

from tests.oracle import make, table
from tests.oracle.compare import differences
from tests.support import jobs

AREAS = make.areas()
IS_2_15 = metadata.version("tensorflow").startswith("2.15.")
# All programs together take minutes, so they run in four processes; .ci/run runs all four.
QUARTERS = [AREAS[start::4] for start in range(4)]
_OTHERS = [pytest.param(areas, marks=pytest.mark.soak) for areas in QUARTERS[1:]]


def _ours(areas, *options):
    """Returns the answers of some areas here, from one process."""
    command = [sys.executable, "-W", "ignore", "-m", "estimator_trainer", "run", "--tf1",
               str(make.RUNNER), "--"]
    return make.run(command, areas, *options, PYTHONPATH=str(jobs.REPO))["answers"]


def _right(area):
    return json.loads((make.ANSWERS / f"{area}.json").read_text())["answers"]


def _wrong(answers):
    """Returns the cases whose answer is not the right one, and those that wrongly were expected."""
    wrong = {}
    for area, found in answers.items():
        right, expected = _right(area), {*make.constant(area, "DIFFERENT"), *make.constant(
            area, "DIFFERENT_ON_2_15" if IS_2_15 else "")}
        for case, answer in found.items():
            sentences = differences(right[case], answer)
            if bool(sentences) != (case in expected):
                wrong[f"{area}.{case}"] = sentences or "is the same, but stands in DIFFERENT"
    return wrong


@pytest.mark.cluster
@pytest.mark.parametrize("areas", [QUARTERS[0], *_OTHERS])
def test_programs_get_the_answers_of_1_15(areas):
    assert _wrong(_ours(areas)) == {}


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("areas", QUARTERS)
def test_each_program_gets_the_answer_of_1_15(areas):
    assert _wrong(_ours(areas, "--all")) == {}


@pytest.mark.parametrize("area", AREAS)
def test_there_is_an_answer_to_each_program(area):
    cases = set(make.cases(area))
    assert cases == set(_right(area))
    assert set(make.constant(area, "SOAK")) | set(make.constant(area, "DIFFERENT")) <= cases


def test_the_manual_has_the_table_of_the_answers():
    assert table.HEAD + table.rows() in table.MANUAL.read_text(encoding="utf-8")
