"""Predicts the parts of a step of N tasks, each on its own machine.

Costs of computing come from measurements (`costs.py`), those of the network from the caller. The
network has two numbers: the bytes per second of a machine's link, in each direction, and the
seconds until a message arrives. Switches between machines are as fast as their links.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from benchmarks.paper.costs import Costs, Linear
from benchmarks.paper.stragglers import expected_waits, StepTimes

_DRAWS = 400_000
# More ps are not worthwhile beyond this share of the best speed.
_ENOUGH = 0.95


@dataclasses.dataclass(frozen=True)
class Workload:
    """The work of one task.

    Attributes:
      step_secs: Mean time to compute the gradients of one batch, in seconds.
      batch_size: Number of examples in the batch.
      model_bytes: Size of all variables, and of their gradients, in bytes.
      variables: Number of the variables.
      largest_bytes: Size of the largest variable, which one ps holds, in bytes; 0 if all variables
        can be divided evenly.
      checkpoint_bytes: Size of the variables and of the optimizer's slots, in bytes.
      checkpoint_every_secs: Seconds from one checkpoint to the next.
      input_files: Number of files that the tasks share; 0 if each task has its own files.
    """

    step_secs: float
    batch_size: int
    model_bytes: float
    variables: int = 1
    largest_bytes: float = 0.0
    checkpoint_bytes: float = 0.0
    checkpoint_every_secs: float = 600.0
    input_files: int = 0


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The machines of the tasks.

    Attributes:
      bytes_per_sec: Bytes a second of each machine's link, in each direction.
      latency_secs: Seconds until a message arrives.
      ps_cores: Number of cores of a ps's machine.
      packs: Number of buffers of an all-reduce.
      backup: Number of workers whose gradients a synchronous step with ps does not wait for.
    """

    bytes_per_sec: float
    latency_secs: float
    ps_cores: int = 4
    packs: int = 1
    backup: int = 0


@dataclasses.dataclass(frozen=True)
class Prediction:
    """A predicted speed.

    Attributes:
      examples_per_sec: Examples per second of all tasks.
      parts: Seconds of each part of one worker's step, by the part's name.
    """

    examples_per_sec: float
    parts: dict[str, float]

    @property
    def bottleneck(self) -> str:
        """The longest part of a step; "compute" is the ideal."""
        return max(self.parts, key=lambda part: self.parts[part])


class StepModel:
    """Predicts the speed of a workload on a cluster, for any number of tasks and mode."""

    def __init__(self, work: Workload, cluster: Cluster, costs: Costs, times: StepTimes):
        """Builds the model; `times` is the distribution of one worker's step times."""
        self._work, self._cluster, self._costs = work, cluster, costs
        self._times = times

    def all_reduce(self, tasks: int) -> Prediction:
        """Predicts a ring of 2 (n - 1) hops; each task sends 2 (n - 1) / n of the bytes."""
        work, cluster, costs = self._work, self._cluster, self._costs
        hops = 2 * (tasks - 1)
        parts = self._of_worker(tasks, waits_for=tasks)
        parts["all-reduce latency"] = hops * cluster.packs * (
            cluster.latency_secs + costs.ring.each) + costs.ring.fixed * (tasks > 1)
        sent = hops / tasks * work.model_bytes
        parts["all-reduce bandwidth"] = sent / cluster.bytes_per_sec
        parts["all-reduce copying"] = sent * costs.ring.byte
        return self._together(parts, tasks, self._save_secs(1))

    def synchronous(self, tasks: int, ps: int) -> Prediction:
        """Predicts steps for which all tasks pull at once from each ps, and push at once."""
        cluster, costs = self._cluster, self._costs
        gradients = tasks - cluster.backup
        parts = self._of_worker(tasks, waits_for=gradients)
        if tasks > 1:
            wire = 2 * max(tasks * self._share(ps), self._work.model_bytes) / cluster.bytes_per_sec
            computing = tasks * self._serving_secs(ps, costs.server, costs.sync)
            parts["latency"] = 4 * cluster.latency_secs
            parts["ps traffic of a worker"] = self._client_secs()
            # A ps computes with some bytes while others are in transit.
            parts["ps bandwidth" if wire > computing else "ps computing"] = max(wire, computing)
        return self._together(parts, gradients, self._save_secs(ps))

    def asynchronous(self, tasks: int, ps: int) -> Prediction:
        """Predicts steps of tasks that wait for each other only at the ps.

        This is mean value analysis of a closed queueing network (Reiser and Lavenberg, 1980): the
        queues are a ps's link in, its link out and its cores; the delay is a worker's own time.
        """
        work, cluster, costs = self._work, self._cluster, self._costs
        parts = self._of_worker(tasks, waits_for=1, is_alone=True)
        if tasks > 1:
            share = self._share(ps)
            parts["latency"] = 2 * cluster.latency_secs
            parts["ps traffic of a worker"] = self._client_secs() + max(
                0.0, 2 * (work.model_bytes - share) / cluster.bytes_per_sec)
            link = share / cluster.bytes_per_sec
            waits = queue_secs([link, link, self._serving_secs(ps, costs.server)],
                               sum(parts.values()), tasks)
            parts["ps bandwidth"], parts["ps computing"] = waits[0] + waits[1], waits[2]
        # Only the chief waits for a checkpoint.
        saving = self._save_secs(ps) / work.checkpoint_every_secs / tasks
        step = sum(parts.values())
        parts["checkpoint"] = step * saving
        return Prediction(tasks * work.batch_size / step / (1.0 + saving), parts)

    def ps_needed(self, tasks: int, is_synchronous: bool) -> int:
        """Returns the number of ps, at most `tasks`, beyond which more hardly help."""
        predict = self.synchronous if is_synchronous else self.asynchronous
        counts = sorted({min(tasks, round(2 ** (i / 4))) for i in range(41)})
        speeds = [predict(tasks, count).examples_per_sec for count in counts]
        return next(count for count, speed in zip(counts, speeds)
                    if speed >= _ENOUGH * max(speeds))

    def _of_worker(self, tasks: int, waits_for: int, is_alone: bool = False) -> dict[str, float]:
        """Returns the parts that do not depend on the network."""
        work = self._work
        read_secs = work.batch_size * self._costs.record_secs * records_read(
            work.input_files, tasks)
        wait = 1.0 if is_alone or tasks == 1 else self._wait(tasks, waits_for)
        parts = {"compute": work.step_secs, "stragglers": (wait - 1.0) * work.step_secs}
        # Records are read while the previous step is computed, so only the excess counts.
        parts["input shards"] = max(0.0, read_secs - sum(parts.values()))
        return parts

    def _wait(self, tasks: int, gradients: int) -> float:
        """Returns how long a step waits for its first `gradients` gradients, in mean step times."""
        draws = self._times.draw(np.random.default_rng(0), (max(_DRAWS // tasks, 100), tasks))
        return float(expected_waits(draws)[gradients - 1] / draws.mean())

    def _share(self, ps: int) -> float:
        """Returns the number of bytes on the fullest ps."""
        return max(self._work.model_bytes / ps, self._work.largest_bytes)

    def _client_secs(self) -> float:
        return self._costs.client.secs(self._work.variables, self._work.model_bytes)

    def _serving_secs(self, ps: int, *costs: Linear) -> float:
        """Returns the seconds that the busiest ps computes for a step of one worker."""
        return sum(cost.secs(self._work.variables / ps, self._share(ps))
                   for cost in costs) / self._cluster.ps_cores

    def _save_secs(self, writers: int) -> float:
        size = self._work.checkpoint_bytes / writers
        return self._costs.save.secs(0, size) if size else 0.0

    def _together(self, parts: dict[str, float], gradients: int, save_secs: float) -> Prediction:
        step = sum(parts.values())
        saving = save_secs / self._work.checkpoint_every_secs
        parts["checkpoint"] = step * saving
        return Prediction(gradients * self._work.batch_size / step / (1.0 + saving), parts)


def records_read(files: int, tasks: int) -> float:
    """Returns the records that a task reads for each one that it keeps, as `input_fns` share files.

    Every task has the same number of whole files. Every task also reads all remaining files, and
    keeps its share of their records.
    """
    if not files:
        return 1.0
    return (files // tasks + files % tasks) * tasks / files


def queue_secs(demands: list[float], delay: float, customers: int) -> list[float]:
    """Returns the seconds that a customer spends at each queue, waiting included.

    Args:
      demands: Seconds of service that a customer's round needs at each queue.
      delay: Seconds of a round spent at no queue.
      customers: Number of the customers.
    """
    waiting = [0.0] * len(demands)
    residence = demands
    for number in range(1, customers + 1):
        residence = [demand * (1.0 + queue) for demand, queue in zip(demands, waiting)]
        rate = number / (delay + sum(residence))
        waiting = [rate * secs for secs in residence]
    return residence
