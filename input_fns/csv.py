"""Tables in CSV, Parquet, JSON lines and Feather files, of any file system that TensorFlow reads.

A file's name decides what it is, or else its first bytes. CSV files have a header line; without one
`columns` names the columns in their order. A field may be in double quotes, line breaks too. A text
file may be gzipped, alone in a zip archive, or in UTF-16. All files have the columns of the first,
in any order; empty lines do not count, and columns without a name are left out. Params:

  train_files       pattern of files, a folder, or several of them separated by commas:
                    `/data/train-*.csv`
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
  na_value          a text that means an empty field too: NA, or ?; for a model that prepares
                    columns, "" finds one that is beside numbers alone
  empty_numbers     what fills an empty number, unless columns sets it: "mean", the column's in the
                    training lines, rounded for integers; "zero"; "error": none may be empty
  label             the column that is the label
  empty_labels      records without a label: "error", there may be none; "leave_out"
  label_vocabulary  the label's texts, a JSON list; the label becomes the index in it; []: a text
                    label's values in the data, sorted; a label of numbers has none
  identifiers       a JSON list of columns that tell rows apart, and are in predictions alone, where
                    the files have them; []: those that a model that prepares columns leaves out
  num_classes       labels are 0 to this - 1, checked; 0: from the data; -1: the label is no class
  delimiter         one character, or `tab`; empty: found in the first lines: a comma, semicolon,
                    tab or `|`
  number_formats    JSON object, how numbers are written that are not plain: name -> "1,234.5",
                    "1.234,5" or "1 234.5"; units, per cent and currencies count as no part; {}:
                    from the training files

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

from typing import Any, Mapping, Optional, Sequence

import pyarrow as pa
import tensorflow as tf

from input_fns.reading import (arrow_file, new_tables, pipeline, same_files, serving_lines,
                               stored_rows, table_drift, table_facts, unseen)
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.file_names import first_problem, matched_tables
from input_fns.reading.table import table_of
from input_fns.reading.table_batches import batches, first_bad, Source
from input_fns.reading.text_records import check_whole

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
    "empty_labels": "error",
    "label_vocabulary": [],
    "num_classes": 0,
    "identifiers": [],
    "delimiter": "",
    "number_formats": {},
}
DATA = "tables"
FIRST_PARAMS = ("train_files", "eval_files", "label", "drop", "batch_size")
GLOBAL_BATCH_PARAM = "batch_size"
TRAINS_UNTIL = "no_improvement"
STARTS_OVER = True
INSPECTION = "input_fns.reading.table_inspection"


def input_fn(
    mode: str,
    params: Mapping[str, Any],
    input_context: Optional[tf.distribute.InputContext] = None,
) -> tf.data.Dataset:
    """Returns batches of (dict of features, label): see the module's docstring."""
    source = _source(mode, params)
    if mode != "train":
        check_whole(source.files)
    is_new = mode == "infer" and bool(params["predict_files"])
    return batches(source, mode, input_context, unseen.counted(source) if is_new else None)


def rows_to_predict(params: Mapping[str, Any], key: str = "") -> stored_rows.StoredRows:
    """Returns the rows of mode "infer" as their files have them, and a column that is the key."""
    return stored_rows.of(_source("infer", params), key)


def features_of_lines(lines: tf.Tensor, names: Sequence[str],
                      params: Mapping[str, Any]) -> dict[str, tf.Tensor]:
    """Returns the fields of lines that an export takes: see `serving_lines.features`."""
    return serving_lines.features(lines, names, params)


def in_memory(table: pa.Table) -> str:
    """Returns a path by which the params name a table in memory, as long as the table exists."""
    return arrow_file.path_of(table)


def data_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the columns' types and fills, the classes, and scales if a param needs them."""
    known = table_facts.facts(params)
    if not params["predict_files"]:
        same_files.log_matches(matched_tables, params)
    return known


def compared_columns(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the rows to evaluate beside those to train on: see `table_drift.compared`."""
    return table_drift.compared(params)


def data_problem(params: Mapping[str, Any]) -> str:
    """Returns the first record that cannot be used, as one sentence; "" if there is none."""
    try:
        if params["predict_files"]:
            return first_bad(_new_source(params))[1]
        params = table_facts.completed(params, labelled=True)
        return first_problem(params, "line", lambda files, name: _problem(files, name, params),
                             matched_tables)
    except (DataFileError, DataParamError) as error:
        return str(error)


def _source(mode: str, params: Mapping[str, Any]) -> Source:
    if mode == "infer" and params["predict_files"]:
        return _new_source(params)
    labelled = mode != "infer"
    params = table_facts.completed(params, labelled)
    name = "train_files" if mode == "train" or not params["eval_files"] else "eval_files"
    files = tuple(matched_tables(name, params[name]))
    return Source(files, {files[0]: table_of(files[0], params, labelled)}, params,
                  0 if params["eval_files"] else params["eval_every"], training=mode == "train")


def _new_source(params: Mapping[str, Any]) -> Source:
    """Returns predict_files: features, and labels as texts if all files have them."""
    tables = new_tables.found(params)
    return Source(tuple(tables), tables, new_tables.as_text(params))


def _problem(files: list[str], name: str, params: Mapping[str, Any]) -> str:
    table = table_of(files[0], params, labelled=True)
    total, problem = first_bad(Source(tuple(files), {files[0]: table}, params))
    return problem or ("" if total else
                       f"{name} is {params[name]!r}, and no file of it holds a record")
