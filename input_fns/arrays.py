"""Arrays with a row for each example: pictures, vectors, series, numbers, texts.

A Python program passes them as data, `train(data={"image": images, "label": labels},
label="label")`. A command line names .npz files, which `numpy.savez` writes. Params:

  train_files       pattern of .npz files, a folder, or several of them separated by commas; each
                    file has the same arrays
  eval_files        the same, for "eval" and "infer": every row once, in order; empty: every
                    `eval_every`th row of train_files, which training leaves out
  predict_files     the same, for "infer" in place of eval_files: new data, where labels may be
                    missing
  eval_every        2 or more; rows are counted from 1
  label             the array that is the label
  label_vocabulary  the label's texts, a JSON list; the label becomes the index in it; []: a text
                    label's values in the training rows, sorted
  num_classes       labels are 0 to this - 1, checked; 0: from the training rows; -1: the label is
                    no class
  kinds             JSON object, what an array with two dimensions or more in each row has: name ->
                    "pixels" of 8 bits, "bytes", which stay 0 to 255, or other "numbers"; {}: pixels
                    where the training rows are uint8, else numbers

For `batch_size`, `epochs`, `shuffle_buffer` and `seed` see `input_fns/reading/pipeline.py`; an
order is that of all rows, unless shuffle_buffer is 0.

Features: each array but the label, `[batch, ...]`; float64 becomes float32. Pixels of 8 bits become
float32 in [0, 1]; an array called `image` gets a dimension of one channel if it has none: `[batch,
height, width, 1]`. Label: int64 [batch] for integers, booleans and texts, which are classes;
numbers of another kind are float32.
"""

from __future__ import annotations

import json
from typing import Any, Iterator, Mapping, Optional

from absl import logging
import numpy as np
import pyarrow as pa
import tensorflow as tf

from input_fns.reading import array_rows, arrow_file, memory, pipeline
from input_fns.reading.array_rows import Arrays
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.label_classes import NO_CLASSES

DEFAULT_PARAMS = {
    **pipeline.DEFAULT_PARAMS,
    "train_files": "",
    "eval_files": "",
    "predict_files": "",
    "eval_every": 5,
    "label": "label",
    "label_vocabulary": [],
    "num_classes": 0,
    "kinds": {},
}
DATA = "arrays"
FIRST_PARAMS = ("train_files", "eval_files", "label", "batch_size")
GLOBAL_BATCH_PARAM = "batch_size"
TRAINS_UNTIL = "no_improvement"
STARTS_OVER = True

_KINDS = ("pixels", "bytes", "numbers")
_MOST_CLASSES = 10_000


def input_fn(
    mode: str,
    params: Mapping[str, Any],
    input_context: Optional[tf.distribute.InputContext] = None,
) -> tf.data.Dataset:
    """Returns batches of (dict of features, label): see the module's docstring."""
    own = pipeline.pipeline_of(params, input_context)
    rows = _rows(mode, params).taken(slice(own.number, None, own.total))
    if mode == "train":
        seed = own.seed if params["shuffle_buffer"] > 0 else None
        if own.is_handed_out:
            dataset = memory.handed_out_batches(
                _dataset(rows, rows.size, is_checked=True), rows.size,
                memory.order_of(own.batch_size, seed), params["epochs"],
                lambda _, batch: _finished(batch))
        else:
            dataset = memory.training_batches(_dataset(rows, rows.size), own.batch_size,
                                              params["epochs"], seed, _finished)
    else:
        dataset = _dataset(rows, own.batch_size).map(_finished)
    return pipeline.same_python(
        pipeline.with_options(dataset.prefetch(tf.data.AUTOTUNE)), input_context)


def in_memory(table: pa.Table) -> str:
    """Returns a path by which the params name a table in memory, as long as the table exists."""
    return arrow_file.path_of(table)


def data_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the number of training examples, the kinds of the arrays, and the classes.

    Other rows may be evaluated without those of the training, whose facts are known.
    """
    if params["predict_files"]:
        return {}
    try:
        rows = array_rows.read("train_files", params["train_files"], params["label"], True)
    except DataFileError:
        if params["num_classes"] and params["eval_files"]:
            return {}
        raise
    rows = _part(rows, params, training=True)
    assert rows.labels is not None
    known: dict[str, Any] = {"train_examples": rows.size}
    if not params["kinds"]:
        known["kinds"] = {name: "pixels" if array.dtype == np.uint8 else "numbers"
                          for name, array in rows.features.items() if array.ndim > 2}
    return {**known, **_classes(rows.labels, params)}


def _classes(labels: np.ndarray, params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns num_classes, and the texts of a text label."""
    if params["num_classes"] or params["label_vocabulary"]:
        return {"num_classes": params["num_classes"] or len(params["label_vocabulary"])}
    kind = labels.dtype.kind
    if kind == "O":
        texts = sorted(each.decode("utf-8", "replace") for each in set(labels.ravel()))
        return {"num_classes": len(texts), "label_vocabulary": texts}
    if labels.ndim == 2 and (labels.sum(axis=1) == 1).all():
        logging.warning("label %s has %d numbers in each row, of which one is 1. A class is one "
                        "number: numpy.argmax(%s, axis=1)", params["label"], labels.shape[1],
                        params["label"])
    is_class = (kind in "biu" and labels.ndim == 1 and labels.min() >= 0
                and labels.max() < _MOST_CLASSES)
    return {"num_classes": int(labels.max()) + 1 if is_class else NO_CLASSES}


def instance_problem(features: Mapping[str, np.ndarray], params: Mapping[str, Any]) -> str:
    """Returns what is wrong with pixels that come as JSON, as numbers; "" if nothing is."""
    for name, kind in params["kinds"].items():
        if kind == "pixels" and name in features and (problem := _unscaled(features[name])):
            return f"has {name} with {problem}"
    return ""


def _unscaled(pixels: np.ndarray) -> str:
    low, high = np.min(pixels, initial=0.0), np.max(pixels, initial=0.0)
    return "" if low >= 0.0 and high <= 1.0 else (
        f"values from {low:g} to {high:g}; expected 0 to 1, because it was trained on pixels of 8 "
        "bits, which become these by a division by 255. For example: an array of uint8")


def _rows(mode: str, params: Mapping[str, Any]) -> Arrays:
    """Returns the rows of a mode, with labels as the model learns them."""
    if mode == "infer" and params["predict_files"]:
        rows = array_rows.read("predict_files", params["predict_files"], params["label"], False)
        return _with_pixels(rows._replace(labels=None), params)
    training = mode == "train"
    name = "eval_files" if params["eval_files"] and not training else "train_files"
    rows = array_rows.read(name, params[name], params["label"], labelled=mode != "infer")
    if name == "train_files":
        rows = _part(rows, params, training)
    labels = None if mode == "infer" or rows.labels is None else _learned(rows, params)
    return _with_pixels(rows._replace(labels=labels), params)


def _with_pixels(rows: Arrays, params: Mapping[str, Any]) -> Arrays:
    """Returns the rows, in which arrays of uint8 are pixels and no others.

    Raises:
      DataParamError: `kinds` names another array, or another kind.
      DataFileError: An array is not of the kind of the training.
    """
    _check_kinds(rows, params)
    features = dict(rows.features)
    for name, array in features.items():
        kind, is_8_bit = params["kinds"].get(name, ""), array.dtype == np.uint8
        problem = ""
        if kind == "pixels":
            problem = ("one number for each row; expected a picture" if array.ndim < 3 else
                       "" if is_8_bit else _unscaled(array))
        elif kind == "numbers" and is_8_bit:
            problem = ("pixels of 8 bits, and was trained on other numbers; expected such numbers. "
                       f"For example, for numbers from 0 to 1: {name} / 255.0")
        if problem:
            raise DataFileError(f"array {name!r} of {rows.place} has {problem}")
        if is_8_bit and kind != "pixels":
            features[name] = array.astype(np.float32 if array.ndim > 2 else np.int64)
    return rows._replace(features=features)


def _check_kinds(rows: Arrays, params: Mapping[str, Any]) -> None:
    for name, kind in params["kinds"].items():
        if name not in rows.features or kind not in _KINDS:
            raise DataParamError(
                f"{rows.place} has the arrays {', '.join(rows.features)}, and not {name!r}, of "
                "which the training knows the kind; expected all arrays of the training"
                if kind in _KINDS else
                f"kinds has {kind!r} for {name!r}; expected one of {', '.join(_KINDS)}. For "
                f"example: --param kinds='{{\"{name}\": \"pixels\"}}'")


def _part(rows: Arrays, params: Mapping[str, Any], training: bool) -> Arrays:
    """Returns the rows of train_files that training reads, or that it leaves out."""
    every = params["eval_every"]
    if params["eval_files"]:
        return rows
    if every < 2 or rows.size < every:
        raise DataParamError(
            f"eval_every is {every} and eval_files is '', and there are {rows.size} rows; "
            "expected 2 or more, and as many rows. For example: --param "
            f"eval_every={min(max(rows.size, 2), 5)}")
    is_held_out = np.arange(1, rows.size + 1) % every == 0
    return rows.taken(~is_held_out if training else is_held_out)


def _learned(rows: Arrays, params: Mapping[str, Any]) -> np.ndarray:
    """Returns labels as classes, or as numbers."""
    labels, classes = rows.labels, params["num_classes"]
    assert labels is not None
    _check_labels(labels, rows.place, params)
    if labels.dtype.kind == "O":
        return _indices(labels, params, rows.place)
    if classes < 1:
        return labels.astype(np.float32)
    found = labels.astype(np.int64)
    wrong = np.flatnonzero((found != labels) | (found < 0) | (found >= classes))
    if len(wrong):
        raise DataParamError(
            f"label {params['label']!r} of row {wrong[0] + 1} of {rows.place} is "
            f"{labels.ravel()[wrong[0]]}, and num_classes is {classes}; expected an integer, 0 to "
            f"{classes - 1}; if the label is a number and no class: --param num_classes=-1")
    return found


def _check_labels(labels: np.ndarray, place: str, params: Mapping[str, Any]) -> None:
    """Raises DataParamError if labels are missing, or of another kind than num_classes says."""
    name = f"label {params['label']!r} of {place}"
    is_text = labels.dtype.kind == "O"
    if params["num_classes"] > 0 and labels.ndim > 1:
        raise DataParamError(
            f"{name} has the shape {list(labels.shape[1:])} in each row, and num_classes is "
            f"{params['num_classes']}; expected one class in each row")
    if params["label_vocabulary"] and not is_text:
        raise DataParamError(f"{name} is a number; expected a text, one of "
                             f"{', '.join(params['label_vocabulary'])}, as in the training")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        row = np.flatnonzero(np.isnan(labels.reshape(len(labels), -1)).any(axis=1))[0]
        raise DataParamError(f"{name} is NaN in row {row + 1}; expected a label in each row")


def _indices(labels: np.ndarray, params: Mapping[str, Any], place: str) -> np.ndarray:
    """Returns the place of each label in label_vocabulary."""
    numbers = {text.encode(): i for i, text in enumerate(params["label_vocabulary"])}
    unknown = next((each for each in labels.ravel() if each not in numbers), None)
    if unknown is not None:
        raise DataParamError(
            f"label {params['label']!r} of {place} is {unknown.decode('utf-8', 'replace')!r} in a "
            f"row; expected one of {', '.join(params['label_vocabulary']) or 'label_vocabulary'}. "
            "For example: --param label_vocabulary='" + json.dumps([
                *params["label_vocabulary"], unknown.decode("utf-8", "replace")]) + "'")
    return np.array([numbers[each] for each in labels.ravel()], np.int64).reshape(labels.shape)


# AutoGraph has nothing to convert here.
@tf.autograph.experimental.do_not_convert
def _dataset(rows: Arrays, count: int, is_checked: bool = False) -> tf.data.Dataset:
    """Returns a dataset of (features, labels), or of features, `count` rows an element.

    A generator hands them over, because arrays that are constants of a graph are written into each
    checkpoint's graph, and may be too large for one. With `is_checked` the graph has a checksum.
    """
    whole = dict(rows.features) if rows.labels is None else (dict(rows.features), rows.labels)

    def parts(*checksum: int) -> Iterator[Any]:
        for start in range(0, rows.size, max(count, 1)):
            yield tf.nest.map_structure(lambda array: array[start:start + count], whole)

    return tf.data.Dataset.from_generator(parts, output_signature=tf.nest.map_structure(
        lambda array: tf.TensorSpec([None, *array.shape[1:]], tf.string if
                                    array.dtype == object else array.dtype), whole),
        args=(memory.checksum(tf.nest.flatten(whole)),) if is_checked else None)


@tf.autograph.experimental.do_not_convert
def _finished(*batch: Any) -> Any:
    """Returns a batch with its pictures as a model takes them."""
    features, *labels = batch[0] if isinstance(batch[0], tuple) else batch
    features = {name: _pixels(name, tensor) for name, tensor in features.items()}
    return (features, labels[0]) if labels else features


def _pixels(name: str, tensor: tf.Tensor) -> tf.Tensor:
    if tensor.dtype == tf.uint8:
        tensor = tf.cast(tensor, tf.float32) / 255.0
    elif name == "image" and tensor.dtype != tf.string:
        tensor = tf.cast(tensor, tf.float32)
    return tensor[..., tf.newaxis] if name == "image" and len(tensor.shape) == 3 else tensor
