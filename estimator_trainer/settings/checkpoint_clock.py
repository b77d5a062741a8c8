"""The clock of checkpoints says when one is due: by steps, by time, or by whichever comes first.

Standard library only, so a mistake is reported before TensorFlow is imported.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# The Estimator's own default.
_SECS = 600
# Workers that save by their own clocks deadlock in a collective, so the Estimator turns seconds
# into this many steps there; this program does so in the open.
_COLLECTIVE_STEPS = 1000


class CheckpointClock(NamedTuple):
    """When a checkpoint is due.

    Attributes:
      every_steps: Steps between two checkpoints; None: they come by time alone.
      every_secs: Seconds between two checkpoints; None: they come by steps alone.
    """

    every_steps: int | None
    every_secs: int | None


def of(config: Any) -> CheckpointClock:
    """Returns the clock that a TrainerConfig asks for.

    Where it asks for none, evaluations are spread over the steps of training, so that a short run
    has a curve of them; a long one loses no more than 600 s of work.
    """
    asked = config.eval_every_steps or config.save_checkpoints_steps
    if asked:
        return CheckpointClock(asked, None)
    if config.save_checkpoints_secs:
        return CheckpointClock(None, config.save_checkpoints_secs)
    spread = (-(-config.train_steps // config.num_evaluations) if config.num_evaluations else 0)
    if config.is_collective:
        return CheckpointClock(min(spread or _COLLECTIVE_STEPS, _COLLECTIVE_STEPS), None)
    return CheckpointClock(spread or None, _SECS)
