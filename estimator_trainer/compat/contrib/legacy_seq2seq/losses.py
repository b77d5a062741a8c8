"""Losses of `tf.contrib.legacy_seq2seq`, and models of several lengths.

Arguments: tensorflow/contrib/legacy_seq2seq of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import tensorflow as tf

V1: Any = tf.compat.v1


def sequence_loss_by_example(logits: Any, targets: Any, weights: Any,
                             average_across_timesteps: bool = True,
                             softmax_loss_function: Any = None, name: Optional[str] = None) -> Any:
    """Returns the weighted cross-entropy of each sequence of a batch, [batch].

    Args:
      logits: A list of [batch, symbols] float32.
      targets: A list of [batch] integers.
      weights: A list of [batch] float32.
      average_across_timesteps: Whether the sum is divided by the weights' sum.
      softmax_loss_function: A function of `labels` and `logits` to use instead of the softmax's.
      name: A name for the ops.

    Raises:
      ValueError: The lists differ in length.
    """
    if not len(logits) == len(targets) == len(weights):
        raise ValueError("Lengths of logits, weights, and targets must be the same "
                         f"{len(logits)}, {len(weights)}, {len(targets)}.")
    with V1.name_scope(name, "sequence_loss_by_example", logits + targets + weights):
        losses = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=tf.reshape(target, [-1]), logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total = tf.add_n(losses)
        # The small number is for rows of which no step counts.
        return total / (tf.add_n(weights) + 1e-12) if average_across_timesteps else total


def sequence_loss(logits: Any, targets: Any, weights: Any, average_across_timesteps: bool = True,
                  average_across_batch: bool = True, softmax_loss_function: Any = None,
                  name: Optional[str] = None) -> Any:
    """Returns the weighted cross-entropy of a batch of sequences, a number.

    The arguments are those of sequence_loss_by_example; `average_across_batch` is whether the sum
    is divided by the batch's size.
    """
    with V1.name_scope(name, "sequence_loss", logits + targets + weights):
        cost = tf.reduce_sum(sequence_loss_by_example(
            logits, targets, weights, average_across_timesteps=average_across_timesteps,
            softmax_loss_function=softmax_loss_function))
        if not average_across_batch:
            return cost
        return cost / tf.cast(tf.shape(targets[0])[0], cost.dtype)


def model_with_buckets(encoder_inputs: Any, decoder_inputs: Any, targets: Any, weights: Any,
                       buckets: Sequence[tuple[int, int]], seq2seq: Callable[[Any, Any], Any],
                       softmax_loss_function: Any = None, per_example_loss: bool = False,
                       name: Optional[str] = None) -> Any:
    """Makes a model for each pair of lengths, with the same variables.

    Args:
      encoder_inputs, decoder_inputs, targets, weights: Lists of a tensor for each step.
      buckets: Pairs of an input's and an output's length, the longest last.
      seq2seq: Takes the lists of inputs; returns a list of outputs, and a state.
      softmax_loss_function: As for sequence_loss_by_example.
      per_example_loss: Whether a loss is [batch] rather than a number.
      name: A name for the ops.

    Returns:
      The list of each bucket's outputs, and that of the losses.

    Raises:
      ValueError: A list is shorter than the last bucket.
    """
    for what, steps, length in (("encoder_inputs", encoder_inputs, buckets[-1][0]),
                                ("targets", targets, buckets[-1][1]),
                                ("weights", weights, buckets[-1][1])):
        if len(steps) < length:
            raise ValueError(f"Length of {what} ({len(steps)}) must be at least that of the last "
                             f"bucket ({length}).")
    loss_of = sequence_loss_by_example if per_example_loss else sequence_loss
    outputs, losses = [], []
    with V1.name_scope(name, "model_with_buckets",
                       encoder_inputs + decoder_inputs + targets + weights):
        for number, (source, target) in enumerate(buckets):
            with V1.variable_scope(V1.get_variable_scope(), reuse=True if number else None):
                found, _ = seq2seq(encoder_inputs[:source], decoder_inputs[:target])
                outputs.append(found)
                losses.append(loss_of(found, targets[:target], weights[:target],
                                      softmax_loss_function=softmax_loss_function))
    return outputs, losses
