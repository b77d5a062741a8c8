"""Functions of images that make TensorFlow 1.15's operations, or count them.

Source: `tf.image` of TensorFlow 1.15's API
"""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from estimator_trainer.compat.tensorflow1.operations.replaced import Make, more
from estimator_trainer.patches.op_seeds import count

# The branches for each format were operations, and of those another type has to be made.
_FORMATS, _FORMATS_CONVERTED = 76, 84


def _crop_to_bounding_box(newer: Callable[..., Any]) -> Callable[..., Any]:
    def crop_to_bounding_box(*args: Any, **kwargs: Any) -> Any:
        is_dynamic = any(map(tf.is_tensor, [*args[1:], *kwargs.values()]))
        count(-8 if is_dynamic else -12)  # Today two sizes are read from the image.
        return newer(*args, **kwargs)

    return crop_to_bounding_box


def _per_image_standardization(newer: Callable[..., Any]) -> Callable[..., Any]:
    def per_image_standardization(image: Any) -> Any:
        image = tf.convert_to_tensor(image)
        kind = image.dtype
        if kind == tf.float32:
            count(1)
            return newer(image)
        if kind != tf.float16:
            image = tf.image.convert_image_dtype(image, tf.float32)
        return tf.image.convert_image_dtype(newer(image), kind, saturate=True)

    return per_image_standardization


def _decode_image(newer: Callable[..., Any]) -> Callable[..., Any]:
    def decode_image(contents: Any, channels: Any = None, dtype: Any = tf.uint8,
                     *args: Any, **kwargs: Any) -> Any:
        count(_FORMATS if dtype == tf.uint8 else _FORMATS_CONVERTED)
        return newer(contents, channels, dtype, *args, **kwargs)

    return decode_image


def _resize_images(newer: Callable[..., Any]) -> Callable[..., Any]:
    def resize_images(*args: Any, **kwargs: Any) -> Any:  # In TensorFlow 0.12 they differed.
        if kwargs.get("preserve_aspect_ratio") or any(args[4:5]):
            count(-6)
        return newer(*args, **kwargs)

    return resize_images


def _check(newer: Callable[..., Any]) -> Callable[..., Any]:
    def check(image: Any, require_static: bool = True) -> Any:
        checks = newer(image, require_static)
        if len(checks) > 1:
            count(-4)  # The number of dimensions was not checked.
        return checks

    return check


_IMAGES = "tensorflow.python.ops.image_ops_impl"
FUNCTIONS: dict[str, Make] = {
    f"{_IMAGES}.crop_to_bounding_box": _crop_to_bounding_box,
    f"{_IMAGES}.per_image_standardization": _per_image_standardization,
    f"{_IMAGES}.decode_image": _decode_image,
    "tf.image.resize": _resize_images,
    "tf.image.resize_images": _resize_images,
    f"{_IMAGES}.random_jpeg_quality": more(-4),
    f"{_IMAGES}._CheckAtLeast3DImage": _check,
}
