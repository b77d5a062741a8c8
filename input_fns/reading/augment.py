"""Changes training images at random, and cuts evaluation images to match.

  imagenet  training: a random part of the image, 8% to 100% of its area and 3/4 to 4/3 as wide
            as high, resized; mirrored half the time. Evaluation: the shorter side resized to 8/7
            of the size (256 for 224), and the centre cut out.
  cifar     training: 4 black pixels around the image, a random cut of its size; mirrored half
            the time. Evaluation: the image.
  light     for few images. Training: a cut of 75% to 105% of the sides, turned by up to 12 degrees,
            shifted by up to 8% and up to 10% wider or narrower; mirrored half the time; brightness,
            contrast and tint change by up to 20%. Evaluation: the whole image. Images that shrink
            are smoothed.
  none      the whole image in both.

An image of other proportions than the result's is cut at its centre. Sources: Szegedy et al.,
"Going Deeper with Convolutions" (2014), section 6; He et al., "Deep Residual Learning for
Image Recognition" (2015), sections 3.4 and 4.2.
"""

from __future__ import annotations

import functools
import math
from typing import Sequence

import tensorflow as tf

from input_fns.reading import image_decode
from input_fns.reading.errors import DataParamError

AUGMENTS = ("none", "cifar", "imagenet", "light")

_AREA, _ASPECT, _ATTEMPTS = (0.08, 1.0), (3 / 4, 4 / 3), 10
_EVALUATED = 7 / 8
_PADDING = 4
_LIGHT_STORED = 9 / 8  # side of an image in memory, of which training makes its images
_ZOOM, _TURN, _SHIFT, _WIDTH, _COLOUR = (0.75, 1.05), 0.21, 0.08, 0.1, 0.2


def check(augment: str, image_size: int, least_size: int) -> None:
    """Raises DataParamError if there is no such augmentation, or the size is too small."""
    if augment not in AUGMENTS:
        raise DataParamError(f"augment is {augment!r}; expected one of {list(AUGMENTS)}. For "
                             "example: --param augment=cifar")
    if image_size < least_size:
        raise DataParamError(f"image_size is {image_size} pixels; expected {least_size} or more. "
                             "For example: --param image_size=224")


def training_image(
    contents: tf.Tensor,
    seed: tf.Tensor,
    augment: str,
    shape: Sequence[int],
    background: Sequence[int] = (),
) -> tf.Tensor:
    """Decodes an image and changes it at random.

    Args:
      contents: An encoded image: a string scalar.
      seed: Seed, an int64 [2]; the same seed gives the same image.
      augment: Name of the change, one of AUGMENTS.
      shape: (height, width, channels) of the result; channels are 1 or 3.
      background: Colour behind what is transparent, as in `image_decode.decoded_part`.

    Returns:
      float32 `shape`, 0 to 255.
    """
    if augment == "none":
        return evaluation_image(contents, augment, shape, background)
    if augment == "light":
        stored = stored_image(contents, shape, background)
        return light_images(stored[None], seed, shape)[0]
    # With one seed for both, the mirroring would depend on the cut.
    cut_seed, flip_seed = tf.unstack(tf.random.experimental.stateless_split(seed, 2))
    if augment == "imagenet":
        image = _resized_part(contents, functools.partial(_random_part, seed=cut_seed), shape,
                              background)
    else:
        image = evaluation_image(contents, augment, shape, background)
        image = tf.pad(image, [[_PADDING, _PADDING], [_PADDING, _PADDING], [0, 0]])
        image = tf.image.stateless_random_crop(image, shape, cut_seed)
    return tf.image.stateless_random_flip_left_right(image, flip_seed)


def evaluation_image(contents: tf.Tensor, augment: str, shape: Sequence[int],
                     background: Sequence[int] = ()) -> tf.Tensor:
    """Decodes an image and cuts it to `shape`; arguments and result as in training_image."""
    share = _EVALUATED if augment == "imagenet" else 1.0
    return _resized_part(contents, functools.partial(_centre, shape=shape, share=share), shape,
                         background, smooth=augment == "light")


def stored_image(contents: tf.Tensor, shape: Sequence[int],
                 background: Sequence[int] = ()) -> tf.Tensor:
    """Decodes an image of which `light_images` makes images of a shape: uint8, somewhat larger."""
    height, width = (math.ceil(side * _LIGHT_STORED) for side in shape[:2])
    image = evaluation_image(contents, "light", (height, width, shape[2]), background)
    return tf.cast(tf.round(image), tf.uint8)


def light_images(stored: tf.Tensor, seed: tf.Tensor, shape: Sequence[int]) -> tf.Tensor:
    """Changes images at random, each in its own way.

    Args:
      stored: Images of `stored_image`, [batch, ...].
      seed: Seed, an int64 [2].
      shape: (height, width, channels) of the result.

    Returns:
      float32 [batch, *shape], 0 to 255.
    """
    count = tf.shape(stored)[0]
    drawn = tf.random.stateless_uniform(
        [6, count], tf.random.experimental.stateless_fold_in(seed, 0), -1.0, 1.0)
    zoom, wide, turn, down, right, mirror = tf.unstack(drawn)
    zoom = sum(_ZOOM) / 2 + zoom * (_ZOOM[1] - _ZOOM[0]) / 2
    wide, turn = 1.0 + _WIDTH * wide, _TURN * turn
    (height, width), (new_height, new_width) = stored.shape[1:3], shape[:2]
    scale_y, scale_x = zoom * height / new_height, zoom * wide * width / new_width
    side = tf.where(mirror > 0, 1.0, -1.0)
    cos_x, sin_x = scale_x * tf.cos(turn) * side, scale_y * tf.sin(turn) * side
    cos_y, sin_y = scale_y * tf.cos(turn), scale_x * tf.sin(turn)
    # Pixel (x, y) of the result is pixel (ax + by + c, dx + ey + f) of the stored image.
    middle_x, middle_y = (new_width - 1) / 2, (new_height - 1) / 2
    moved_x = (width - 1) / 2 + _SHIFT * width * right - cos_x * middle_x + sin_y * middle_y
    moved_y = (height - 1) / 2 + _SHIFT * height * down - sin_x * middle_x - cos_y * middle_y
    none = tf.zeros_like(zoom)
    images = tf.raw_ops.ImageProjectiveTransformV3(
        images=tf.cast(stored, tf.float32), output_shape=[new_height, new_width], fill_value=0.0,
        transforms=tf.stack([cos_x, -sin_y, moved_x, sin_x, cos_y, moved_y, none, none], 1),
        interpolation="BILINEAR", fill_mode="REFLECT")
    return tf.ensure_shape(_relit(images, seed), [None, *shape])


def _relit(images: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Changes brightness, contrast and tint of each image."""
    count, channels = tf.shape(images)[0], images.shape[-1]
    light, contrast = tf.unstack(tf.random.stateless_uniform(
        [2, count, 1, 1, 1], tf.random.experimental.stateless_fold_in(seed, 1), -_COLOUR, _COLOUR))
    tint = tf.random.stateless_uniform(
        [count, 1, 1, channels], tf.random.experimental.stateless_fold_in(seed, 2),
        1.0 - _COLOUR / 2, 1.0 + _COLOUR / 2)
    mean = tf.reduce_mean(images, axis=[1, 2, 3], keepdims=True)
    changed = ((images - mean) * (1.0 + contrast) + mean * (1.0 + light)) * tint
    return tf.clip_by_value(changed, 0.0, 255.0)


def _random_part(height_width: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Returns int32 [4]: y, x, height, width of a random part."""
    whole = tf.constant([[[0.0, 0.0, 1.0, 1.0]]])
    begin, size, _ = tf.image.stateless_sample_distorted_bounding_box(
        tf.concat([height_width, [3]], 0), whole, seed, min_object_covered=0.0,
        aspect_ratio_range=_ASPECT, area_range=_AREA, max_attempts=_ATTEMPTS)
    return tf.concat([begin[:2], size[:2]], 0)


def _centre(height_width: tf.Tensor, shape: Sequence[int], share: float) -> tf.Tensor:
    """Returns int32 [4]: y, x, height, width of `share` of the largest centre with a shape."""
    wanted = tf.constant(shape[:2], tf.float64)
    sides = tf.cast(height_width, tf.float64)
    size = tf.cast(tf.round(wanted * tf.reduce_min(sides / wanted) * share), tf.int32)
    size = tf.clip_by_value(size, 1, height_width)
    return tf.concat([(height_width - size) // 2, size], 0)


def _resized_part(
    contents: tf.Tensor,
    part_of: image_decode.PartOf,
    shape: Sequence[int],
    background: Sequence[int],
    smooth: bool = False,
) -> tf.Tensor:
    """Decodes a part of an image and resizes it to float32 `shape`, (height, width, channels)."""
    image = image_decode.decoded_part(contents, part_of, shape[2], background)
    return tf.ensure_shape(tf.image.resize(image, shape[:2], antialias=smooth), shape)
