"""Decides from the images of a folder what size they get, and how training changes them.

Images in which a model sees nothing, because all pixels are alike, are logged.
"""

from __future__ import annotations

import functools
from typing import Any, Mapping, NamedTuple, Sequence

from absl import logging
import numpy as np
import tensorflow as tf

from input_fns.reading import image_decode
from input_fns.reading.bad_record import elements
from input_fns.reading.errors import DataParamError

# Sizes for folders of fewer images than this: more pixels than a network can learn from so many
# images cost time. Larger folders get that of ImageNet's recipes.
_SIZES = ((2_000, 64), (5_000, 96), (20_000, 128), (100_000, 160))
_LARGEST = 224
_MEASURED = 100
_MULTIPLE = 8
# Mirrored or turned digits and letters are other ones; images as small as that often are such.
_LEAST_TO_CHANGE = 32
_LEAST_CONTRAST = 16  # of 255
_PNG, _DEPTH_AT, _COLOUR_AT = b"\x89PNG", 24, 25  # bytes of a PNG file's head
_WITH_OPACITY = (4, 6)


class _Measured(NamedTuple):
    """Some of the images.

    Attributes:
      paths: Paths of the images that could be decoded.
      sides: The shorter side of each, in pixels.
      contrasts: The contrast of each, as in `image_decode.measured`.
    """

    paths: list[str]
    sides: list[int]
    contrasts: list[int]


def decided(params: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    """Returns `image_size` and `augment` for the params that leave them open.

    Args:
      params: The params of `input_fns/image_folder.py`.
      paths: The images to train on.
    """
    check_background(params["background"])
    size: int = params["image_size"] or _size(tuple(paths), tuple(params["background"]))
    augment: str = params["augment"] or _augment(size, len(paths))
    return {"image_size": size, "augment": augment}


def _augment(size: int, count: int) -> str:
    if size < _LEAST_TO_CHANGE:
        return "none"
    return "light" if count < _SIZES[-1][0] else "imagenet"


def check_background(background: Sequence[Any]) -> None:
    """Raises DataParamError if this is no colour."""
    if background and not (len(background) == 3 and all(
            type(value) is int and 0 <= value <= 255 for value in background)):
        raise DataParamError(f"background is {list(background)}; expected red, green and blue, each"
                             " 0 to 255. For example: --param 'background=[255, 255, 255]'")


def log_flat(params: Mapping[str, Any], paths: Sequence[str]) -> None:
    """Logs a warning, once in a process, if images have pixels of one colour alone.

    Arguments are those of `decided`.
    """
    _log_flat(tuple(paths), tuple(params["background"]))


@functools.lru_cache(maxsize=16)
def _log_flat(paths: tuple[str, ...], background: tuple[int, ...]) -> None:
    measured = _measured(paths, background)
    flat = [path for path, contrast in zip(measured.paths, measured.contrasts)
            if contrast < _LEAST_CONTRAST]
    if flat:
        logging.warning("%d of %d images looked at show one colour alone, or nearly: a model "
                        "learns nothing from them, such as %s. %s", len(flat), len(measured.paths),
                        flat[0], _advice(flat[0], background))


def _advice(path: str, background: tuple[int, ...]) -> str:
    with tf.io.gfile.GFile(path, "rb") as file:
        head: bytes = file.read(_COLOUR_AT + 1)
    if head.startswith(_PNG) and head[_DEPTH_AT] == 16:
        return ("It has 16 bits, of which the upper 8 are read: multiply the values, so that the "
                "largest is 65,535")
    if head.startswith(_PNG) and head[_COLOUR_AT] in _WITH_OPACITY:
        other = [0, 0, 0] if sum(background) > 3 * 127 else [255, 255, 255]
        return ("It has transparent parts, and the rest has the colour of the background. For "
                f"example: --param 'background={other}'")
    return "Look at it"


@functools.lru_cache(maxsize=16)
def _measured(paths: tuple[str, ...], background: tuple[int, ...]) -> _Measured:
    """Looks at some images; training names those that cannot be decoded."""
    chosen = list(paths[::-(-len(paths) // _MEASURED)]) if paths else []

    @tf.autograph.experimental.do_not_convert
    def value(path: tf.Tensor) -> Any:
        return path, image_decode.measured(tf.io.read_file(path), background)

    def values() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices(chosen).map(
            value, num_parallel_calls=tf.data.AUTOTUNE).ignore_errors()

    found = [(path.decode(), *map(int, value)) for path, value in elements(values)]
    return _Measured([path for path, *_ in found],
                     [min(height, width) for _, height, width, _ in found],
                     [contrast for *_, contrast in found])


@functools.lru_cache(maxsize=16)
def _size(paths: tuple[str, ...], background: tuple[int, ...]) -> int:
    """Returns a size for images, no larger than most of them are."""
    sides = _measured(paths, background).sides
    median = int(np.median(sides)) if sides else _LARGEST
    most = next((size for count, size in _SIZES if len(paths) < count), _LARGEST)
    size = max(1, min(median, most))
    size = size // _MULTIPLE * _MULTIPLE if size >= _LEAST_TO_CHANGE else size
    logging.info("image_size is %d: the shorter side of most images is %d pixels, and there are "
                 "%d images to train on", size, median, len(paths))
    return size
