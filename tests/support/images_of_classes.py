"""Folders of numbered images, for the tests of the input plug-in `image_folder`."""

from __future__ import annotations

import pathlib
from typing import Any, Iterable

import numpy as np
import tensorflow as tf

CLASSES = ("ant", "bee", "cow")
FILES = 7  # of each class


def encoded(pixels: Any, kind: str = "png") -> bytes:
    """Encodes uint8 or uint16 [height, width, channels]."""
    encode = {"png": tf.io.encode_png,
              "jpg": lambda image: tf.io.encode_jpeg(image, quality=100)}[kind]
    return encode(tf.constant(pixels)).numpy()


def write(folder: pathlib.Path) -> pathlib.Path:
    """Writes files of every kind; the red of an image is 10 times its number in its class."""
    (folder / "README").write_text("no image")
    (folder / ".hidden").mkdir()
    for kind in CLASSES:
        (folder / kind).mkdir()
        (folder / kind / "notes.txt").write_text("no image")
        for i in range(FILES):
            channels, depth = ((3, 8), (1, 8), (4, 8), (3, 16))[i % 4]
            pixels = np.zeros((10 + i, 12, channels), np.uint8 if depth == 8 else np.uint16)
            pixels[..., 0] = 10 * i if depth == 8 else 10 * i * 257
            pixels[..., 3:] = 255
            name = f"{i}.PNG" if i % 2 else f"{i}.jpg" if channels != 4 else f"{i}.png"
            (folder / kind / name).write_bytes(encoded(pixels, name[2:].lower()))
    return folder


def names_of(batches: Iterable[Any]) -> list[str]:
    """Returns the names of the files whose images batches hold."""
    return [name.decode() for features, _ in batches for name in features["file"].numpy()]
