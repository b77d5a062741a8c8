"""Softmax losses of a sample of the classes.

The API is that of `tensorflow/contrib/nn/python/ops/sampling_ops.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.ops import nn_impl

v1 = tf.compat.v1


def rank_sampled_softmax_loss(
        weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_resampled: int,
        num_classes: int, num_true: int, sampled_values: Any, resampling_temperature: Any,
        remove_accidental_hits: bool, partition_strategy: str, name: Any = None) -> Any:
    """Returns the sampled softmax's loss over those sampled classes that the batch is nearest to.

    Args:
      weights, biases, labels, inputs, num_sampled, num_classes, num_true: As for
        `tf.nn.sampled_softmax_loss`.
      num_resampled: Number of the sampled classes that are kept, below `num_sampled`.
      sampled_values: A sampler's three results; of a learned unigram sampler by default.
      resampling_temperature: Divides the logits by which they are chosen.
      remove_accidental_hits: Whether a sampled class that is a label does not count.
      partition_strategy: "div" or "mod".
      name: A name for the ops.

    Returns:
      [batch] float32.

    Raises:
      ValueError: when the numbers or the strategy do not fit.
    """
    if num_sampled > num_classes:
        raise ValueError(f"num_sampled ({num_sampled}) cannot be greater than num_classes "
                         f"({num_classes})")
    if num_sampled <= num_resampled:
        raise ValueError(f"num_resampled ({num_resampled}) must be less than num_sampled "
                         f"({num_sampled})")
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    with v1.name_scope(name, "rank_sampled_softmax_loss", [
            weights, biases, labels, inputs, sampled_values, resampling_temperature]) as scope:
        sampled_values = sampled_values or v1.nn.learned_unigram_candidate_sampler(
            true_classes=labels, num_true=num_true, num_sampled=num_sampled, unique=True,
            range_max=num_classes)
        nearest = _nearest(weights, biases, inputs, sampled_values, num_resampled,
                           resampling_temperature, partition_strategy)
        return v1.nn.sampled_softmax_loss(
            weights=weights, biases=biases, labels=labels, inputs=inputs,
            num_sampled=num_resampled, num_classes=num_classes, num_true=num_true,
            sampled_values=nearest, remove_accidental_hits=remove_accidental_hits,
            partition_strategy=partition_strategy, name=scope)


def _nearest(weights: Any, biases: Any, inputs: Any, sampled_values: Any, count: int,
             temperature: Any, partition_strategy: str) -> Any:
    """Returns a sampler's results for those classes that have the largest summed logits."""
    sampled, true_expected, sampled_expected = (tf.stop_gradient(each) for each in sampled_values)
    sampled = tf.cast(sampled, tf.int64)

    def look_up(table: Any) -> Any:
        return v1.nn.embedding_lookup(table, sampled, partition_strategy)

    logits = tf.reduce_logsumexp(
        tf.matmul(look_up(weights), inputs / temperature, transpose_b=True), axis=1)
    logits += tf.reshape(look_up(biases), [-1]) / temperature
    _, best = tf.math.top_k(logits, k=count, sorted=False)
    return tf.gather(sampled, best), true_expected, tf.gather(sampled_expected, best)


def sampled_sparse_softmax_loss(
        weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
        sampled_values: Any = None, remove_accidental_hits: bool = True,
        partition_strategy: str = "mod", name: str = "sampled_sparse_softmax_loss") -> Any:
    """Returns the sampled softmax's loss of one label for each example, [batch] float32.

    Args:
      weights, biases, inputs, num_sampled, num_classes, sampled_values, remove_accidental_hits,
        partition_strategy, name: As for `tf.nn.sampled_softmax_loss`.
      labels: [batch, 1] integers.
    """
    logits, _ = nn_impl._compute_sampled_logits(
        weights=weights, biases=biases, labels=labels, inputs=inputs, num_sampled=num_sampled,
        num_classes=num_classes, num_true=1, sampled_values=sampled_values, subtract_log_q=True,
        remove_accidental_hits=remove_accidental_hits, partition_strategy=partition_strategy,
        name=name)
    # The label's logit is the first one.
    first = tf.zeros([tf.shape(logits)[0], 1], tf.int64)
    return v1.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.squeeze(first), logits=logits)
