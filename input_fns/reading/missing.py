"""Finds the word by which a table says that a number is missing: NA, n/a, null, `-`, and others."""

from __future__ import annotations

from typing import Mapping

from absl import logging
from pyarrow import compute
import pyarrow as pa

from input_fns.reading import advice, number_format
from input_fns.reading.field import numbers_of

_WORDS = frozenset(("na", "n/a", "n.a.", "#n/a", "#na", "null", "none", "nil", "nan", "-nan",
                    "missing", "unknown", "?", "-", "--", ".", "..", "\\n"))
_WRITTEN = pa.array(sorted({"NaN", "NaT", "-NaN"}.union(
    *((word, word.upper(), word.capitalize()) for word in _WORDS))))
_SHOWN = 5


def found(columns: Mapping[str, pa.ChunkedArray]) -> str:
    """Returns the word that stands for missing numbers, and logs it; "" if there is none.

    In the columns that have it, all other texts are numbers. If there are several words, the
    most frequent is returned.
    """
    having: dict[str, list[str]] = {}
    counts: dict[str, int] = {}
    for name, texts in columns.items():
        for word, count in _of_column(texts).items():
            having.setdefault(word, []).append(name)
            counts[word] = counts.get(word, 0) + count
    if not counts:
        return ""
    word = max(counts, key=lambda each: counts[each])
    names = ", ".join(having[word][:_SHOWN]) + ", ..." * (len(having[word]) > _SHOWN)
    logging.info("%r stands for an empty field, as beside the numbers of %s: na_value=%r. If it is"
                 " a text in a column, read it as such: %s", word, names, word,
                 advice.typed("column_types", {having[word][0]: "text"}))
    return word


def _of_column(texts: pa.ChunkedArray) -> dict[str, int]:
    """Returns how often each word is beside the numbers of a column; {} if it has other texts."""
    # Most columns have no word, and counting their values would take longer.
    if not compute.any(compute.is_in(texts, _WRITTEN)).as_py():
        return {}
    values, counts = texts.value_counts().flatten()
    is_word = compute.is_in(values, _WRITTEN)
    others = values.filter(compute.and_(compute.invert(is_word),
                                        compute.not_equal(values, ""))).to_pylist()
    if not others or numbers_of(others, float) is None and not all(
            number_format.is_written(each) for each in others):
        return {}
    return dict(zip(values.filter(is_word).to_pylist(), counts.filter(is_word).to_pylist()))
