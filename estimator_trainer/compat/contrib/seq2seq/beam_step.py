"""A step of a beam search: the best continuations of all beams.

The API is that of `tensorflow/contrib/seq2seq/python/ops/beam_search_decoder.py` of TensorFlow
1.15. Penalties: Wu et al., "Google's Neural Machine Translation System", 2016, equation 14.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.contrib.seq2seq.attention_wrapper import AttentionWrapperState

v1 = tf.compat.v1


class BeamSearchDecoderState(NamedTuple):
    """The state of a search: each is [batch, beams, ...]."""

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    """The outputs of the steps: each is [..., batch, beams]."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """The outputs of a search: ids [time, batch, beams], the best beam first, and each step's."""

    predicted_ids: Any
    beam_search_decoder_output: Any


def beam_search_step(time: Any, logits: Any, next_cell_state: Any, beam_state: Any,
                     batch_size: Any, beam_width: Any, end_token: Any,
                     length_penalty_weight: Any, coverage_penalty_weight: Any) -> Any:
    """Returns the BeamSearchDecoderOutput of a step, and the next state.

    Args:
      time: Number of the step; not used.
      logits: [batch, beams, ids].
      next_cell_state: The cell's state after the step, [batch, beams, ...].
      beam_state: A BeamSearchDecoderState.
      batch_size: An integer tensor.
      beam_width: Number of beams.
      end_token: The id that ends a sequence.
      length_penalty_weight, coverage_penalty_weight: As for BeamSearchDecoder.
    """
    was_finished = beam_state.finished
    goes_on = tf.logical_not(was_finished)
    log_probs = mask_probs(tf.nn.log_softmax(logits), end_token, was_finished)
    total = tf.expand_dims(beam_state.log_probs, 2) + log_probs
    symbols = tf.compat.dimension_value(logits.shape[-1]) or tf.shape(logits)[-1]
    longer = tf.one_hot(tf.fill([batch_size, beam_width], end_token), symbols, dtype=tf.int64,
                        on_value=tf.constant(0, tf.int64), off_value=tf.constant(1, tf.int64))
    longer *= tf.expand_dims(tf.cast(goes_on, tf.int64), 2)
    attended = None
    probs = attention_probs(next_cell_state, coverage_penalty_weight)
    if probs is not None:
        probs *= tf.expand_dims(tf.cast(goes_on, tf.float32), 2)
        attended = beam_state.accumulated_attention_probs + probs
    scores = _scores(total, longer + tf.expand_dims(beam_state.lengths, 2), length_penalty_weight,
                     coverage_penalty_weight, was_finished, attended)
    best, index = tf.math.top_k(tf.reshape(scores, [batch_size, -1]),
                                tf.convert_to_tensor(beam_width, tf.int32, name="beam_width"))
    for each in (best, index):
        each.set_shape([tf.get_static_value(batch_size), tf.get_static_value(beam_width)])
    ids = v1.floormod(index, symbols, name="next_beam_word_ids")
    parents = v1.floordiv(index, symbols, name="next_beam_parent_ids")

    def of_parents(values: Any) -> Any:
        return tf.gather(values, parents, batch_dims=1)

    was_finished = of_parents(was_finished)
    state = BeamSearchDecoderState(
        cell_state=tf.nest.map_structure(
            lambda each: of_parents(each) if is_of_beams(each) else each, next_cell_state),
        log_probs=tf.gather(tf.reshape(total, [batch_size, -1]), index, batch_dims=1,
                            name="next_beam_probs"),
        finished=tf.logical_or(was_finished, tf.equal(ids, end_token), name="next_beam_finished"),
        lengths=(of_parents(beam_state.lengths)
                 + tf.cast(tf.logical_not(was_finished), tf.int64)),
        accumulated_attention_probs=() if attended is None else of_parents(attended))
    return BeamSearchDecoderOutput(best, ids, parents), state


def is_of_beams(value: Any) -> bool:
    """Returns whether a value of the cell's state is [batch, beams, ...].

    Raises:
      ValueError: for a tensor of unknown rank.
    """
    if isinstance(value, tf.TensorArray):
        return False
    check_rank(value)
    return bool(value.shape.ndims >= 2)


def check_rank(value: Any) -> None:
    """Raises a ValueError for a tensor of unknown rank."""
    if value.shape.ndims is None:
        raise ValueError(f"Expected tensor ({value}) to have known rank, but ndims == None.")


def mask_probs(probs: Any, eos_token: Any, finished: Any) -> Any:
    """Returns log probabilities in which a finished beam can only go on with the end's id.

    Args:
      probs: [batch, beams, ids].
      eos_token: The id that ends a sequence.
      finished: [batch, beams] booleans.
    """
    symbols = tf.shape(probs)[2]
    row = tf.one_hot(eos_token, symbols, dtype=probs.dtype,
                     on_value=tf.constant(0, probs.dtype),
                     off_value=tf.constant(probs.dtype.min, probs.dtype))
    ended = tf.tile(tf.reshape(row, [1, 1, -1]), tf.concat([tf.shape(finished), [1]], 0))
    mask = tf.tile(tf.expand_dims(finished, 2), [1, 1, symbols])
    return v1.where(mask, ended, probs)


def attention_probs(cell_state: Any, coverage_penalty_weight: Any) -> Any:
    """Returns the mean alignments of the cells that attend, or None without a penalty.

    Args:
      cell_state: An AttentionWrapperState, or a tuple with some in it.
      coverage_penalty_weight: The penalty's weight.

    Raises:
      ValueError: when no cell attends.
    """
    if coverage_penalty_weight == 0.0:
        return None
    states = [cell_state] if isinstance(cell_state, AttentionWrapperState) else cell_state
    found = [_mean(each.alignments) for each in (states if isinstance(states, (tuple, list))
                                                 else ())
             if isinstance(each, AttentionWrapperState)]
    if not found:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return found[0] if len(found) == 1 else _mean(tuple(found))


def _mean(alignments: Any) -> Any:
    if not isinstance(alignments, tuple):
        return alignments
    return tf.reduce_mean(tf.concat([tf.expand_dims(each, -1) for each in alignments], -1), -1)


def _scores(log_probs: Any, lengths: Any, length_penalty_weight: Any,
            coverage_penalty_weight: Any, finished: Any, attended: Any) -> Any:
    """Returns the scores of all continuations, [batch, beams, ids]."""
    penalty = length_penalty(lengths, length_penalty_weight)
    scores = log_probs / tf.cast(penalty, log_probs.dtype)
    weight = tf.convert_to_tensor(coverage_penalty_weight, name="coverage_penalty_weight")
    if weight.shape.ndims != 0:
        raise ValueError(f"coverage_penalty_weight should be a scalar, but saw shape: "
                         f"{weight.shape}")
    if tf.get_static_value(weight) == 0.0:
        return scores
    if attended is None:
        raise ValueError("accumulated_attention_probs can be None only if coverage penalty is "
                         "disabled.")
    attended = v1.where(tf.equal(attended, 0.0), tf.ones_like(attended), attended)
    coverage = tf.reduce_sum(tf.math.log(tf.minimum(attended, 1.0)), 2)
    coverage *= tf.cast(finished, tf.float32)
    return scores + tf.expand_dims(coverage * weight, 2)


def length_penalty(sequence_lengths: Any, penalty_factor: Any) -> Any:
    """Returns ((5 + length) / 6) to the power of a factor, or 1 for the factor 0.

    Args:
      sequence_lengths: Integers.
      penalty_factor: A number.
    """
    factor = tf.convert_to_tensor(penalty_factor, name="penalty_factor")
    factor.set_shape(())
    static = tf.get_static_value(factor)
    if static is not None and static == 0:
        return np.float32(1)
    return (5. + tf.cast(sequence_lengths, tf.float32)) ** factor / (5. + 1.) ** factor
