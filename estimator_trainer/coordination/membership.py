"""A task takes part in a job if the chief was told of the same number of tasks in each role.

Tasks share the data by these numbers, and TensorFlow finds a task by its number in a role. A task
that was told of others, as after a job was scaled, would read wrong shards, or break the job.
"""

from __future__ import annotations

import time
from typing import Mapping

from absl import logging

from estimator_trainer import deadlines
from estimator_trainer import errors
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination.job_state import JobState
from estimator_trainer.coordination.job_state import JobStateReader


class Membership:
    """Compares the cluster of this task with that of the chief whose run goes on."""

    def __init__(self, task: TaskConfig, state_reader: JobStateReader):
        """Makes the comparison of a task; `state_reader` knows whether the chief lives."""
        self._task, self._state_reader = task, state_reader
        self._run, self._since = "", 0.0

    def check(self, now: JobState | None) -> bool:
        """Returns whether this task may take part; False while it is to wait.

        Args:
          now: How the job stands.

        Raises:
          OtherClusterError: A chief that lives has had another cluster for OTHER_CLUSTER_SECS. It
            may be that of the job before, which is about to end.
        """
        if now is None or agrees(self._task, now):
            return now is not None
        if now.run != self._run or not self._state_reader.has_seen_chief:
            self._run, self._since = now.run, time.monotonic()
        if time.monotonic() - self._since < deadlines.OTHER_CLUSTER_SECS:
            logging.log_every_n_seconds(
                logging.WARNING, "%s has another cluster, %s: waits for it to end, or to agree",
                int(deadlines.QUIET_SECS), self._task.name_of("chief", 0), _shown(now.cluster))
            return False
        task, count = self._task, now.cluster.get(self._task.role, 0)
        raise errors.OtherClusterError(
            f"cluster is {_shown(task.counts)!r} (from {task.source}); expected that of"
            f" {task.name_of('chief', 0)}, {_shown(now.cluster)!r}: tasks share data by these"
            " numbers. To grow or shrink a job, end all of its tasks, and start them again with"
            " one cluster and the same --model_dir. For example: kubectl delete, then apply",
            is_missed=task.index < count and (task.role == "ps" or "ps" not in now.cluster))


def agrees(task: TaskConfig, now: JobState) -> bool:
    """Returns whether the chief of a run has the cluster of this task, as far as it says so."""
    return not now.cluster or now.cluster == task.counts


def _shown(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {role}" for role, count in counts.items())
