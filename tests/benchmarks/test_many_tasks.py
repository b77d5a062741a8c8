"""Tests the measurement of jobs of many tasks: shapes, what it reads, and a job of two tasks."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from benchmarks.paper import many_tasks as on_paper
from benchmarks.scaling import many_tasks, task_usage
from tests.support import jobs

pytestmark = [pytest.mark.any_tensorflow,
              pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")]


@pytest.mark.parametrize("total, expected", [
    (2, (0, 1, 0)), (8, (5, 1, 1)), (24, (19, 3, 1)), (58, (48, 8, 1))])
def test_the_shape_of_a_job_has_the_requested_number_of_tasks(total, expected):
    shape = many_tasks.shape_of(total)
    assert shape == expected and sum(shape) + 1 == total


def test_usage_counts_the_memory_threads_and_connections_of_a_process():
    before = task_usage.Usage.of(os.getpid())
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(
            server.getsockname()):
        after = task_usage.Usage.of(os.getpid())
    assert after.connections == before.connections + 1
    assert 0 < after.own_mb <= after.proportional_mb and after.threads >= 1
    assert after.cpu_secs >= before.cpu_secs


def test_the_simulated_requests_are_near_those_that_were_measured():
    mean, most, dollars = on_paper.requests(on_paper.Job(workers=48, ps=8))
    # docs/scaling.md: 38 a second of 58 tasks, checkpoints and evaluations included.
    assert 25 < mean < 38 and mean < most < 3 * mean and 0 < dollars < 1


def test_a_simulated_thousand_workers_poll_no_more_than_each_is_allowed():
    job = on_paper.Job()
    before, now = on_paper.stand_still_polls(job)
    assert now <= (job.workers + 1) * 32.1 < before / 5
    assert set(map(len, on_paper.rows(job).values())) == {2}


@pytest.mark.cluster
@pytest.mark.soak
def test_the_smallest_job_ends_right_although_a_task_is_killed():
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.scaling.many_tasks", "--sizes=2", "--kills=1",
         "--secs=2", "--latency_ms=5"], text=True, capture_output=True, timeout=170,
        env=jobs.environment(), check=False)
    assert not ended.returncode, ended.stdout + ended.stderr
    *_, row = ended.stdout.splitlines()
    assert row.startswith("| 2: 1 chief, 0 worker, 1 ps | ") and "killed: " in ended.stderr
