"""The steps between two lines of the log, of the history, and between two summaries.

Unless the user sets them, the history and the summaries follow the length of the run: a short run
has as many points as a curve needs, and a long one is not made slower. Standard library only.
"""

from typing import NamedTuple

# The steps between two lines of the log; not more between two points of a curve.
LOG_STEPS = 100
_LEAST_POINTS = 20
# Each divides the steps between two lines of the log, so that a session run ends at both.
_STEPS = (100, 50, 25, 20, 10, 5, 2, 1)
# For runs of unknown length: steps between two points up to so many steps. A run of any length has
# at least 20 points, and one of 1,000 steps has 74.
_GROWING = ((20, 1), (40, 2), (100, 5), (200, 10), (400, 20), (1000, 50))


def by_length(most_steps: int, evaluation_steps: int = 0) -> int:
    """Returns the steps between two points of a run's curves; 0 if nothing is known of its length.

    `most_steps` is the step at which it ends. Training until no improvement ends before; it has
    `evaluation_steps`, the steps between two evaluations, and a point at least for each of them.
    """
    if evaluation_steps:
        return min(LOG_STEPS, evaluation_steps // max(1, evaluation_steps // _LEAST_POINTS))
    if not most_steps:
        return 0
    return next((each for each in _STEPS if each <= most_steps // _LEAST_POINTS), 1)


class Points(NamedTuple):
    """The steps of one trainer, counted from its start, at which its history gets a line.

    Attributes:
      every: Steps between two lines; 0: few at first, and more later.
      most_steps: The global step at which a run of several asynchronous trainers ends, divided by
        their number; 0 if unknown.
    """

    every: int
    most_steps: int

    def after(self, made: int) -> int:
        """Returns the next step with a line, after so many steps."""
        every = self.every or next((each for end, each in _GROWING if made < end), LOG_STEPS)
        return (made // every + 1) * every

    def loop_steps(self, made: int) -> int:
        """Returns the most steps of a session run, so that a run of any speed has enough lines.

        Asynchronous trainers need not end a session run at each line.
        """
        return max(1, (self.most_steps or made) // _LEAST_POINTS)
