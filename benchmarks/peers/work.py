"""The work that every peer does, and how it reports: same data, model, batch and steps.

    cnn      3x3x32 convolution, 2x2 max-pool, 64, classes; ReLU; Glorot's uniform kernels; SGD
             0.01; batch 64
    sigmoid  100 sigmoids, classes; standard normal kernels; Adam 0.001; batch 100

on Fashion-MNIST, scaled to [0, 1] and shuffled by each peer in its own way; all biases start at 0.

The steps of a run: WARM_UP_STEPS, which are more than an epoch, so that all that is read once has
been read; `--steps`, which are timed; LOSS_STEPS, whose losses tell whether the training was the
same. No loss is fetched for the timer before those, so what a peer does while it is timed is its
own.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import resource
import time
from typing import Any

import numpy as np

CASES = {"cnn": 64, "sigmoid": 100}
WARM_UP_STEPS = 1000
LOSS_STEPS = 200


@dataclasses.dataclass(frozen=True)
class Work:
    """What to do.

    Attributes:
      case: One of CASES.
      batch_size: Examples a step.
      steps: To time.
      records: Folder of the set as TFRecords, train-* and test-*, with image_raw and label.
      npz: The training set as arrays.
    """

    case: str
    batch_size: int
    steps: int
    records: pathlib.Path
    npz: pathlib.Path

    @property
    def all_steps(self) -> int:
        """Steps of a run, those included that are not timed."""
        return WARM_UP_STEPS + self.steps + LOSS_STEPS

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the training images, uint8 [60000, 28, 28, 1], and labels, int64 [60000]."""
        with np.load(self.npz) as data:
            return data["images"][..., None], data["labels"].astype(np.int64)


def from_command_line() -> Work:
    """Reads --case, --steps, --records and --npz."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--case", choices=sorted(CASES), required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--records", type=pathlib.Path, required=True)
    parser.add_argument("--npz", type=pathlib.Path, required=True)
    parsed = parser.parse_args()
    return Work(parsed.case, CASES[parsed.case], parsed.steps, parsed.records, parsed.npz)


class Timer:
    """Times the steps after the warm-up; to be told of each, or of several at once."""

    def __init__(self, work: Work):
        self._work = work
        self._done = 0
        self._start = self._end = 0.0
        self._losses: list[float] = []

    @property
    def wants_loss(self) -> bool:
        """Whether the steps that come next are those whose loss counts."""
        return self._done >= WARM_UP_STEPS + self._work.steps

    @property
    def is_done(self) -> bool:
        """Whether all steps are made."""
        return self._done >= self._work.all_steps

    def step(self, loss: Any = None, steps: int = 1) -> None:
        """Takes note of steps.

        Args:
          loss: Their mean, what `float` takes; it is read only where `wants_loss` was true.
          steps: How many there were; WARM_UP_STEPS, the timed and LOSS_STEPS are multiples of it.
        """
        if self.wants_loss:
            self._losses.append(float(loss))
        self._done += steps
        if self._done == WARM_UP_STEPS:
            self._start = time.perf_counter()
        elif self._done == WARM_UP_STEPS + self._work.steps:
            self._end = time.perf_counter()

    def report(self, parameters: int, dtype: Any, threads: int) -> None:
        """Prints what came of it; the arguments are those of the function `report`."""
        report(self._work, self._end - self._start, float(np.mean(self._losses)),
               parameters=int(parameters), dtype=dtype, threads=threads,
               peak_rss_mb=peak_rss_mb(resource.RUSAGE_SELF))


def report(work: Work, secs: float, loss: float, **more: Any) -> None:
    """Prints a JSON line.

    Args:
      work: What was to be done.
      secs: That the timed steps took.
      loss: Mean of those of the last LOSS_STEPS steps.
      **more: `parameters`: trainable ones; `dtype`: of the loss and so of what is computed;
        `threads`: that share an op; `peak_rss_mb`; and what replaces the rest.
    """
    more["dtype"] = str(getattr(more["dtype"], "name", more["dtype"])).removeprefix("torch.")
    print(json.dumps({"examples_per_sec": work.steps * work.batch_size / secs, "loss": loss,
                      "batch_size": work.batch_size, **more}))


def peak_rss_mb(whose: int) -> float:
    """Returns the most memory that this process (RUSAGE_SELF) or a child that ended had."""
    return resource.getrusage(whose).ru_maxrss / 1024


def cores() -> int:
    """Returns the cores this process may use: TensorFlow's threads, where it is told nothing."""
    return len(os.sched_getaffinity(0))
