"""The section "What to look at"."""

import pytest

from estimator_trainer.reports import look_at, task_lives
from estimator_trainer.reports.run_files import Events, RunFiles
from estimator_trainer.result import Result

pytestmark = pytest.mark.any_tensorflow


def _run(judgement=None, evaluated=(), trained=(), status="done"):
    lines = [{"task": "local", "kind": "train", "time": i, "step": 100 * i, "loss": loss}
             for i, loss in enumerate(trained, 1)]
    lines += [{"task": "local", "kind": "evaluation", "time": i, "step": 100 * i,
               "metrics": {"loss": loss}} for i, loss in enumerate(evaluated, 1)]
    result = Result("local", status, 100 * len(evaluated), "train_steps")
    run = RunFiles("/tmp/run", None, lines, result, judgement, Events({}, {}, True), [], [], [])
    return run, task_lives.of_tasks(lines, 1e6)


def test_a_training_that_was_too_short():
    falls = [1 / i for i in range(1, 11)]
    text = look_at.section(*_run(evaluated=falls, trained=falls))
    assert text.startswith("<section><h2>What to look at</h2>")
    assert "<li>The evaluation loss still falls at the end: 0.143" in text
    assert "Train longer: --train_steps=2000.</li>" in text
    assert not look_at.section(*_run(evaluated=falls, trained=falls, status="failed"))


def test_a_training_without_anything_odd_has_no_section():
    assert not look_at.section(*_run())
    assert not look_at.section(*_run(evaluated=[0.5] * 10, trained=[0.5] * 10))


def test_five_hints_are_shown_at_most_and_escaped():
    hostile = "<script>alert(1)</script>"
    slices = {"metric": "accuracy", "found": [
        {"column": hostile, "value": "x", "rows": 50, "score": 0.3, "elsewhere": 0.9,
         "is_significant": True}]}
    column = {"name": hostile, "unseen": 40, "examples": [hostile], "drift": 0.5,
              "has_drifted": True}
    bins = [{"examples": 200, "certainty": 0.95, "accuracy": 0.5}]
    judged = {"kind": "classification", "examples": 50, "evaluated": 50, "accuracy": 0.5,
              "per_class": [{"name": hostile, "examples": 30}, {"name": "b", "examples": 20}],
              "matrix": {"names": [hostile, "b", "c"], "counts": [[30, 0, 0], [20, 0, 0],
                                                                  [0, 0, 0]]},
              "slices": slices, "data": {"evaluation_rows": 50, "columns": [column]},
              "calibration": {"bins": bins}}
    assert len(look_at.of_run(*_run(judged))) == 7
    text = look_at.section(*_run(judged))
    assert text.count("<li>") == 5 and "<script" not in text
    assert "The model is no better than" in text


def test_a_file_of_an_earlier_version_has_the_hints_on_its_course():
    falls = [1 / i for i in range(1, 11)]
    old = {"kind": "classification", "examples": 50, "evaluated": 50, "matrix": None,
           "per_class": [{"name": "a", "examples": 30}, {"name": "b", "examples": 20}]}
    [hint] = look_at.of_run(*_run(old, evaluated=falls, trained=falls))
    assert hint.startswith("the evaluation loss still falls")
