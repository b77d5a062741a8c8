"""Tensors of a graph are computed in a session that is made for it.

Source: tensorflow/contrib/learn/python/learn/graph_actions.py of TensorFlow 1.15.
"""

from __future__ import annotations

import itertools
from typing import Any, Iterator

import tensorflow as tf

from estimator_trainer.compat.tensorflow1 import homes


def run_feeds_iter(output_dict: Any, feed_dicts: Any,
                   restore_checkpoint_path: Any = None) -> Iterator[Any]:
    """Returns an iterator of the values of tensors, one for each dict that is fed.

    Args:
      output_dict: Tensors by name.
      feed_dicts: An iterable of dicts, or of None.
      restore_checkpoint_path: Where variables' values are; initial ones by default.

    Raises:
      ValueError: output_dict or feed_dicts is empty.
    """
    if not output_dict:
        raise ValueError(f"output_dict is invalid: {output_dict}.")
    if not feed_dicts:
        raise ValueError(f"feed_dicts is invalid: {feed_dicts}.")
    v1 = tf.compat.v1
    graph = homes.resolve("tf_slim.ops.framework_ops.get_graph_from_inputs")(
        list(output_dict.values()))
    with graph.as_default(), v1.Session() as session:
        if restore_checkpoint_path:
            v1.train.Saver().restore(session, restore_checkpoint_path)
        else:
            session.run(v1.global_variables_initializer())
        session.run([v1.local_variables_initializer(), v1.tables_initializer()])
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        try:
            for fed in feed_dicts:
                yield session.run(output_dict, fed)
        finally:
            coordinator.request_stop()
            coordinator.join(threads)


def run_feeds(output_dict: Any, feed_dicts: Any, restore_checkpoint_path: Any = None) -> list[Any]:
    """Returns the list of `run_feeds_iter`."""
    return list(run_feeds_iter(output_dict, feed_dicts, restore_checkpoint_path))


def run_n(output_dict: Any, feed_dict: Any = None, restore_checkpoint_path: Any = None,
          n: int = 1) -> list[Any]:
    """Returns the values of tensors, n times."""
    return run_feeds(output_dict, itertools.repeat(feed_dict, n), restore_checkpoint_path)


def infer(restore_checkpoint_path: Any, output_dict: Any, feed_dict: Any = None) -> Any:
    """Returns the values of tensors, once."""
    return run_feeds(output_dict, [feed_dict], restore_checkpoint_path)[0]
