"""The loop size: the number of training steps that the next session run makes."""

import math
import time

from estimator_trainer.settings import intervals
from estimator_trainer.settings.trainer_config import TrainerConfig

# Long compared with the overhead of a session run, and short for all that waits for its end.
_RUN_SECS = 0.1
# An all-reduce adds overhead: the trainers agree on the steps, and add up the loss.
_ALL_REDUCE_RUN_SECS = 0.25
# If the input is ready in time, a batch comes within microseconds.
_MUCH_WAITING = 0.1
_MOST_STEPS = 1000
# TensorFlow's hooks read the step before a run, and rely on it for the run after the next.
_SINGLE_RUNS = 2


class LoopSize:
    """Plans as many steps as fit before a checkpoint, a summary, a line of the log or the end.

    Attributes:
      points: The steps of this trainer at which its history gets a line.
      steps: Number of steps of the run that was planned last.
      step: The global step at which that run begins.
      is_sample: Whether that run is traced, so that its time is not typical.
      step_secs: Seconds of a step in the latest runs; 0 if unknown.
      least_step_secs: Seconds of a step while nothing else has the cores; infinite if unknown.
    """

    def __init__(self, config: TrainerConfig, is_exact: bool, num_trainers: int = 1):
        """Plans nothing yet.

        `is_exact`: whether this trainer alone moves the global step, or all do it together; else
        `num_trainers` share the steps.
        """
        self.steps, self.step = 1, 0
        self.is_sample, self._sample_steps = False, 0
        self._most = config.steps_per_loop
        self._run_secs = (_ALL_REDUCE_RUN_SECS if config.train_distribute == "multi_worker_mirrored"
                          else _RUN_SECS)
        # A run shows no progress before its end.
        self._longest_secs = config.stall_timeout_secs / 4
        self._max_steps = config.max_steps
        self._every = [every for every in (
            config.checkpoints.every_steps, config.log_steps) if every]
        self._summary_steps = config.summary_steps
        self._is_by_length = not config.log_every_steps
        every = config.point_steps
        if self._is_by_length and every and not is_exact:
            every = max(1, every // num_trainers)
        self.points = intervals.Points(every, config.train_steps // num_trainers)
        self._profiled = config.profiled_steps or ()
        self._is_exact = is_exact
        self.least_step_secs = math.inf
        self._runs = self._first = self._made = 0
        self.step_secs = self._secs = self._waited_secs = self._started = 0.0
        self._ended: float | None = None

    def start(self, step: int) -> None:
        """Records the step that a session begins with, from which TensorFlow's hooks count."""
        self._first, self._runs, self._made = step, 0, 0

    def plan(self, step: int) -> int:
        """Returns the steps of the run that begins at `step`."""
        self.steps, self.step = self._fitting(), step
        self.is_sample = self._sample_steps > 0
        if self.is_sample:
            self.steps, self._sample_steps = min(self.steps, self._sample_steps), 0
        if self._is_exact:
            point = self._first + self.points.after(step - self._first)
            self.steps = max(1, min(self.steps, self._next_due(step) - _SINGLE_RUNS - step,
                                    point - step))
        elif self._is_by_length:
            self.steps = min(self.steps, self.points.loop_steps(self._made))
        self._started, self._ended = time.monotonic(), None
        return self.steps

    def sample_next(self, most_steps: int) -> None:
        """Makes the next run a sample of at most so many steps."""
        self._sample_steps = most_steps

    def end_run(self) -> None:
        """Stops the clock of the run, before something else takes time; once is enough."""
        self._ended = self._ended or time.monotonic()

    def made(self, steps: int, waited_secs: float) -> None:
        """Records a run that ends now, or has ended (`end_run`), and its wait for batches."""
        self._runs += 1
        self._made += steps
        if self._runs == 1 or self.is_sample:
            return  # The first run prepares the graph, and fills the buffers of the input.
        secs = (self._ended or time.monotonic()) - self._started
        self._secs += secs
        self._waited_secs += waited_secs
        per_step = secs / max(1, steps)
        self.step_secs = 0.5 * (self.step_secs + per_step) if self.step_secs else per_step
        self.least_step_secs = min(self.least_step_secs, per_step)

    @property
    def waiting(self) -> tuple[float, float]:
        """Seconds for which the runs so far waited for batches, and their total seconds."""
        return self._waited_secs, self._secs

    @property
    def waited_share(self) -> float | None:
        """The share of the runs' time spent waiting for batches; None if unknown."""
        return self._waited_secs / self._secs if self._secs else None

    @property
    def is_input_limit(self) -> bool:
        """Whether the input limits the speed of training."""
        return (self.waited_share or 0) > _MUCH_WAITING

    def _next_due(self, step: int) -> int:
        due = [self._next(step, every, self._first) for every in self._every]
        due.append(self._next(step, self._summary_steps, self._first + 1))
        due += [at for edge in self._profiled for at in (edge - 1, edge) if at > step]
        return min([*due, self._max_steps] if self._max_steps else due)

    def _fitting(self) -> int:
        """Returns the steps of a run that nothing else limits; 1 before the first timed run."""
        if not self.step_secs:
            return 1
        return max(1, min(self._most or int(self._run_secs / self.step_secs) or 1, _MOST_STEPS,
                          int(self._longest_secs / self.step_secs)))

    @staticmethod
    def _next(step: int, every: int, first: int) -> int:
        """Returns the first of first, first + every, ... that is above `step`."""
        return first + every * max(0, (step - first) // every + 1)
