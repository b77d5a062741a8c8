"""The condition for taking part in a job: the task and the chief have the same cluster.

Tasks divide the data by the number of tasks in each role, and TensorFlow finds a task by its index
in a role. With other numbers, such as after a job was scaled, a task would read wrong shards, or
break the job. A cluster that has no address in common with the chief's belongs to another job in
the same model_dir.
"""

from __future__ import annotations

import time
from typing import Mapping

from absl import logging

from estimator_trainer import deadlines, errors
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination.job_state import JobState, JobStateReader
from estimator_trainer.errors import Problem, Setting


class Membership:
    """Compares the cluster of this task with the cluster of the running chief."""

    def __init__(self, model_dir: str, task: TaskConfig, state_reader: JobStateReader):
        self._model_dir, self._task, self._state_reader = model_dir, task, state_reader
        self._run, self._since = "", 0.0

    def check(self, now: JobState | None) -> bool:
        """Returns whether this task may take part; False while it has to wait.

        Raises:
          OtherClusterError: A running chief has had another cluster for OTHER_CLUSTER_SECS. For
            less long, the chief may be the last one of the job before, which is about to end.
        """
        if now is None or agrees(self._task, now):
            return now is not None
        if now.run != self._run or not self._state_reader.has_seen_chief:
            self._run, self._since = now.run, time.monotonic()
        if time.monotonic() - self._since < deadlines.OTHER_CLUSTER_SECS:
            logging.log_every_n_seconds(
                logging.WARNING, "%s has another cluster, %s: waits until it ends or agrees",
                int(deadlines.QUIET_SECS), self._task.name_of("chief", 0), _shown(now.cluster))
            return False
        if is_of_another_job(self._task, now):
            raise errors.OtherClusterError(
                Problem("model_dir", self._model_dir,
                        "and the training of another cluster goes on there: its"
                        f" {self._task.name_of('chief', 0)} runs, and none of its addresses is in"
                        f" {self._task.source}", "a directory of this job's own",
                        Setting("model_dir", f"{self._model_dir.rstrip('/')}-2")),
                is_missed=False)
        task, count = self._task, now.cluster.get(self._task.role, 0)
        raise errors.OtherClusterError(
            Problem("cluster", _shown(task.counts), source=task.source,
                    expected=f"the cluster of {task.name_of('chief', 0)},"
                    f" {_shown(now.cluster)!r}: tasks share data by these numbers",
                    advice="To grow or shrink a job, end all of its tasks, and start them again"
                    f" with one cluster and the same {Setting('model_dir')}.",
                    example="kubectl delete, then apply"),
            is_missed=task.index < count and (task.role == "ps" or "ps" not in now.cluster))


def agrees(task: TaskConfig, now: JobState) -> bool:
    """Returns whether the chief of a run has the cluster of this task, as far as is known.

    An evaluator shares no data with others, and its TF_CONFIG may list no other task.
    """
    if is_of_another_job(task, now):
        return False
    return task.role == "evaluator" or not now.cluster or now.cluster == task.counts


def is_of_another_job(task: TaskConfig, now: JobState) -> bool:
    """Returns whether the clusters of the chief and of this task have no address in common."""
    mine, theirs = set(task.fingerprint.split()), set(now.addresses.split())
    return bool(mine and theirs and not mine & theirs)


def _shown(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {role}" for role, count in counts.items())
