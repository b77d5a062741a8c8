"""Learns from the labels of tf.Example records whether they are classes, and which ones."""

from __future__ import annotations

import functools
from typing import Any, Callable, Iterable, Mapping

from absl import logging
import numpy as np
import tensorflow as tf

from input_fns.reading import advice, label_classes, label_scale
from input_fns.reading.advice import MOST_CLASSES
from input_fns.reading.bad_record import elements, ERRORS
from input_fns.reading.errors import DataParamError

_RECORDS, _BYTES, _AT_A_TIME, _MEASURED = 100_000, 256 * 1024**2, 1000, 100


def are_wanted(params: Mapping[str, Any]) -> bool:
    """Returns whether the model needs what `learned` returns."""
    entry = params["schema"].get(params["label"], {})
    is_open = not params["num_classes"] and entry.get("shape") == []
    return is_open and label_classes.are_classes(params)


def learned(records: Callable[[], tf.data.Dataset], params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the params that follow from the labels of the first records to train on.

    The params are num_classes, -1 for a label that is a number; label_vocabulary of texts;
    label_scale of numbers. If a label cannot be read, there are none.

    Args:
      records: A function that returns the stored records to train on.
      params: The params of `input_fns/tfrecord.py` and of the model_fn, which wants these facts.

    Raises:
      DataFileError: The texts of a label are too many for classes, or one alone.
      DataParamError: The label is a number, and the model learns classes alone.
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
    if label_classes.are_numbered(different, len(values)):
        logging.info("label %s has the classes 0 to %d, in %d records", label, count - 1,
                     len(values))
        return {"num_classes": count}
    text = f"label {label} is a number, not a class: {count:,} values in {len(values):,} records"
    is_whole = bool((different == np.round(different)).all())
    classes = ""
    if is_whole and count <= MOST_CLASSES and different[0] >= 0:
        text += f", but not all of 0 to {int(max(different[-1], 1))}"
        classes = f"if they are classes: --param num_classes={int(max(different[-1], 1)) + 1}"
    wanted = label_classes.wanted_classes(params)
    if wanted:
        raise DataParamError(f"{text}, and {wanted}; expected a regression model. For example: "
                             + "; or, ".join(filter(None, [advice.as_number(params), classes])))
    logging.info("%s", ". I".join(filter(None, [text, classes.removeprefix("i")])))
    scale = label_scale.of_numbers(values) if params.get("label_scale") == {} else {}
    return {"num_classes": label_classes.NO_CLASSES, **({"label_scale": scale} if scale else {})}


def _of_texts(label: str, found: Iterable[Any], records: int) -> dict[str, Any]:
    texts = [each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each)
             for each in found]
    label_classes.check_texts(label, texts, f"{records:,} records", texts[0], "feature")
    logging.info("label %s has %d classes (%s), in %d records", label, len(texts),
                 label_classes.shown(texts), records)
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
