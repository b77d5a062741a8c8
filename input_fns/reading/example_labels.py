"""Learns from the labels of tf.Example records whether they are classes, and which ones."""

from __future__ import annotations

import functools
import json
from typing import Any, Callable, Iterable, Mapping

from absl import logging
import numpy as np
import tensorflow as tf

from input_fns.reading import label_scale
from input_fns.reading.bad_record import elements, ERRORS
from input_fns.reading.errors import DataFileError
from input_fns.reading.label_classes import NO_CLASSES

_RECORDS, _BYTES, _AT_A_TIME, _MEASURED = 100_000, 256 * 1024**2, 1000, 100
_MOST_CLASSES, _FEW_CLASSES, _RECORDS_OF_A_CLASS = 1000, 50, 20
_SHOWN = 5


def are_classes(params: Mapping[str, Any]) -> bool:
    """Returns whether the model learns classes, if the labels can be classes.

    The models of this program that do have one of these params. The labels of any other model_fn
    are its own affair, and a model_dir of before has `prepare_columns=false`.
    """
    return "label_smoothing" in params or bool(params.get("prepare_columns"))


def are_wanted(params: Mapping[str, Any]) -> bool:
    """Returns whether the model needs what `learned` returns."""
    entry = params["schema"].get(params["label"], {})
    return are_classes(params) and not params["num_classes"] and entry.get("shape") == []


def learned(records: Callable[[], tf.data.Dataset], params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the params that follow from the labels of the first records to train on.

    The params are num_classes, -1 for a label that is a number; label_vocabulary of texts;
    label_scale of numbers. If a label cannot be read, there are none.

    Args:
      records: A function that returns the stored records to train on.
      params: The params of `input_fns/tfrecord.py` and of the model_fn, which wants these facts.

    Raises:
      DataFileError: The texts of a label are too many for classes, or one alone.
    """
    label, dtype = params["label"], params["schema"][params["label"]]["dtype"]
    values = _values(records, label, dtype)
    if not len(values):
        return {}
    if dtype == "string":
        return _of_texts(label, params["label_vocabulary"] or np.unique(values), len(values))
    return _of_numbers(label, values, params)


def _of_numbers(label: str, values: np.ndarray, params: Mapping[str, Any]) -> dict[str, Any]:
    different = np.unique(values)
    count = len(different)
    is_range = np.array_equal(different, np.arange(count))
    is_few = count <= _FEW_CLASSES or len(values) >= _RECORDS_OF_A_CLASS * count
    if is_range and 2 <= count <= _MOST_CLASSES and is_few:
        logging.info("label %s has the classes 0 to %d, in %d records", label, count - 1,
                     len(values))
        return {"num_classes": count}
    text = f"label {label} is a number, not a class: {count:,} values in {len(values):,} records"
    is_whole = bool((different == np.round(different)).all())
    if is_whole and count <= _FEW_CLASSES and different[0] >= 0:
        text += f", but not all of 0 to {int(max(different[-1], 1))}"
        text += f". If they are classes: --param num_classes={int(max(different[-1], 1)) + 1}"
    logging.info("%s", text)
    scale = label_scale.of_numbers(values) if params.get("label_scale") == {} else {}
    return {"num_classes": NO_CLASSES, **({"label_scale": scale} if scale else {})}


def _of_texts(label: str, found: Iterable[Any], records: int) -> dict[str, Any]:
    texts = [each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each)
             for each in found]
    shown = ", ".join(texts[:_SHOWN]) + (", ..." if len(texts) > _SHOWN else "")
    if len(texts) > _MOST_CLASSES:
        raise DataFileError(
            f"label {label!r} has {len(texts):,} different texts in {records:,} records ({shown}); "
            f"expected a number, or at most {_MOST_CLASSES:,} classes. For example, another "
            "feature: --param label=NAME")
    if len(texts) < 2:
        raise DataFileError(
            f"label {label!r} is {texts[0]!r} in {records:,} records; expected two values or more, "
            "or all of them from you. For example: --param label_vocabulary="
            f"'{json.dumps([*texts, 'other'])}'")
    logging.info("label %s has %d classes (%s), in %d records", label, len(texts), shown, records)
    return {"num_classes": len(texts), "label_vocabulary": texts}


def _values(records: Callable[[], tf.data.Dataset], label: str, dtype: str) -> np.ndarray:
    spec = {label: tf.io.FixedLenFeature([], dtype)}
    parse = functools.partial(tf.io.parse_example, features=spec)

    @tf.autograph.experimental.do_not_convert
    def labels_of(stored: tf.Tensor) -> tf.Tensor:
        return parse(stored)[label]

    try:
        sizes = [len(stored) for stored in elements(lambda: records().take(_MEASURED))]
        count = min(_RECORDS, max(_AT_A_TIME, _BYTES * len(sizes) // max(sum(sizes), 1)))
        found = list(elements(lambda: records().take(count).batch(_AT_A_TIME).map(labels_of)))
    except ERRORS:
        return np.array([])
    return np.concatenate(found) if found else np.array([])
