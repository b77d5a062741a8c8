"""Linear-chain conditional random fields.

Lafferty et al., "Conditional Random Fields", ICML 2001. The API is that of
`tensorflow/contrib/crf/python/ops/crf.py` of TensorFlow 1.15. Shapes: `inputs` are unary scores,
[batch, length, tags] float32; `sequence_lengths` [batch] integers; `transition_params`
[tags, tags] float32, from the row's tag to the column's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.contrib.crf import cells

v1 = tf.compat.v1


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
        transition_params = v1.get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    norm = crf_log_norm(inputs, sequence_lengths, transition_params)
    return score - norm, transition_params


def crf_sequence_score(inputs: Any, tag_indices: Any, sequence_lengths: Any,
                       transition_params: Any) -> Any:
    """Returns the unnormalized score of tag sequences, [batch]."""
    unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
    return _by_length(inputs, lambda: unary, lambda: unary + crf_binary_score(
        tag_indices, sequence_lengths, transition_params))


def crf_multitag_sequence_score(inputs: Any, tag_bitmap: Any, sequence_lengths: Any,
                                transition_params: Any) -> Any:
    """Returns the summed score, in logarithms, of all sequences of the tags that are allowed.

    Args:
      inputs: Unary scores.
      tag_bitmap: [batch, length, tags] booleans, the allowed tags.
      sequence_lengths: Lengths; where the batch's length is 1, all are taken for 1.
      transition_params: Transition scores.
    """
    allowed = v1.where(tag_bitmap, inputs, tf.fill(tf.shape(inputs), float("-inf")))
    return _by_length(
        inputs, lambda: tf.reduce_logsumexp(allowed, axis=[1, 2]),
        lambda: crf_log_norm(allowed, sequence_lengths, transition_params))


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
    first = tf.squeeze(tf.slice(inputs, [0, 0, 0], [-1, 1, -1]), [1])

    def sums() -> Any:
        rest = tf.slice(inputs, [0, 1, 0], [-1, -1, -1])
        return v1.nn.dynamic_rnn(
            cells.CrfForwardRnnCell(transition_params), rest, _less_one(sequence_lengths),
            initial_state=first, dtype=tf.float32)[1]

    norm = tf.reduce_logsumexp(_by_length(inputs, lambda: first, sums), [1])
    return v1.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(norm), norm)


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> Any:
    """Returns the best tag sequences, [batch, length] int32, and their scores, [batch].

    Args:
      potentials: Unary scores.
      transition_params: Transition scores.
      sequence_length: Lengths; tags beyond them are 0.
    """
    first = tf.squeeze(tf.slice(potentials, [0, 0, 0], [-1, 1, -1]), [1])

    def one() -> Any:
        return tf.cast(tf.argmax(first, axis=1)[:, None], tf.int32), tf.reduce_max(first, axis=1)

    def many() -> Any:
        lengths = _less_one(sequence_length)
        rest = tf.slice(potentials, [0, 1, 0], [-1, -1, -1])
        before, scores = v1.nn.dynamic_rnn(
            cells.CrfDecodeForwardRnnCell(transition_params), rest, lengths, initial_state=first,
            dtype=tf.int32)
        before = tf.reverse_sequence(before, lengths, seq_axis=1)
        last = tf.cast(tf.argmax(scores, axis=1), tf.int32)[:, None]
        tags = tf.compat.dimension_value(potentials.shape[2])
        found, _ = v1.nn.dynamic_rnn(cells.CrfDecodeBackwardRnnCell(tags), before, lengths,
                                     initial_state=last, dtype=tf.int32)
        found = tf.concat([last, tf.squeeze(found, axis=[2])], axis=1)
        found = tf.reverse_sequence(found, sequence_length, seq_axis=1)
        return found, tf.reduce_max(scores, axis=1)

    return _by_length(potentials, one, many)


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


def _less_one(lengths: Any) -> Any:
    lengths = tf.convert_to_tensor(lengths)
    return tf.maximum(tf.constant(0, lengths.dtype), lengths - 1)


def _by_length(inputs: Any, one: Any, many: Any) -> Any:
    """Returns what `one` does where the batch's length is 1, and else what `many` does."""
    static = tf.compat.dimension_value(inputs.shape[1])
    if static is None:
        return v1.cond(tf.equal(tf.shape(inputs)[1], 1), one, many)
    return one() if static == 1 else many()
