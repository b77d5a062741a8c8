"""The batches of features to predict, read outside an Estimator."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

import tensorflow as tf

from estimator_trainer.estimator.input_fn_adapter import InputFn


def read(input_fn: InputFn, params: dict[str, Any]) -> Iterator[Any]:
    """Yields the features of each batch to predict, as numpy arrays, in order."""
    graph = tf.Graph()
    with graph.as_default():
        made, start = input_fn(tf.estimator.ModeKeys.PREDICT, params), []
        if isinstance(made, tf.data.Dataset):
            iterator = tf.compat.v1.data.make_initializable_iterator(made)
            made, start = iterator.get_next(), [iterator.initializer]
        features = made[0] if isinstance(made, tuple) else made
        # The epochs of a queue are counted in a local variable.
        start += [tf.compat.v1.tables_initializer(), tf.compat.v1.local_variables_initializer()]
    coordinator = tf.train.Coordinator()
    # The graph is no default here: between two batches the caller runs code of its own.
    with contextlib.closing(tf.compat.v1.Session(graph=graph)) as session:
        session.run(start)
        with graph.as_default():
            threads = tf.compat.v1.train.start_queue_runners(session, coordinator)
        try:
            while not coordinator.should_stop():
                yield session.run(features)
        except tf.errors.OutOfRangeError:
            pass
        finally:
            coordinator.request_stop()
            coordinator.join(threads, ignore_live_threads=True)
