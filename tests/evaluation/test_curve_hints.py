"""Hints on the course of a training."""

import numpy as np
import pytest

from estimator_trainer.evaluation.curve_hints import Course, of_course

pytestmark = pytest.mark.any_tensorflow

_STEPS = range(100, 1100, 100)


def _course(evaluated, trained=None, **others):
    trained = trained or [1 / (1 + step / 100) for step in _STEPS]
    return Course(list(zip(_STEPS, trained)), [(0, 9.0), *zip(_STEPS, evaluated)], **{
        "step": 1000, "reason": "train_steps", **others})


_RISES = [0.9, 0.6, 0.5, 0.45, 0.5, 0.55, 0.6, 0.66, 0.7, 0.75]
_FALLS = [0.9, 0.8, 0.72, 0.66, 0.6, 0.55, 0.51, 0.47, 0.44, 0.41]
_FLAT = [0.9, 0.6, 0.5, 0.45, 0.44, 0.441, 0.439, 0.44, 0.441, 0.439]


def test_over_fitting_names_the_step_from_which_the_loss_rises():
    [hint] = of_course(_course(_RISES), {})
    assert hint.startswith("training loss falls, evaluation loss rises since step 400, from 0.45 to"
                           " 0.7")
    assert hint.endswith("Keep the best step: --train_until=no_improvement")
    [hint] = of_course(_course(_RISES, is_local=False), {})
    assert hint.endswith("Train less: --train_steps=400")


@pytest.mark.parametrize("course", [
    # The model is that of the best step; training rises too; a flat curve; few points.
    _course(_RISES, step=400, reason="no_improvement"),
    _course(_RISES, trained=[0.5 + step / 1000 for step in _STEPS]), _course(_FLAT),
    _course([0.5, 0.4, 0.6, 0.7])])
def test_other_courses_are_no_over_fitting(course):
    assert not of_course(course, {})


def test_a_loss_that_still_falls_has_twice_the_steps_to_type():
    [hint] = of_course(_course(_FALLS), {})
    assert hint.startswith("the evaluation loss still falls at the end: 0.51 at step 700, 0.41 at"
                           " step 1,000. ")
    assert hint.endswith("Train longer: --train_steps=2000")
    [hint] = of_course(_course(_FALLS, epochs=5), {})
    assert hint.endswith("Train longer: --train_epochs=10")
    assert not of_course(_course(_FALLS, reason="no_improvement"), {})


def test_a_loss_that_jumps_has_a_lower_rate_to_type():
    jumps = [0.5 + 0.4 * (i % 2) for i in range(30)]
    steps = range(100, 3100, 100)
    course = Course([], list(zip(steps, jumps)), 3000, "train_steps")
    [hint] = of_course(course, {"learning_rate": 0.1})
    assert hint == ("the evaluation loss jumps up and down, between 0.5 and 0.9. Try a lower"
                    " learning rate: --param learning_rate=0.01 (now 0.1)")
    noise = 0.5 + 0.02 * np.random.default_rng(0).normal(size=30)
    assert not of_course(course._replace(evaluations=list(zip(steps, noise))), {})


def test_evaluations_that_go_up_and_down_are_no_over_fitting():
    # The README's first command, whose evaluation has 355 examples.
    noisy = [0.32, 0.19, 0.14, 0.12, 0.105, 0.1, 0.097, 0.0852, 0.1046, 0.0899]
    assert not of_course(_course(noisy), {})


def test_a_loss_that_is_nearly_nothing_needs_no_longer_training():
    assert not of_course(_course([10.0 ** -i for i in range(1, 11)]), {})
