"""The step count: it tells whether the global step counts the steps that are made."""

from __future__ import annotations

from absl import logging

_STUCK_RUNS = 200
_REPEATED_AFTER = 10
_DOUBLES_TO_TELL = 3


class StepCount:
    """Tells the user of a train op that leaves the global step as it is, or moves it twice.

    Attributes:
      runs_per_step: Session runs that make one global step, as with accumulated gradients.
    """

    def __init__(self, is_alone: bool):
        """Starts to count; `is_alone` says whether no other trainer moves the step by itself."""
        self.runs_per_step = 1
        self._is_alone = is_alone
        self._steps_at_step = 0
        self._told_at = _STUCK_RUNS
        self._doubles = 0
        self._previous = -1

    def start(self, step: int) -> None:
        """Takes note of the step that a session begins with."""
        self._previous = step

    def check(self, step: int, made: int) -> None:
        """Takes note of the step after a session run that made so many."""
        moved = step - self._previous
        self._previous = step
        self._steps_at_step = 0 if moved else self._steps_at_step + made
        if self._steps_at_step >= self._told_at * self.runs_per_step:
            self._told_at *= _REPEATED_AFTER
            logging.warning(
                "the global step stayed at %d for %d runs of the train_op. If it adds up gradients"
                " over as many batches, all is well. If it does not advance the global step,"
                " training never ends. Pass the step to the optimizer:"
                " minimize(loss, global_step=tf.compat.v1.train.get_global_step()), or for a"
                " Keras optimizer set optimizer.iterations to it before any use.",
                step, self._steps_at_step)
        told = self._doubles >= _DOUBLES_TO_TELL
        self._doubles = self._doubles + made if moved > made and self._is_alone else 0
        if self._doubles >= _DOUBLES_TO_TELL and not told:
            logging.warning(
                "the global step moves by %d a step: train_steps, checkpoints and logs count it so."
                " Pass global_step to one optimizer only.", round(moved / made))
