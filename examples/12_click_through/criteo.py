"""Clicks in Criteo's format, as in the Display Advertising Challenge and the terabyte of logs.

A line has 40 fields, separated by tabs: the label (1: clicked), 13 integers and 26 categories, 8
hexadecimal digits each. Any field but the label may be blank. A file whose name ends in `.gz` is
gzipped. Params:

  train_files     pattern of files, or several separated by commas: `/data/day_*.gz`
  eval_files      the same, for "eval" and "infer": every line once, in the files' order
  blank_numbers   nan: a blank number is NaN, which the model has to know; zero: it is 0

For `batch_size`, `epochs`, `shuffle_buffer` and `seed` see `input_fns/reading/pipeline.py`.

Features: I1 to I13, float32 [batch], the logarithms sign(x) log(1 + |x|); C1 to C26, string
[batch], a blank category is "". Label: int64 [batch].
"""

from __future__ import annotations

import functools
from typing import Any, Mapping, Optional

import numpy as np
import tensorflow as tf

from input_fns.reading import file_names, files, labels, pipeline
from input_fns.reading.errors import DataParamError

DEFAULT_PARAMS = {
    **pipeline.DEFAULT_PARAMS,
    "batch_size": 512,
    "shuffle_buffer": 50000,
    "train_files": "",
    "eval_files": "",
    "blank_numbers": "nan",
}
GLOBAL_BATCH_PARAM = "batch_size"
NUMBERS = tuple(f"I{i}" for i in range(1, 14))
CATEGORIES = tuple(f"C{i}" for i in range(1, 27))
_BLANKS = {"nan": float("nan"), "zero": 0.0}
_SCALED_LINES = 100_000  # of the first training file


def input_fn(
    mode: str,
    params: Mapping[str, Any],
    input_context: Optional[tf.distribute.InputContext] = None,
) -> tf.data.Dataset:
    """Returns batches of (dict of features, label): see the module's docstring."""
    name = "train_files" if mode == "train" else "eval_files"
    form = files.Form(files.text_lines, functools.partial(parse, blank=_blank(params)),
                      finish=lambda batch: batch, least_bytes=0)
    return files.batches(file_names.matched(name, params[name]), mode, params, input_context, form)


def data_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the mean and deviation of each number in the first training lines, if used."""
    known = {"num_classes": 2}
    if params.get("numeric_scale", True):
        return known
    first = file_names.matched("train_files", params["train_files"])[0]
    lines = files.text_lines(tf.constant(first)).take(_SCALED_LINES).batch(_SCALED_LINES)
    features, _ = parse(next(iter(lines)), _blank(params))
    scale = {name: [float(np.nanmean(features[name])), float(np.nanstd(features[name])) or 1.0]
             for name in NUMBERS}
    return {**known, "numeric_scale": scale}


def parse(lines: tf.Tensor, blank: float) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
    """Parses lines, string [batch], into (features, label); a blank number becomes `blank`."""
    defaults = [tf.constant([], tf.int64), *([[float("nan")]] * len(NUMBERS)),
                *([[""]] * len(CATEGORIES))]
    label, *fields = tf.io.decode_csv(lines, defaults, field_delim="\t", use_quote_delim=False)
    numbers = tf.stack(fields[:len(NUMBERS)])
    logs = tf.sign(numbers) * tf.math.log1p(tf.abs(numbers))
    logs = tf.where(tf.math.is_nan(numbers), blank, logs)
    features = {**dict(zip(NUMBERS, tf.unstack(logs))),
                **dict(zip(CATEGORIES, fields[len(NUMBERS):]))}
    return features, labels.checked(label, 2)


def _blank(params: Mapping[str, Any]) -> float:
    if params["blank_numbers"] not in _BLANKS:
        raise DataParamError(f"blank_numbers is {params['blank_numbers']!r}; expected nan or zero."
                             " For example: --param blank_numbers=nan")
    return _BLANKS[params["blank_numbers"]]
