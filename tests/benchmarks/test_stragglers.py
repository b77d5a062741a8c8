"""Tests waits for workers whose times are known, and fits of times that were drawn."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.paper import stragglers
from benchmarks.paper.stragglers import StepTimes

pytestmark = pytest.mark.any_tensorflow


@pytest.mark.parametrize("workers", [2, 10, 100])
def test_waits_for_exponential_workers_are_sums_of_the_harmonic_series(workers):
    draws = np.random.default_rng(0).exponential(size=(1_000_000 // workers, workers))
    terms = 1.0 / np.arange(workers, 0, -1)
    assert stragglers.expected_waits(draws) == pytest.approx(np.cumsum(terms), rel=0.02)


def test_backup_workers_pay_with_a_tail_and_not_without_variation():
    dice = np.random.default_rng(0)
    assert stragglers.best_backup(np.ones(64)) == 0
    tail = StepTimes(0.05, 0.01, 1.5).draw(dice, (20_000, 64))
    assert 1 <= stragglers.best_backup(stragglers.expected_waits(tail)) <= 6


def test_waiting_for_all_with_tokens_is_waiting_for_the_slowest():
    dice = np.random.default_rng(0)
    step = stragglers.token_step(lambda worker: dice.exponential(), 10, 10, steps=4000)
    assert step == pytest.approx(sum(1 / i for i in range(1, 11)), rel=0.03)


def test_a_token_that_a_late_worker_leaves_costs_another_a_gradient():
    step = stragglers.token_step(lambda worker: 1000.0 if worker == 2 else 1.0, 3, 2, steps=300)
    assert step > 1.4  # Without stale tokens the two others would make a step in 1.


def test_the_fit_of_step_times_recovers_what_they_were_drawn_with():
    dice = np.random.default_rng(0)
    drawn = 0.02 * StepTimes(0.05, 0.02, 1.5).draw(dice, (200_000,))
    fitted = stragglers.fit(drawn)
    assert fitted.sigma == pytest.approx(0.05, rel=0.1)
    assert fitted.tail_shape == pytest.approx(1.5, rel=0.15)
    late = fitted.tail_probability * fitted.tail_least ** fitted.tail_shape
    assert late == pytest.approx(0.02, rel=0.15)
    plain = stragglers.fit(StepTimes(0.1).draw(dice, (200_000,)))
    assert plain.sigma == pytest.approx(0.1, rel=0.02) and plain.tail_probability < 1e-3
