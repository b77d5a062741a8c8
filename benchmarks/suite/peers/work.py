"""Defines the work of every peer, the same data, model, batch and steps, and how a peer reports.

    cnn      3x3x32 convolution, 2x2 max-pool, 64, classes; ReLU; Glorot's uniform kernels; SGD
             0.01; batch 64
    sigmoid  100 sigmoids, classes; standard normal kernels; Adam 0.001; batch 100

The data is Fashion-MNIST, scaled to [0, 1]; each peer shuffles it in its own way; all biases start
at 0.

A run has three kinds of steps: WARM_UP_STEPS, more than an epoch, so that all data has been read
once; `--steps`, which are timed; LOSS_STEPS, whose losses show whether the training was the same.
The timer fetches no loss before the last kind, so a timed peer does no extra work.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import resource
import time
from typing import Any, Sequence

import numpy as np

CASES = {"cnn": 64, "sigmoid": 100}
WARM_UP_STEPS = 1000
LOSS_STEPS = 200


@dataclasses.dataclass(frozen=True)
class Work:
    """The work of one run.

    Attributes:
      case: The name of the network, a key of CASES.
      batch_size: Number of examples in a step.
      steps: Number of steps to time.
      records: The folder of the TFRecords, train-* and test-*, with image_raw and label.
      npz: The file of the training set as arrays.
    """

    case: str
    batch_size: int
    steps: int
    records: pathlib.Path
    npz: pathlib.Path

    @property
    def all_steps(self) -> int:
        """The number of all steps of a run, timed or not."""
        return WARM_UP_STEPS + self.steps + LOSS_STEPS

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the training images, uint8 [60000, 28, 28, 1], and labels, int64 [60000]."""
        with np.load(self.npz) as data:
            return data["images"][..., None], data["labels"].astype(np.int64)


def from_command_line(argv: Sequence[str] | None = None) -> Work:
    """Returns the work that the flags in `argv`, or in sys.argv, describe."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--case", choices=sorted(CASES), required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--records", type=pathlib.Path, required=True)
    parser.add_argument("--npz", type=pathlib.Path, required=True)
    parsed = parser.parse_args(argv)
    return Work(parsed.case, CASES[parsed.case], parsed.steps, parsed.records, parsed.npz)


class Timer:
    """A clock of the steps after the warm-up; a peer reports each step, or several at once."""

    def __init__(self, work: Work):
        self._work = work
        self._done = 0
        self._start = self._end = 0.0
        self._losses: list[float] = []

    @property
    def wants_loss(self) -> bool:
        """Whether the loss of the next steps counts."""
        return self._done >= WARM_UP_STEPS + self._work.steps

    @property
    def is_done(self) -> bool:
        """Whether all steps are made."""
        return self._done >= self._work.all_steps

    def step(self, loss: Any = None, steps: int = 1) -> None:
        """Counts steps that a peer has made.

        Args:
          loss: The mean loss of the steps; read, by `float`, only if `wants_loss` was true.
          steps: Number of the steps; it divides WARM_UP_STEPS, the timed steps and LOSS_STEPS.
        """
        if self.wants_loss:
            self._losses.append(float(loss))
        self._done += steps
        if self._done == WARM_UP_STEPS:
            self._start = time.perf_counter()
        elif self._done == WARM_UP_STEPS + self._work.steps:
            self._end = time.perf_counter()

    def report(self, parameters: int, dtype: Any, threads: int) -> None:
        """Prints the report; the arguments are those of the function `report`."""
        report(self._work, self._end - self._start, float(np.mean(self._losses)),
               parameters=int(parameters), dtype=dtype, threads=threads,
               peak_rss_mb=peak_rss_mb(resource.RUSAGE_SELF))


def report(work: Work, secs: float, loss: float, **more: Any) -> None:
    """Prints the report, a JSON line.

    Args:
      work: The work that was done.
      secs: Seconds that the timed steps took.
      loss: Mean loss of the last LOSS_STEPS steps.
      **more: `parameters`, the number of trainable ones; `dtype`, the loss's, in which all is
        computed; `threads`, the number that share an op; `peak_rss_mb`; and a value that replaces
        one computed here, such as `batch_size`.
    """
    more["dtype"] = str(getattr(more["dtype"], "name", more["dtype"])).removeprefix("torch.")
    print(json.dumps({"examples_per_sec": work.steps * work.batch_size / secs, "loss": loss,
                      "batch_size": work.batch_size, **more}))


def peak_rss_mb(whose: int) -> float:
    """Returns the peak memory, in MiB, of this process (RUSAGE_SELF) or of a child that ended."""
    return resource.getrusage(whose).ru_maxrss / 1024


def cores() -> int:
    """Returns the number of cores this process may use, TensorFlow's default number of threads."""
    return len(os.sched_getaffinity(0))
