"""Finds the connected components of images.

The API is that of `tensorflow/contrib/image/python/ops/image_ops.py` of TensorFlow 1.15, whose
kernel ImageConnectedComponents later versions do not have.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

v1 = tf.compat.v1


def connected_components(images: Any) -> Any:
    """Returns the number of each pixel's component, from 1; pixels that are 0 have the number 0.

    Pixels are of one component when a path of equal neighbours, up, down, left and right, joins
    them. Components of all images are numbered together.

    Args:
      images: [batch, height, width] or [height, width] of any type.

    Returns:
      The same shape, int32.

    Raises:
      TypeError: for another rank.
    """
    with v1.name_scope("connected_components"):
        images = tf.convert_to_tensor(images, name="images")
        if images.shape.ndims not in (2, 3):
            raise TypeError("images should have rank 2 (HW) or 3 (NHW). Static shape is "
                            f"{images.shape}")
        batch = images[None] if images.shape.ndims == 2 else images
        numbers = _numbered(_roots(batch), tf.not_equal(batch, tf.zeros_like(batch)))
        return numbers[0] if images.shape.ndims == 2 else numbers


def _roots(images: Any) -> Any:
    """Returns the flat index of the first pixel of each pixel's component.

    In each turn a pixel takes the smallest index of its neighbours, and then that pixel's.
    """
    down = tf.equal(images[:, 1:], images[:, :-1])
    right = tf.equal(images[:, :, 1:], images[:, :, :-1])
    shape = tf.shape(images)
    start = tf.reshape(tf.range(tf.size(images)), shape)

    def turn(roots: Any, _: Any) -> Any:
        best = _joined(_joined(roots, down, 1), right, 2)
        best = tf.gather(tf.reshape(best, [-1]), best)
        return best, tf.reduce_any(tf.not_equal(best, roots))

    roots, _ = v1.while_loop(lambda roots, changes: changes, turn, (start, tf.constant(True)),
                             shape_invariants=(start.shape, tf.TensorShape([])))
    return roots


def _joined(roots: Any, joins: Any, axis: int) -> Any:
    """Returns the smaller root of two neighbours along an axis, where they are equal."""
    if axis == 1:
        before, after = roots[:, :-1], roots[:, 1:]
    else:
        before, after = roots[:, :, :-1], roots[:, :, 1:]
    smaller = tf.minimum(before, after)
    none = tf.fill(tf.shape(roots), tf.int32.max)
    first, last = (none[:, :1], none[:, :1]) if axis == 1 else (none[:, :, :1], none[:, :, :1])
    after = tf.concat([first, v1.where(joins, smaller, after)], axis)
    before = tf.concat([v1.where(joins, smaller, before), last], axis)
    return tf.minimum(roots, tf.minimum(before, after))


def _numbered(roots: Any, is_counted: Any) -> Any:
    """Returns the rank of each pixel's root among the roots that are counted, from 1, or 0."""
    flat = tf.reshape(roots, [-1])
    is_root = tf.logical_and(tf.equal(flat, tf.range(tf.size(flat))),
                             tf.reshape(is_counted, [-1]))
    ranks = tf.cumsum(tf.cast(is_root, tf.int32))
    numbers = tf.gather(ranks, flat) * tf.cast(tf.reshape(is_counted, [-1]), tf.int32)
    numbers = tf.reshape(numbers, tf.shape(roots))
    numbers.set_shape(roots.shape)
    return numbers
