"""Warps images by a flow of each pixel, or of a few control points.

The API is that of `tensorflow/contrib/image/python/ops/dense_image_warp.py` and
`sparse_image_warp.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.contrib.image.spline import interpolate_spline
from estimator_trainer.patches import op_seeds

v1 = tf.compat.v1
# The number of operations that 1.15 made for a dense warp, on which seeds after it depend.
_OPERATIONS = 236


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> Any:
    """Returns the images of which the pixel at p is the input's at p - flow(p).

    Args:
      image: [batch, height, width, channels] floats, at least 2 high and wide.
      flow: [batch, height, width, 2] floats, of y and x.
      name: A name for the ops.
    """
    op_seeds.count(_OPERATIONS)
    with v1.name_scope(name), op_seeds.uncounted():
        batch, height, width, channels = (tf.shape(image)[axis] for axis in range(4))
        x, y = tf.meshgrid(tf.range(width), tf.range(height))
        places = tf.cast(tf.stack([y, x], axis=2), flow.dtype)[None] - flow
        warped = interpolate_bilinear(image, tf.reshape(places, [batch, height * width, 2]))
        return tf.reshape(warped, [batch, height, width, channels])


def interpolate_bilinear(grid: Any, query_points: Any, name: str = "interpolate_bilinear",
                         indexing: str = "ij") -> Any:
    """Returns a grid's values between its points, [batch, queries, channels].

    Args:
      grid: [batch, height, width, channels], at least 2 high and wide.
      query_points: [batch, queries, 2] floats; points outside are moved to the edge.
      name: A name for the ops.
      indexing: Whether a point is (row, column), "ij", or (x, y), "xy".

    Raises:
      ValueError: for another `indexing` or rank of the grid.
      InvalidArgumentError: for another rank of the points.
    """
    if indexing not in ("ij", "xy"):
        raise ValueError("Indexing mode must be 'ij' or 'xy'")
    with v1.name_scope(name):
        grid = tf.convert_to_tensor(grid)
        query_points = tf.convert_to_tensor(query_points)
        if grid.shape.ndims != 4:
            raise ValueError(f"Grid must be 4 dimensional. Received size: {grid.shape}")
        v1.assert_equal(query_points.shape.ndims, 3, message="Query points must be 3 dimensional.")
        with tf.control_dependencies(_checks(grid, query_points)):
            points = tf.unstack(tf.identity(query_points), num=2, axis=2)
        points = points if indexing == "ij" else points[::-1]
        (top, y), (left, x) = (_between(each, tf.shape(grid)[axis], grid.dtype)
                               for axis, each in enumerate(points, start=1))

        def at(row: Any, column: Any) -> Any:
            return tf.gather_nd(grid, tf.stack([row, column], axis=2), batch_dims=1)

        upper = x * (at(top, left + 1) - at(top, left)) + at(top, left)
        lower = x * (at(top + 1, left + 1) - at(top + 1, left)) + at(top + 1, left)
        return y * (lower - upper) + upper


def _checks(grid: Any, points: Any) -> Any:
    height, width = tf.shape(grid)[1], tf.shape(grid)[2]
    return [v1.assert_equal(tf.shape(points)[2], 2,
                            message="Query points must be size 2 in dim 2."),
            v1.assert_greater_equal(height, 2, message="Grid height must be at least 2."),
            v1.assert_greater_equal(width, 2, message="Grid width must be at least 2.")]


def _between(points: Any, size: Any, dtype: Any) -> Any:
    """Returns the index before each point, and the part of the way to the next one."""
    before = tf.minimum(tf.maximum(tf.constant(0, points.dtype), tf.floor(points)),
                        tf.cast(size - 2, points.dtype))
    # In this order, on which the gradient at a point of the grid depends.
    way = tf.minimum(tf.maximum(tf.constant(0, dtype), tf.cast(points - before, dtype)),
                     tf.constant(1, dtype))
    return tf.cast(before, tf.int32), way[:, :, None]


def sparse_image_warp(image: Any, source_control_point_locations: Any,
                      dest_control_point_locations: Any, interpolation_order: int = 2,
                      regularization_weight: float = 0.0, num_boundary_points: int = 0,
                      name: str = "sparse_image_warp") -> Any:
    """Returns images in which control points have moved, and the flow of all pixels.

    Args:
      image: [batch, height, width, channels] floats, of known shape.
      source_control_point_locations: [batch, points, 2], of y and x.
      dest_control_point_locations: [batch, points, 2], where they move to.
      interpolation_order, regularization_weight: As for `interpolate_spline`.
      num_boundary_points: Number of points of each edge that stay where they are, and one more.
      name: A name for the ops.

    Returns:
      [batch, height, width, channels] and [batch, height, width, 2].
    """
    image = tf.convert_to_tensor(image)
    source = tf.convert_to_tensor(source_control_point_locations)
    destination = tf.convert_to_tensor(dest_control_point_locations)
    flows = destination - source
    op_seeds.count(_OPERATIONS)
    with v1.name_scope(name), op_seeds.uncounted():
        batch, height, width, _ = image.shape.as_list()

        def batched(points: Any, dtype: Any) -> Any:
            return tf.constant(np.tile(points[None], [batch, 1, 1]), dtype)

        places = _grid(np.arange(height), np.arange(width))
        if num_boundary_points > 0:
            edge = _edge(height, width, num_boundary_points - 1)
            destination = tf.concat([destination, batched(edge, destination.dtype)], 1)
            flows = tf.concat([flows, batched(np.zeros_like(edge), destination.dtype)], 1)
        flow = interpolate_spline(destination, flows, batched(places, image.dtype),
                                  interpolation_order, regularization_weight)
        flow = tf.reshape(flow, [batch, height, width, 2])
        return dense_image_warp(image, flow), flow


def _grid(rows: Any, columns: Any) -> Any:
    """Returns all pairs of a row and a column, [rows * columns, 2]."""
    return np.stack(np.meshgrid(rows, columns, indexing="ij"), -1).reshape(-1, 2)


def _edge(height: int, width: int, between: int) -> Any:
    """Returns the corners of an image and points between them, [points, 2]."""
    points = _grid(np.linspace(0, height - 1, between + 2), np.linspace(0, width - 1, between + 2))
    is_edge = ((points == 0) | (points == (height - 1, width - 1))).any(axis=1)
    return points[is_edge]
