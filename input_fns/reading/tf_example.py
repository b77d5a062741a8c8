"""Makes parsers of tf.Example records from a schema, and finds the problem of a record."""

from __future__ import annotations

import difflib
import math
from typing import Any, Mapping, Sequence

from absl import logging
from google.protobuf import message  # type: ignore[import-untyped]
import tensorflow as tf

from input_fns.reading import labels
from input_fns.reading.errors import DataFileError, DataParamError

VARLEN = "varlen"
_LISTS = {"int64": "int64_list", "float32": "float_list", "string": "bytes_list"}


def feature_specs(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the feature specs for `tf.io.parse_example`.

    Args:
      schema: A dict from feature name to {"dtype": "int64", "float32" or "string", "shape": a
        list of lengths, or "varlen"}.

    Raises:
      DataParamError: The schema has another form.
    """
    return {name: _spec(name, entry) for name, entry in schema.items()}


def example_problem(record: bytes, specs: Mapping[str, Any], params: Mapping[str, Any]) -> str:
    """Returns the first problem of a record, without a full stop; "" if there is none.

    Args:
      record: The stored bytes.
      specs: The features that the record should hold, as `tf.io.parse_example` takes them.
      params: The params of `input_fns/tfrecord.py`.
    """
    try:
        features = tf.train.Example.FromString(record).features.feature
    except message.DecodeError:
        return f"{len(record)} bytes that are no tf.Example"
    for name, spec in specs.items():
        if isinstance(spec, tf.io.FixedLenFeature) and name not in features:
            return f"has no feature {name!r}; it has {', '.join(sorted(features)) or 'none'}"
        reason = _feature_problem(name, features[name], spec) if name in features else ""
        if reason:
            return reason
    return _image_problem(features, params) or _label_problem(features, params)


def bad_number(record: bytes, schema: Mapping[str, Any]) -> str:
    """Returns the first number of a record that is NaN or infinite, in words; "" for none."""
    features = tf.train.Example.FromString(record).features.feature
    for name in schema:
        for value in features[name].float_list.value if name in features else ():
            if not math.isfinite(value):
                return f"{value} in feature {name!r}"
    return ""


def check_lists(records: Sequence[bytes], path: str, wanted: set[str]) -> None:
    """Logs, or raises an error for, features of varying length that no record holds.

    TensorFlow reads such a feature as empty: where its name is misspelt, and where the records are
    tf.SequenceExample, whose lists are in another place.

    Args:
      records: The first records of the file at `path`.
      wanted: The features of varying length in the param `schema` of `input_fns/tfrecord.py`.

    Raises:
      DataFileError: A record is a tf.SequenceExample that holds the feature as a list.
    """
    if not records:
        return
    held: set[str] = set()
    for number, record in enumerate(records, 1):
        try:
            features = set(tf.train.Example.FromString(record).features.feature)
            lists = tf.train.SequenceExample.FromString(record).feature_lists.feature_list
        except message.DecodeError:
            return  # Reading the record raises the error.
        in_lists = sorted((wanted - features) & set(lists))
        if in_lists:
            raise DataFileError(
                f"record {number} of {path} is a tf.SequenceExample, and {in_lists[0]!r} is one of "
                "its feature_lists, which reads as empty; expected a tf.Example. Read the file in "
                "an input_fn of your own, with tf.io.parse_sequence_example")
        held |= features
    for name in sorted(wanted - held):
        near = difflib.get_close_matches(name, held, n=1)
        logging.warning(
            "schema has %r, and none of the first %d records of %s does: it reads as empty. They "
            "have %s%s", name, len(records), path, ", ".join(sorted(held)) or "no feature",
            f". Did you mean {near[0]!r}?" if near else "")


def _feature_problem(name: str, feature: tf.train.Feature, spec: Any) -> str:
    stored = feature.WhichOneof("kind")
    wanted = _LISTS[spec.dtype.name]
    if stored != wanted:
        dtypes = {kind: dtype for dtype, kind in _LISTS.items()}
        return f"feature {name!r} is {dtypes.get(stored, 'empty')}; expected {spec.dtype.name}"
    values = len(getattr(feature, wanted).value)
    if isinstance(spec, tf.io.FixedLenFeature) and values != math.prod(spec.shape):
        return (f"feature {name!r} has {values} values; expected {math.prod(spec.shape)} (shape "
                f"{list(spec.shape)})")
    return ""


def _image_problem(features: Any, params: Mapping[str, Any]) -> str:
    if not params["image"]:
        return ""
    stored = len(features[params["image"]].bytes_list.value[0])
    wanted = math.prod(params["image_shape"])
    return "" if stored == wanted else (
        f"feature {params['image']!r} has {stored} bytes; expected {wanted} "
        f"(image_shape={list(params['image_shape'])})")


def _label_problem(features: Any, params: Mapping[str, Any]) -> str:
    problems = (labels.problem(label, params["num_classes"])
                for label in features[params["label"]].int64_list.value)
    return next(filter(None, problems), "")


def _spec(name: str, entry: Any) -> Any:
    known = isinstance(entry, Mapping) and set(entry) == {"dtype", "shape"}
    if not known or entry["dtype"] not in _LISTS or not _is_shape(entry["shape"]):
        raise DataParamError(
            f"schema has {entry!r} for {name!r}; expected a dtype, one of {sorted(_LISTS)}, and a "
            f'shape, a list of lengths or "{VARLEN}". For example: '
            f'{{"{name}": {{"dtype": "int64", "shape": []}}}}')
    dtype = tf.dtypes.as_dtype(entry["dtype"])
    if entry["shape"] == VARLEN:
        return tf.io.VarLenFeature(dtype)
    return tf.io.FixedLenFeature(entry["shape"], dtype)


def _is_shape(shape: Any) -> bool:
    if isinstance(shape, list):
        return all(type(length) is int and length > 0 for length in shape)
    return isinstance(shape, str) and shape == VARLEN
