"""A table's rows to evaluate beside those to train on: missing values, new categories, drift.

The drift is the population stability index: the sum over bins of (p - q) ln(p / q), with the shares
p and q of the two parts (Siddiqi, "Credit Risk Scorecards", 2006; from 0.1 on a column has drifted,
from 0.25 on much). By chance alone it is about chi-squared, times 1/n + 1/m of the parts' rows
(Yurdakul and Naranjo, "Statistical properties of the population stability index", 2020).
"""

from __future__ import annotations

import collections
from typing import Any, Mapping, NamedTuple, Optional

import numpy as np
from pyarrow import compute
import pyarrow as pa

from input_fns.reading import field, table_facts

DRIFTED = 0.1
_BINS = 10
# A number of fewer values is compared value by value.
_MOST_NUMBERS = 20
# The most frequent texts are compared, and all others together; a text of more values is free.
_MOST_TEXTS, _MOST_VALUES = 20, 1000
_LEAST_ROWS = 20
_SHOWN, _MOST_CHARACTERS = 3, 40
# The quantile 0.999 of the normal distribution.
_Z = 3.0902
_HALF = 0.5


class _Part(NamedTuple):
    """The fields of a column in one part.

    Attributes:
      rows: Number of rows.
      values: Numbers, float64, or texts, of the fields that are not empty.
    """

    rows: int
    values: np.ndarray

    @property
    def missing(self) -> int:
        """Number of empty fields."""
        return self.rows - len(self.values)


def compared(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the columns of both parts of a table, those that drifted most first; {} without rows.

    `training_rows` and `evaluation_rows` are those that were read, up to 100,000 lines of each
    file pattern; `is_whole` is whether that is all. Each of `columns` has `name`; `kind`, "number"
    or "text"; `missing`, its empty fields in training and evaluation; `unseen`, the rows to
    evaluate whose text no row to train on has, and up to three `examples` of these; `drift`, the
    index, None for a text of many values; and `has_drifted`, whether it is more than chance.

    Args:
      params: The params of `input_fns/csv.py`.
    """
    params = table_facts.completed(params, labelled=True)
    training, evaluated = table_facts.parts(params)
    names = [name for name in params["columns"]
             if name in training.columns and name in evaluated.columns]
    if not names or not training.rows or not evaluated.rows:
        return {}
    found = [_compared(name, *(_part(part, name, params) for part in (training, evaluated)))
             for name in names]
    return {"training_rows": training.rows, "evaluation_rows": evaluated.rows,
            "is_whole": training.is_whole and evaluated.is_whole, "label": params["label"],
            "columns": sorted(found, key=lambda each: (
                not each["has_drifted"], -each["unseen"], -(each["drift"] or 0.0)))}


def index(training: np.ndarray, evaluated: np.ndarray) -> float:
    """Returns the population stability index of counts [bins]; half a row is added to each bin."""
    p, q = (counts + _HALF for counts in (training, evaluated))
    p, q = p / p.sum(), q / q.sum()
    return float(np.sum((p - q) * np.log(p / q)))


def by_chance(bins: int, training: int, evaluated: int) -> float:
    """Returns the index that one of 1,000 columns without drift exceeds.

    The quantile of chi-squared is that of Wilson and Hilferty (1931).
    """
    freedom = max(1, bins - 1)
    part = 2 / (9 * freedom)
    return float(freedom * (1 - part + _Z * part ** 0.5) ** 3 * (1 / training + 1 / evaluated))


def _part(part: table_facts.Part, name: str, params: Mapping[str, Any]) -> _Part:
    column = part.columns[name].arrow.filter(pa.array(part.is_in))
    is_empty = compute.is_in(column, pa.array(["", params["na_value"]]))
    full = column.filter(compute.invert(is_empty))
    numbers: Optional[np.ndarray] = None
    if not isinstance(params["columns"][name], str):
        numbers = field.numbers_of(full, float)
    values = np.array(full.to_pylist(), object) if numbers is None else numbers
    return _Part(len(column), values)


def _compared(name: str, training: _Part, evaluated: _Part) -> dict[str, Any]:
    is_number = "O" not in (training.values.dtype.kind, evaluated.values.dtype.kind)
    unseen: collections.Counter[str] = collections.Counter()
    counts: Optional[np.ndarray] = None
    if is_number:
        counts = _counts_of_numbers(training, evaluated)
    else:
        both = [collections.Counter(map(str, part.values)) for part in (training, evaluated)]
        if len(both[0]) <= _MOST_VALUES:
            counts = _counts_of_texts(*both)
            unseen = collections.Counter({text: count for text, count in both[1].items()
                                          if text not in both[0]})
    drift, has_drifted = None, False
    if counts is not None and min(training.rows, evaluated.rows) >= _LEAST_ROWS:
        counts = np.hstack([counts, [[training.missing], [evaluated.missing]]])
        counts = counts[:, counts.sum(axis=0) > 0]
        drift = round(index(*counts), 4)
        has_drifted = drift >= DRIFTED and drift > by_chance(
            counts.shape[1], training.rows, evaluated.rows)
    return {"name": name, "kind": "number" if is_number else "text",
            "missing": [training.missing, evaluated.missing], "unseen": unseen.total(),
            "examples": [text[:_MOST_CHARACTERS] for text, _ in unseen.most_common(_SHOWN)],
            "drift": drift, "has_drifted": has_drifted, **_means(is_number, training, evaluated)}


def _means(is_number: bool, training: _Part, evaluated: _Part) -> dict[str, Any]:
    parts = (training, evaluated)
    if not is_number or not all(len(part.values) for part in parts):
        return {}
    return {"medians": [float(f"{np.median(part.values):.6g}") for part in parts]}


def _counts_of_numbers(training: _Part, evaluated: _Part) -> np.ndarray:
    """Returns counts [2, bins]: of each value, or between the deciles of the training."""
    different = np.unique(training.values)
    if len(different) <= _MOST_NUMBERS:
        edges = (different[1:] + different[:-1]) / 2
    else:
        edges = np.unique(np.quantile(training.values, np.linspace(0, 1, _BINS + 1)[1:-1]))
    return np.stack([np.bincount(np.searchsorted(edges, part.values, side="right"),
                                 minlength=len(edges) + 1) for part in (training, evaluated)])


def _counts_of_texts(training: collections.Counter[str],
                     evaluated: collections.Counter[str]) -> np.ndarray:
    """Returns counts [2, bins]: of the most frequent texts of the training, and of all others."""
    shown = [text for text, _ in training.most_common(_MOST_TEXTS)]
    found = [[counts[text] for text in shown] for counts in (training, evaluated)]
    return np.array([[*each, counts.total() - sum(each)]
                     for each, counts in zip(found, (training, evaluated))])
