"""Rotates, translates and transforms images by projections.

The API is that of `tensorflow/contrib/image/python/ops/image_ops.py` of TensorFlow 1.15. The eight
numbers (a0, a1, a2, b0, b1, b2, c0, c1) of a projection map an output's pixel (x, y) to the input's
((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.patches import op_seeds

v1 = tf.compat.v1
_DTYPES = (tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64)


def transform(images: Any, transforms: Any, interpolation: str = "NEAREST",
              output_shape: Any = None, name: Any = None) -> Any:
    """Returns images of which each pixel is the input's at the projection of its place.

    Args:
      images: [batch, height, width, channels], [height, width, channels] or [height, width], uint8,
        int32, int64, float16, float32 or float64; 0 beyond their edges.
      transforms: A projection, [8], or one for each image, [batch, 8], float32.
      interpolation: "NEAREST" or "BILINEAR".
      output_shape: The results' height and width; the images' by default.
      name: A name for the ops.

    Raises:
      TypeError: for another dtype or rank.
      ValueError: for an `output_shape` that is not two integers.
    """
    with v1.name_scope(name, "transform"):
        passed = tf.convert_to_tensor(images, name="images")
        transforms = tf.convert_to_tensor(transforms, tf.float32, name="transforms")
        batch = _as_batch(passed)
        if output_shape is None:
            output_shape = tf.shape(batch)[1:3]
            static = None if tf.executing_eagerly() else tf.get_static_value(output_shape)
            output_shape = output_shape if static is None else static
        output_shape = tf.convert_to_tensor(output_shape, tf.int32, name="output_shape")
        if not output_shape.shape.is_compatible_with([2]):
            raise ValueError("output_shape must be a 1-D Tensor of 2 elements: new_height, "
                             "new_width")
        op_seeds.count(-1)  # The value outside of the images is an operation.
        transformed = tf.raw_ops.ImageProjectiveTransformV3(
            images=batch, transforms=_as_rows(transforms, "Transforms"), fill_value=0.0,
            output_shape=output_shape, interpolation=interpolation.upper())
        return _as_before(transformed, passed)


def rotate(images: Any, angles: Any, interpolation: str = "NEAREST", name: Any = None) -> Any:
    """Rotates images about their centres.

    Args:
      images, interpolation, name: As for `transform`.
      angles: Counterclockwise, in radians: a number, or [batch].
    """
    with v1.name_scope(name, "rotate"):
        passed = tf.convert_to_tensor(images)
        batch = _as_batch(passed)
        height, width = (tf.cast(tf.shape(batch)[axis], tf.float32)[None] for axis in (1, 2))
        rotated = transform(batch, angles_to_projective_transforms(angles, height, width),
                            interpolation=interpolation)
        return _as_before(rotated, passed)


def translate(images: Any, translations: Any, interpolation: str = "NEAREST",
              name: Any = None) -> Any:
    """Moves images to the right and down.

    Args:
      images, interpolation, name: As for `transform`.
      translations: (x, y), or one for each image, [batch, 2].
    """
    with v1.name_scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations),
                         interpolation=interpolation)


def angles_to_projective_transforms(angles: Any, image_height: Any, image_width: Any,
                                    name: Any = None) -> Any:
    """Returns the projections that rotate images, [batch, 8].

    Args:
      angles: Counterclockwise, in radians: a number, or [batch].
      image_height, image_width: Numbers, float32.
      name: A name for the ops.

    Raises:
      TypeError: for angles of another rank.
    """
    with v1.name_scope(name, "angles_to_projective_transforms"):
        angles = tf.convert_to_tensor(angles, tf.float32, name="angles")
        if len(angles.shape) not in (0, 1):
            raise TypeError("Angles should have rank 0 or 1.")
        angles = angles[None] if len(angles.shape) == 0 else angles
        # Nothing is computed once for two uses, as in 1.15: seeds count operations.
        x_offset = ((image_width - 1) - (tf.cos(angles) * (image_width - 1)
                                         - tf.sin(angles) * (image_height - 1))) / 2.0
        y_offset = ((image_height - 1) - (tf.sin(angles) * (image_width - 1)
                                          + tf.cos(angles) * (image_height - 1))) / 2.0
        count = tf.shape(angles)[0]
        return tf.concat([
            tf.cos(angles)[:, None], -tf.sin(angles)[:, None], x_offset[:, None],
            tf.sin(angles)[:, None], tf.cos(angles)[:, None], y_offset[:, None],
            tf.zeros((count, 2), tf.float32)], axis=1)


def translations_to_projective_transforms(translations: Any, name: Any = None) -> Any:
    """Returns the projections that move images, [batch, 8].

    Args:
      translations: (x, y), or [batch, 2].
      name: A name for the ops.

    Raises:
      TypeError: for translations of another rank.
    """
    with v1.name_scope(name, "translations_to_projective_transforms"):
        translations = tf.convert_to_tensor(translations, tf.float32, name="translations")
        moves = _as_rows(translations, "Translations")
        count = tf.shape(moves)[0]
        return tf.concat([
            tf.ones((count, 1)), tf.zeros((count, 1)), -moves[:, 0, None], tf.zeros((count, 1)),
            tf.ones((count, 1)), -moves[:, 1, None], tf.zeros((count, 2))], axis=1)


def compose_transforms(*transforms: Any) -> Any:
    """Returns the projections that transform images by one after the other, [batch, 8].

    Args:
      *transforms: Projections, each [8] or [batch, 8].
    """
    assert transforms, "transforms cannot be empty"
    with v1.name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for each in transforms[1:]:
            composed = tf.matmul(composed, flat_transforms_to_matrices(each))
        return matrices_to_flat_transforms(composed)


def flat_transforms_to_matrices(transforms: Any) -> Any:
    """Returns projections as matrices, [batch, 3, 3].

    Args:
      transforms: [8] or [batch, 8].

    Raises:
      ValueError: for another rank.
    """
    with v1.name_scope("flat_transforms_to_matrices"):
        transforms = tf.convert_to_tensor(transforms, name="transforms")
        if transforms.shape.ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        rows = tf.reshape(transforms, [-1, 8])
        ones = tf.ones([tf.shape(rows)[0], 1])
        return tf.reshape(tf.concat([rows, ones], axis=1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices: Any) -> Any:
    """Returns matrices as projections, [batch, 8].

    Args:
      transform_matrices: [3, 3] or [batch, 3, 3].

    Raises:
      ValueError: for another rank.
    """
    with v1.name_scope("matrices_to_flat_transforms"):
        matrices = tf.convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        rows = tf.reshape(matrices, [-1, 9])
        return (rows / rows[:, 8:9])[:, :8]


def _as_batch(images: Any) -> Any:
    if images.dtype.base_dtype not in _DTYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    if images.shape.ndims is None:
        raise TypeError("image_or_images rank must be statically known")
    if images.shape.ndims == 2:
        return images[None, :, :, None]
    if images.shape.ndims == 3:
        return images[None, :, :, :]
    if images.shape.ndims == 4:
        return images
    raise TypeError("Images should have rank between 2 and 4.")


def _as_before(batch: Any, passed: Any) -> Any:
    if passed.shape.ndims == 2:
        return batch[0, :, :, 0]
    return batch[0, :, :, :] if passed.shape.ndims == 3 else batch


def _as_rows(values: Any, what: str) -> Any:
    if values.shape.ndims is None:
        raise TypeError(f"The rank of {what.lower()} must be statically known.")
    if values.shape.ndims not in (1, 2):
        raise TypeError(f"{what} should have rank 1 or 2.")
    return values[None] if values.shape.ndims == 1 else values
