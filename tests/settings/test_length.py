"""The length of a training by its rows: bounds that grow with them, and never run for hours."""

from __future__ import annotations

import pytest

from estimator_trainer.settings import length

_ROWS = (1, 50, 400, 442, 1600, 5000, 40_000, 200_000, 1_000_000, 10_000_000)


@pytest.mark.parametrize("batch_size", [1, 32, 64, 512])
def test_more_rows_take_more_steps_and_fewer_passes(batch_size):
    found = [length.by_rows(rows, batch_size) for rows in _ROWS]
    steps = [each.most_steps for each in found]
    # One interval between evaluations more or less.
    assert all(more >= fewer - each.every_steps
               for fewer, more, each in zip(steps, steps[1:], found[1:]))
    assert all(each.most_steps % each.every_steps == 0 for each in found)
    assert all(each.most_steps <= 200_000 + each.every_steps for each in found)
    assert all(each.every_steps >= 20 for each in found)


def test_small_data_get_hundreds_of_passes_and_large_data_a_few():
    passes = {rows: each.most_steps / each.pass_steps for rows in _ROWS
              for each in [length.by_rows(rows, 64)]}
    assert passes[400] == pytest.approx(400) and passes[40_000] == pytest.approx(56, rel=0.1)
    assert passes[10_000_000] < 2


def test_a_large_evaluation_is_made_less_often():
    found = length.by_rows(32_000, 64)
    assert found.steps_between(0) == found.steps_between(8000) == 500
    assert found.steps_between(80_000) == 5000 and found.steps_between(80_001) == 5500
    unknown = length.by_rows(0, 64)
    assert unknown.steps_between(200_000) % unknown.every_steps == 0
    assert length.by_rows(0, 0).every_steps == 500


def test_patience_is_in_evaluations_and_in_steps():
    for rows, expected in ((100, 168), (320, 250), (400, 313), (1600, 400), (32_000, 4000)):
        found = length.by_rows(rows, 64)
        assert found.patience_steps(found.every_steps) == expected
    assert length.by_rows(32_000, 64).patience_steps(5000) == 40_000


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("text, metrics, is_reached", [
    ("accuracy>=0.98", {"accuracy": 0.98}, True), ("accuracy>0.98", {"accuracy": 0.98}, False),
    (" loss <= 1e-3 ", {"loss": 0.001}, True), ("loss<.5", {"loss": 0.5}, False),
    ("recent/accuracy>=-1", {"recent/accuracy": 0.0}, True), ("a b>=1", {"a b": 1.0}, True),
    ("loss<=1", {"loss": float("nan")}, False), ("loss<=1", {"accuracy": 0.5}, False)])
def test_a_target_is_a_metric_and_a_number(text, metrics, is_reached):
    target = length.target(text)
    assert target is not None and target.is_reached(metrics) is is_reached


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("text", ["accuracy", ">=1", "loss=1", "loss<=low", "loss<=1.2.3"])
def test_a_text_without_metric_or_number_is_no_target(text):
    assert length.target(text) is None
