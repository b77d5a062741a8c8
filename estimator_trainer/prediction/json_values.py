"""The values of a feature, as JSON has them, become arrays of the dtype and shape of its spec."""

from __future__ import annotations

import base64
import binascii
import reprlib
from typing import Any, Sequence

import numpy as np
import tensorflow as tf

from estimator_trainer import errors

_KINDS = {"i": "a whole number", "u": "a whole number", "f": "a number", "b": "true or false",
          "O": 'text, or bytes as {"b64": "..."}'}
_SHOWN_CHARS = 60
# The kinds of arrays that numpy makes of JSON, for each kind that a spec asks for.
_TAKEN = {"i": "iu", "u": "iu", "f": "iuf", "b": "b"}


def check(name: str, spec: Any) -> None:
    """Raises ConfigError if no JSON can be a value of the feature."""
    rank = spec.shape.rank
    is_list = isinstance(spec, (tf.SparseTensorSpec, tf.RaggedTensorSpec))
    if is_list and rank != 2 or not (is_list or isinstance(spec, tf.TensorSpec)):
        raise errors.ConfigError(
            f"feature {name!r} is {spec}, which JSON lines (from --data) cannot give; expected"
            " dense features, or lists. For example: --data=new.csv, for an input_fn that reads it")


def array(value: Any, spec: Any) -> np.ndarray:
    """Returns one instance's value of a feature.

    Args:
      value: Numbers, text, bytes, {"b64": text}, or nested lists of these.
      spec: The feature's spec, with the batch dimension first.

    Raises:
      ValueError: saying what was expected and what was got.
    """
    dtype = spec.dtype.as_numpy_dtype
    kind = np.dtype(dtype).kind if spec.dtype != tf.bfloat16 else "f"
    shape = tf.TensorShape([None]) if not isinstance(spec, tf.TensorSpec) else spec.shape[1:]
    expected = _KINDS.get(kind, spec.dtype.name) + (
        "" if shape.rank == 0 else ", or lists of such" if shape.rank is None else
        f" for each entry of a list of shape {_shape_text(shape)}")
    try:
        got = _bytes_array(value) if kind == "O" else _number_array(value, kind, dtype)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"expected {expected}, got {shown(value)}") from error
    if not shape.is_compatible_with(got.shape):
        what = f"shape {list(got.shape)}" if got.ndim else shown(value)
        raise ValueError(f"expected {expected}, got {what}")
    return got


def batch(arrays: Sequence[np.ndarray], spec: Any) -> Any:
    """Returns the values of a batch: an array, or the value of a sparse or ragged tensor."""
    if isinstance(spec, tf.TensorSpec):
        return np.stack(arrays)
    values = np.concatenate(arrays)
    lengths = [len(each) for each in arrays]
    if isinstance(spec, tf.RaggedTensorSpec):
        splits = np.concatenate([[0], np.cumsum(lengths)])
        return tf.compat.v1.ragged.RaggedTensorValue(
            values, splits.astype(spec.row_splits_dtype.as_numpy_dtype))
    places = [(row, place) for row, length in enumerate(lengths) for place in range(length)]
    return tf.compat.v1.SparseTensorValue(
        np.array(places, np.int64).reshape(-1, 2), values,
        np.array([len(arrays), max(lengths)], np.int64))


def shown(value: Any) -> str:
    """Returns the text of a value for a message: cut, and of what is deep in lists only a part."""
    try:
        text = repr(value)
    except RecursionError:
        text = reprlib.repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS - 3]}..."


def _number_array(value: Any, kind: str, dtype: Any) -> np.ndarray:
    got = np.asarray(value)
    if not got.size and got.ndim:
        return got.astype(dtype)
    if got.dtype.kind not in _TAKEN.get(kind, ""):
        raise ValueError
    # NumPy makes a 1 of a true among numbers.
    if kind != "b" and isinstance(value, list) and bool in set(map(type, np.ravel(
            np.asarray(value, object)))):
        raise ValueError
    if kind in "iu" and (got.min() < np.iinfo(dtype).min or got.max() > np.iinfo(dtype).max):
        raise OverflowError
    with np.errstate(over="ignore"):
        cast = got.astype(dtype)
    if kind == "f" and (np.isinf(cast) & np.isfinite(got)).any():
        raise OverflowError
    return cast


def _bytes_array(value: Any) -> np.ndarray:
    plain = _bytes(value)
    shape = []
    inner = plain
    while isinstance(inner, list):
        shape.append(len(inner))
        inner = inner[0] if inner else None
    got = np.empty(shape, object)
    flat = list(_flat(plain))
    if len(flat) != got.size or any(isinstance(each, list) for each in flat):
        raise ValueError
    got.reshape(-1)[:] = flat
    return got


def _bytes(value: Any) -> Any:
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_bytes(item) for item in value]
    if isinstance(value, dict) and set(value) == {"b64"}:
        try:
            return base64.b64decode(value["b64"], validate=True)
        except binascii.Error as error:
            raise ValueError from error
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise ValueError


def _flat(value: Any) -> Any:
    if not isinstance(value, list):
        yield value
        return
    lengths = {len(item) if isinstance(item, list) else -1 for item in value}
    if len(lengths) > 1:
        raise ValueError
    for item in value:
        yield from _flat(item)


def _shape_text(shape: tf.TensorShape) -> str:
    return f"[{', '.join('any' if length is None else str(length) for length in shape)}]"
