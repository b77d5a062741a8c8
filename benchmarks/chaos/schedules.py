"""A schedule is a job and two faults, all drawn from one number, so that the number repeats it."""

from __future__ import annotations

import dataclasses
import random

KINDS = ("SIGKILL", "SIGTERM", "SIGSTOP", "SIGKILL of two")
MOMENTS = ("start", "step", "save", "evaluation", "export", "after export", "end")
_EXPORTERS = (("final",), ("latest", "final"), ("best",), ("best", "final"))
# Moments of a job's end are short, so a random task would seldom be the one at work.
_OF_THE_EVALUATING_TASK = ("evaluation", "export", "after export", "end")


@dataclasses.dataclass(frozen=True)
class Shape:
    """A kind of job.

    Attributes:
      counts: Number of tasks by role; empty for a job of one process.
      flags: Flags of this kind.
      evaluator: Whether the job has an evaluator; None if a schedule decides.
      is_exact: Whether training ends at exactly --train_steps.
      is_ordered: Whether each step's batches are fixed.
    """

    counts: tuple[tuple[str, int], ...]
    flags: tuple[str, ...] = ()
    evaluator: bool | None = None
    is_exact: bool = True
    is_ordered: bool = False

    @property
    def num_trainers(self) -> int:
        return sum(count for role, count in self.counts if role in ("chief", "worker")) or 1


_PS = (("chief", 1), ("worker", 1), ("ps", 1))
SHAPES = {
    "local": Shape((), evaluator=False, is_ordered=True),
    "asynchronous": Shape(_PS, is_exact=False),
    "synchronous": Shape(_PS, ("--sync_replicas=2",)),
    "parameter_server": Shape(_PS, ("--train_distribute=parameter_server",), is_exact=False),
    "all-reduce": Shape((("chief", 1), ("worker", 1)),
                        ("--train_distribute=multi_worker_mirrored",), is_ordered=True),
    "chief and evaluator": Shape((("chief", 1),), evaluator=True, is_ordered=True),
}


@dataclasses.dataclass(frozen=True)
class Fault:
    """One fault of a job.

    Attributes:
      kind: One of KINDS.
      victims: Names of the tasks; two for "SIGKILL of two".
      moment: One of MOMENTS.
      least: The first step at which the moment counts; for an evaluation or an export the number
        of earlier ones.
      delay_secs: Seconds from the moment to the fault.
      stopped_secs: Seconds from SIGSTOP to SIGCONT.
    """

    kind: str
    victims: tuple[str, ...]
    moment: str
    least: int = 0
    delay_secs: float = 0.0
    stopped_secs: float = 0.0

    def __str__(self) -> str:
        least = f" {self.least}" if self.moment in ("step", "save") else ""
        stopped = f" for {self.stopped_secs:.1f} s" if self.stopped_secs else ""
        return (f"{self.kind.replace(' of two', '')}{stopped} to {' and '.join(self.victims)} at"
                f" {self.moment}{least} + {self.delay_secs:.2f} s")


@dataclasses.dataclass(frozen=True)
class Schedule:
    """A job and its faults.

    Attributes:
      number: The number from which this schedule is drawn.
      shape: A key of SHAPES.
      evaluator: Whether the job has an evaluator.
      exporters: Names of the exporters.
      keep_checkpoint_max: Checkpoints that are kept.
      steps: Steps to train.
      save_every: Steps between two checkpoints.
      faults: The job's faults.
    """

    number: int
    shape: str
    evaluator: bool
    exporters: tuple[str, ...]
    keep_checkpoint_max: int
    steps: int
    save_every: int
    faults: tuple[Fault, ...]

    def __str__(self) -> str:
        evaluator = " with evaluator" if self.evaluator else ""
        faults = "; ".join(map(str, self.faults))
        return (f"{self.shape}{evaluator}, {self.steps} steps, exporters"
                f" {','.join(self.exporters)}, keeps {self.keep_checkpoint_max}: {faults}")

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks."""
        return _tasks(SHAPES[self.shape], self.evaluator)

    @property
    def flags(self) -> list[str]:
        """The flags of the command line, without paths."""
        shape = SHAPES[self.shape]
        return [f"--train_steps={self.steps}", f"--save_checkpoints_steps={self.save_every}",
                f"--exporters={','.join(self.exporters)}", "--exports_to_keep=2",
                f"--keep_checkpoint_max={self.keep_checkpoint_max}",
                "--log_every_steps=10", "--peer_timeout_secs=10", "--stall_timeout_secs=30",
                f"--param=is_ordered={shape.is_ordered}", *shape.flags]


def make(seed: int, number: int) -> Schedule:
    """Returns the schedule of a number."""
    dice = random.Random(f"{seed}/{number}")
    name = dice.choice(sorted(SHAPES))
    shape = SHAPES[name]
    drawn = dice.random() < 0.6
    evaluator = drawn if shape.evaluator is None else shape.evaluator
    steps = dice.randint(60, 200)
    faults = tuple(_fault(dice, _tasks(shape, evaluator), steps) for _ in range(2))
    return Schedule(number, name, evaluator, dice.choice(_EXPORTERS), dice.choice([1, 2, 5]),
                    steps, dice.choice([20, 30, 50]), faults)


def _fault(dice: random.Random, tasks: tuple[str, ...], steps: int) -> Fault:
    kind = dice.choice(KINDS if len(tasks) > 1 else KINDS[:-1])
    moment = dice.choice(MOMENTS)
    victims = tuple(dice.sample(tasks, 2 if kind == "SIGKILL of two" else 1))
    if moment in _OF_THE_EVALUATING_TASK and dice.random() < 0.4:
        working = "evaluator:0" if "evaluator:0" in tasks else tasks[0]
        victims = (working, *[name for name in victims if name != working])[:len(victims)]
    least = dice.randint(1, steps - 10) if moment in ("step", "save") else dice.choice([0, 0, 1, 2])
    delay = {"start": 4.0, "step": 0.1, "save": 0.02, "evaluation": 0.25, "export": 0.1,
             "after export": 0.05, "end": 0.3}[moment]
    return Fault(kind, victims, moment, least, dice.uniform(0, delay),
                 dice.uniform(1, 20) if kind == "SIGSTOP" else 0.0)


def _tasks(shape: Shape, evaluator: bool) -> tuple[str, ...]:
    names = [f"{role}:{index}" for role, count in shape.counts for index in range(count)]
    return (*(names or ["local"]), *(["evaluator:0"] if evaluator else []))
