"""Samples images between their pixels.

The API is that of `tensorflow/contrib/resampler` of TensorFlow 1.15, whose kernel Resampler later
versions do not have; Jaderberg et al., "Spatial Transformer Networks", 2015, has the equations.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.patches import op_seeds

v1 = tf.compat.v1


def resampler(data: Any, warp: Any, name: str = "resampler") -> Any:
    """Returns the values of images at some points, by bilinear interpolation.

    Args:
      data: [batch, height, width, channels] float16, float32 or float64; 0 beyond the edges.
      warp: [batch, ..., 2], the points' x and y, of the same dtype.
      name: A name for the ops.

    Returns:
      [batch, ..., channels].

    Raises:
      InvalidArgumentError: when the batches differ, or `warp` is a vector.
      TypeError: when the dtypes differ.
      UnimplementedError: for data of another rank, or points of another size.
    """
    with v1.name_scope(name, "resampler", [data, warp]):
        data = tf.convert_to_tensor(data, name="data")
        warp = tf.convert_to_tensor(warp, name="warp")
        if data.dtype.base_dtype != warp.dtype.base_dtype or not data.dtype.is_floating:
            raise TypeError(f"data is {data.dtype.name} and warp {warp.dtype.name}; expected one "
                            "type of floats.")
        _check_shapes(data.shape, warp.shape)
        op_seeds.count(1)
        with op_seeds.uncounted():
            shape = tf.concat([tf.shape(warp)[:-1], tf.shape(data)[3:]], 0)
            points = tf.reshape(warp, [tf.shape(data)[0], -1, 2])
            values = tf.reshape(_values(data, points), shape)
        values.set_shape(warp.shape[:-1].concatenate(data.shape[3:]))
        return values


def _check_shapes(data: Any, warp: Any) -> None:
    if data.ndims is not None and data.ndims != 4:
        raise tf.errors.UnimplementedError(None, None, (
            "Only bilinear interpolation is currently supported: the input data shape should be "
            f"[batch_size, data_height, data_width, data_channels], and is {data}."))
    if warp.ndims is not None:
        if warp.ndims < 2:
            raise tf.errors.InvalidArgumentError(None, None, (
                f"warp should be at least a matrix, got shape {warp}"))
        if not warp[-1:].is_compatible_with([2]):
            raise tf.errors.UnimplementedError(None, None, (
                "Only bilinear interpolation is supported, warping coordinates must be 2D; warp "
                f"has the shape {warp}."))
        if data.ndims is not None and not warp[:1].is_compatible_with(data[:1]):
            raise tf.errors.InvalidArgumentError(None, None, (
                f"Batch size of data and warp tensor must be the same: {data} and {warp}."))


def _values(data: Any, points: Any) -> Any:
    """Returns the values at points, [batch, count, channels]."""
    height, width = tf.shape(data)[1], tf.shape(data)[2]
    edges = tf.cast(tf.stack([width, height]), points.dtype)
    is_near = tf.reduce_all(tf.logical_and(points > -1, points < edges), axis=2, keepdims=True)
    points = tf.where(is_near, points, tf.zeros_like(points))
    first = tf.stop_gradient(tf.floor(points))
    way = points - first
    x, y = tf.unstack(tf.cast(first, tf.int32), axis=2)
    right, down = way[:, :, :1], way[:, :, 1:]

    def at(column: Any, row: Any) -> Any:
        is_within = (column >= 0) & (column < width) & (row >= 0) & (row < height)
        row = tf.clip_by_value(row, 0, height - 1)
        column = tf.clip_by_value(column, 0, width - 1)
        found = tf.gather_nd(data, tf.stack([row, column], axis=2), batch_dims=1)
        return found * tf.cast(is_within, data.dtype)[:, :, None]

    values = ((1 - right) * (1 - down) * at(x, y) + right * (1 - down) * at(x + 1, y)
              + (1 - right) * down * at(x, y + 1) + right * down * at(x + 1, y + 1))
    return values * tf.cast(is_near, data.dtype)
