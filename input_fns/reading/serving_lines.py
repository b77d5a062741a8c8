"""Lines of CSV without a label, read by an export as training has read its files."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import tensorflow as tf

from input_fns.reading import number_format
from input_fns.reading.field import Value
from input_fns.reading.file_names import matched_tables
from input_fns.reading.header import header_of
from input_fns.reading.table import chosen, fill_of, is_unprepared, type_of

_LINE_BREAK = r"\r?\n?$"


def features(lines: tf.Tensor, names: Sequence[str], params: Mapping[str, Any]
             ) -> dict[str, tf.Tensor]:
    """Returns the fields of lines by name, made by operations of TensorFlow alone.

    Args:
      lines: string [batch], with the delimiter of the training files.
      names: The fields of a line, in order; one that is no column is a text.
      params: The params of `input_fns/csv.py`, with what `data_params` returns.
    """
    texts = tf.io.decode_csv(tf.strings.regex_replace(lines, _LINE_BREAK, ""),
                             [[""]] * len(names), field_delim=_delimiter(params))
    columns = chosen(params)
    return {name: _values(name, text, columns.get(name, ""), params)
            for name, text in zip(names, texts)}


def _delimiter(params: Mapping[str, Any]) -> str:
    name = "train_files" if params["train_files"] else "eval_files"
    return header_of(matched_tables(name, params[name])[0], params).delimiter or ","


def _values(name: str, texts: tf.Tensor, default: Value, params: Mapping[str, Any]) -> tf.Tensor:
    """Returns a column, string, int64, float32 or float64 [batch]; an empty field is filled."""
    # In a graph `==` compares the objects.
    is_empty = tf.equal(texts, "") | tf.equal(texts, params["na_value"])
    fill = fill_of(default, params)
    if isinstance(default, str):
        return tf.where(is_empty, str(fill), texts)
    if name in params["number_formats"]:
        texts = plain(texts, params["number_formats"][name])
    if fill is not None:
        texts = tf.where(is_empty, "0", texts)
    if type_of(default, params) is int:
        numbers = tf.strings.to_number(texts, tf.int64)
    else:
        numbers = tf.strings.to_number(texts, tf.float64)
        numbers = _checked(numbers, name)
        if not is_unprepared(params):
            numbers = tf.cast(numbers, tf.float32)
    if fill is None:
        return numbers
    return tf.where(is_empty, tf.constant(fill, numbers.dtype), numbers)


def _checked(numbers: tf.Tensor, name: str) -> tf.Tensor:
    """Returns the numbers, which are an error if one is NaN or infinite in float32."""
    checked = tf.debugging.check_numerics(
        tf.cast(numbers, tf.float32), f"column {name!r} has a number that is nan or infinite")
    with tf.control_dependencies([checked]):
        return tf.identity(numbers)


def plain(texts: tf.Tensor, name: str) -> tf.Tensor:
    """Returns numbers of a format as programs write them, and other texts as they are.

    `number_format.plain` does the same in Python.
    """
    inner = tf.strings.regex_replace(texts, r"^\((.*)\)$", r"\1")
    pattern, groups = number_format.pattern(name), number_format.GROUPS[name]

    def part(rewrite: str) -> tf.Tensor:
        return tf.strings.regex_replace(inner, pattern, rewrite)

    digits = tf.strings.regex_replace(
        tf.strings.regex_replace(part(r"\3"), f"[{groups}]", ""), ",", ".")
    is_negative = tf.not_equal(inner, texts) | tf.strings.regex_full_match(
        part(r"\1\2"), ".*[-\u2212].*")
    number = tf.strings.join([tf.where(is_negative, "-", ""), digits, part(r"\4")])
    return tf.where(tf.strings.regex_full_match(inner, pattern), number, texts)
