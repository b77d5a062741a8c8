"""Hints on a table whose evaluation would say too much: a leaked label, rows in both parts.

Each is a sentence for the log; the training goes on.
"""

from __future__ import annotations

import collections
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from input_fns.reading import advice
from input_fns.reading.column import Column
from input_fns.reading.table_scan import Scan

# A column that orders the labels so well is hardly known before the label.
_LEAKED_AUC = 0.9995
_LEAKED_CORRELATION = 0.99999
_LEAST_ROWS = 50
# Rows for each value of a column, at least, where each value has one label.
_ROWS_OF_A_VALUE = 5
_ROWS_OF_A_CLASS = 3
_OVERLAP_SHARE = 0.2
_UNSEEN_SHARE = 0.05


def of_label(scan: Scan, columns: Mapping[str, Column], params: Mapping[str, Any],
             is_class: bool) -> list[str]:
    """Returns a sentence for each column that alone tells the label.

    Args:
      scan: The lines that were read.
      columns: The columns that are used, and the label.
      params: The params of `input_fns/csv.py`.
      is_class: Whether the label is a class; otherwise it is a number.
    """
    label = params["label"]
    texts = scan.columns[label]
    if len(texts) < _LEAST_ROWS:
        return []
    labels = np.unique(texts, return_inverse=True)[1] if is_class else _numbers(columns[label])
    found = []
    for name, column in columns.items():
        if name == label:
            continue
        how = _leak(scan.columns[name], column, labels, is_class)
        if how:
            found.append(
                f"column {name!r} alone tells the label {label!r} ({how}): is it known before the "
                f"label is? If not, leave it out: {advice.dropped(name, params)}")
    return found


def of_classes(texts: Sequence[str], label: str) -> list[str]:
    """Returns a sentence if the texts of a label may be no classes, or several of one class."""
    different = sorted(set(texts))
    spellings: dict[str, list[str]] = {}
    for text in different:
        spellings.setdefault(" ".join(text.split()).casefold(), []).append(text)
    same = [each for each in spellings.values() if len(each) > 1]
    found = []
    if same:
        found.append(f"label {label!r} has {', '.join(map(repr, same[0]))}, which are different "
                     "classes: if they are one, write them alike")
    if len(texts) >= _LEAST_ROWS and len(texts) < _ROWS_OF_A_CLASS * len(different):
        found.append(f"label {label!r} has {len(different):,} classes in {len(texts):,} rows, too "
                     "few to learn each. Take another column as the label, or write its values as "
                     "numbers, if they are numbers")
    return found


def of_parts(training: Mapping[str, Sequence[str]], evaluation: Mapping[str, Sequence[str]],
             categories: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns a sentence if rows are in both parts, and for each column of unknown values.

    Args:
      training: The texts of each column in the rows to train on, the label among them.
      evaluation: The same of the rows to evaluate.
      categories: The values of each column that is a category.
    """
    names = [name for name in training if name in evaluation]
    rows = list(zip(*(training[name] for name in names)))
    others = list(zip(*(evaluation[name] for name in names)))
    if len(rows) < _LEAST_ROWS or not others:
        return []
    known = set(rows)
    repeated = 1 - len(known) / len(rows)
    share = sum(row in known for row in others) / len(others)
    found = []
    if share > max(_OVERLAP_SHARE, 2 * repeated):
        found.append(f"{share:.0%} of the rows to evaluate are rows to train on too: the "
                     "evaluation would be too good. Take other rows for it")
    for name, values in categories.items():
        unknown = collections.Counter(set(evaluation.get(name, ())) - {*values, ""})
        count = sum(text in unknown for text in evaluation.get(name, ()))
        if count > _UNSEEN_SHARE * len(others):
            found.append(f"column {name!r}: {count:,} of {len(others):,} rows to evaluate have a "
                         f"value that training has not, such as {min(unknown)!r}")
    return found


def _leak(texts: Sequence[str], column: Column, labels: Optional[np.ndarray],
          is_class: bool) -> str:
    """Returns how a column tells the label; "" if it does not."""
    if labels is None:
        return ""
    if is_class:
        count = len(set(texts))
        pairs = len(set(zip(texts, labels.tolist())))
        if 2 <= count == pairs and count * _ROWS_OF_A_VALUE <= len(texts):
            return "each of its values has one label"
    numbers = _numbers(column)
    if numbers is None:
        return ""
    if not is_class:
        correlation = _correlation(numbers, labels)
        return f"correlation {correlation:.5f}" if abs(correlation) > _LEAKED_CORRELATION else ""
    if labels.max() != 1:
        return ""
    auc = _auc(numbers, labels == 1)
    return f"AUC {max(auc, 1 - auc):.4f}" if max(auc, 1 - auc) > _LEAKED_AUC else ""


def _numbers(column: Column) -> Optional[np.ndarray]:
    """Returns a column's numbers, float64 [rows]; None unless all rows have one."""
    if column.numbers is None or column.num_empty:
        return None
    return column.numbers.astype(np.float64)


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    if not one.std() or not other.std():
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])


def _auc(numbers: np.ndarray, is_positive: np.ndarray) -> float:
    """Returns the area under the ROC curve of a number as the score."""
    _, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    positives, negatives = int(is_positive.sum()), int((~is_positive).sum())
    if not positives or not negatives:
        return 0.5
    return float((ranks[is_positive].sum() - positives * (positives + 1) / 2)
                 / (positives * negatives))
