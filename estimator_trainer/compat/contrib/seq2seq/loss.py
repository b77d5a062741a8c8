"""The loss of sequences.

The API is that of `tensorflow/contrib/seq2seq/python/ops/loss.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

v1 = tf.compat.v1


def sequence_loss(logits: Any, targets: Any, weights: Any, average_across_timesteps: bool = True,
                  average_across_batch: bool = True, sum_over_timesteps: bool = False,
                  sum_over_batch: bool = False, softmax_loss_function: Any = None,
                  name: Any = None) -> Any:
    """Returns the weighted cross-entropy of a batch of sequences.

    Args:
      logits: [batch, time, symbols] float32.
      targets: [batch, time] integers.
      weights: [batch, time] float32.
      average_across_timesteps, average_across_batch: Whether an axis is summed, and divided by the
        sum of its weights.
      sum_over_timesteps, sum_over_batch: Whether an axis is summed, and divided by the number of
        its weights that are not 0.
      softmax_loss_function: A function of `labels` and `logits` to use instead of the softmax's.
      name: A name for the ops.

    Returns:
      A number, [batch] or [time] or [batch, time], float32.

    Raises:
      ValueError: when a rank is another, or an axis is both to be averaged and summed.
    """
    for argument, tensor, rank in (("Logits", logits, 3), ("Targets", targets, 2),
                                   ("Weights", weights, 2)):
        if len(tensor.shape) != rank:
            axes = ["batch_size", "sequence_length", "logits"][:rank]
            raise ValueError(f"{argument} must be a [{' x '.join(axes)}] tensor")
    for axis, both in (("timesteps", average_across_timesteps and sum_over_timesteps),
                       ("batch", average_across_batch and sum_over_batch)):
        if both:
            raise ValueError(f"average_across_{axis} and sum_over_{axis} cannot be set to True at "
                             "same time.")
    function = softmax_loss_function or v1.nn.sparse_softmax_cross_entropy_with_logits
    with v1.name_scope(name, "sequence_loss", [logits, targets, weights]):
        symbols = tf.shape(logits)[2]
        flat = tf.reshape(logits, [-1, symbols])
        losses = function(labels=tf.reshape(targets, [-1]), logits=flat)
        losses *= tf.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return _divided(losses, tf.reduce_sum(weights), None)
        if sum_over_timesteps and sum_over_batch:
            return _divided(losses, v1.count_nonzero(weights), None)
        losses = tf.reshape(losses, tf.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            along = [0] if average_across_batch else [1]
            return _divided(losses, tf.reduce_sum(weights, along), along)
        if sum_over_timesteps or sum_over_batch:
            along = [0] if sum_over_batch else [1]
            return _divided(losses, v1.count_nonzero(weights, axis=along), along)
        return losses


def _divided(losses: Any, size: Any, axis: Any) -> Any:
    losses = tf.reduce_sum(losses, axis)
    return tf.math.divide_no_nan(losses, tf.cast(size, losses.dtype))
