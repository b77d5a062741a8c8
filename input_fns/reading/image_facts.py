"""Decides from the images of a folder what size they get, and how training changes them."""

from __future__ import annotations

import functools
from typing import Any, Mapping, Sequence

from absl import logging
import numpy as np
import tensorflow as tf

from input_fns.reading import image_decode
from input_fns.reading.bad_record import elements

# Sizes for folders of fewer images than this: more pixels than a network can learn from so many
# images cost time. Larger folders get that of ImageNet's recipes.
_SIZES = ((2_000, 64), (5_000, 96), (20_000, 128), (100_000, 160))
_LARGEST = 224
_MEASURED = 100
_MULTIPLE = 8
# Mirrored or turned digits and letters are other ones; images as small as that often are such.
_LEAST_TO_CHANGE = 32


def decided(params: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    """Returns `image_size` and `augment` for the params that leave them open.

    Args:
      params: The params of `input_fns/image_folder.py`.
      paths: The images to train on.
    """
    size: int = params["image_size"] or _size(tuple(paths))
    augment: str = params["augment"] or _augment(size, len(paths))
    return {"image_size": size, "augment": augment}


def _augment(size: int, count: int) -> str:
    if size < _LEAST_TO_CHANGE:
        return "none"
    return "light" if count < _SIZES[-1][0] else "imagenet"


@functools.lru_cache(maxsize=16)
def _size(paths: tuple[str, ...]) -> int:
    """Returns a size for images, no larger than most of them are."""
    measured = list(paths[::-(-len(paths) // _MEASURED)])

    def sizes() -> tf.data.Dataset:
        # Training names the images that cannot be decoded.
        return tf.data.Dataset.from_tensor_slices(measured).map(
            lambda path: image_decode.size(tf.io.read_file(path)),
            num_parallel_calls=tf.data.AUTOTUNE).apply(tf.data.experimental.ignore_errors())

    sides = [int(size.min()) for size in elements(sizes)]
    median = int(np.median(sides)) if sides else _LARGEST
    most = next((size for count, size in _SIZES if len(paths) < count), _LARGEST)
    size = max(1, min(median, most))
    size = size // _MULTIPLE * _MULTIPLE if size >= _LEAST_TO_CHANGE else size
    logging.info("image_size is %d: the shorter side of most images is %d pixels, and there are "
                 "%d images to train on", size, median, len(paths))
    return size
