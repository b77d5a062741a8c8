"""The optimizer lazy_adam: Adam on the rows of a table that a batch uses."""

from __future__ import annotations

import collections

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.communication import ps_packs
from estimator_trainer.embedding import fused_lookups
from model_fns.training import optimizers
from tests.support import jobs

v1 = tf.compat.v1
_BATCHES = ([0, 2, 2], [2, 4, 4], [0, 0, 4])
_PARAMS = {"adam_beta1": 0.8, "adam_beta2": 0.9, "epsilon": 1e-3}
_RATE = 0.1


def _initial(shape, dtype=None, partition_info=None):
    """Returns 0.0, 0.1, ... or a part of them."""
    whole = np.arange(12).reshape(6, 2) / 10
    first = partition_info.var_offset[0] if partition_info else 0
    return tf.constant(whole[first:first + shape[0]], tf.float32)


def _optimizer(name="lazy_adam"):
    return optimizers.by_name({**_PARAMS, "optimizer": name}, tf.constant(_RATE))


def _trained(name, batches, partitions=None):
    """Returns the table, and a vector of a dense gradient, after a step for each batch of ids."""
    with tf.Graph().as_default(), v1.Session() as session:
        table = v1.get_variable(
            "table", [6, 2], use_resource=True, partitioner=partitions,
            initializer=_initial)
        dense = v1.get_variable("dense", initializer=[1.0, 2.0], use_resource=True)
        ids = v1.placeholder(tf.int64, [None])
        rows = tf.nn.embedding_lookup(table, ids)
        loss = tf.reduce_sum(tf.square(rows)) / 2 + tf.reduce_sum(tf.square(dense)) / 2
        step = _optimizer(name).minimize(loss)
        session.run(v1.global_variables_initializer())
        for batch in batches:
            session.run(step, {ids: batch})
        return session.run([tf.convert_to_tensor(table), dense])


def _in_numpy(batches):
    table = np.arange(12).reshape(6, 2) / 10
    mean, square = np.zeros_like(table), np.zeros_like(table)
    beta1, beta2 = _PARAMS["adam_beta1"], _PARAMS["adam_beta2"]
    for step, batch in enumerate(batches, 1):
        rows, counts = np.unique(batch, return_counts=True)
        gradient = table[rows] * counts[:, np.newaxis]  # The same id twice has twice the gradient.
        mean[rows] = beta1 * mean[rows] + (1 - beta1) * gradient
        square[rows] = beta2 * square[rows] + (1 - beta2) * gradient**2
        rate = _RATE * (1 - beta2**step)**0.5 / (1 - beta1**step)
        table[rows] -= rate * mean[rows] / (square[rows]**0.5 + _PARAMS["epsilon"])
    return table


@pytest.mark.parametrize("partitions", [None, v1.fixed_size_partitioner(2)])
def test_only_the_rows_of_a_batch_change_and_as_with_adam(partitions):
    table, _ = _trained("lazy_adam", _BATCHES, partitions)
    np.testing.assert_allclose(table, _in_numpy(_BATCHES), rtol=1e-5)
    np.testing.assert_array_equal(table[[1, 3, 5]], np.float32([[.2, .3], [.6, .7], [1., 1.1]]))


def test_dense_gradients_and_full_batches_are_adams():
    for lazy, adam in zip(_trained("lazy_adam", [range(6)] * 3), _trained("adam", [range(6)] * 3)):
        np.testing.assert_allclose(lazy, adam, rtol=1e-6)


def _trained_on(target, device, partitions, is_fused):
    """Returns the variables by name after three steps, and the operations of the last by type."""
    data = np.random.default_rng(1).integers(0, 9, [3, 3, 16, 2])  # 0 stands for no id.
    metadata, options = v1.RunMetadata(), v1.RunOptions(output_partition_graphs=True)
    with tf.Graph().as_default(), v1.device(device):
        fed = v1.placeholder(tf.int64, [3, None, 2])
        units = [v1.nn.safe_embedding_lookup_sparse(
            v1.get_variable(f"table_{column}", [9, 4], partitioner=partitions, use_resource=True,
                            initializer=v1.random_normal_initializer(seed=column)),
            tf.sparse.from_dense(fed[column])) for column in range(3)]
        kernel = v1.get_variable("kernel", [12, 1], initializer=v1.ones_initializer())
        step = _optimizer().minimize(tf.reduce_mean((tf.concat(units, 1) @ kernel) ** 2))
        if is_fused:
            fused_lookups.fuse(step)
            ps_packs.send_in_packs(step)
        with v1.Session(target, config=v1.ConfigProto(isolate_session_state=True)) as session:
            session.run(v1.global_variables_initializer())
            for batch in data:
                session.run(step, {fed: batch}, options, metadata)
            values = {each.op.name: session.run(each) for each in v1.global_variables()}
    kinds = collections.Counter(node.op for graph in metadata.partition_graphs
                                for node in graph.node)
    return values, kinds


@pytest.mark.cluster
@pytest.mark.parametrize("partitions", [None, v1.fixed_size_partitioner(2)])
def test_tables_on_ps_get_the_same_values_as_in_one_process(partitions):
    hosts = jobs.cluster(chief=1, ps=2)
    servers = [tf.distribute.Server(hosts, role, index)
               for role in hosts for index in range(len(hosts[role]))]
    device = v1.train.replica_device_setter(
        worker_device="/job:chief/task:0", cluster=tf.train.ClusterSpec(hosts))
    alone, _ = _trained_on("", None, partitions, is_fused=False)
    plain, plain_kinds = _trained_on(servers[0].target, device, partitions, is_fused=False)
    fused, kinds = _trained_on(servers[0].target, device, partitions, is_fused=True)
    assert alone.keys() == plain.keys() == fused.keys()
    for name, value in alone.items():
        np.testing.assert_array_equal(plain[name], value, err_msg=name)
        np.testing.assert_array_equal(fused[name], value, err_msg=name)
    assert kinds["_Recv"] < plain_kinds["_Recv"]
    # The lookups in a table of several parts stay single.
    assert kinds["SparseFillEmptyRows"] == (1 if partitions is None else 3)
