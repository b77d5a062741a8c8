"""Pictures of a Python program, written as files for an input_fn that reads files of images."""

import contextlib
import dataclasses
import os.path
import sys
import tempfile
from typing import Any, Iterator

import numpy as np
import tensorflow as tf

from estimator_trainer.checks.plan import Plan
from estimator_trainer.errors import ConfigError, Setting
from estimator_trainer.plugins.params import FILES
from estimator_trainer.prediction import frames, predict

_OF_IMAGES = "images"
_FILE_NAME = "file_name"
# An array of so few columns has channels in their place.
_FEWEST_COLUMNS = 5
# The modes that a PNG file has; others, such as that of printing, become RGB.
_PNG_MODES = ("1", "L", "LA", "I", "I;16", "P", "RGB", "RGBA")


def found(plan: Plan, data: Any) -> list[Any]:
    """Returns the pictures that data are: Pillow's images, or uint8 arrays [height, width, 3].

    The list is empty if the data are something else, or the input_fn reads no files of images.

    Raises:
      ConfigError: Some are pictures, or arrays, of another kind.
    """
    if plan.data is None or plan.data.data != _OF_IMAGES or (
            FILES not in (plan.data.default_params or {})):
        return []
    if _is_picture(data):
        return [data]
    is_one = isinstance(data, np.ndarray) and data.ndim == 3 and data.shape[-1] < _FEWEST_COLUMNS
    several = [data] if is_one else list(data) if isinstance(
        data, (list, tuple, np.ndarray)) and getattr(data, "ndim", None) != 0 else []
    if not any(_is_of_pillow(each) or isinstance(each, np.ndarray) for each in several):
        return []
    for number, each in enumerate(several, 1):
        if not _is_picture(each):
            what = (f"an array of {each.dtype} {list(each.shape)}" if isinstance(each, np.ndarray)
                    else f"a {type(each).__name__}")
            raise ConfigError(
                f"instance {number} of the data to predict is {what}; expected pictures alone:"
                " images of Pillow, or arrays of uint8 [height, width, 3]. Their files do too. For"
                f" example: {Setting('data', ['a.png', 'b.png'])}")
    return several


def predicted(plan: Plan, pictures: list[Any]) -> list[dict[str, Any]]:
    """Returns the entry that `predict` writes for each picture, without the name of its file."""
    assert plan.params is not None
    name = plan.params.values.get(_FILE_NAME) or _FILE_NAME
    plan = dataclasses.replace(plan, config=dataclasses.replace(plan.config, with_inputs=False))
    with _stored(pictures) as folder:
        return [{key: value for key, value in entry.items() if key != name}
                for entry in predict.instances(frames.reading(plan, folder))]


def _is_picture(data: Any) -> bool:
    if _is_of_pillow(data):
        return True
    return isinstance(data, np.ndarray) and data.dtype == np.uint8 and data.size > 0 and (
        data.ndim == 2 or data.ndim == 3 and data.shape[-1] in (1, 3, 4))


def _is_of_pillow(data: Any) -> bool:
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(data, pillow.Image)


@contextlib.contextmanager
def _stored(pictures: list[Any]) -> Iterator[str]:
    """Gives a folder of the pictures, whose order is that of the names."""
    with tempfile.TemporaryDirectory() as folder:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            pixels = tf.compat.v1.placeholder(tf.uint8, [None, None, None])
            png = tf.io.encode_png(pixels, compression=1)
            for number, picture in enumerate(pictures):
                path = os.path.join(folder, f"{number:09}.png")
                if _is_of_pillow(picture):
                    try:
                        _save(picture, path)
                    except (OSError, ValueError) as error:
                        raise ConfigError(
                            f"instance {number + 1} of the data to predict cannot be stored as PNG:"
                            f" {error}; expected an image that can. For example:"
                            " image.convert('RGB')") from error
                else:
                    picture = picture.reshape([*picture.shape[:2], -1])
                    with open(path, "wb") as file:
                        file.write(session.run(png, {pixels: picture}))
        yield folder


def _save(picture: Any, path: str) -> None:
    from PIL import ImageOps

    # The input_fn turns JPEG files as their EXIF says, and a PNG file would not be turned.
    turned = ImageOps.exif_transpose(picture)
    made = turned if turned.mode in _PNG_MODES else turned.convert("RGB")
    made.save(path, compress_level=1)
