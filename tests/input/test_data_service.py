"""A training set is handed out: each record once, whatever the dataset is made of."""

import threading

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.cluster import task_config
from estimator_trainer.coordination.job_state import JobStateReader, JobStateWriter
from estimator_trainer.input.data_service import Dispatching, Receiving


@pytest.fixture
def service(tmp_path):
    """The parts of a chief and of a worker in one service."""
    hosts = {"chief": ("localhost:1",), "worker": ("localhost:2",), "ps": ("localhost:3",)}
    chief, worker = (task_config.TaskConfig(
        hosts, role, 0, f"{role}:0", head_evaluates=False, has_evaluator=False, num_evaluators=0,
        trial="", notes=()) for role in ("chief", "worker"))
    state = JobStateWriter(str(tmp_path), is_shared=True)
    state.announce("running")
    dispatching = Dispatching(str(tmp_path), chief, state)
    receiving = Receiving(worker, JobStateReader(str(tmp_path), None), lambda: None)
    yield dispatching, receiving
    dispatching.end_epochs()


def _read(service, make, found, most=None):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        received = tf.compat.v1.data.make_one_shot_iterator(service.hand_out(make())).get_next()
        with_end = range(most) if most else iter(int, 1)
        try:
            for _ in with_end:
                found.extend(np.ravel(session.run(received)).tolist())
        except tf.errors.OutOfRangeError:
            pass


def _read_by_both(services, make):
    found = [[], []]
    threads = [threading.Thread(target=_read, args=(service, make, ids), daemon=True)
               for service, ids in zip(services, found)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return found


@pytest.mark.parametrize("make", [
    lambda: tf.data.Dataset.range(200).batch(5),
    lambda: tf.data.Dataset.range(300).take(200).shuffle(200).batch(5),
    lambda: tf.data.Dataset.range(200).map(
        lambda i: tf.ensure_shape(tf.py_function(lambda x: x, [i], tf.int64), [])).batch(5),
    lambda: tf.data.Dataset.from_generator(
        lambda: iter(range(200)), output_signature=tf.TensorSpec([], tf.int64)).batch(5),
], ids=["divided", "take", "py_function", "generator"])
def test_each_record_goes_to_one_trainer(service, make):
    found = _read_by_both(service, make)
    assert sorted(found[0] + found[1]) == list(range(200))


def test_a_worker_whose_dataset_is_another_one_ends(service):
    dispatching, receiving = service
    _read(dispatching, lambda: tf.data.Dataset.range(20).shard(2, 0), [])
    with pytest.raises(errors.ConfigError, match="another dataset than that of chief:0"):
        _read(receiving, lambda: tf.data.Dataset.range(20).shard(2, 1), [])


def test_a_table_in_the_dataset_is_refused(service):
    def make():
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0], [1]), -1)
        return tf.data.Dataset.range(3).map(lambda i: table.lookup(tf.cast(i, tf.int32)))

    with pytest.raises(errors.ConfigError, match="Look up in the model_fn"):
        _read(service[0], make, [])
