"""What a step of N tasks takes, part by part, where each task has a machine of its own.

Costs of computing come from measurements (`costs.py`), those of the network from who asks. Of
the network it knows two numbers: bytes a second of one machine's link, each way at once, and the
seconds until a message is there. Switches between machines are as fast as their links.
"""

from __future__ import annotations

import dataclasses

from costs import Costs
from costs import Linear
import numpy as np
from stragglers import expected_waits
from stragglers import StepTimes

_DRAWS = 400_000
# Adding ps ends when less than this is left to win.
_ENOUGH = 0.95


@dataclasses.dataclass(frozen=True)
class Workload:
    """What one task does.

    Attributes:
      step_secs: Mean time to compute the gradients of one batch.
      batch_size: Examples of it.
      model_bytes: Of all variables, and so of their gradients.
      variables: Their number.
      largest_bytes: Of the largest variable, which one ps holds; 0: all can be divided evenly.
      checkpoint_bytes: Of variables and what the optimizer keeps for them.
      checkpoint_every_secs: From one checkpoint to the next.
      input_files: Files that the tasks share; 0: as many as it takes to give each its own.
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
    """What the tasks run on.

    Attributes:
      bytes_per_sec: Of each machine's link, in each direction.
      latency_secs: Until a message is there.
      ps_cores: Of the machine of a ps.
      packs: Buffers that an all-reduce is divided into.
      backup: Workers whose gradients a synchronous step with ps does not wait for.
    """

    bytes_per_sec: float
    latency_secs: float
    ps_cores: int = 4
    packs: int = 1
    backup: int = 0


@dataclasses.dataclass(frozen=True)
class Prediction:
    """What comes of it.

    Attributes:
      examples_per_sec: Of all tasks.
      parts: By what it goes to: seconds of one worker's step.
    """

    examples_per_sec: float
    parts: dict[str, float]

    @property
    def bottleneck(self) -> str:
        """What takes most of a step: "compute" is what one should see."""
        return max(self.parts, key=lambda part: self.parts[part])


class StepModel:
    """Predicts the speed of a workload on a cluster, for any number of tasks and mode."""

    def __init__(self, work: Workload, cluster: Cluster, costs: Costs, times: StepTimes):
        """Makes it; `times` is the distribution of a worker's step times about their mean."""
        self._work, self._cluster, self._costs = work, cluster, costs
        self._times = times

    def all_reduce(self, tasks: int) -> Prediction:
        """Predicts a ring: 2 (n - 1) hops, in which each task sends 2 (n - 1) / n of the bytes."""
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
            # Bytes are on the wire while others are worked on.
            parts["ps bandwidth" if wire > computing else "ps computing"] = max(wire, computing)
        return self._together(parts, gradients, self._save_secs(ps))

    def asynchronous(self, tasks: int, ps: int) -> Prediction:
        """Predicts steps of tasks that each go on by themselves and meet at the ps.

        Mean value analysis of a closed queueing network (Reiser and Lavenberg, 1980): a ps's link
        in, its link out and its cores are the queues, all that a worker does alone the delay.
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
        # The chief alone waits for a checkpoint.
        saving = self._save_secs(ps) / work.checkpoint_every_secs / tasks
        step = sum(parts.values())
        parts["checkpoint"] = step * saving
        return Prediction(tasks * work.batch_size / step / (1.0 + saving), parts)

    def ps_needed(self, tasks: int, is_synchronous: bool) -> int:
        """Returns the least number of ps with which more would hardly help, at most `tasks`."""
        predict = self.synchronous if is_synchronous else self.asynchronous
        counts = sorted({min(tasks, round(2 ** (i / 4))) for i in range(41)})
        speeds = [predict(tasks, count).examples_per_sec for count in counts]
        return next(count for count, speed in zip(counts, speeds)
                    if speed >= _ENOUGH * max(speeds))

    def _of_worker(self, tasks: int, waits_for: int, is_alone: bool = False) -> dict[str, float]:
        """Returns the parts that no network has a share in."""
        work = self._work
        read_secs = work.batch_size * self._costs.record_secs * records_read(
            work.input_files, tasks)
        wait = 1.0 if is_alone or tasks == 1 else self._wait(tasks, waits_for)
        parts = {"compute": work.step_secs, "stragglers": (wait - 1.0) * work.step_secs}
        # Read while the step before is computed, so only what takes longer than that counts.
        parts["input shards"] = max(0.0, read_secs - sum(parts.values()))
        return parts

    def _wait(self, tasks: int, gradients: int) -> float:
        """Returns how long the first gradients take, in mean step times."""
        draws = self._times.draw(np.random.default_rng(0), (max(_DRAWS // tasks, 100), tasks))
        return float(expected_waits(draws)[gradients - 1] / draws.mean())

    def _share(self, ps: int) -> float:
        """Returns the bytes on the ps that has most."""
        return max(self._work.model_bytes / ps, self._work.largest_bytes)

    def _client_secs(self) -> float:
        return self._costs.client.secs(self._work.variables, self._work.model_bytes)

    def _serving_secs(self, ps: int, *costs: Linear) -> float:
        """Returns how long the busiest ps computes for a step of one worker."""
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
    """Returns how many records a task reads for each that it keeps, as `input_fns` share files.

    Each task has as many whole files as the others; those left over every task reads to the end,
    and keeps its part of.
    """
    if not files:
        return 1.0
    return (files // tasks + files % tasks) * tasks / files


def queue_secs(demands: list[float], delay: float, customers: int) -> list[float]:
    """Returns how long a customer is at each queue, waiting included.

    Args:
      demands: By queue: seconds of service that a customer's round needs there.
      delay: Seconds of a round spent at no queue.
      customers: How many go round.
    """
    waiting = [0.0] * len(demands)
    residence = demands
    for number in range(1, customers + 1):
        residence = [demand * (1.0 + queue) for demand, queue in zip(demands, waiting)]
        rate = number / (delay + sum(residence))
        waiting = [rate * secs for secs in residence]
    return residence
