"""CSV files with a header line, local or of any file system that TensorFlow reads.

A record is a line, so a field cannot contain a line break; it may be in double quotes. A file
whose name ends in `.gz` is gzipped. All files have the header of the first; empty lines do not
count. Params:

  train_files       pattern of files, or several separated by commas: `/data/train-*.csv`
  eval_files        the same, for "eval" and "infer": every record once, in the files' order;
                    empty: every `eval_every`th line of train_files, which training leaves out
  predict_files     the same, for "infer" in place of eval_files: new data, every record; each file
                    has the features' columns in any order, and may have others and the label
  eval_every        2 or more; the lines of each file after the header are counted from 1
  columns           JSON object, the columns to read: name -> value of an empty field, whose type is
                    the column's: 0.0 float32, 0 int64, "" string; {}: all columns, with types and
                    values learned from the training files
  column_types      JSON object, types set instead of learned: name -> "int", "float", "text"
  drop              columns to leave out, a JSON list
  na_value          a text that means an empty field too: NA, or ?
  empty_numbers     what fills an empty number, unless columns sets it: "mean", the column's in the
                    training lines, rounded for integers; "zero"; "error": none may be empty
  label             the column that is the label; none of its fields may be empty
  label_vocabulary  the label's texts, a JSON list; the label becomes the index in it; []: a text
                    label's values in the data, sorted; a label of numbers has none
  num_classes       labels are 0 to this - 1, checked; 0: from the data; -1: the label is no class
  delimiter         one character

For `batch_size`, `epochs`, `shuffle_buffer` and `seed` see `input_fns/reading/pipeline.py`.

Types, fills and classes that are not set are learned from the first 100,000 lines of the training
files (`input_fns/reading/table_facts.py`), logged, and checked in every line that is read.

Features: each column but the label, `[batch]`, as `tf.feature_column` takes it; a column of
weights is one of them. A model with the param `prepare_columns` prepares columns itself: it gets
every number as float64, NaN where the field is empty, and every text as it is. In mode "infer"
the label is not read and may be missing; from predict_files it is read as text, if all have it.
With `columns` set, only predict_files are read.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Mapping, Optional

import tensorflow as tf

from input_fns.reading import labels, new_tables, pipeline, table_facts
from input_fns.reading.bad_line import line_problem
from input_fns.reading.bad_record import first_failure
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.files import batches, first_problem, Form, matched, text_lines
from input_fns.reading.table import (check_whole, header_of, header_problem, is_unprepared, Table,
                                     table_of)

DEFAULT_PARAMS = {
    **pipeline.DEFAULT_PARAMS,
    "train_files": "",
    "eval_files": "",
    "predict_files": "",
    "eval_every": 5,
    "columns": {},
    "column_types": {},
    "drop": [],
    "na_value": "",
    "empty_numbers": "mean",
    "label": "label",
    "label_vocabulary": [],
    "num_classes": 0,
    "delimiter": ",",
}
GLOBAL_BATCH_PARAM = "batch_size"
TRAINS_UNTIL = "no_improvement"

_LINES_AT_A_TIME = 1000
# Stands for an empty float64 field until all numbers are checked: NaN is an error in a file.
_EMPTY = tf.float64.min
_DTYPES = {int: tf.int64, float: tf.float32, str: tf.string}


def input_fn(
    mode: str,
    params: Mapping[str, Any],
    input_context: Optional[tf.distribute.InputContext] = None,
) -> tf.data.Dataset:
    """Returns batches of (dict of features, label): see the module's docstring."""
    if mode == "infer" and params["predict_files"]:
        return _new_batches(mode, params, input_context)
    params = table_facts.completed(params, labelled=mode != "infer")
    training = mode == "train"
    name = "train_files" if training or not params["eval_files"] else "eval_files"
    files = matched(name, params[name])
    table = table_of(files[0], params, labelled=mode != "infer")
    every = 0 if params["eval_files"] else params["eval_every"]
    if not training:
        check_whole(files)
    open_file = functools.partial(_open, header=table.header, every=every, training=training)
    # A field is followed by a delimiter, or the end of the line.
    least_bytes = 0 if any(path.endswith(".gz") for path in files) else len(table.names)
    return batches(files, mode, params, input_context, Form(
        open_file, decode=functools.partial(_parse, table=table, params=params),
        finish=lambda batch: batch, least_bytes=least_bytes))


def data_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the columns' types and fills, the classes, and scales if a param needs them."""
    return table_facts.facts(params)


def data_problem(params: Mapping[str, Any]) -> str:
    """Returns the first line that cannot be used, as one sentence; "" if there is none."""
    try:
        if params["predict_files"]:
            return _first_new_problem(params)
        params = table_facts.completed(params, labelled=True)
        return first_problem(params, "line", functools.partial(_first_problem, params=params))
    except (DataFileError, DataParamError) as error:
        return str(error)


def _first_problem(files: list[str], name: str, params: Mapping[str, Any]) -> str:
    table = table_of(files[0], params, labelled=True)
    parse = functools.partial(_parse, table=table, params=params)
    total = 0
    for path in files:
        header, _ = header_of(path, params["delimiter"])
        problem = header_problem(path, header, (files[0], table.header), params["delimiter"])
        if problem:
            return problem
        check_whole([path])
        good, failure = first_failure(lambda: text_lines(tf.constant(path)).skip(1),
                                      lambda lines: parse(_not_blank(lines)))
        total += good
        if failure is not None:
            line = (failure.record or b"").decode("utf-8", "replace")
            reason = line_problem(line, table, params) or f": {failure.message}"
            return f"line {failure.number + 1} of {path}{reason}"
    return "" if total else f"{name} is {params[name]!r}, and no file of it holds a record"


def _new_batches(mode: str, params: Mapping[str, Any],
                 input_context: Optional[tf.distribute.InputContext]) -> tf.data.Dataset:
    """Returns batches of predict_files: features, or features and labels as texts."""
    tables = new_tables.found(params)
    check_whole([path for same in tables for path in same.files])
    datasets = [
        batches(list(same.files), mode, params, input_context, Form(
            functools.partial(_open, header=same.table.header, every=0, training=False),
            decode=functools.partial(_parse, table=same.table, params=new_tables.as_text(params)),
            finish=lambda batch: batch, least_bytes=0))
        for same in tables]
    return functools.reduce(lambda one, other: one.concatenate(other), datasets)


def _first_new_problem(params: Mapping[str, Any]) -> str:
    """Returns the first line of predict_files that cannot be used; "" if there is none."""
    as_text = new_tables.as_text(params)
    for path, table in ((path, same.table) for same in new_tables.found(params)
                        for path in same.files):
        check_whole([path])
        _, failure = first_failure(
            lambda: text_lines(tf.constant(path)).skip(1),
            lambda lines: _parse(_not_blank(lines), table, as_text))
        if failure is not None:
            line = (failure.record or b"").decode("utf-8", "replace")
            # The label may be any text here, so no column is one.
            reason = line_problem(line, table, {**as_text, "label": ""})
            return f"line {failure.number + 1} of {path}{reason or f': {failure.message}'}"
    return ""


def _open(path: tf.Tensor, header: str, every: int, training: bool) -> tf.data.Dataset:
    """Returns the records of a file that are for training, or for evaluation.

    If `every` is 0, all records are for both.
    """

    def is_bad_header(line: tf.Tensor) -> tf.Tensor:
        check = tf.debugging.Assert(tf.equal(line, header), ["header differs", path, line])
        with tf.control_dependencies([check]):
            return tf.constant(False)

    def chosen(lines: tf.Tensor) -> tf.Tensor:
        if not every:
            return _not_blank(lines)
        held_out = tf.equal(tf.range(1, tf.size(lines) + 1) % every, 0)
        return _not_blank(lines[~held_out if training else held_out])

    lines = text_lines(path)
    # One call for many lines is 30 times faster than a call for each.
    blocks = lines.skip(1).batch((every or 1) * _LINES_AT_A_TIME).map(chosen)
    return lines.take(1).filter(is_bad_header).concatenate(blocks.unbatch())


def _not_blank(lines: tf.Tensor) -> tf.Tensor:
    return tf.boolean_mask(lines, tf.strings.length(lines) > 0)


def _parse(lines: tf.Tensor, table: Table, params: Mapping[str, Any]) -> Any:
    """Parses one batch, string [batch], into (features, labels), or features alone."""
    # With select_cols TensorFlow would not notice a line with too many columns.
    defaults = [tf.constant([""])] * table.width
    for position, name, default, kind in zip(table.positions, table.names, table.defaults,
                                             table.types):
        dtype = _DTYPES[kind]
        if dtype == tf.float32 and is_unprepared(params) and name != params["label"]:
            dtype, default = tf.float64, _EMPTY if default is not None else None
        defaults[position] = tf.constant([] if default is None else [default], dtype)
    fields = tf.io.decode_csv(lines, defaults, field_delim=params["delimiter"],
                              na_value=params["na_value"])
    features = dict(zip(table.names, _finite([fields[i] for i in table.positions])))
    if params["label"] not in features:
        return features
    label = features.pop(params["label"])
    if params["label_vocabulary"]:
        label = _index(label, params["label_vocabulary"])
    return features, labels.checked(label, params["num_classes"])


def _finite(fields: list[tf.Tensor]) -> list[tf.Tensor]:
    """Returns the fields; reading them fails where a number is `nan` or `inf`."""
    narrow = [field for field in fields if field.dtype == tf.float32]
    wide = [field for field in fields if field.dtype == tf.float64]
    good = [tf.math.is_finite(tf.stack(narrow))] if narrow else []
    if wide:
        # Beyond this a number would be infinite in the model's float32; NaN is not less either.
        good.append(tf.logical_or(tf.abs(tf.stack(wide)) <= tf.float32.max,
                                  tf.equal(tf.stack(wide), _EMPTY)))
    if not good:
        return fields
    check = tf.debugging.Assert(tf.reduce_all([tf.reduce_all(each) for each in good]), [
        "a number is nan or infinite"])
    with tf.control_dependencies([check] if check is not None else []):
        return [_with_nan(field) for field in fields]


def _with_nan(field: tf.Tensor) -> tf.Tensor:
    """Returns the field with NaN for the number that stands for an empty field."""
    if field.dtype != tf.float64:
        return tf.identity(field)
    return tf.where(tf.equal(field, _EMPTY), tf.constant(math.nan, tf.float64), field)


def _index(label: tf.Tensor, vocabulary: list[str]) -> tf.Tensor:
    """Returns the index of each label, string [batch], in the vocabulary: int64 [batch]."""
    same = tf.equal(label[:, tf.newaxis], tf.constant(vocabulary))
    check = tf.debugging.Assert(tf.reduce_all(tf.reduce_any(same, axis=1)), [
        "label is not in label_vocabulary", label])
    with tf.control_dependencies([check]):
        return tf.argmax(tf.cast(same, tf.int32), axis=1)
