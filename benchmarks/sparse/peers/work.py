"""Defines the work of every peer: the same records, model, optimizers and batches.

    wide    a weight for each bucket of each column, and a bias
    deep    a row of `dimension` numbers for each bucket of each column, and 13 numbers as they are;
            layers of 128 and 64 with ReLU, and one unit
    logit   the sum of the two; the loss is the mean cross entropy

The deep part and its rows are trained with Adagrad, the wide part with FTRL. Without its
regularization FTRL makes the updates of Adagrad, so a library without FTRL trains the same model.

The features are hashed text. A peer without TensorFlow reads the hashed numbers from an .npz.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import pathlib
from typing import Any, Sequence

BUCKETS = 10_000  # of each column
NUMBERS = 13
HIDDEN_UNITS = (128, 64)
LEARNING_RATE = 0.05
INITIAL_ACCUMULATOR = 0.1
ADAGRAD_EPSILON = 1e-7
# Steps from one line of a trainer's log to the next.
LINE_STEPS = 50


@dataclasses.dataclass(frozen=True)
class Work:
    """The work of one run.

    Attributes:
      data: The folder of the records.
      columns: Number of columns of hashed text.
      dimension: Number of values in a row of the deep part.
      batch: Number of examples in a batch.
      steps: The global step at which training ends.
      model_dir: The folder of checkpoints and summaries, for peers that write them.
    """

    data: pathlib.Path
    columns: int
    dimension: int
    batch: int
    steps: int = 0
    model_dir: pathlib.Path = pathlib.Path()

    @property
    def records(self) -> pathlib.Path:
        """The file of the records: float32 `label` and `numbers`, and a text for each name."""
        return self.data / f"sparse-{self.columns}.tfrecord"

    @property
    def npz(self) -> pathlib.Path:
        """The file of the same examples: int64 `ids`, float32 `numbers` and `label`."""
        return self.data / f"sparse-{self.columns}.npz"

    @property
    def names(self) -> list[str]:
        """The names of the columns of text."""
        return [f"c{i}" for i in range(self.columns)]

    @property
    def layer_sizes(self) -> list[tuple[int, int]]:
        """The number of inputs and of units of each layer of the deep part."""
        widths = [NUMBERS + self.columns * self.dimension, *HIDDEN_UNITS, 1]
        return list(zip(widths, widths[1:]))

    @property
    def row_deviation(self) -> float:
        """The standard deviation of the rows' first values, a truncated normal distribution."""
        return 1 / math.sqrt(self.dimension)

    def flags(self) -> list[str]:
        """Returns the flags from which `from_command_line` makes this object."""
        return [f"--{name}={value}" for name, value in vars(self).items()]


@dataclasses.dataclass(frozen=True)
class Task:
    """A task of the job that trains.

    Attributes:
      cluster: The addresses, by role; empty if the task is alone.
      role: "chief", "worker" or "ps".
      index: The index of the task in its role.
    """

    cluster: dict[str, list[str]]
    role: str
    index: int

    @property
    def trainers(self) -> int:
        """The number of tasks that train."""
        return max(1, sum(len(self.cluster.get(role, ())) for role in ("chief", "worker")))

    @property
    def rank(self) -> int:
        """The number of this trainer; the chief has 0."""
        return self.index + (self.role == "worker")


def from_command_line(argv: Sequence[str] | None = None) -> Work:
    """Returns the work that the flags in `argv`, or in sys.argv, describe."""
    parser = argparse.ArgumentParser()
    for name in ("data", "model_dir"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    for name in ("columns", "dimension", "batch", "steps"):
        parser.add_argument(f"--{name}", type=int, required=True)
    return Work(**vars(parser.parse_args(argv)))


def task() -> Task:
    """Returns the task that TF_CONFIG describes."""
    tf_config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    place = tf_config.get("task", {"type": "chief", "index": 0})
    return Task(tf_config.get("cluster", {}), place["type"], place["index"])


def print_line(todo: Work, step: int, loss: Any) -> None:
    """Prints a line of progress, as this project does."""
    print(f"  step {step}/{todo.steps}  loss {float(loss):.6g}", flush=True)
