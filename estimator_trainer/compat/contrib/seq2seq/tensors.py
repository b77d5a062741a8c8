"""Tensors of a batch of sequences, as decoders and their helpers need them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.layers import base
from tensorflow.python.ops import rnn

v1 = tf.compat.v1

# [batch, time, ...] to [time, batch, ...] and back; a tensor of rank 0 or 1 stays as it is.
transpose_batch_time = rnn._transpose_batch_time


def zeros(size: Any, batch_size: Any, dtype: Any) -> Any:
    """Returns zeros of shape [batch_size, *size], for each size of a structure.

    Args:
      size: Integers, TensorShapes or integer tensors.
      batch_size: An integer, or a tensor of one.
      dtype: The zeros' type.
    """
    def create(one: Any) -> Any:
        tensor = tf.zeros(rnn._concat(batch_size, one), dtype)
        tensor.set_shape(rnn._concat(batch_size, one, static=True))
        return tensor

    return tf.nest.map_structure(create, size)


def unstacked(tensor: Any) -> Any:
    """Returns a TensorArray of the elements along the first axis."""
    array = tf.TensorArray(tensor.dtype, tf.shape(tensor)[0], element_shape=tensor.shape[1:])
    return array.unstack(tensor)


def static_or_dynamic(tensor: Any, axis: int) -> Any:
    """Returns the length of an axis: an integer where the graph knows one above 0."""
    return tf.compat.dimension_value(tensor.shape[axis]) or tf.shape(tensor)[axis]


def lookup_function(embedding: Any) -> Any:
    """Returns the function from ids to vectors that a table, or a function, of embeddings is."""
    if callable(embedding):
        return embedding
    return lambda ids: v1.nn.embedding_lookup(embedding, ids)


def start_and_end(start_tokens: Any, end_token: Any) -> Any:
    """Returns the tokens as int32 tensors.

    Args:
      start_tokens: [batch] integers.
      end_token: An integer.

    Raises:
      ValueError: when their ranks are not 1 and 0.
    """
    start_tokens = tf.convert_to_tensor(start_tokens, tf.int32, name="start_tokens")
    end_token = tf.convert_to_tensor(end_token, tf.int32, name="end_token")
    if start_tokens.shape.ndims != 1:
        raise ValueError(f"start_tokens must be a vector, and has the shape {start_tokens.shape}.")
    if end_token.shape.ndims != 0:
        raise ValueError(f"end_token must be a scalar, and has the shape {end_token.shape}.")
    return start_tokens, end_token


def check_cell(cell: Any) -> None:
    """Raises a TypeError for what is not an RNN cell."""
    wanted = ("output_size", "state_size")
    has_state = hasattr(cell, "zero_state") or hasattr(cell, "get_initial_state")
    if not (callable(cell) and has_state and all(hasattr(cell, name) for name in wanted)):
        raise TypeError(f"The argument 'cell' ({cell}) is not an RNNCell: expected a function with "
                        "output_size, state_size and zero_state or get_initial_state.")


def check_layer(name: str, layer: Any, is_keras_enough: bool = False) -> None:
    """Raises a TypeError for what is neither None nor a layer of `tf.layers`.

    Args:
      name: The argument's name.
      layer: Its value.
      is_keras_enough: Whether a layer of `tf.keras.layers` may be given.
    """
    # `tensorflow.python.layers`, which programs import as well, has a Layer of its own.
    kinds = (v1.layers.Layer, base.Layer, *((tf.keras.layers.Layer,) if is_keras_enough else ()))
    if layer is not None and not isinstance(layer, kinds):
        raise TypeError(f"{name} must be a Layer, received: {type(layer)}")


def output_size(cell: Any, layer: Any) -> Any:
    """Returns the size of a cell's outputs after a layer, or None."""
    if layer is None:
        return cell.output_size
    shape = tf.nest.map_structure(lambda size: tf.TensorShape([None]).concatenate(size),
                                  cell.output_size)
    return tf.nest.map_structure(lambda each: each[1:], layer.compute_output_shape(shape))
