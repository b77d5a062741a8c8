"""`tf.contrib.crf`: linear-chain conditional random fields.

Lafferty et al., "Conditional Random Fields", ICML 2001. Shapes: `inputs` are unary scores,
[batch, length, tags] float32; `sequence_lengths` [batch] integers; `transition_params`
[tags, tags] float32, from the row's tag to the column's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf


def crf_log_likelihood(inputs: Any, tag_indices: Any, sequence_lengths: Any,
                       transition_params: Any = None) -> Any:
    """Returns the log likelihood of tag sequences, [batch], and the transition scores.

    Args:
      inputs: Unary scores.
      tag_indices: [batch, length] integers.
      sequence_lengths: Lengths.
      transition_params: Transition scores; without them a variable `transitions` is made.
    """
    if transition_params is None:
        tags = inputs.shape[2]
        transition_params = tf.compat.v1.get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    norm = crf_log_norm(inputs, sequence_lengths, transition_params)
    return score - norm, transition_params


def crf_sequence_score(inputs: Any, tag_indices: Any, sequence_lengths: Any,
                       transition_params: Any) -> Any:
    """Returns the unnormalized score of tag sequences, [batch]."""
    return (crf_unary_score(tag_indices, sequence_lengths, inputs)
            + crf_binary_score(tag_indices, sequence_lengths, transition_params))


def crf_multitag_sequence_score(inputs: Any, tag_bitmap: Any, sequence_lengths: Any,
                                transition_params: Any) -> Any:
    """Returns the summed score, in logarithms, of all sequences of the tags that are allowed.

    Args:
      inputs: Unary scores.
      tag_bitmap: [batch, length, tags] booleans, the allowed tags.
      sequence_lengths: Lengths.
      transition_params: Transition scores.
    """
    allowed = tf.where(tag_bitmap, inputs, tf.fill(tf.shape(inputs), float("-inf")))
    return crf_log_norm(allowed, sequence_lengths, transition_params)


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Any:
    """Returns the sum of the tags' own scores, [batch]."""
    scores = tf.gather(inputs, tf.cast(tag_indices, tf.int32), batch_dims=2)
    return tf.reduce_sum(_mask(sequence_lengths, inputs) * scores, axis=1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """Returns the sum of the scores of the transitions between the tags, [batch]."""
    transition_params = tf.convert_to_tensor(transition_params)
    pairs = tf.stack([tag_indices[:, :-1], tag_indices[:, 1:]], axis=2)
    mask = tf.sequence_mask(sequence_lengths, tf.shape(tag_indices)[1], transition_params.dtype)
    return tf.reduce_sum(tf.gather_nd(transition_params, pairs) * mask[:, 1:], axis=1)


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """Returns the logarithm of the summed exponentials of all sequences' scores, [batch]."""

    def step(alphas: Any, at: Any) -> Any:
        scores, is_within = at
        reached = tf.reduce_logsumexp(alphas[:, :, None] + transition_params, axis=1) + scores
        return tf.compat.v1.where(is_within, reached, alphas)

    within = tf.transpose(tf.sequence_mask(sequence_lengths, tf.shape(inputs)[1]))
    by_time = tf.transpose(inputs, [1, 0, 2])
    alphas = tf.foldl(step, (by_time[1:], within[1:]), initializer=by_time[0])
    norm = tf.reduce_logsumexp(alphas, axis=1)
    return tf.compat.v1.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(norm), norm)


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> Any:
    """Returns the best tag sequences, [batch, length] int32, and their scores, [batch].

    Args:
      potentials: Unary scores.
      transition_params: Transition scores.
      sequence_length: Lengths; tags beyond them are 0.
    """
    tags = tf.shape(potentials)[2]
    lengths = tf.maximum(tf.cast(sequence_length, tf.int32), 1)
    by_time = tf.transpose(potentials, [1, 0, 2])
    stay = tf.zeros_like(by_time[0], tf.int32) + tf.range(tags)

    def forward(state: Any, at: Any) -> Any:
        best, _ = state
        scores, time = at
        reached = best[:, :, None] + transition_params
        moves = tf.logical_and(time > 0, time < lengths)
        return (tf.compat.v1.where(moves, tf.reduce_max(reached, axis=1) + scores, best),
                tf.compat.v1.where(moves, tf.argmax(reached, axis=1, output_type=tf.int32), stay))

    best, came_from = tf.scan(forward, (by_time, tf.range(tf.shape(by_time)[0])),
                              initializer=(by_time[0], stay))
    last = tf.argmax(best[-1], axis=1, output_type=tf.int32)
    before = tf.scan(lambda tag, origins: tf.gather(origins, tag, batch_dims=1),
                     came_from, initializer=last, reverse=True)
    decoded = tf.transpose(tf.concat([before[1:], last[None]], axis=0))
    mask = tf.sequence_mask(lengths, tf.shape(potentials)[1], tf.int32)
    return decoded * mask, tf.reduce_max(best[-1], axis=1)


def viterbi_decode(score: Any, transition_params: Any) -> Any:
    """Returns the best tag sequence, a list, and its score, outside of TensorFlow.

    Args:
      score: [length, tags] array.
      transition_params: [tags, tags] array.
    """
    best, came_from = np.asarray(score[0]), []
    for scores in score[1:]:
        reached = best[:, None] + transition_params
        came_from.append(np.argmax(reached, axis=0))
        best = np.max(reached, axis=0) + scores
    path = [int(np.argmax(best))]
    for origins in reversed(came_from):
        path.append(int(origins[path[-1]]))
    return path[::-1], np.max(best)


def _mask(sequence_lengths: Any, inputs: Any) -> Any:
    return tf.sequence_mask(sequence_lengths, tf.shape(inputs)[1], inputs.dtype)


NAMES = {each.__name__: each for each in (
    crf_binary_score, crf_decode, crf_log_likelihood, crf_log_norm, crf_multitag_sequence_score,
    crf_sequence_score, crf_unary_score, viterbi_decode)}
