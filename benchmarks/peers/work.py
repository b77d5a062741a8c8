"""The work that every peer does, and how it reports: same data, model, batch and steps.

    cnn      3x3x32 convolution, 2x2 max-pool, 64, classes; ReLU; SGD 0.01; batch 64
    sigmoid  100 sigmoids, classes; Adam 0.001; batch 100

on Fashion-MNIST as uint8 [60000, 28, 28] in an .npz, scaled to [0, 1] and shuffled by each peer in
its own way.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import resource
import time
from typing import Any

import numpy as np

CASES = {"cnn": 64, "sigmoid": 100}
WARM_UP_STEPS = 200


@dataclasses.dataclass(frozen=True)
class Work:
    """What to do.

    Attributes:
      case: One of CASES.
      batch_size: Examples a step.
      steps: To time, after WARM_UP_STEPS.
      images: uint8 [examples, 28, 28, 1].
      labels: int64 [examples].
    """

    case: str
    batch_size: int
    steps: int
    images: np.ndarray
    labels: np.ndarray


def from_command_line() -> Work:
    """Reads --case, --data and --steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--case", choices=sorted(CASES), required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--steps", type=int, default=2000)
    parsed = parser.parse_args()
    with np.load(parsed.data) as data:
        images, labels = data["images"][..., None], data["labels"].astype(np.int64)
    return Work(parsed.case, CASES[parsed.case], parsed.steps, images, labels)


class Timer:
    """Times the steps after the warm-up; to be told of each, or of several at once."""

    def __init__(self, work: Work):
        self._work = work
        self._done = 0
        self._first = 0
        self._start = self._end = 0.0
        self._losses: list[float] = []

    @property
    def is_done(self) -> bool:
        """Whether all steps are made."""
        return bool(self._end)

    def step(self, loss: Any = None, steps: int = 1) -> None:
        """Takes note of steps; `loss` is that of the last one, where it is known."""
        self._done += steps
        if loss is not None:
            self._losses.append(float(loss))
        if not self._start and self._done >= WARM_UP_STEPS:
            self._start, self._first = time.perf_counter(), self._done
        elif self._start and self._done - self._first >= self._work.steps and not self._end:
            self._end = time.perf_counter()

    def report(self, parameters: int) -> None:
        """Prints what came of it, a JSON line."""
        secs = self._end - self._start
        print(json.dumps({
            "examples_per_sec": (self._done - self._first) * self._work.batch_size / secs,
            "parameters": int(parameters),
            "loss": float(np.mean(self._losses[-20:])) if self._losses else None,
            "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
