"""A training set is handed out: each record once, whatever the dataset is made of."""

import functools
import threading

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.cluster import task_config
from estimator_trainer.coordination.job_state import JobStateReader, JobStateWriter
from estimator_trainer.input.data_service import Dispatching, HandedOut, Receiving
from input_fns import tfrecord
from tests.support import example_files


def _task(role):
    hosts = {"chief": ("localhost:1",), "worker": ("localhost:2",), "ps": ("localhost:3",)}
    return task_config.TaskConfig(
        hosts, role, 0, f"{role}:0", head_evaluates=False, has_evaluator=False, num_evaluators=0,
        trial="", notes=())


def _chief(tmp_path):
    state = JobStateWriter(str(tmp_path), is_shared=True)
    state.announce("running")
    return _task("chief"), state


@pytest.fixture
def service(tmp_path):
    """The parts of a chief and of a worker in one service."""
    dispatching = Dispatching(str(tmp_path), *_chief(tmp_path))
    receiving = Receiving(_task("worker"), JobStateReader(str(tmp_path), None), lambda: None)
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


def _save(model_dir):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.train.create_global_step()
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver().save(session, f"{model_dir}/model.ckpt", 20)


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


def test_each_trainer_reads_a_part_of_a_set_whose_length_is_asserted(service):
    found = _read_by_both(service, lambda: tf.data.Dataset.range(200).shard(1, 0).apply(
        tf.data.experimental.assert_cardinality(200)).batch(5))
    assert sorted(found[0] + found[1]) == list(range(200))


@pytest.mark.filterwarnings("ignore:To make it possible to preserve tf.data options")
def test_the_end_of_a_pass_waits_for_no_autotuner(service, monkeypatch):
    """TensorFlow waits for its thread, up to a minute, where a tuned dataset ends."""
    tuned, register = [], tf.data.experimental.service.register_dataset

    def recorded(address, dataset, **options):
        tuned.append(dataset.options().autotune.enabled)
        return register(address, dataset, **options)

    monkeypatch.setattr(tf.data.experimental.service, "register_dataset", recorded)
    with tf.Graph().as_default():
        received = service[0].hand_out(tf.data.Dataset.range(20))
        assert [*tuned, received.options().autotune.enabled] == [False, False]


def test_a_worker_whose_dataset_is_another_one_ends(service):
    dispatching, receiving = service
    _read(dispatching, lambda: tf.data.Dataset.range(20).shard(2, 0), [])
    with pytest.raises(errors.ConfigError, match="another dataset than that of chief:0"):
        _read(receiving, lambda: tf.data.Dataset.range(20).shard(2, 1), [])


def _of_records(folder):
    files = folder / "records"
    if not files.exists():
        files.mkdir()
        example_files.write_files(files, 3, 1000)
    return tfrecord.input_fn("train", {
        **tfrecord.DEFAULT_PARAMS, "train_files": f"{files}/*", "image": "", "key": "key",
        "schema": {"label": {"dtype": "int64", "shape": []}}, "batch_size": 5, "epochs": 1,
        "num_classes": 10}, HandedOut()).map(
            lambda features, _: tf.strings.to_number(tf.strings.substr(features["key"], 4, 9)))


def _of_files(folder):
    files = folder / "files"
    if not files.exists():
        files.mkdir()
        for part in range(200):
            (files / str(part)).write_text("\n".join(map(str, range(part, 1000, 200))))
    lines = tf.data.Dataset.list_files(f"{files}/*").interleave(
        tf.data.TextLineDataset, cycle_length=16, block_length=5, num_parallel_calls=8)
    return lines.map(tf.strings.to_number).batch(5)


@pytest.mark.parametrize("make_in", [lambda _: _thousand(), _of_records, _of_files],
                         ids=["range", "tfrecord", "list_files"])
def test_a_restarted_job_continues_in_the_pass(make_in, service, tmp_path):
    make = functools.partial(make_in, tmp_path)
    first, second = [], []
    _read(service[0], make, first, most=20)
    service[0].close()
    _save(tmp_path)
    again = Dispatching(str(tmp_path), *_chief(tmp_path))
    _read(again, make, second)
    # The data worker of the first run had some batches ready.
    assert len(first) == 100 and 700 < len(second) <= 900
    assert not set(first) & set(second)
    again.end_epochs()
    new = Dispatching(str(tmp_path), *_chief(tmp_path))
    later = []
    _read(new, make, later)
    assert sorted(later) == list(range(1000))
    new.end_epochs()


def test_the_next_pass_of_a_restarted_job_has_all_records_of_a_cached_set(service, tmp_path):
    def make():
        return tf.data.Dataset.range(1000).cache().repeat(2).batch(5)

    _read(service[0], make, [], most=20)
    service[0].close()
    _save(tmp_path)
    again, found = Dispatching(str(tmp_path), *_chief(tmp_path)), []
    _read(again, make, found)
    assert set(found) == set(range(1000)) and 1700 < len(found) <= 1900
    again.end_epochs()


def test_a_job_without_a_checkpoint_begins_the_pass(service, tmp_path):
    _read(service[0], _thousand, [], most=20)
    service[0].close()
    again, found = Dispatching(str(tmp_path), *_chief(tmp_path)), []
    _read(again, _thousand, found)
    assert sorted(found) == list(range(1000))
    again.end_epochs()


def _thousand():
    return tf.data.Dataset.range(1000).batch(5)


def test_a_table_in_the_dataset_is_refused(service):
    def make():
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0], [1]), -1)
        return tf.data.Dataset.range(3).map(lambda i: table.lookup(tf.cast(i, tf.int32)))

    with pytest.raises(errors.ConfigError, match="Look up in the model_fn"):
        _read(service[0], make, [])
