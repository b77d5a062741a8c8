"""A short run has as many points as a curve needs, and a long one makes no more than before."""

from __future__ import annotations

import pytest

from estimator_trainer.settings import intervals
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training.loop_size import LoopSize


@pytest.mark.parametrize("steps", [20, 21, 50, 99, 100, 101, 777, 1000, 1999, 2000, 5000, 100_000])
def test_by_length_gives_every_run_the_points_of_a_curve(steps):
    every = intervals.by_length(steps)
    assert steps // every >= 20 and intervals.LOG_STEPS % every == 0
    assert every == 100 or steps < 2000


@pytest.mark.parametrize("evaluation_steps, expected", [(20, 20), (25, 25), (39, 39), (50, 25),
                                                        (163, 20), (2000, 20)])
def test_by_length_of_a_training_until_no_improvement(evaluation_steps, expected):
    assert intervals.by_length(200_000, evaluation_steps) == expected


@pytest.mark.parametrize("steps", [20, 64, 100, 1000, 20_000])
def test_points_of_a_run_of_unknown_length_grow_apart(steps):
    points, made = intervals.Points(0, 0), []
    while (following := points.after(made[-1] if made else 0)) <= steps:
        made.append(following)
    assert 20 <= len(made) <= 74 + steps // 100
    assert all(each % 100 == 0 for each in made if each > 1000)


def test_trainer_config_leaves_the_intervals_that_the_user_sets():
    config = TrainerConfig(train_steps=100, log_every_steps=30, save_summary_steps=40)
    assert (config.log_steps, config.point_steps, config.summary_steps) == (30, 30, 40)
    short = TrainerConfig(train_steps=100)
    assert (short.log_steps, short.point_steps, short.summary_steps) == (100, 5, 5)
    endless = TrainerConfig(train_steps=0)
    assert (endless.log_steps, endless.point_steps, endless.summary_steps) == (100, 0, 100)


def _ends(loop_size, last):
    """Returns the steps at which the session runs of a fast model end."""
    ends = [0]
    while ends[-1] < last:
        ends.append(min(last, ends[-1] + loop_size.plan(ends[-1])))
        loop_size.made(ends[-1] - ends[-2], 0.0)
    return ends[1:]


def test_loop_size_ends_a_session_run_at_every_point_of_a_short_run_alone():
    short = LoopSize(TrainerConfig(train_steps=100, steps_per_loop=1000), is_exact=True)
    short.start(0)
    assert set(range(5, 101, 5)) <= set(_ends(short, 100))
    long, before = (LoopSize(TrainerConfig(train_steps=20_000, steps_per_loop=1000, **flags),
                             is_exact=True)
                    for flags in ({}, {"log_every_steps": 100, "save_summary_steps": 100}))
    for each in (long, before):
        each.start(0)
    assert _ends(long, 20_000) == _ends(before, 20_000)


def test_loop_size_lets_asynchronous_trainers_share_a_short_run():
    loop_size = LoopSize(TrainerConfig(train_steps=100, steps_per_loop=1000), False, 2)
    loop_size.start(0)
    # This trainer makes a half of the steps, and has half of the points.
    assert len(_ends(loop_size, 50)) >= 20 and loop_size.points.every == 2
