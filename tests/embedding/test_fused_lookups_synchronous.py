"""Fused lookups in packs train the same in synchronous steps with ps, to the bit."""

from __future__ import annotations

import concurrent.futures

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.communication import ps_packs
from estimator_trainer.embedding import fused_lookups
from tests.support import jobs

_STEPS, _BATCH, _TRAINERS = 3, 16, 2
_MOST_MS = 60_000
_NAMES = ("a", "b", "c")
v1 = tf.compat.v1
columns = tf.feature_column


class _Trainer:
    """A trainer's graph and session; each trainer has other data."""

    def __init__(self, number, target, setter, is_fused):
        random = np.random.default_rng(number)
        self._data = {name: random.choice(["", "x", "y", "z", "w"], [_STEPS, _BATCH, 2])
                      for name in _NAMES}
        self._labels = random.normal(size=[_STEPS, _BATCH, 1]).astype(np.float32)
        self.optimizer = v1.train.SyncReplicasOptimizer(
            v1.train.AdagradOptimizer(0.1), _TRAINERS, _TRAINERS)
        with tf.Graph().as_default() as self.graph, v1.device(setter):
            v1.set_random_seed(7)
            self._fed = {name: v1.placeholder(tf.string, [None, 2]) for name in _NAMES}
            self._fed_labels = v1.placeholder(tf.float32, [None, 1])
            self._fetches = self._step()
            if is_fused:
                fused_lookups.fuse(self._fetches[0])
                ps_packs.send_in_packs(self._fetches[0])
            self.start = [v1.global_variables_initializer(), v1.tables_initializer(),
                          v1.local_variables_initializer()]
            [self.complete] = self.optimizer.get_chief_queue_runner().enqueue_ops
            self.variables = {each.op.name: each for each in v1.global_variables()}
            self.session = v1.Session(target)

    def _step(self):
        cat = [columns.categorical_column_with_hash_bucket(name, 20) for name in _NAMES]
        wide = v1.feature_column.linear_model(self._fed, cat)
        deep = v1.feature_column.input_layer(
            self._fed, [columns.embedding_column(each, 4) for each in cat])
        loss = tf.reduce_mean((wide + tf.reduce_sum(deep, 1, keepdims=True) -
                               self._fed_labels) ** 2)
        # The train op changes a local variable, and an EstimatorSpec takes the operation of one.
        return self.optimizer.minimize(loss, v1.train.get_or_create_global_step()).op, loss

    def run(self, step):
        """Makes a step, which the other trainer must make too; returns loss and calls."""
        fed = {self._fed[name]: values[step] for name, values in self._data.items()}
        metadata = v1.RunMetadata()
        _, loss = self.session.run(
            self._fetches, {**fed, self._fed_labels: self._labels[step]},
            v1.RunOptions(output_partition_graphs=True, timeout_in_ms=_MOST_MS), metadata)
        return loss, sum(
            node.op == "_Recv" and node.attr["send_device"] != node.attr["recv_device"]
            for graph in metadata.partition_graphs for node in graph.node)

    def complete_steps(self):
        """Applies the mean gradients of each step, and lets the trainers begin the next one."""
        for _ in range(_STEPS):
            self.session.run(self.complete, options=v1.RunOptions(timeout_in_ms=_MOST_MS))


def _train(is_fused):
    """Returns the losses of all steps and trainers, the variables, and the calls of a step."""
    hosts = jobs.cluster(chief=1, worker=1, ps=2)
    servers = [tf.distribute.Server(hosts, role, index)
               for role in hosts for index in range(len(hosts[role]))]
    chief, worker = trainers = [_Trainer(number, server.target, v1.train.replica_device_setter(
        worker_device=f"/job:{role}/task:0", cluster=tf.train.ClusterSpec(hosts)), is_fused)
        for number, (role, server) in enumerate(zip(("chief", "worker"), servers))]
    chief.session.run(chief.start)
    chief.session.run(chief.optimizer.chief_init_op)
    worker.session.run(worker.start[2])
    worker.session.run(worker.optimizer.local_step_init_op)
    # No trainer has a token from the start: a step of both ends with its update.
    with concurrent.futures.ThreadPoolExecutor(_TRAINERS + 1) as pool:
        completion = pool.submit(chief.complete_steps)
        made = [list(pool.map(lambda each, step=step: each.run(step), trainers))
                for step in range(_STEPS)]
        completion.result()
    values = chief.session.run(chief.variables)
    return [[loss for loss, _ in step] for step in made], values, made[-1][0][1]


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore:`layer.add_variable` is deprecated")
def test_synchronous_steps_train_the_same():
    single, fused = (_train(is_fused) for is_fused in (False, True))
    assert fused[0] == single[0]
    assert fused[1]["global_step"] == _STEPS
    assert fused[1].keys() == single[1].keys()
    for name, value in single[1].items():
        np.testing.assert_array_equal(fused[1][name], value, err_msg=name)
    assert fused[2] < single[2]
