"""Describes the folders of images that the params of `input_fns/image_folder.py` name.

TensorFlow is not imported; `input_fns/__init__.py` has what an INSPECTION offers.
"""

from __future__ import annotations

import os
from typing import Any, Iterator, Mapping, Optional

from input_fns.reading import class_folders, file_system, image_files, naive_loss
from input_fns.reading.errors import DataFileError
from input_fns.reading.log_lines import warnings_collected

# Files that are found, or opened, in a few tenths of a second.
_QUICK_FILES, _QUICK_OPENED = 20_000, 200
_SHOWN_CLASSES = 10
_MOST_WRITTEN_CLASSES = 50


def starting_params(data: str) -> Optional[dict[str, Any]]:
    """Returns the params that name a folder of images; None for other data."""
    if file_system.is_remote(data):
        return {"train_dir": data} if file_system.is_folder(data) else None
    return {"train_dir": data} if any(map(image_files.is_image, _names(data))) else None


def labels(params: Mapping[str, Any]) -> list[str]:
    """Returns no names: the class of an image is the name of its folder."""
    del params
    return []


def described(params: Mapping[str, Any], is_quick: bool) -> dict[str, Any]:
    """Returns what is in the folders: see `input_fns/__init__.py`."""
    folder = os.path.expanduser(params["train_dir"])
    if is_quick and (file_system.is_remote(folder) or _are_many(folder)):
        return {"facts": {"data": f"{folder}; to look into it: check --probe"}}
    with warnings_collected() as lines:
        folders = class_folders.found(params)
    training, evaluation = (class_folders.images(params, folders, training=is_training)
                            for is_training in (True, False))
    paths = [image.path for image in (*training, *evaluation)]
    problem = image_files.no_images(paths, _QUICK_OPENED if is_quick else 0)
    if problem:
        raise DataFileError(problem)
    counts = [sum(image.label == number for image in training)
              for number in range(len(folders.classes))]
    shown = [f"{name} {count:,}" for name, count in zip(folders.classes, counts)]
    return {
        "facts": {"data": f"{folders.training.folder}: {len(training):,} images to train on and "
                          f"{len(evaluation):,} to evaluate",
                  "label": f"the folder's name: {len(counts)} classes: "
                           f"{', '.join(shown[:_SHOWN_CLASSES])}"
                           f"{', ...' * (len(shown) > _SHOWN_CLASSES)}"},
        "warnings": lines, "num_classes": len(counts),
        "params": {"class_names": folders.classes} if len(counts) <= _MOST_WRITTEN_CLASSES else {},
        "naive_loss": naive_loss.of_classes(counts, [image.label for image in evaluation])}


def _are_many(folder: str) -> bool:
    return any(number >= _QUICK_FILES for number, _ in enumerate(_names(folder)))


def _names(folder: str) -> Iterator[str]:
    for _, _, names in os.walk(folder, followlinks=False):
        yield from names
