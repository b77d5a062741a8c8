"""A data worker reads the data for whichever dispatcher the chief has, until training has ended."""

from __future__ import annotations

import pathlib

import pytest
import tensorflow as tf

from estimator_trainer.cluster import task_config
from estimator_trainer.coordination.job_state import JobStateWriter
from tests.support import jobs
from tests.support.tf_configs import config

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(100)]
_SERVICE = tf.data.experimental.service
_FLAGS = ("--model_fn=linear", "--input_fn=digits", "--noreport")


def _announced(state: JobStateWriter, dispatcher: _SERVICE.DispatchServer) -> list[int]:
    """Returns the elements of a range that the data workers of a dispatcher read."""
    address = dispatcher.target.rpartition("/")[2]
    state.announce_data_service({"address": address, "readers": "data_workers"})
    numbers = tf.data.Dataset.range(100).apply(_SERVICE.distribute(
        _SERVICE.ShardingPolicy.DYNAMIC, f"grpc://{address}"))
    return sorted(int(number) for number in numbers)


def test_a_data_worker_follows_the_dispatcher_and_ends_with_the_job(tmp_path: pathlib.Path) -> None:
    cluster = jobs.cluster(chief=1, data_worker=1)
    task = task_config.parse(config(cluster, "chief"))
    state = JobStateWriter(str(tmp_path / "m"), is_shared=True, cluster=task.counts)
    state.announce("running")
    data_worker = jobs.start(tmp_path, "data_worker:0", [*_FLAGS, f"--model_dir={tmp_path / 'm'}"],
                             config(cluster, "data_worker"))
    try:
        first = _SERVICE.DispatchServer()
        assert _announced(state, first) == list(range(100))
        # A chief that was started again has another dispatcher.
        again = JobStateWriter(str(tmp_path / "m"), is_shared=True, cluster=task.counts)
        again.announce("running")
        second = _SERVICE.DispatchServer()
        assert _announced(again, second) == list(range(100))
        again.announce("done", 7, "train_steps")
        jobs.wait([data_worker], 30)
    finally:
        jobs.kill(data_worker)
    assert data_worker.last_line.startswith("role=data_worker:0 status=done step=7")
    assert data_worker.log.count("prepares input at") == 2
