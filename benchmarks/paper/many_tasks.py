"""Simulates the control plane of an asynchronous job of many tasks, with model_dir in a bucket.

    python -m benchmarks.paper.many_tasks [--workers=1000] [--ps=100]

The intervals are the program's own (estimator_trainer/deadlines.py), and requests come at random
phases of them. Connections of each task, requests of an upload, and the chief's CPU are those that
`benchmarks.scaling.many_tasks` measured with up to 58 tasks, taken as linear. Nothing else is
measured: neither a network nor Google's limits. "Before" is version 1.0.
"""

from __future__ import annotations

import argparse
import dataclasses
import random

from estimator_trainer import deadlines
from estimator_trainer.reports import history

_INTERVALS = deadlines.poll_intervals("gs://bucket/job")
_UPLOAD, _SIMULATED_SECS = 2, 60
# Google's prices of 2026-11 for Standard storage in one region: an upload, and a read.
_DOLLARS_UPLOAD, _DOLLARS_READ = 0.005 / 1000, 0.0004 / 1000
_LINE_BYTES, _LEAST_LINES = 250, 200
_OPEN_FILES, _OTHER_FILES = 1024, 60
# Bytes of an address in Kubernetes ("job-worker-999.job.default.svc.cluster.local:2222"), and of
# the longest variable that Linux takes.
_ADDRESS_BYTES, _VARIABLE_BYTES = 56, 131_072
_AT_ONCE = 8
_STAND_STILL_POLLS = 1 / deadlines.WATCHDOG_POLL_SECS
_CHIEF_CPU_PERCENT = 0.06  # Percent of a core for each task, with a checkpoint every 20 s.
_BUCKET_MB_PER_SEC, _MERGE_REQUESTS = 100.0, 4


@dataclasses.dataclass(frozen=True)
class Job:
    """A job: its tasks, and the seconds of a request, a checkpoint and an evaluation."""

    workers: int = 1000
    ps: int = 100
    request_secs: float = 0.05
    checkpoint_gb: float = 50.0
    checkpoint_secs: float = 600.0
    eval_secs: float = 300.0

    @property
    def tasks(self) -> int:
        """Number of all tasks."""
        return self.workers + self.ps + 2

    def reads(self) -> list[tuple[float, int]]:
        """Returns how many tasks read an object at an interval in seconds."""
        return [(_INTERVALS.task_secs, self.workers + self.ps), (_INTERVALS.chief_trains_secs, 1),
                (_INTERVALS.evaluator_secs, 1), (_INTERVALS.checkpoint_secs, 1)]

    def uploads(self) -> list[tuple[float, int]]:
        """Returns how many tasks write an object at an interval in seconds."""
        return [(deadlines.OBJECT_HISTORY_SECS, self.tasks), (_INTERVALS.chief_heartbeat_secs, 1),
                (_INTERVALS.evaluator_heartbeat_secs, 1), (deadlines.LEASE_RENEW_SECS, 1)]


def main() -> None:
    """Prints a table for the job."""
    parser = argparse.ArgumentParser("python -m benchmarks.paper.many_tasks",
                                     description=__doc__.splitlines()[0])
    for field in dataclasses.fields(Job):
        parser.add_argument(f"--{field.name}", type=type(field.default), default=field.default)
    job = Job(**vars(parser.parse_args()))
    print("| | before | now |\n|---|---|---|")
    for name, cells in rows(job).items():
        print(f"| {name} | {' | '.join(cells)} |")


def rows(job: Job) -> dict[str, tuple[str, str]]:
    """Returns the cells before and now, by what they are of."""
    mean, most, dollars = requests(job)
    trainers = job.workers + 1

    def alike(text: str) -> tuple[str, str]:
        return text, text

    def both(each: tuple[float, float], digits: int = 0) -> tuple[str, str]:
        return f"{each[0]:,.{digits}f}", f"{each[1]:,.{digits}f}"

    shard_gb = job.checkpoint_gb / job.ps
    # Each ps writes its shard, and the chief renames the shards one by one.
    save_secs = 1e3 * shard_gb / _BUCKET_MB_PER_SEC + job.ps * _MERGE_REQUESTS * job.request_secs
    lag_secs = 1e3 * job.checkpoint_gb / _BUCKET_MB_PER_SEC + job.eval_secs
    lines, line_mb = history_lines(job.tasks), job.tasks * _LINE_BYTES / 1e6
    allowed = (_OPEN_FILES - _OTHER_FILES) // 2
    return {
        "requests/s to the bucket (most in a second)": alike(f"{mean:,.0f} ({most:,})"),
        "US$ an hour for them": alike(f"{dollars:.2f}"),
        "connections of a ps, at most": (
            f"{2 * trainers:,}; above {allowed} trainers the usual limit of 1,024 files ends it",
            f"{2 * trainers:,}; the limit is raised"),
        "connections of a worker": alike(f"{job.ps + 2:,}"),
        "polls/s of the ps by trainers that stand still, all": both(stand_still_polls(job)),
        "polls/s of trainers by the ps at the end, all": (
            f"{2 * job.ps * trainers:,}", f"{2 * job.ps:,}"),
        "a new chief removes messages, s": both(
            (trainers * job.request_secs, trainers * job.request_secs / _AT_ONCE)),
        "the chief collects histories at the end, s": both(
            (job.tasks * job.request_secs, job.tasks * job.request_secs / _AT_ONCE)),
        "history.jsonl, MB (16.8 are read)": both((line_mb * lines[0], line_mb * lines[1]), 1),
        "the tasks' own histories, MB": both(
            (line_mb * history.MOST_LINES, line_mb * lines[1]), 1),
        "the chief's control work, % of a core": alike(f"{_CHIEF_CPU_PERCENT * job.tasks:.0f}"),
        "TF_CONFIG, kB (Linux takes 131)": alike(f"{_ADDRESS_BYTES * job.tasks / 1e3:.0f}"),
        "a checkpoint": alike(f"{job.checkpoint_gb:.0f} GB in {job.ps} shards, {save_secs:.0f} s"),
        "the evaluator's lag, s; evaluators to keep up": alike(
            f"{lag_secs:.0f}; {-(-lag_secs // job.checkpoint_secs):.0f}")}


def requests(job: Job, seed: int = 1) -> tuple[float, int, float]:
    """Returns the requests in a second, the most in one, and what an hour of them costs in US$."""
    chance, counts, uploads = random.Random(seed), [0] * _SIMULATED_SECS, 0
    for size, tasks in ((1, job.reads()), (_UPLOAD, job.uploads())):
        for secs, count in tasks:
            for _ in range(count):
                at = chance.uniform(0, secs)
                while at < _SIMULATED_SECS:
                    counts[int(at)] += size
                    uploads += size > 1
                    at += secs
    reads = sum(counts) - _UPLOAD * uploads
    dollars = uploads * _DOLLARS_UPLOAD + reads * _DOLLARS_READ
    return sum(counts) / _SIMULATED_SECS, max(counts), dollars * 3600 / _SIMULATED_SECS


def stand_still_polls(job: Job) -> tuple[float, float]:
    """Returns the connections/s to ps of trainers that wait for a step, before and now."""
    secs = deadlines.peers_poll_secs(
        job.ps, deadlines.PEER_TIMEOUT_SECS / deadlines.HEARTBEATS_TO_MISS)
    each = job.ps * _STAND_STILL_POLLS, job.ps / max(secs, deadlines.WATCHDOG_POLL_SECS)
    return (job.workers + 1) * each[0], (job.workers + 1) * each[1]


def history_lines(num_tasks: int) -> tuple[int, int]:
    """Returns the most lines of training that a task keeps in history.jsonl, before and now."""
    few = [{"task": "worker:0", "kind": "train", "time": float(i), "step": i}
           for i in range(_LEAST_LINES)]
    return _LEAST_LINES, len(history.thinned(few, num_tasks))


if __name__ == "__main__":
    main()
