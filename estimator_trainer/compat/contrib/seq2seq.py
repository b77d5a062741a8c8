"""`tf.contrib.seq2seq`: its loss; its decoders went to tensorflow_addons."""

from __future__ import annotations

from typing import Any


def sequence_loss(logits: Any, targets: Any, weights: Any, average_across_timesteps: bool = True,
                  average_across_batch: bool = True, softmax_loss_function: Any = None,
                  name: Any = None) -> Any:
    """Returns the weighted cross-entropy of a batch of sequences.

    Args:
      logits: [batch, time, symbols] float32.
      targets: [batch, time] integers.
      weights: [batch, time] float32.
      average_across_timesteps, average_across_batch: Whether these axes are averaged away.
      softmax_loss_function: A function of `labels` and `logits` to use instead of the softmax's.
      name: A name for the ops.

    Returns:
      A number, [batch] or [time] or [batch, time], float32.
    """
    import tensorflow as tf
    loss_function = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
    with tf.compat.v1.name_scope(name, "sequence_loss", [logits, targets, weights]):
        shape, symbols = tf.shape(targets), tf.shape(logits)[2]
        losses = loss_function(labels=tf.reshape(targets, [-1]),
                               logits=tf.reshape(logits, [-1, symbols]))
        losses = tf.reshape(losses, shape) * weights
        axes = [axis for axis, averaged in enumerate((average_across_batch,
                                                      average_across_timesteps)) if averaged]
        if not axes:
            return losses
        return tf.reduce_sum(losses, axes) / (tf.reduce_sum(weights, axes) + 1e-12)


NAMES = {"sequence_loss": sequence_loss}
DEFAULT = "copy tfa.seq2seq from tensorflow_addons' source into the program"
