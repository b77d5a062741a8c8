"""Variables are spread over the ps by their size."""

from __future__ import annotations

import json
import os
from unittest import mock

import pytest
import tensorflow as tf

from estimator_trainer.estimator import builder

CLUSTER = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1", "d:1"]}


def _places(task, sizes, cluster=None):
    """Returns the jobs and tasks of variables of so many floats, in a trainer of the cluster."""
    tf_config = json.dumps({"cluster": cluster or CLUSTER, "task": task})
    with mock.patch.dict(os.environ, TF_CONFIG=tf_config):
        config = tf.estimator.RunConfig()
    function = builder.by_size(config)
    places = []
    for _ in range(2):  # A graph made again is placed as the one before.
        with tf.Graph().as_default() as graph, graph.device(function):
            tf.compat.v1.train.create_global_step()
            variables = [tf.compat.v1.get_variable(f"v{i}", [size], use_resource=True)
                         for i, size in enumerate(sizes)]
            work = tf.add_n([tf.reduce_sum(v) for v in variables])
        places.append(([v.device for v in variables], work.device))
    assert places[0] == places[1]
    return places[0]


def test_by_size_puts_two_large_variables_on_two_ps():
    # In turn, the kernels would both be on the one, the biases on the other.
    sizes = [1000, 10, 1000, 10]
    devices, work = _places({"type": "chief", "index": 0}, sizes)
    held = {device: sum(size for size, d in zip(sizes, devices) if d == device)
            for device in set(devices)}
    assert sorted(held) == ["/job:ps/task:0", "/job:ps/task:1"]
    assert max(held.values()) <= 1020
    assert work.startswith("/job:chief/task:0")


def test_by_size_gives_every_trainer_the_same_places():
    sizes = [7, 300, 20, 300, 5, 5, 1]
    chief, _ = _places({"type": "chief", "index": 0}, sizes)
    worker, work = _places({"type": "worker", "index": 0}, sizes)
    assert chief == worker and work.startswith("/job:worker/task:0")


@pytest.mark.parametrize("cluster, task", [
    ({**CLUSTER, "ps": ["c:1"]}, {"type": "worker", "index": 0}),
    (CLUSTER, {"type": "ps", "index": 1}),
])
def test_by_size_is_left_out_for_one_ps_and_for_a_ps(cluster, task):
    with mock.patch.dict(os.environ, TF_CONFIG=json.dumps({"cluster": cluster, "task": task})):
        assert builder.by_size(tf.estimator.RunConfig()) is None
