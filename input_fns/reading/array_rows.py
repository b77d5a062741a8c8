"""Arrays by name, with a row for each example: from memory, or from .npz files."""

from __future__ import annotations

import tokenize
from typing import Any, Mapping, NamedTuple, Optional
import zipfile
import zlib

import numpy as np

from input_fns.reading import arrow_file, file_system
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.file_names import matched_tables
from input_fns.reading.table_file import MEMORY_SCHEME, shown

_KINDS = {"b": "booleans", "i": "integers", "u": "integers", "f": "numbers", "S": "texts",
          "U": "texts", "O": "texts"}


class Arrays(NamedTuple):
    """The rows of a data set.

    Attributes:
      features: An array [rows, ...] of each feature, by name.
      labels: [rows, ...]; None where they are not read, or not known.
      place: The file, or the words for memory, for messages.
    """

    features: Mapping[str, np.ndarray]
    labels: Optional[np.ndarray]
    place: str

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(next(iter(self.features.values())))

    def taken(self, rows: Any) -> Arrays:
        """Returns some of the rows: a slice, or their numbers."""
        return self._replace(features={name: each[rows] for name, each in self.features.items()},
                             labels=None if self.labels is None else self.labels[rows])


def read(param: str, patterns: str, label: str, labelled: bool) -> Arrays:
    """Returns the rows of all files that a param names, or of arrays in memory.

    Args:
      param: Name of the param, for messages.
      patterns: Paths or patterns, separated by commas, or one path of `arrow_file.path_of`.
      label: Name of the array of labels.
      labelled: Whether there must be labels.

    Raises:
      DataParamError, DataFileError: A file, or an array in it, cannot be used.
    """
    parts = [_of_file(path, label, labelled) for path in matched_tables(param, patterns)]
    first = parts[0]
    for part in parts[1:]:
        _check_same(first, part)
    if len(parts) == 1:
        return first
    return first._replace(
        features={name: np.concatenate([part.features[name] for part in parts])
                  for name in first.features},
        labels=None if first.labels is None else np.concatenate(
            [part.labels for part in parts if part.labels is not None]))


def _of_file(path: str, label: str, labelled: bool) -> Arrays:
    place = shown(path)
    found = arrow_file.arrays_in(path) if path.startswith(MEMORY_SCHEME) else _in_npz(path)
    found = {name: _plain(name, array, place) for name, array in found.items()}
    lengths = {name: len(array) for name, array in found.items()}
    if len(set(lengths.values())) > 1:
        raise DataFileError(
            f"the arrays of {place} have different numbers of rows: {lengths}; expected a row of "
            "each array for each example. For example: a file of their own for train_files and for "
            "eval_files")
    if not found:
        raise DataFileError(f"{place} has no arrays; expected an array for each feature")
    labels = found.pop(label, None)
    if labels is not None and labels.shape[1:] == (1,):
        labels = labels[:, 0]
    names = ", ".join(lengths)
    if labelled and labels is None:
        raise DataParamError(
            f"label is {label!r}, which is no array of {place}; expected one of {names}. For "
            f"example: --param label={list(lengths)[-1]}")
    if not found or not next(iter(lengths.values())):
        raise DataFileError(f"{place} has no {'rows' if found else 'features'} (arrays: {names}); "
                            "expected an array of a feature, with a row for each example")
    return Arrays(found, labels, place)


def _in_npz(path: str) -> dict[str, np.ndarray]:
    try:
        with file_system.opened(path) as file, np.load(file, allow_pickle=False) as arrays:
            if isinstance(arrays, np.ndarray):
                raise ValueError("it holds one array without a name")
            found = dict(arrays)
            if other := [name for name in found if not isinstance(found[name], np.ndarray)]:
                raise ValueError(f"{other[0]} in it is no array")
            return found
    except (OSError, ValueError, EOFError, SyntaxError, tokenize.TokenError, zipfile.BadZipFile,
            zlib.error) as error:
        why = "no arrays, or some of Python objects" if "allow_pickle" in str(error) else str(error)
        raise DataFileError(
            f"{path} cannot be read as arrays: {why}; expected an .npz file of numbers or texts. "
            "For example, in Python: numpy.savez('train.npz', image=images, label=labels)"
        ) from error


def _plain(name: str, array: np.ndarray, place: str) -> np.ndarray:
    """Returns an array as TensorFlow takes it: float64 as float32, texts as bytes."""
    if array.dtype.kind not in _KINDS or not array.ndim:
        raise DataFileError(
            f"array {name!r} of {place} is {array.dtype} of the shape {array.shape}; expected "
            "numbers, booleans or texts, with a row for each example")
    if array.dtype.kind in "SUO":
        texts = np.empty(array.size, object)
        for i, each in enumerate(array.ravel()):
            if not isinstance(each, (str, bytes)):
                row = i // (array.size // len(array)) + 1
                raise DataFileError(
                    f"array {name!r} of {place} has {str(each)[:40]} ({type(each).__name__}) in "
                    f"row {row}; expected a text or a number in each row, or arrays of one shape. "
                    f"For example: numpy.array({name})")
            texts[i] = each if isinstance(each, bytes) else each.encode()
        return texts.reshape(array.shape)
    if array.dtype.kind == "f" and array.dtype.itemsize > 4:
        return array.astype(np.float32)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _check_same(first: Arrays, other: Arrays) -> None:
    """Raises DataFileError if two files cannot follow one another."""
    shapes = [{name: (array.shape[1:], _KINDS[array.dtype.kind], array.dtype == np.uint8)
               for name, array in (*part.features.items(), ("", part.labels))
               if array is not None} for part in (first, other)]
    if shapes[0] != shapes[1]:
        raise DataFileError(f"the arrays of {other.place} are not those of {first.place}: "
                            f"{_described(other)} instead of {_described(first)}; expected the "
                            "same names, shapes and kinds")


def _described(part: Arrays) -> str:
    return ", ".join(f"{name} {list(array.shape[1:])} {array.dtype}"
                     for name, array in part.features.items())
