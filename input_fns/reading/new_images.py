"""Finds the images to predict, from folders, patterns, single files and lists of files."""

from __future__ import annotations

import os.path
from typing import NamedTuple, Sequence

import tensorflow as tf

from input_fns.reading.errors import DataFileError
from input_fns.reading.file_names import matched, parts_of
from input_fns.reading.image_files import ENDINGS, found_in, is_image

_PARAM = "predict_files"


class NewImage(NamedTuple):
    """A file that holds an image.

    Attributes:
      path: Path of the file.
      label: Name of the class whose folder holds the file; "" if unknown.
    """

    path: str
    label: str = ""


def found(text: str, class_names: Sequence[str]) -> list[NewImage]:
    """Returns the images, in the order of `text` and sorted within each part of it.

    Args:
      text: A folder, searched with its folders, a file, a pattern of files, a list of files whose
        name ends in .txt, or several of these separated by commas.
      class_names: Names of the classes; an image in a folder of such a name has that label.

    Raises:
      DataFileError: There is no image.
    """
    images = []
    for part in parts_of(text):
        of_part = _of_part(part, class_names)
        if not of_part:
            raise DataFileError(
                f"{_PARAM} is {part!r} (--data), which holds no {', '.join(ENDINGS)}; expected "
                "images, a folder of them, or a .txt with the path of one a line. For example: "
                "--data=/data/new")
        images += of_part
    return images


def _of_part(part: str, class_names: Sequence[str]) -> list[NewImage]:
    if tf.io.gfile.isdir(part):
        return _of_folder(part, class_names)
    if part.lower().endswith(".txt"):
        return [NewImage(path) for path in _listed(part)]
    # The name of a file may have what a pattern or a list has: brackets, a comma.
    paths = [part] if tf.io.gfile.exists(part) else matched(_PARAM, part)
    if paths == [part]:
        return [NewImage(part)]
    return [image for path in paths for image in (
        _of_folder(path) if tf.io.gfile.isdir(path) else
        [NewImage(path)] if is_image(path) else [])]


def _of_folder(folder: str, class_names: Sequence[str] = ()) -> list[NewImage]:
    return [NewImage(os.path.join(folder, path), next(
        (name for name in path.split(os.sep)[:-1] if name in class_names), ""))
            for path in found_in(folder).images]


def _listed(path: str) -> list[str]:
    """Returns the paths that a file lists, relative to its folder."""
    if not tf.io.gfile.exists(path):
        matched(_PARAM, path)
    with tf.io.gfile.GFile(path) as file:
        lines = [line.strip() for line in file.read().splitlines()]
    paths = [(number, os.path.join(os.path.dirname(path), line))
             for number, line in enumerate(lines, 1) if line]
    for number, each in paths:
        if not tf.io.gfile.exists(each):
            raise DataFileError(f"line {number} of {path} is {lines[number - 1]!r}, and there is "
                                f"no file {each!r}; expected the path of an image, from the "
                                "list's own folder")
    return [each for _, each in paths]
