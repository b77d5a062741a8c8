"""The JSON values of TensorFlow Serving's REST interface, and the tensors that they stand for.

The rules are those of `tensorflow_serving/util/json_tensor.cc`: what it refuses is refused here, so
that a request that works in a trial works in production.
"""

import base64
import binascii
import json
import math
from typing import Any, Iterator, Mapping, Sequence

import numpy as np
import tensorflow as tf

# The names of dtypes in messages, where they are not TensorFlow's.
_NAMES = {tf.float32: "float", tf.float64: "double"}
_KINDS = {type(None): "Null", bool: "Bool", dict: "Object", list: "Array", str: "String",
          int: "Number", float: "Number"}
# Integers of more bits lose some of them in a float.
_BITS = {tf.float16: 11, tf.bfloat16: 8, tf.float32: 24, tf.float64: 53}
_BYTES_SUFFIX = "_bytes"


class ValueProblem(ValueError):
    """A value of a request that cannot be used; the text says what is wrong."""


def array(value: Any, dtype: tf.DType) -> np.ndarray:
    """Returns the array of a value, nested lists or a scalar; raises ValueProblem."""
    shape = _shape(value)
    flat = list(_leaves(value, shape, 0, dtype))
    made = np.empty(len(flat), dtype.as_numpy_dtype)
    made[:] = flat
    return made.reshape(shape)


def stacked(values: Sequence[Any], dtype: tf.DType) -> np.ndarray:
    """Returns the array of a batch, one value an instance; raises ValueProblem."""
    arrays = [array(value, dtype) for value in values]
    for each in arrays[1:]:
        if each.size != arrays[0].size:
            raise ValueProblem(
                f"Expecting tensor size: {arrays[0].size} but got: {each.size}")
        if each.shape != arrays[0].shape:
            raise ValueProblem(f"Expecting shape {_listed(arrays[0].shape)} but got:"
                               f" {_listed(each.shape)}")
    return np.stack(arrays)


def example(features: Any, context: Any) -> bytes:
    """Returns a serialized tf.Example of the features that JSON objects hold by name.

    A whole number becomes an int64, another one a float, as in TensorFlow Serving.
    """
    made = tf.train.Example()
    for part in filter(lambda each: each is not None, (context, features)):
        if not isinstance(part, dict):
            raise ValueProblem(f"Example must be JSON object but got JSON {_kind(part)}")
        for name, values in part.items():
            feature = made.features.feature[name]
            feature.Clear()
            for value in values if isinstance(values, list) else [values]:
                _add(feature, name, value)
    return bytes(made.SerializeToString())


def text(value: Any, is_bytes: bool = False) -> str:
    """Returns the JSON of a NumPy value: a scalar or an array; `is_bytes` makes texts base64."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"[{', '.join(text(each, is_bytes) for each in value)}]"
    value = value[()] if isinstance(value, np.ndarray) else value
    if isinstance(value, (bytes, str)):
        value = tf.compat.as_bytes(value)
        if is_bytes:
            return json.dumps({"b64": base64.b64encode(value).decode()})
        return json.dumps(value.decode("utf-8", "surrogateescape"), ensure_ascii=False)
    if isinstance(value, (bool, np.bool_)):
        return json.dumps(bool(value))
    return str(int(value)) if isinstance(value, (int, np.integer)) else _decimal(value)


def is_bytes(name: str) -> bool:
    """Returns whether the texts of an output of this name are bytes."""
    return name.endswith(_BYTES_SUFFIX)


def of_names(values: Mapping[str, str]) -> str:
    """Returns a JSON object of values that are JSON already."""
    return f"{{{', '.join(f'{json.dumps(name)}: {each}' for name, each in values.items())}}}"


def _decimal(value: Any) -> str:
    """Returns a number with 6 digits, or with as many as its dtype has, if 6 are not enough."""
    kind = type(value) if isinstance(value, (np.float32, np.float64)) else (
        np.float64 if isinstance(value, float) else np.float32)
    number = float(value)
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    written = f"{number:.6g}"
    if kind(written) != value:
        written = f"{number:.{9 if kind is np.float32 else 17}g}"
    return written if "." in written or "e" in written else f"{written}.0"


def _shape(value: Any) -> list[int]:
    return [len(value), *(_shape(value[0]) if value else [])] if isinstance(value, list) else []


def _leaves(value: Any, shape: Sequence[int], level: int, dtype: tf.DType) -> Iterator[Any]:
    if not isinstance(value, list):
        if level != len(shape):
            raise ValueProblem(f"JSON Value: {_shown(value)} found at incorrect level: {level + 1}"
                               f" in the JSON DOM. Expected at level: {len(shape)}")
        yield _leaf(value, dtype)
        return
    if level >= len(shape):
        raise ValueProblem(f"Encountered list at unexpected level: {level} expected <"
                           f" {len(shape)}")
    if len(value) != shape[level]:
        raise ValueProblem(f"Encountered list at unexpected size: {len(value)} at level: {level}"
                           f" expected size: {shape[level]}")
    for each in value:
        yield from _leaves(each, shape, level + 1, dtype)


def _leaf(value: Any, dtype: tf.DType) -> Any:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if dtype == tf.string and isinstance(value, (str, dict)):
        return value.encode() if isinstance(value, str) else _decoded(value)
    if dtype.is_floating and is_number:
        is_exact = abs(value) < 1 << _BITS[dtype] if isinstance(value, int) else (
            not math.isfinite(value) or abs(value) <= float(dtype.max))
        if not is_exact:
            raise ValueProblem(f"Cannot convert JSON value: {_shown(value)} to {_name(dtype)}"
                               " without loss of precision.")
        return value
    if dtype.is_integer and is_number and isinstance(value, int) and (
            dtype.min <= value <= dtype.max):
        return value
    if dtype == tf.bool and isinstance(value, bool):
        return value
    raise ValueProblem(f"JSON Value: {_shown(value)} Type: {_kind(value)} is not of expected type:"
                       f" {_name(dtype)}")


def _decoded(value: dict[str, Any]) -> bytes:
    if set(value) != {"b64"} or not isinstance(value["b64"], str):
        raise ValueProblem(
            f"JSON Value: {_shown(value)} not formatted correctly for base64 data")
    try:
        return base64.b64decode(value["b64"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueProblem("Unable to base64 decode") from error


def _add(feature: tf.train.Feature, name: str, value: Any) -> None:
    """Adds a value to a feature of one kind."""
    if isinstance(value, float):
        kind, stored = "float_list", _leaf(value, tf.float32)
    elif isinstance(value, int):
        kind, stored = "int64_list", _leaf(int(value), tf.int64)
    elif isinstance(value, (str, dict)):
        kind, stored = "bytes_list", _leaf(value, tf.string)
    else:
        raise ValueProblem(f"Feature: {name} has element with unexpected JSON type: {_kind(value)}")
    if feature.WhichOneof("kind") not in (None, kind):
        expected = str(feature.WhichOneof("kind")).removesuffix("_list")
        raise ValueProblem(
            f"Unexpected element type in feature: {name} expecting type: {expected}")
    getattr(feature, kind).value.append(stored)


def _kind(value: Any) -> str:
    return _KINDS[type(value)]


def _name(dtype: tf.DType) -> str:
    return _NAMES.get(dtype, dtype.name)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:200]


def _listed(shape: Sequence[int]) -> str:
    return f"[{','.join(map(str, shape))}]"
