"""The length of a training by its data: how often it is evaluated, and when it ends.

Training under this rule (`train_until=no_improvement`) goes on until evaluations get no better, and
within bounds that the number of rows decides. All its numbers are here. Standard library only.
"""

import dataclasses
import math
import operator
import re
from typing import Mapping

NO_IMPROVEMENT = "no_improvement"
RULES = ("train_steps", NO_IMPROVEMENT)
# The reason of a training that ended at its bound; as `no_improvement` is that of the others.
MOST_STEPS = "most_steps"
# The reason of a training whose evaluation has reached `stop_at`.
STOP_AT = "stop_at"
_TARGET = re.compile(r"\s*(\S.*?)\s*(>=|<=|>|<)\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*")
_COMPARED = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}

# An evaluation takes 0.05 s beside its examples, since a checkpoint is written, copied and read: as
# long as 100 steps on a small table, of which all training takes seconds. Small data are evaluated
# once in several passes.
_LEAST_STEPS_BETWEEN = 20
# Large data are evaluated several times a pass, since one pass may be enough.
_MOST_STEPS_BETWEEN, _MOST_A_PASS = 2000, 4
# An evaluated example takes up to two times as long as a trained one, because of the metrics: at
# most a third of the time goes to evaluations.
_TRAINED_BY_EVALUATED = 4
# The noise of an evaluation on some hundred rows hides an improvement for a few evaluations, and an
# optimizer needs some hundred steps to leave a plateau; on a few pictures these are many passes.
_PATIENCE, _LEAST_PATIENCE_STEPS, _LEAST_PATIENCE_PASSES = 8, 400, 50
# 50 passes over 50,000 rows. Passes fall with the square root of the rows: fewer rows need more
# steps on each, and many rows more time. 400 rows get 400 passes, 10 million 3.5.
_PASSES, _PASSES_OF_ROWS, _MOST_PASSES = 50, 50_000, 400
_MOST_STEPS = 200_000
# Where the number of rows is unknown, as in many large files.
_STEPS_BETWEEN_UNKNOWN, _MOST_STEPS_UNKNOWN = 500, 100_000


@dataclasses.dataclass(frozen=True)
class Length:
    """The bounds of a training until there is no improvement, in global steps.

    Attributes:
      every_steps: Steps between two evaluations, or a part of them.
      most_steps: The global step at which training ends in any case.
      batch_size: Examples of a step; 0 if unknown.
      pass_steps: Steps of one pass over the training data; 0 if unknown.
    """

    every_steps: int
    most_steps: int
    batch_size: int = 0
    pass_steps: float = 0.0

    def steps_between(self, evaluated: int) -> int:
        """Returns the steps between evaluations of so many examples; 0: not yet known."""
        least = _TRAINED_BY_EVALUATED * evaluated / (self.batch_size or 1)
        return self.every_steps * max(1, math.ceil(least / self.every_steps))

    def patience_steps(self, steps_between: int) -> int:
        """Returns the steps without a better evaluation after which training ends."""
        passes_steps = _LEAST_PATIENCE_PASSES * self.pass_steps or math.inf
        return max(_PATIENCE * steps_between,
                   math.ceil(min(_LEAST_PATIENCE_STEPS, passes_steps)))


@dataclasses.dataclass(frozen=True)
class Target:
    """The target of `stop_at`, such as `accuracy>=0.98`."""

    metric: str
    comparison: str
    value: float

    def is_reached(self, metrics: Mapping[str, float]) -> bool:
        """Returns whether metrics have a value that reaches the target; NaN never does."""
        return self.metric in metrics and bool(
            _COMPARED[self.comparison](metrics[self.metric], self.value))


def target(text: str) -> Target | None:
    """Returns the target that a text names; None if it names none."""
    found = _TARGET.fullmatch(text)
    try:
        return Target(found[1], found[2], float(found[3])) if found else None
    except ValueError:
        return None


def by_rows(rows: int, batch_size: int) -> Length:
    """Returns the length of a training on a number of rows; 0: the number is unknown."""
    if not rows or not batch_size:
        return Length(_STEPS_BETWEEN_UNKNOWN, _MOST_STEPS_UNKNOWN, batch_size)
    pass_steps = rows / batch_size
    if pass_steps < _LEAST_STEPS_BETWEEN:
        every = math.ceil(pass_steps * math.ceil(_LEAST_STEPS_BETWEEN / pass_steps))
    else:
        every = math.ceil(pass_steps / min(
            math.ceil(pass_steps / _MOST_STEPS_BETWEEN), _MOST_A_PASS))
    passes = min(_PASSES * math.sqrt(_PASSES_OF_ROWS / rows), _MOST_PASSES)
    found = Length(every, 0, batch_size, pass_steps)
    most = min(max(passes * pass_steps, found.patience_steps(every)), _MOST_STEPS)
    return dataclasses.replace(found, most_steps=every * math.ceil(most / every))


def described(metric: str, mode: str) -> str:
    """Returns the rule in words."""
    return (f"until {_PATIENCE} evaluations in a row, over {_LEAST_PATIENCE_STEPS} steps or"
            f" {_LEAST_PATIENCE_PASSES} passes, find no better {metric}"
            f" ({'lower' if mode == 'min' else 'higher'} is better); the best checkpoint is the"
            " model. Evaluated about once a pass over the training data; at most"
            f" {_PASSES} passes over {_PASSES_OF_ROWS:,} rows, fewer over more, up to"
            f" {_MOST_PASSES} over fewer")
