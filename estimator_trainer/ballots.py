"""Ballots: how the trainers of an all-reduce agree to end.

They must stop after the same step, or those that go on hang in it. So each adds a ballot to an
all-reduce of every step, and all of them see the same count.
"""

from __future__ import annotations

import tensorflow as tf

# Graph collections, one entry a replica.
BALLOTS, COUNTS = "estimator_trainer/ballots", "estimator_trainer/counts"


def ballot() -> tf.Tensor:
    """Returns what a trainer of an all-reduce feeds with 1 to ask all of them to end."""
    made = tf.compat.v1.placeholder_with_default(tf.constant(0, tf.int32), [])
    tf.compat.v1.add_to_collection(BALLOTS, made)
    return made


def counts(is_last: tf.Tensor, examples: tf.Tensor, ballot: tf.Tensor) -> tf.Tensor:
    """Returns how many trainers of an all-reduce end, ask to end, and ran out of data: int32 [3].

    Args:
      is_last: Whether this trainer's input ends with this batch.
      examples: Of this batch; none where its process has run out of data.
      ballot: See `ballot`.
    """
    own = tf.stack([tf.cast(is_last, tf.int32), ballot, tf.cast(tf.equal(examples, 0), tf.int32)])
    return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, own)
