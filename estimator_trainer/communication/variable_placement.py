"""Variable placement: each goes to the ps that holds the fewest bytes when it is made.

TensorFlow deals them out in turn, so that of two layers of one size, each of a kernel and a bias,
one ps gets both kernels and is asked for all the bytes. Every trainer makes the same variables in
the same order, and so comes to the same places (`tf.contrib.training.GreedyLoadBalancingStrategy`
did this in TensorFlow 1). The slots of an optimizer are where their variable is.
"""

from __future__ import annotations

from typing import Callable
import weakref

import numpy as np
import tensorflow as tf


def by_size(config: tf.estimator.RunConfig) -> Callable[[tf.Operation], str] | None:
    """Returns the device function of a trainer of a RunConfig's cluster; None without two ps."""
    if config.num_ps_replicas < 2 or config.task_type == "ps":
        return None
    device_of: Callable[[tf.Operation], str] = tf.compat.v1.train.replica_device_setter(
        worker_device=f"/job:{config.task_type}/task:{config.task_id}",
        cluster=config.cluster_spec, ps_strategy=_FewestBytes(config.num_ps_replicas))
    return device_of


class _FewestBytes:
    """Chooses the ps of a variable."""

    def __init__(self, num_ps: int):
        self._num_ps = num_ps
        # It is kept by graph: one that is made again must come to the same places.
        self._held_bytes: weakref.WeakKeyDictionary[tf.Graph, list[int]] = (
            weakref.WeakKeyDictionary())

    def __call__(self, op: tf.Operation) -> int:
        held_bytes = self._held_bytes.setdefault(op.graph, [0] * self._num_ps)
        chosen = int(np.argmin(held_bytes))
        held_bytes[chosen] += _size_bytes(op)
        return chosen


def _size_bytes(op: tf.Operation) -> int:
    """Returns the bytes of a variable; 1 for a table or where its shape is not known."""
    if "shape" not in op.node_def.attr:
        return 1
    shape = tf.TensorShape(op.get_attr("shape"))
    if not shape.is_fully_defined():
        return 1
    return max(1, int(shape.num_elements() * tf.dtypes.as_dtype(op.get_attr("dtype")).size))
