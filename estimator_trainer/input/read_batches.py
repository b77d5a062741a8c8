"""Reads the batches of an input_fn as numpy values, in a graph and a session of their own."""

import contextlib
from typing import Any, Callable, Generator

import tensorflow as tf


def values(make: Callable[[], Any],
           chosen: Callable[[Any], Any] = lambda batch: batch) -> Generator[Any, None, None]:
    """Yields the value of each batch, in order.

    Args:
      make: A function that calls the input_fn, which returns a dataset, or tensors such as those of
        queues.
      chosen: Returns the part of a batch's tensors that is computed.
    """
    graph = tf.Graph()
    with graph.as_default():
        made, start = make(), []
        if isinstance(made, tf.data.Dataset):
            iterator = tf.compat.v1.data.make_initializable_iterator(made)
            made, start = iterator.get_next(), [iterator.initializer]
        tensors = chosen(made)
        # A queue counts its epochs in a local variable.
        start += [tf.compat.v1.tables_initializer(), tf.compat.v1.local_variables_initializer()]
    coordinator = tf.train.Coordinator()
    # The graph is not the default here: between two batches the caller runs other code.
    with contextlib.closing(tf.compat.v1.Session(graph=graph)) as session:
        session.run(start)
        with graph.as_default():
            threads = tf.compat.v1.train.start_queue_runners(session, coordinator)
        try:
            while not coordinator.should_stop():
                yield session.run(tensors)
        except tf.errors.OutOfRangeError:
            pass
        finally:
            coordinator.request_stop()
            coordinator.join(threads, ignore_live_threads=True)
