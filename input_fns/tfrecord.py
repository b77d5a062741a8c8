"""tf.Example records in TFRecord files, local or of any file system that TensorFlow reads.

The defaults read images as the MNIST programs of many books and courses store them: the
pixels' bytes in `image_raw`, the class in `label`; other features of a record are ignored.
`python -m input_fns.convert` writes such files. Params:

  train_files     pattern of files, or several separated by commas: `/data/train-*`
  eval_files      the same, for "eval" and "infer": every record once, in the files' order
  predict_files   the same, for "infer" in place of eval_files: new data, with or without labels
  schema          JSON object, the features to read: name -> {"dtype": "int64", "float32" or
                  "string", "shape": [..] or "varlen"}; varlen: a SparseTensor
  label           the feature that is the label; the others stay the features
  image           string feature that holds uint8 pixels, decoded to `image`; empty: none
  image_shape     shape of that image: [height, width, channels], or flat: [784]
  key             feature that identifies a record: one of the schema's, such as an int64, or else
                  another string feature; empty: none
  num_classes     labels are 0 to this - 1, checked; 0: for the models of this program by the labels
                  of the first 100,000 records, otherwise not known, not checked; -1: no classes
  label_vocabulary  JSON list of the texts of a text label, which becomes the index; []: for the
                  models of this program those of the same records, sorted
  compression     compression of all files: GZIP or ZLIB; empty: none, or that of the first file

For `batch_size`, `epochs`, `shuffle_buffer` and `seed` see `input_fns/reading/pipeline.py`.

Features: `image`, `[batch, *image_shape]` float32 in [0, 1]; the schema's features unchanged. In
mode "infer" the label is not read and may be missing; from predict_files it is read, unchecked, if
the first record has it.

If the command has written a `dataset.json` beside train_files, then num_classes, class_names,
image_shape and the number of training examples come from this file.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Mapping, Optional

from google.protobuf import message  # type: ignore[import-untyped]
import tensorflow as tf

from input_fns.reading import (dataset_json, example_labels, label_classes, labels, other_file,
                               pipeline, same_files, whole_records)
from input_fns.reading.bad_record import elements, ERRORS, first_failure
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.file_names import first_problem, matched
from input_fns.reading.files import batches, Form
from input_fns.reading.tf_example import (bad_number, check_lists, example_problem, feature_specs,
                                          VARLEN)

DEFAULT_PARAMS = {
    **pipeline.DEFAULT_PARAMS,
    "train_files": "",
    "eval_files": "",
    "predict_files": "",
    "schema": {
        "image_raw": {"dtype": "string", "shape": []},
        "label": {"dtype": "int64", "shape": []},
    },
    "label": "label",
    "image": "image_raw",
    "image_shape": [28, 28, 1],
    "key": "",
    "num_classes": 0,
    "label_vocabulary": [],
    "compression": "",
}
DATA = "TFRecord files"
FIRST_PARAMS = ("train_files", "eval_files", "schema", "label", "batch_size")
GLOBAL_BATCH_PARAM = "batch_size"
TRAINS_UNTIL = "no_improvement"

# A misspelt name of a list, which a record may lack, is missing in all of them.
_CHECKED_RECORDS = 100
_FILES_AT_A_TIME = 16
_COMPRESSIONS = ("", "GZIP", "ZLIB")
_HEADS = {"GZIP": (b"\x1f\x8b",), "ZLIB": (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")}
# A stored record has its length and two checksums as a frame; a small int64 takes one byte.
_FRAME_BYTES = 16
_LEAST_BYTES = {"int64": 1, "float32": 4, "string": 0}


def input_fn(
    mode: str,
    params: Mapping[str, Any],
    input_context: Optional[tf.distribute.InputContext] = None,
) -> tf.data.Dataset:
    """Returns batches of (dict of features, label): see the module's docstring."""
    _check(params)
    is_new = mode == "infer" and bool(params["predict_files"])
    name = "train_files" if mode == "train" else "predict_files" if is_new else "eval_files"
    files = matched(name, params[name])
    params = _unpacked(params, files[0])
    if mode != "train":
        # Metrics and predictions must cover all records.
        whole_records.check(files, params["compression"])
    lists = {name for name, entry in params["schema"].items() if entry["shape"] == VARLEN}
    if lists:
        check_lists(_first_records(files[0], params["compression"], _CHECKED_RECORDS), files[0],
                    lists)
    labelled = mode != "infer"
    if is_new:
        labelled, params = _has_label(files[0], params), _unchecked(params)
    form = Form(open_file=functools.partial(_open, compression=params["compression"]),
                decode=functools.partial(_parse, params=params, labelled=labelled,
                                         is_finite=is_new),
                finish=functools.partial(_scaled, params=params),
                least_bytes=0 if params["compression"] else _least_bytes(params))
    return batches(files, mode, params, input_context, form)


def data_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what `dataset.json` says, or else the labels: num_classes and names of classes.

    A dataset.json has num_classes, class_names, image_shape and train_examples.
    """
    if params.get("predict_files"):
        return dataset_json.data_params(params["train_files"])
    same_files.log_matches(matched, params)
    return dataset_json.data_params(params["train_files"]) or _of_labels(params)


def _of_labels(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what the labels of the training files say, if the model wants that."""
    _check(params)
    if not example_labels.are_wanted(params):
        return {}
    files = matched("train_files", params["train_files"])
    compression = _unpacked(params, files[0])["compression"]
    at_a_time = min(_FILES_AT_A_TIME, len(files))
    facts = example_labels.learned(lambda: tf.data.TFRecordDataset(
        files, compression, num_parallel_reads=at_a_time), params)
    if not facts:
        raise DataFileError(_first_problem(files, "train_files", params) or
                            f"train_files is {params['train_files']!r}, and its labels cannot be "
                            "read. For example: --param num_classes=2")
    return facts


def data_problem(params: Mapping[str, Any]) -> str:
    """Returns the first record that cannot be used, as one sentence; "" if there is none."""
    try:
        _check(params)
        if params["predict_files"]:
            files = matched("predict_files", params["predict_files"])
            labelled = _has_label(files[0], _unpacked(params, files[0]))
            return _first_problem(files, "predict_files", _unchecked(params), labelled,
                                  is_finite=True)
        return first_problem(params, "record", functools.partial(_first_problem, params=params))
    except (DataFileError, DataParamError) as error:
        return str(error)


def not_finite(params: Mapping[str, Any]) -> str:
    """Returns the first record to train on with a number that is NaN or infinite; "" for none."""
    files = matched("train_files", params["train_files"])
    params = _unpacked(params, files[0])
    for path in files:
        _, failure = first_failure(functools.partial(_open, path, params["compression"]),
                                   functools.partial(_parse_finite, params=params))
        name = bad_number(failure.record, params["schema"]) if failure and failure.record else ""
        if failure and name:
            return f"record {failure.number} of {path} has {name}"
    return ""


def _first_problem(files: list[str], name: str, params: Mapping[str, Any],
                   labelled: bool = True, is_finite: bool = False) -> str:
    total = 0
    params = _unpacked(params, files[0])
    whole_records.check(files, params["compression"])
    for path in files:
        good, failure = first_failure(functools.partial(_open, path, params["compression"]),
                                      functools.partial(_parse, params=params, labelled=labelled,
                                                        is_finite=is_finite))
        total += good
        if failure is None:
            continue
        if failure.record is not None:
            reason = example_problem(failure.record, _specs(params, labelled), params)
            if is_finite and not reason and (
                    number := bad_number(failure.record, params["schema"])):
                reason = f"has {number}; expected finite numbers"
            return f"record {failure.number} of {path}: {reason or failure.message}"
        if not good and (what := other_file.no_records(path)):
            return what
        if good:
            return f"{path} is truncated or damaged after record {good}: {failure.message}"
        return (f"{path} is no TFRecord file with compression={params['compression']!r}, or its "
                f"first record is damaged: {failure.message}")
    return "" if total else f"{name} is {params[name]!r}, and no file of it holds a record"


def _has_label(path: str, params: Mapping[str, Any]) -> bool:
    """Returns whether the first record of a file holds the label."""
    record = next(iter(_first_records(path, params["compression"], 1)), b"")
    try:
        return params["label"] in tf.train.Example.FromString(record).features.feature
    except message.DecodeError:
        return False


def _first_records(path: str, compression: str, count: int) -> tuple[bytes, ...]:
    """Returns the first records of a file; none if they cannot be read."""
    try:
        return tuple(elements(lambda: _open(path, compression).take(count)))
    except ERRORS:
        return ()  # Reading the file raises the error.


def _unpacked(params: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """Returns the params with the compression of files like the first, if none is set."""
    if params["compression"]:
        return params
    try:
        with tf.io.gfile.GFile(path, "rb") as file:
            head: bytes = file.read(2)
    except tf.errors.OpError:
        return params  # Reading the files raises the error.
    kind = next((kind for kind, heads in _HEADS.items() if head in heads), "")
    # The length of a first record may have the same bytes.
    if not kind or _first_records(path, "", 1) or not _first_records(path, kind, 1):
        return params
    return {**params, "compression": kind}


def _unchecked(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the params with which any label is read, as it is."""
    return {**params, "num_classes": 0, "label_vocabulary": []}


def _open(path: Any, compression: str) -> tf.data.Dataset:
    return tf.data.TFRecordDataset(path, compression_type=compression)


def _parse(serialized: tf.Tensor, params: Mapping[str, Any], labelled: bool,
           is_finite: bool = False) -> Any:
    """Parses one batch, string [batch], into (features, labels), or features alone.

    An image is uint8 [batch, *image_shape]. With `is_finite`, reading a number fails that is NaN or
    infinite.
    """
    features = tf.io.parse_example(serialized, _specs(params, labelled))
    if is_finite:
        features = {name: _finite(value) for name, value in features.items()}
    if params["image"]:
        pixels = features.pop(params["image"])
        features["image"] = _image(pixels, tuple(params["image_shape"]))
    if not labelled:
        return features
    return features, labels.checked(_class(features.pop(params["label"]), params),
                                    params["num_classes"])


def _class(label: Any, params: Mapping[str, Any]) -> Any:
    """Returns labels as numbers of classes, if the model takes classes and they are such."""
    if params["label_vocabulary"] and label.dtype == tf.string:
        places = tf.equal(label[..., None], [tf.compat.as_bytes(text)
                                             for text in params["label_vocabulary"]])
        return _asserted(tf.argmax(tf.cast(places, tf.int32), -1), tf.reduce_any(places, -1),
                         "a label is none of label_vocabulary")
    if label.dtype.is_floating and params["num_classes"] > 0 and label_classes.are_classes(params):
        return _asserted(tf.cast(label, tf.int64), tf.equal(label, tf.round(label)),
                         "a label is no whole number, and so no class")
    return label


def _asserted(value: tf.Tensor, good: tf.Tensor, what: str) -> tf.Tensor:
    with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(good), [what])]):
        return tf.identity(value)


def _parse_finite(serialized: tf.Tensor, params: Mapping[str, Any]) -> Any:
    """Parses one batch, string [batch]; reading it fails where a number is not finite."""
    parsed = tf.io.parse_example(serialized, _specs(params, labelled=True))
    return {name: _finite(value) for name, value in parsed.items()}


def _finite(value: Any) -> Any:
    """Returns a feature, dense or sparse, that fails where a number is NaN or infinite."""
    if not value.dtype.is_floating:
        return value
    if isinstance(value, tf.SparseTensor):
        return tf.SparseTensor(value.indices, _finite(value.values), value.dense_shape)
    return _asserted(value, tf.math.is_finite(value), "a number is nan or infinite")


def _scaled(batch: Any, params: Mapping[str, Any]) -> Any:
    """Scales the image of a parsed batch to [0, 1], float32."""
    if not params["image"]:
        return batch
    features, *label = batch if isinstance(batch, tuple) else (batch,)
    features = {**features, "image": tf.cast(features["image"], tf.float32) / 255.0}
    return (features, *label) if label else features


def _least_bytes(params: Mapping[str, Any]) -> int:
    """Returns the smallest size of a stored record: its frame, names, pixels and numbers."""
    total = _FRAME_BYTES + (math.prod(params["image_shape"]) if params["image"] else 0)
    for name, entry in params["schema"].items():
        values = 0 if entry["shape"] == VARLEN else math.prod(entry["shape"])
        total += len(name) + values * _LEAST_BYTES[entry["dtype"]]
    return total


def _image(pixels: tf.Tensor, shape: tuple[int, ...]) -> tf.Tensor:
    """Decodes bytes, string [batch], to uint8 [batch, *shape]."""
    flat = tf.ensure_shape(tf.io.decode_raw(pixels, tf.uint8), [None, math.prod(shape)])
    return tf.reshape(flat, [-1 if pixels.shape[0] is None else pixels.shape[0], *shape])


def _specs(params: Mapping[str, Any], labelled: bool) -> dict[str, Any]:
    specs = feature_specs(params["schema"])
    if params["key"]:
        specs.setdefault(params["key"], tf.io.FixedLenFeature([], tf.string))
    return specs if labelled else {k: v for k, v in specs.items() if k != params["label"]}


def _refuse_table(train_files: str) -> None:
    """Raises DataFileError for a table, whose columns the user's params name."""
    try:
        what = other_file.no_records(matched("train_files", train_files)[0])
    except (DataFileError, DataParamError):
        return  # Predicting needs no train_files; reading them raises the error.
    if what:
        raise DataFileError(what)


def _check(params: Mapping[str, Any]) -> None:
    specs = feature_specs(params["schema"])
    if params["compression"] not in _COMPRESSIONS:
        raise DataParamError(
            f"compression is {params['compression']!r}; expected one of {list(_COMPRESSIONS)}. "
            "For example: --param compression=GZIP")
    for name in ("label", "image"):
        if params[name] not in specs and (params[name] or name == "label"):
            _refuse_table(params["train_files"])
            raise DataParamError(
                f"{name} is {params[name]!r}; expected one of {sorted(specs)}, the features of "
                f"schema. For example: --param {name}={min(specs, default='label')}")
    if params["image"] and specs[params["image"]] != tf.io.FixedLenFeature([], tf.string):
        raise DataParamError(
            f"image is {params['image']!r}, which schema has as "
            f"{params['schema'][params['image']]}; expected bytes: "
            '{"dtype": "string", "shape": []}. For example: --param image=')
