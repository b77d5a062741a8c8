"""Follows the beams of a search back through their parents.

The API is that of `tensorflow/contrib/seq2seq/python/ops/beam_search_decoder.py` and
`beam_search_ops.py` of TensorFlow 1.15, whose kernel GatherTree later versions do not have.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.patches import op_seeds

v1 = tf.compat.v1
_ADVICE = ("Consider setting reorder_tensor_arrays to False to disable TensorArray reordering "
           "during the beam search.")


def tile_batch(t: Any, multiplier: Any, name: Any = None) -> Any:
    """Repeats each row of a batch, for the beams of each sequence.

    Args:
      t: [batch, ...], or a structure of those.
      multiplier: The number of beams.
      name: A name for the ops.

    Returns:
      [batch * multiplier, ...]; the repetitions of a row follow one another.

    Raises:
      ValueError: when a tensor's rank is unknown or 0.
    """
    with v1.name_scope(name, "tile_batch", tf.nest.flatten(t) + [multiplier]):
        return tf.nest.map_structure(lambda each: _tiled(each, multiplier), t)


def _tiled(t: Any, multiplier: Any) -> Any:
    t = tf.convert_to_tensor(t, name="t")
    shape, static = tf.shape(t), t.shape
    if static.ndims is None or static.ndims < 1:
        raise ValueError("t must have statically known rank, of at least 1.")
    tiling = [1, multiplier] + [1] * (static.ndims - 1)
    tiled = tf.tile(tf.expand_dims(t, 1), tiling)
    tiled = tf.reshape(tiled, tf.concat(([shape[0] * multiplier], shape[1:]), 0))
    count, times = tf.compat.dimension_value(static[0]), tf.get_static_value(multiplier)
    rows = None if count is None or times is None else count * int(times)
    tiled.set_shape(tf.TensorShape([rows]).concatenate(static[1:]))
    return tiled


def gather_tree(step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any,
                name: Any = None) -> Any:
    """Returns the ids of each beam that is left at the end, [time, batch, beams] int32.

    Args:
      step_ids: The id that each beam took at each step, [time, batch, beams] int32.
      parent_ids: The beam of the step before that it went on from, [time, batch, beams] int32.
      max_sequence_lengths: Number of steps of a sequence's longest beam, [batch] int32.
      end_token: The id that ends a sequence; all ids after it are this one.
      name: A name for the ops.

    Raises:
      InvalidArgumentError: when a parent is not a beam.
      TypeError: when a value is not int32.
    """
    with v1.name_scope(name, "GatherTree", [step_ids, parent_ids, max_sequence_lengths]):
        step_ids, parent_ids, lengths, end_token = (
            _int32(each, rank) for each, rank in
            ((step_ids, 3), (parent_ids, 3), (max_sequence_lengths, 1), (end_token, 0)))
        step_ids.shape.assert_is_compatible_with(parent_ids.shape)
        op_seeds.count(1)
        with op_seeds.uncounted():
            return _traced(step_ids, parent_ids, lengths, end_token)


def _traced(step_ids: Any, parent_ids: Any, lengths: Any, end_token: Any) -> Any:
    """Returns the ids of each beam at the end, from the last step to the first."""
    shape = tf.shape(step_ids)
    beams = tf.zeros(shape[1:], tf.int32) + tf.range(shape[2])
    ends = tf.zeros_like(beams) + end_token

    def back(after: Any, at: Any) -> Any:
        time, ids, parents = at
        beam = after[0]
        with tf.control_dependencies([_check_parents(beam, shape[2], time)]):
            beam = tf.identity(beam)
        is_within = tf.logical_and(time < lengths[:, None], tf.ones_like(ids, tf.bool))
        return (v1.where(is_within, tf.gather(parents, beam, batch_dims=1), beam),
                v1.where(is_within, tf.gather(ids, beam, batch_dims=1), ends))

    _, ids = tf.scan(back, (tf.range(shape[0]), step_ids, parent_ids), (beams, ends),
                     reverse=True)
    ended = tf.cumsum(tf.cast(tf.equal(ids, end_token), tf.int32), axis=0, exclusive=True)
    ids = v1.where(ended > 0, tf.zeros_like(ids) + end_token, ids)
    ids.set_shape(step_ids.shape)
    return ids


def _int32(value: Any, rank: int) -> Any:
    tensor = tf.convert_to_tensor(value)
    if tensor.dtype.base_dtype != tf.int32:
        raise TypeError(f"gather_tree takes int32, and a value is {tensor.dtype.name}.")
    tensor.shape.assert_has_rank(rank)
    return tensor


def _check_parents(parents: Any, beams: Any, time: Any) -> Any:
    is_right = tf.logical_and(parents >= 0, parents < beams)
    return v1.debugging.Assert(tf.reduce_all(is_right), [
        "The search went back to a parent that is not a beam, from", parents, "at time", time])


def gather_tree_from_array(t: Any, parent_ids: Any, sequence_length: Any) -> Any:
    """Returns what the beams that are left at the end had at each step.

    Args:
      t: [time, batch, beams, ...], or with batch and beams in one axis.
      parent_ids: The beam of the step before that each went on from, [time, batch, beams] int32.
      sequence_length: [batch, beams] integers; steps beyond them keep their place.
    """
    time, batch, beams = (
        static or tf.shape(parent_ids)[axis]
        for axis, static in enumerate(parent_ids.shape.as_list()))
    own = tf.tile(tf.range(beams)[None, None], [time, batch, 1])
    longest = tf.cast(tf.reduce_max(sequence_length, axis=1), tf.int32)
    where = gather_tree(own, parent_ids, longest, beams + 1)
    is_within = tf.transpose(tf.sequence_mask(sequence_length, maxlen=time), perm=[2, 0, 1])
    where = v1.where(is_within, where, own)
    shape = tf.shape(t)
    gathered = tf.gather(tf.reshape(t, tf.concat([[time, batch, beams], [-1]], 0)), where,
                         batch_dims=2)
    return tf.reshape(gathered, shape)


def sorted_array(t: Any, parent_ids: Any, sequence_length: Any, batch_size: Any,
                 beam_width: int) -> Any:
    """Returns a TensorArray of the cell's state as the beams at the end had it.

    Args:
      t: A value of the state; what is not a TensorArray, or cannot be sorted, is returned.
      parent_ids, sequence_length: As for `gather_tree_from_array`.
      batch_size: An integer tensor.
      beam_width: Number of beams.
    """
    if not isinstance(t, tf.TensorArray):
        return t
    shape = t.element_shape
    if shape.ndims is None or shape.ndims < 1:
        v1.logging.warn("A TensorArray of the cell's state cannot be sorted by the beam search: "
                        "the shape of its elements, %s, is not known or has no axis.", shape)
        return t
    if not is_of_beams(shape, tf.get_static_value(batch_size), beam_width):
        return t
    stacked = t.stack()
    with tf.control_dependencies([check_is_of_beams(stacked, batch_size, beam_width)]):
        return gather_tree_from_array(stacked, parent_ids, sequence_length)


def is_of_beams(shape: Any, batch_size: Any, beam_width: Any) -> bool:
    """Returns whether 1.15 sorts arrays whose elements have a static shape.

    Where all sizes are known, it sorts elements of one axis, of batch * beams, alone.
    """
    rows, *more = shape.as_list()
    if batch_size is None or rows is None:
        return True
    is_apart = not more or more[0] is None or (rows == batch_size and more[0] == beam_width)
    if rows == batch_size * beam_width and is_apart:
        return True
    v1.logging.warn("TensorArray reordering expects elements to be reshapable to %s which is "
                    "incompatible with the current shape %s. %s",
                    tf.TensorShape([batch_size, beam_width, None]), shape, _ADVICE)
    return False


def check_is_of_beams(t: Any, batch_size: Any, beam_width: Any) -> Any:
    """Returns the op that fails unless `t` is [time, batch * beams, ...] or the axes apart."""
    shape = tf.shape(t)
    is_right = tf.equal(shape[1], batch_size * beam_width)
    if t.shape.ndims != 2:
        is_apart = tf.logical_and(tf.equal(shape[1], batch_size), tf.equal(shape[2], beam_width))
        is_right = tf.logical_or(is_right, is_apart)
    name = "a tensor" if tf.executing_eagerly() else t.name
    return v1.debugging.Assert(is_right, [
        "TensorArray reordering expects elements to be reshapable to [batch_size, beam_size, -1] "
        f"which is incompatible with the dynamic shape of {name} elements. {_ADVICE}"])
