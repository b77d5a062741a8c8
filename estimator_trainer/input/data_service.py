"""The training set, handed out to the trainers while they read it, by TensorFlow's tf.data service.

The chief registers its dataset with a dispatcher in its process, whose address is in job.json. The
next records go to the trainer that requests them next, so a slow one takes fewer.

Where splits.py finds that several processes can read the dataset together, each trainer has a data
worker in its process, or the job has data workers as tasks of their own. Any other dataset is read
by a data worker in the chief's process alone.
"""

from __future__ import annotations

import contextlib
import posixpath
from typing import Callable, Mapping, Protocol
import warnings

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors, storage
from estimator_trainer.cluster import peers
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import checkpoints, shared_files, stop as stop_lib
from estimator_trainer.coordination.job_state import JobStateReader, JobStateWriter
from estimator_trainer.graph import graph_names, graph_state
from estimator_trainer.input import batches, splits as splits_lib

# The chief's journal of what it has handed out, in model_dir.
_FOLDER = "data_service"
_SERVICE = tf.data.experimental.service
# More would be lost with a trainer that is killed.
_MOST_REQUESTS = 2
_HEARTBEAT_MS = 5000
# The field of this update in journal.proto of tensorflow/core/data/service.
_FINISH_TASK = 4


class DataService(Protocol):
    """The part of one trainer in the service."""

    def hand_out(self, dataset: tf.data.Dataset, has_same_python: bool = False) -> tf.data.Dataset:
        """Returns the records that this trainer gets of the whole training set.

        `has_same_python` says that its Python functions return the same in each process.
        """


class HandedOut(tf.distribute.InputContext):
    """The input_context of a training set that is handed out: one pipeline, which reads all.

    Attributes:
      is_handed_out: Whether several processes may divide the dataset while they read it.
      same_python: A dataset whose Python functions return the same in each process; an input_fn
        sets it to what it returns.
    """

    is_handed_out = True
    same_python: tf.data.Dataset | None = None


class Dispatching:
    """The dispatcher, in the chief's process; its journal lets a restarted job continue."""

    def __init__(self, model_dir: str, task: TaskConfig, state: JobStateWriter):
        self._model_dir, self._task, self._state = model_dir, task, state
        self._folder = posixpath.join(model_dir, _FOLDER)
        self._place: Mapping[str, str] = {}
        # See `Splits`.
        self.size = 0, 1
        # The global step at which the passes began.
        self.first_step = checkpoints.latest_step(model_dir)
        # A server stops when its object is deleted.
        self._servers: list[object] = []
        # Python functions of a dataset live as long as its graph.
        self._dataset: tf.data.Dataset | None = None

    def hand_out(self, dataset: tf.data.Dataset, has_same_python: bool = False) -> tf.data.Dataset:
        if not self._place:
            self._place = self._begin(dataset, has_same_python)
            self._dataset = dataset
            self._state.announce_data_service(self._place)
        return _received(self._place, dataset)

    def close(self) -> None:
        """Stops the servers; a later run continues in the pass."""
        self._servers.clear()

    def end_epochs(self) -> None:
        """Forgets what was handed out, at the end of training, so that a later run reads all."""
        self.close()
        if self._place:
            self._remove_journal()

    def _begin(self, dataset: tf.data.Dataset, has_same_python: bool) -> Mapping[str, str]:
        splits = _splits_of(dataset, has_same_python)
        _refuse_of_session(splits)
        self.size = splits.size
        # A data worker's process has not called the input_fn, which has the Python functions.
        has_tasks = bool(self._task.data_workers) and not splits.python
        is_divided = not splits.undivided and (
            has_tasks or splits.are_fine(self._task.num_trainers))
        readers = "chief" if not is_divided else "data_workers" if has_tasks else "trainers"
        address = self._serve(is_divided and splits.can_be_resumed)
        with tf.Graph().as_default():
            variant = batches.copied(tf.data.experimental.to_variant(dataset),
                                     splits.share_python() if is_divided else None)
            if is_divided:
                variant = splits_lib.divided(variant, splits, max(
                    self._task.num_trainers, len(self._task.data_workers)))
            with tf.compat.v1.Session() as session:
                copy = _with_little_ahead(
                    tf.data.experimental.from_variant(variant, dataset.element_spec))
                with warnings.catch_warnings():
                    # In a graph TensorFlow knows the options of the dataset, and says it may not.
                    warnings.simplefilter("ignore", UserWarning)
                    registered = _SERVICE.register_dataset(
                        address, copy, compression=None, dataset_id=splits.fingerprint)
                session.run(registered)
        if readers != "data_workers":
            self._servers.append(worker_server(address, host_of(self._task)))
        self._log(splits, readers)
        return {"address": address, "set": splits.fingerprint, "job": splits.fingerprint,
                "readers": readers,
                "policy": "OFF" if splits.undivided else "DYNAMIC",
                "target": "LOCAL" if readers == "trainers" else "AUTO"}

    def _serve(self, has_journal: bool) -> str:
        """Starts the dispatcher; returns its address."""
        has_journal = has_journal and not storage.is_object_store(self._model_dir)
        if not (has_journal and checkpoints.latest_step(self._model_dir)):
            self._remove_journal()
        elif tf.io.gfile.exists(self._folder):
            text = shared_files.read_text(self._first_file) or ""
            self.first_step = int(text) if text.isdigit() else self.first_step
            _continue_in(self._folder)
            logging.info("the data service continues in the training set where it was stopped;"
                         " records that were handed out after the restored checkpoint are lost")
        if has_journal:
            shared_files.make_folder(self._folder)
            shared_files.write_text(self._first_file, str(self.first_step))
        dispatcher = _SERVICE.DispatchServer(_SERVICE.DispatcherConfig(
            work_dir=self._folder if has_journal else None, fault_tolerant_mode=has_journal,
            job_gc_timeout_ms=-1, worker_timeout_ms=int(deadlines.CONNECTION_SECS * 1000)))
        self._servers.append(dispatcher)
        port = dispatcher.target.rpartition(":")[2]
        return f"{host_of(self._task)}:{port}"

    @property
    def _first_file(self) -> str:
        return posixpath.join(self._folder, "first_step")

    def _remove_journal(self) -> None:
        if tf.io.gfile.exists(self._folder):
            tf.io.gfile.rmtree(self._folder)

    def _log(self, splits: splits_lib.Splits, readers: str) -> None:
        why = splits.undivided or "its source has too few elements to divide it"
        logging.info("the training set is handed out while it is read, %s", {
            "data_workers": "by the data workers", "trainers": "each trainer reads other parts",
            "chief": f"by the chief alone: {why}"}[readers])


class Receiving:
    """The part of a worker, which waits until the chief hands out the training set."""

    def __init__(self, task: TaskConfig, state: JobStateReader, wait: Callable[[], None]):
        """Makes the object; `wait` pauses, and raises when this task is to stop."""
        self._task, self._state, self._wait = task, state, wait
        self._place: Mapping[str, str] = {}
        self._servers: list[object] = []
        # Python functions of a dataset live as long as its graph.
        self._dataset: tf.data.Dataset | None = None

    def hand_out(self, dataset: tf.data.Dataset, has_same_python: bool = False) -> tf.data.Dataset:
        if not self._place:
            self._place = self._wait_for_chief()
            self._state.service_address = self._place["address"]
        splits = _splits_of(dataset, has_same_python)
        if splits.fingerprint != self._place["set"]:
            raise errors.ConfigError(
                f"the input_fn of {self._task.name} makes another dataset than that of"
                f" {self._task.name_of('chief', 0)}, and {errors.Setting('data_service', True)}"
                " hands out the chief's to all trainers; expected one that does not depend on the"
                " task: the same files, numbers and seeds, without a shard of its own")
        if self._place["readers"] == "trainers" and not self._servers:
            splits.share_python()
            self._dataset = dataset
            self._servers.append(worker_server(self._place["address"], host_of(self._task)))
        return _received(self._place, dataset)

    def _wait_for_chief(self) -> Mapping[str, str]:
        while True:
            state = self._state.poll()
            place = state.data_service if state else {}
            # The file may be an earlier chief's.
            if place and peers.state(place["address"]) == "up":
                return place
            self._wait()


def _continue_in(folder: str) -> None:
    """Changes the journal so that the trainers of the new job get parts of the same pass.

    A trainer that stops has its data worker's task finished, and a pass ends when all are.
    """
    for path in tf.io.gfile.glob(posixpath.join(
            shared_files.escape(folder), "tf_data_dispatcher_journal", "journal_*")):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            update = tf.compat.v1.data.make_one_shot_iterator(
                tf.data.TFRecordDataset(path)).get_next()
            updates = []
            # An update that was cut off is the last one.
            with contextlib.suppress(tf.errors.OutOfRangeError, tf.errors.DataLossError):
                while True:
                    updates.append(session.run(update))
        with tf.io.TFRecordWriter(f"{path}.new") as writer:
            for each in updates:
                if each[0] >> 3 != _FINISH_TASK:
                    writer.write(each)
        tf.io.gfile.rename(f"{path}.new", path, overwrite=True)


def host_of(task: TaskConfig) -> str:
    """Returns the host at which other tasks reach this one."""
    return task.declared_address.rpartition(":")[0] or "localhost"


def worker_server(address: str, host: str, port: int = 0) -> object:
    """Returns a data worker of a dispatcher, which serves at `host` until it is deleted."""
    config = _SERVICE.WorkerConfig(
        dispatcher_address=address, worker_address=f"{host}:%port%", port=port,
        heartbeat_interval_ms=_HEARTBEAT_MS)
    # TensorFlow waits for a dispatcher that is gone without end, and holds Python's lock meanwhile.
    with stop_lib.killed_after(deadlines.CONNECTION_SECS):
        return _SERVICE.WorkerServer(config)


def _received(place: Mapping[str, str], dataset: tf.data.Dataset) -> tf.data.Dataset:
    if place["target"] == "LOCAL":
        graph_state.IS_HANDED_OUT.put(1)
    with graph_names.own():
        is_endless = batches.is_endless(dataset)
        received = _SERVICE.from_dataset_id(
            _SERVICE.ShardingPolicy[place["policy"]], f"grpc://{place['address']}", place["set"],
            dataset.element_spec, job_name=place["job"], target_workers=place["target"],
            max_outstanding_requests=_MOST_REQUESTS if place["target"] == "LOCAL" else None)
        if is_endless:
            received = received.apply(
                tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY))
        return _with_little_ahead(received)


def _with_little_ahead(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Returns the dataset without buffers that TensorFlow adds: they are lost with the process.

    Without autotuning, AUTOTUNE is a call for each core. With it, a pass may end up to a minute
    late: the tuning thread can miss its cancellation until its next round (TensorFlow's model.cc,
    OptimizeLoop; cancellation.cc).
    """
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    options.autotune.enabled = False
    return dataset.with_options(options)


def _splits_of(dataset: tf.data.Dataset, has_same_python: bool) -> splits_lib.Splits:
    with tf.Graph().as_default():
        return splits_lib.of_copy(batches.copied(tf.data.experimental.to_variant(dataset)),
                                  has_same_python)


def _refuse_of_session(splits: splits_lib.Splits) -> None:
    if splits.of_session:
        raise errors.ConfigError(
            f"the training set needs a {splits.of_session} of this process's session, and"
            f" {errors.Setting('data_service', True)} hands out datasets that need none: no lookup"
            " tables, variables, queues and iterators. Look up in the model_fn, or train without"
            f" {errors.Setting('data_service', True)}.")
