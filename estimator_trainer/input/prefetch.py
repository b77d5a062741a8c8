"""How a loop over training steps gets its batches: prefetched, or each in its step."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def build(strategy: tf.distribute.Strategy, dataset: tf.data.Dataset) -> Prefetched | InStep:
    """Returns the input of a loop in this process's graph; the session starts its iterator."""
    devices = strategy.extended.worker_devices if tf.distribute.has_strategy() else (None,)
    if len(devices) > 1:
        iterator = strategy.make_input_fn_iterator(lambda context: dataset)
        source: Prefetched | InStep = InStep(iterator)
    else:
        # The iterator of a strategy checks in all processes before each batch whether there is one.
        with tf.device(devices[0]):
            iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
        source = Prefetched(iterator, dataset.element_spec, tf.distribute.has_strategy())
    tf.compat.v1.add_to_collection(
        tf.compat.v1.GraphKeys.TABLE_INITIALIZERS, tf.group(iterator.initializer))
    return source


class Prefetched:
    """The next batch is read while a step computes, and is a variable of the loop.

    Otherwise a small network waits for the iterator's thread for a sixth of its time. `shapes` are
    those of the loop variables, for `tf.while_loop`.
    """

    def __init__(self, iterator: Any, spec: Any, is_marked: bool):
        """Makes the input; `is_marked` is whether the last batch has a mark."""
        self._iterator, self.shapes, self._is_marked = iterator, spec, is_marked

    def first(self) -> tuple[Any, tf.Tensor]:
        """Returns the loop variables of the first step, and the seconds that they took."""
        return _pull(self._iterator)

    def batch(self, loop_vars: Any) -> tuple[Any, tf.Tensor]:
        """Returns the batch of a step, and the seconds that the step waited for it: none."""
        return loop_vars, tf.constant(0.0, tf.float64)

    def following(self, loop_vars: Any, is_wanted: tf.Tensor,
                  done: tf.Tensor) -> tuple[Any, tf.Tensor, tf.Tensor]:
        """Returns the next step's batch, if it `is_wanted`, its delay, and whether the input ended.

        `done` is the time when this step was done. Times are in seconds, float64 scalars. The end
        of marked batches shows in the mark alone.
        """
        def pull() -> tuple[Any, tf.Tensor, tf.Tensor]:
            batch, has_ended = self._next_or(loop_vars)
            with tf.control_dependencies(tf.nest.flatten(batch, expand_composites=True)):
                return batch, tf.timestamp(), has_ended

        # The first batch of a session run is still being read when the loop begins.
        with tf.control_dependencies(tf.nest.flatten(loop_vars, expand_composites=True)):
            is_wanted = tf.identity(is_wanted)
        batch, came, has_ended = tf.cond(
            is_wanted, pull, lambda: (loop_vars, tf.constant(0.0, tf.float64), tf.constant(False)))
        return batch, tf.maximum(came - done, 0.0), has_ended

    def _next_or(self, loop_vars: Any) -> tuple[Any, tf.Tensor]:
        """Returns the next batch and False; at the end, `loop_vars` and True."""
        if self._is_marked:
            return self._iterator.get_next(), tf.constant(False)
        optional = self._iterator.get_next_as_optional()
        has_value = optional.has_value()
        return (tf.cond(has_value, optional.get_value, lambda: loop_vars),
                tf.logical_not(has_value))


class InStep:
    """Each step reads its batch: a strategy's iterator has one for each of several replicas."""

    shapes = ()  # There are no loop variables.

    def __init__(self, iterator: Any):
        self._iterator = iterator

    def first(self) -> tuple[Any, tf.Tensor]:
        """Returns no loop variables, in no time."""
        return (), tf.constant(0.0, tf.float64)

    def batch(self, loop_vars: Any) -> tuple[Any, tf.Tensor]:
        """Returns the batch of a step, and the seconds that the step waited for it."""
        return _pull(self._iterator)

    def following(self, loop_vars: Any, is_wanted: tf.Tensor,
                  done: tf.Tensor) -> tuple[Any, tf.Tensor, tf.Tensor]:
        """Returns no loop variables; the step that finds no batch ends the session run."""
        return (*self.first(), tf.constant(False))


def _pull(iterator: Any) -> tuple[Any, tf.Tensor]:
    """Returns a batch, and the seconds that it took."""
    start = tf.timestamp()
    with tf.control_dependencies([start]):
        batch = iterator.get_next()
    tensors = tf.nest.flatten(batch, expand_composites=True)
    with tf.control_dependencies(tensors):
        end = tf.timestamp()
    # Otherwise a thread may read the clock only when it has time, after the first layers.
    with tf.control_dependencies([end]):
        timed = []
        for tensor in tensors:
            with tf.device(tensor.device or None):
                timed.append(tf.identity(tensor))
    return tf.nest.pack_sequence_as(batch, timed, expand_composites=True), end - start
