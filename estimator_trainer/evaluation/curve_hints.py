"""Hints on the course of a training: over-fitting, one that was too short, one that jumps."""

from typing import Any, Mapping, NamedTuple, Sequence

import numpy as np

from estimator_trainer.errors import Setting
from estimator_trainer.evaluation import hints

_LEAST, _LEAST_TO_JUMP = 5, 8
# Changes of the loss that are more than noise.
_RISEN, _FALLEN, _JUMP = 1.05, 0.97, 0.25
_OF_NOISE = 2.0
# A fall by less than this share of the first loss gains nothing.
_NOTHING = 1e-4
_ALTERNATING = 0.7

Losses = Sequence[tuple[int, float]]


class Course(NamedTuple):
    """The course of a training.

    Attributes:
      training: The losses (step, loss) of one task's lines.
      evaluations: Those of the evaluations.
      step: The step of the model.
      reason: Why training ended, as in `result.json`.
      epochs: Passes over the input that were set; 0: steps were.
      is_local: Whether one process trained.
    """

    training: Losses
    evaluations: Losses
    step: int
    reason: str
    epochs: int = 0
    is_local: bool = True


def of_course(course: Course, params: Mapping[str, Any]) -> list[str]:
    """Returns a sentence for each thing that the user should look at, the worst first."""
    evaluations = [(step, loss) for step, loss in course.evaluations if step and np.isfinite(loss)]
    if len(evaluations) < _LEAST:
        return []
    return (_of_over_fitting(course, evaluations) or _of_jumps(evaluations, params)
            or _of_short_training(course, evaluations))


def _of_over_fitting(course: Course, evaluations: Losses) -> list[str]:
    best = min(range(len(evaluations)), key=lambda i: evaluations[i][1])
    step, least = evaluations[best]
    after = [loss for _, loss in evaluations[best + 1:]]
    # Training may have returned to the best checkpoint.
    if len(after) < max(2, len(evaluations) // 4) or course.step <= step:
        return []
    last = float(np.median(after[-max(2, len(after) // 3):]))
    before = [loss for at, loss in course.training if step / 2 <= at <= step]
    end = [loss for at, loss in course.training if at > (step + evaluations[-1][0]) / 2]
    # Evaluations of few examples go up and down as much.
    noise = float(np.median(np.abs(np.diff([loss for _, loss in evaluations[best // 2:]]))))
    rise = last - least
    if rise < max((_RISEN - 1) * abs(least), _OF_NOISE * noise) or not before or not end or (
            np.median(end) > _FALLEN * np.median(before)):
        return []
    keep = (f"Keep the best step: {Setting('train_until', 'no_improvement')}" if course.is_local
            else f"Train less: {Setting('train_steps', step)}")
    return [f"training loss falls, evaluation loss rises since step {step:,}, from {least:.3g} to"
            f" {last:.3g}: the model learns its training examples by heart (over-fitting). {keep}"]


def _of_short_training(course: Course, evaluations: Losses) -> list[str]:
    losses = [loss for _, loss in evaluations]
    third = max(1, len(losses) // 3)
    last, before = losses[-1], float(np.median(losses[-2 * third - 1:-third]))
    earlier = losses[-third - 1]
    if course.reason not in ("train_steps", "input_exhausted") or last > min(losses) or (
            last <= 0 or last > _FALLEN * min(before, earlier)
            or earlier - last < _NOTHING * losses[0]):
        return []
    longer = (Setting("train_epochs", 2 * course.epochs) if course.epochs else
              Setting("train_steps", 2 * evaluations[-1][0]))
    return [f"the evaluation loss still falls at the end: {earlier:.3g} at step"
            f" {evaluations[-third - 1][0]:,}, {last:.3g} at step {evaluations[-1][0]:,}. Train"
            f" longer: {longer}"]


def _of_jumps(evaluations: Losses, params: Mapping[str, Any]) -> list[str]:
    losses = np.array([loss for _, loss in evaluations])[-2 * len(evaluations) // 3:]
    if len(losses) < _LEAST_TO_JUMP:
        return []
    changes = np.diff(losses)
    alternating = float(np.mean(changes[1:] * changes[:-1] < 0))
    if alternating < _ALTERNATING or np.mean(np.abs(changes)) < _JUMP * abs(np.median(losses)):
        return []
    return [f"the evaluation loss jumps up and down, between {losses.min():.3g} and"
            f" {losses.max():.3g}. {hints.lower_rate(params)}"]
