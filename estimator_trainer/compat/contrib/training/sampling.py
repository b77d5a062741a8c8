"""`tf.contrib.training`: batches of chosen proportions, by rejection or by repetition.

Follows the APIs of `sampling_ops.py` and `resample.py` in `tensorflow/contrib/training/python/` of
TensorFlow 1.15. To get classes in proportions t from data that has them in proportions p, an
example of class i is accepted with probability (t_i / p_i) / max_j(t_j / p_j).
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import tensorflow as tf
from tensorflow.python.training import moving_averages

_V1 = tf.compat.v1


def rejection_sample(tensors: Sequence[Any], accept_prob_fn: Callable[[Any], Any], batch_size: Any,
                     queue_threads: int = 1, enqueue_many: bool = False,
                     prebatch_capacity: int = 16, prebatch_threads: int = 1,
                     runtime_checks: bool = False, name: Optional[str] = None) -> list[Any]:
    """Returns batches of the examples that are accepted, each with a probability of its own.

    Args:
      tensors: A list of tensors, an example, or examples of shape [n, ...] by `enqueue_many`.
      accept_prob_fn: Takes the tensors of one example, and returns a probability of shape [].
      batch_size: Examples in a batch.
      queue_threads: How many threads fill the queue of batches.
      enqueue_many: Whether `tensors` are several examples.
      prebatch_capacity: How many examples wait, by `enqueue_many`.
      prebatch_threads: How many threads fill that queue.
      runtime_checks: Whether probabilities outside of [0, 1] are an error.
      name: A scope for the operations.

    Returns:
      A list of tensors of shape [batch_size, ...].

    Raises:
      ValueError: With `enqueue_many`, a tensor has no first dimension, or not that of the others.
    """
    with _V1.variable_scope(name, "rejection_sample", tensors):
        flat = [tf.convert_to_tensor(each) for each in tensors]
        if enqueue_many:
            flat = _single(_same_first(flat, flat[0]), prebatch_threads, prebatch_capacity)
        probability = accept_prob_fn(flat)
        if runtime_checks:
            with tf.control_dependencies([_V1.assert_less_equal(0.0, probability),
                                          _V1.assert_less_equal(probability, 1.0)]):
                probability = tf.identity(probability, name="prob_with_checks")
        batch = _V1.train.maybe_batch(flat, _V1.random_uniform([]) < probability, batch_size,
                                      num_threads=queue_threads)
        return batch if isinstance(batch, list) else [batch]


def stratified_sample(tensors: Sequence[Any], labels: Any, target_probs: Any, batch_size: Any,
                      init_probs: Any = None, enqueue_many: bool = False,
                      queue_capacity: int = 16, threads_per_queue: int = 1,
                      name: Optional[str] = None) -> tuple[list[Any], Any]:
    """Returns batches that have classes in chosen proportions; other examples are left out.

    Args:
      tensors: A list of tensors, an example, or examples of shape [n, ...] by `enqueue_many`.
      labels: The class, an integer of shape [], or of shape [n] by `enqueue_many`.
      target_probs: The proportions of the classes in a batch, of shape [classes].
      batch_size: Examples in a batch.
      init_probs: The proportions in the data; they are estimated by default.
      enqueue_many: Whether `tensors` are several examples.
      queue_capacity: How many examples wait.
      threads_per_queue: How many threads fill each queue.
      name: A scope for the operations.

    Returns:
      The tensors of shape [batch_size, ...], and their labels of shape [batch_size].

    Raises:
      ValueError: Shapes do not match, or proportions are not known to sum to 1.
    """
    with _V1.name_scope(name, "stratified_sample", [*tensors, labels]):
        flat = [tf.convert_to_tensor(each) for each in tensors]
        labels = tf.convert_to_tensor(labels)
        target = tf.convert_to_tensor(target_probs, tf.float32)
        if not enqueue_many:
            flat, labels = [tf.expand_dims(each, 0) for each in flat], tf.expand_dims(labels, 0)
        if init_probs is None:
            target.shape.assert_is_fully_defined()
            present = _estimated(labels, target.shape.num_elements())
        else:
            present = tf.convert_to_tensor(init_probs, tf.float32)
        flat, labels, (present, target) = _checked(flat, labels, [present, target])
        with tf.control_dependencies([_V1.Assert(
                tf.reduce_all(tf.logical_or(tf.not_equal(present, 0), tf.equal(target, 0))),
                ["All classes with zero initial probability must also have zero target "
                 "probability: ", present, target])]):
            present = tf.identity(present)
        *flat, label = _single([*flat, labels], threads_per_queue, queue_capacity)
        accepted = tf.gather(_acceptance(present, target), label)
        *found, label = _V1.train.maybe_batch(
            [*flat, label], _V1.random_uniform([]) < accepted, batch_size,
            num_threads=threads_per_queue)
        return found, label


def _single(tensors: Sequence[Any], threads: int, capacity: int) -> list[Any]:
    """Returns one example after the other of tensors of shape [n, ...], by a queue."""
    batch = _V1.train.batch(tensors, batch_size=1, num_threads=threads, capacity=capacity,
                            enqueue_many=True)
    return [tf.squeeze(each, [0]) for each in (batch if isinstance(batch, list) else [batch])]


def _same_first(tensors: Sequence[Any], other: Any) -> list[Any]:
    for each in tensors:
        first = each.shape.with_rank_at_least(1)[:1]
        first.assert_is_compatible_with(other.shape.with_rank_at_least(1)[:1])
    return list(tensors)


def _estimated(labels: Any, classes: int, smoothing: int = 10) -> Any:
    """Returns the proportions of the classes so far; they start even."""
    counts = _V1.Variable([smoothing] * classes, trainable=False, name="class_count",
                          dtype=tf.int64)
    counts = _V1.assign_add(counts, tf.reduce_sum(tf.one_hot(labels, classes, dtype=tf.int64), 0))
    # Other threads change the variable's own memory meanwhile; a sum is a copy.
    counts = counts + tf.constant(0, tf.int64)
    return tf.cast(tf.truediv(counts, tf.reduce_sum(counts)), tf.float32)


def _checked(tensors: Sequence[Any], labels: Any, proportions: Sequence[Any]) -> Any:
    """Returns the arguments, which fail when they are computed where they do not fit."""
    sums = []
    for each in proportions:
        each.shape.assert_is_fully_defined()
        each.shape.assert_has_rank(1)
        total = tf.reduce_sum(each)
        with tf.control_dependencies([_V1.assert_non_negative(each),
                                      _V1.assert_less(total, 1.0 + 1e-6),
                                      _V1.assert_less(1.0 - 1e-6, total)]):
            sums.append(tf.identity(each))
    classes = sums[0].shape.num_elements()
    if sums[1].shape.num_elements() != classes:
        raise ValueError("Probability parameters must have the same length.")
    labels.shape.assert_has_rank(1)
    _same_first(tensors, labels)
    size = tf.shape(labels)[0]
    some = _V1.assert_positive(size)
    found = []
    for each in tensors:
        with tf.control_dependencies([some, _V1.assert_equal(tf.shape(each)[0], size)]):
            found.append(tf.identity(each))
    with tf.control_dependencies([some, _V1.assert_integer(labels),
                                  _V1.assert_non_negative(labels),
                                  _V1.assert_less(labels, tf.cast(classes, labels.dtype))]):
        labels = tf.identity(labels)
    return found, labels, sums


def _acceptance(present: Any, target: Any) -> Any:
    """Returns the probability with which each class is accepted, and prints when that is rare."""
    ratio = target / present
    ratio = tf.where(_V1.is_nan(ratio), tf.zeros_like(ratio), ratio)
    accepted = ratio / tf.reduce_max(ratio)
    rejected = tf.reduce_sum((1 - accepted) * present)
    return _V1.cond(rejected < .5, lambda: accepted, lambda: _V1.Print(
        accepted, [accepted], "Proportion of examples rejected by sampler is high.", first_n=10))


def resample_at_rate(inputs: Sequence[Any], rates: Any, scope: Optional[str] = None,
                     seed: Optional[int] = None, back_prop: bool = False) -> list[Any]:
    """Returns examples as often as a Poisson distribution of their rate says.

    Args:
      inputs: A list of tensors of shape [n, ...].
      rates: How often each is returned on average, of shape [n].
      scope: A scope for the operations.
      seed: The seed of the distribution.
      back_prop: Has no effect: whole numbers have no gradient.

    Returns:
      A list of tensors of shape [m, ...]; all are of the same examples.
    """
    with _V1.name_scope(scope, "resample_at_rate", [*inputs, rates]):
        rates = tf.convert_to_tensor(rates, name="rates")
        counts = tf.cast(_V1.random_poisson(rates, (), rates.dtype, seed=seed), tf.int32)
        which = tf.repeat(tf.range(tf.shape(counts)[0]), counts)
        return [tf.gather(each, which) for each in inputs]


def weighted_resample(inputs: Sequence[Any], weights: Any, overall_rate: Any,
                      scope: Optional[str] = None, mean_decay: float = 0.999,
                      seed: Optional[int] = None) -> tuple[list[Any], Any]:
    """Returns examples in proportion to their weights.

    Args:
      inputs: A list of tensors of shape [n, ...].
      weights: The weights, of shape [n].
      overall_rate: How often an example of mean weight is returned on average.
      scope: A scope for the operations.
      mean_decay: The decay of the moving average of the weights' mean, a local variable.
      seed: The seed of the distribution.

    Returns:
      A list of tensors of shape [m, ...], and the rate of each example in them, of shape [m].
    """
    with _V1.name_scope(scope, "weighted_resample", inputs) as op_scope:
        with _V1.variable_scope(scope, "estimate_mean", inputs):
            estimate = _V1.get_local_variable(
                "estimated_mean", initializer=tf.cast(0, weights.dtype), dtype=weights.dtype)
            mean = moving_averages.assign_moving_average(
                estimate, tf.reduce_mean(weights), mean_decay)
        rates = weights * overall_rate / mean
        rates, *found = resample_at_rate([rates, *inputs], rates, scope=op_scope, seed=seed)
        return found, rates
