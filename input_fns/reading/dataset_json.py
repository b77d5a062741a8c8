"""Reads and writes dataset.json, which describes the files of `python -m input_fns.convert`.

    {"num_examples": {"train": 60000, "test": 10000}, "num_classes": 10, "image_shape": [28, 28, 1],
     "class_names": ["0", "1", ...]}

The class names are there if the source of the images has them. dataset.json lies beside the data
files, which are named `SPLIT-00000-of-00004.tfrecord`.
"""

from __future__ import annotations

import json
import os.path
import re
from typing import Any, Mapping

import tensorflow as tf

from input_fns.reading import file_names
from input_fns.reading.errors import DataFileError

NAME = "dataset.json"
_FILE = re.compile(r"(?P<split>\w+)-\d{5}-of-(?P<files>\d{5})\.tfrecord")


def file_name(split: str, number: int, files: int) -> str:
    """Returns the name of a split's file `number`, from 0."""
    return f"{split}-{number:05d}-of-{files:05d}.tfrecord"


def is_file_name(name: str) -> bool:
    """Returns whether the command may have written a file of this name."""
    return _FILE.fullmatch(name) is not None


def dump(facts: Mapping[str, Any]) -> str:
    """Returns the text of the file."""
    return json.dumps(facts, indent=2) + "\n"


def data_params(patterns: str) -> dict[str, Any]:
    """Returns the file's facts about the training set, as params; {} without such a file.

    Args:
      patterns: Patterns of the training files, separated by commas.

    Returns:
      `num_classes`, int; `image_shape`, list of int; `class_names`, list of str, if the file has
      them; and, if the patterns match all files of one split and no others, `train_examples`, int.

    Raises:
      DataFileError: The command did not write the file.
    """
    path = os.path.join(os.path.dirname(file_names.parts_of(patterns)[0]), NAME)
    try:
        if not patterns or not tf.io.gfile.exists(path):
            return {}
    except tf.errors.OpError:
        return {}  # Reading the files raises the error.
    try:
        with tf.io.gfile.GFile(path) as file:
            facts = json.load(file)
        known: dict[str, Any] = {
            "num_classes": int(facts["num_classes"]),
            "image_shape": [int(length) for length in facts["image_shape"]]}
        if facts.get("class_names"):
            known["class_names"] = [str(name) for name in facts["class_names"]]
        examples = facts["num_examples"].get(_split_of(patterns))
        return known if examples is None else {**known, "train_examples": int(examples)}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataFileError(
            f"{path} is not what `python -m input_fns.convert` writes ({type(error).__name__}: "
            f"{error}); expected num_examples, num_classes and image_shape. For example: convert "
            "again, or delete it and set num_classes and image_shape by --param") from error


def _split_of(patterns: str) -> str:
    """Returns the split whose files the patterns match, all of them; "" if there is none."""
    paths = {path for pattern in file_names.parts_of(patterns)
             for path in file_names.found_by("train_files", pattern)}
    names = [_FILE.fullmatch(os.path.basename(path)) for path in paths]
    parts = {(name["split"], int(name["files"])) if name else ("", 0) for name in names}
    split, count = parts.pop() if len(parts) == 1 else ("", 0)
    return split if count == len(paths) else ""
