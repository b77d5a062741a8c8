"""Slices of the evaluation: the rows of one category, or of a quarter of a number's values.

The question is whether a model fails for some rows, which a metric of all rows hides.
"""

import statistics
from typing import Any, Iterator, Mapping, NamedTuple, TypedDict

import numpy as np

from estimator_trainer import schema
from estimator_trainer.evaluation.column_response import as_text

_MOST_VALUES = 20
_MOST_NUMBERS = 10
_LEAST_ROWS = 20
_MOST_SLICES = 40
# The chance of one wrong alarm among all slices of a run, divided among them (Bonferroni).
_ALARM = 0.05
_Z = 1.96

_Slice = TypedDict("_Slice", {
    "column": str, "value": str, "rows": schema.Count, "score": schema.Number,
    "low": schema.Number, "high": schema.Number, "elsewhere": schema.Number,
    "is_significant": bool})


class SlicesContent(TypedDict):
    """The entry `slices` of `evaluation.json`: the worst of `slices` slices, the worst first.

    The metric is "accuracy" or "mean absolute error"; `low` to `high` is the interval of 95 % of a
    slice's `score`, `elsewhere` the score of all other rows.
    """

    metric: str
    score: schema.Number
    slices: schema.Count
    found: list[_Slice]


class _Rows(NamedTuple):
    column: str
    value: str
    is_in: np.ndarray


def of_rows(columns: Mapping[str, np.ndarray], labels: np.ndarray,
            outputs: np.ndarray) -> dict[str, Any] | None:
    """Returns the entry `slices`; None if no column has slices of enough rows.

    Args:
      columns: Arrays [rows, ...] by name.
      labels: Classes, int64 [rows], or numbers, float64 [rows].
      outputs: Probabilities, float64 [rows, classes], or numbers, float64 [rows].
    """
    is_class = outputs.ndim == 2
    scores = ((labels == outputs.argmax(axis=1)).astype(np.float64) if is_class
              else np.abs(outputs - labels))
    is_finite = np.isfinite(scores)
    scores = scores[is_finite]
    slices = [each for name, values in columns.items()
              for each in _slices(name, values[:len(is_finite)][is_finite])
              if min(each.is_in.sum(), (~each.is_in).sum()) >= _LEAST_ROWS]
    if not slices:
        return None
    critical = statistics.NormalDist().inv_cdf(1 - _ALARM / 2 / len(slices))
    found = [_judged(each, scores, is_class, critical) for each in slices]
    found.sort(key=lambda each: each["score"] if is_class else -each["score"])
    return {"metric": "accuracy" if is_class else "mean absolute error",
            "score": _short(scores.mean()), "slices": len(slices), "found": found[:_MOST_SLICES]}


def worst(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns the worst slice that is worse than all other rows by more than chance, or None."""
    return next((each for each in content["found"] if each["is_significant"]), None)


def sentence(found: Mapping[str, Any], metric: str) -> str:
    """Returns a slice in words: "contract=monthly: accuracy 0.71 in 742 rows, 0.84 elsewhere"."""
    return (f"{found['column']}={found['value']}: {metric} {_text(found['score'])} in"
            f" {found['rows']:,} rows, {_text(found['elsewhere'])} elsewhere")


def wilson(share: float, rows: int) -> tuple[float, float]:
    """Returns the interval of 95 % of a share, that of Wilson (1927)."""
    middle = (share + _Z ** 2 / (2 * rows)) / (1 + _Z ** 2 / rows)
    half = _Z / (1 + _Z ** 2 / rows) * np.sqrt(
        share * (1 - share) / rows + _Z ** 2 / (4 * rows ** 2))
    return float(middle - half), float(middle + half)


def _judged(each: _Rows, scores: np.ndarray, is_class: bool, critical: float) -> dict[str, Any]:
    inside, outside = scores[each.is_in], scores[~each.is_in]
    rows, others = len(inside), len(outside)
    score, elsewhere = float(inside.mean()), float(outside.mean())
    if is_class:
        # The test of two proportions with the share of all rows, and Yates' correction, without
        # which few errors are significant too often.
        share = float(scores.mean())
        correction = (1 / rows + 1 / others) / 2
        error = np.sqrt(share * (1 - share) * (1 / rows + 1 / others))
        low, high = wilson(score, rows)
    else:
        # Welch's test, of a normal distribution: each part has at least 20 rows.
        half = _Z * inside.std(ddof=1) / np.sqrt(rows)
        correction = 0.0
        error = np.sqrt(inside.var(ddof=1) / rows + outside.var(ddof=1) / others)
        low, high = score - half, score + half
    worse = (elsewhere - score if is_class else score - elsewhere) - correction
    return {"column": each.column, "value": each.value, "rows": rows, "score": _short(score),
            "low": _short(low), "high": _short(high), "elsewhere": _short(elsewhere),
            "is_significant": bool(error > 0 and worse / error > critical)}


def _slices(name: str, values: np.ndarray) -> Iterator[_Rows]:
    values = values.reshape([len(values), -1])
    if values.shape[1] != 1:
        return
    values = values[:, 0]
    is_number = values.dtype.kind in "fiu"
    is_missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    full = values[~is_missing]
    different = np.unique(full)
    if is_missing.any():
        yield _Rows(name, "missing", is_missing)
    if len(different) <= (_MOST_NUMBERS if is_number else _MOST_VALUES):
        if len(different) + bool(is_missing.any()) > 1:
            for value in different:
                shown = f"{value:.6g}" if is_number else as_text(value)
                yield _Rows(name, shown or "(empty)", values == value)
    elif is_number:
        yield from _quarters(name, values, full)


def _quarters(name: str, values: np.ndarray, full: np.ndarray) -> Iterator[_Rows]:
    edges = np.unique(np.quantile(full, [0, 0.25, 0.5, 0.75, 1]))
    for i, (low, high) in enumerate(zip(edges, edges[1:])):
        is_in = (values >= low) & (values < high if i < len(edges) - 2 else values <= high)
        yield _Rows(name, f"{_plain(low)} to {_plain(high)}", is_in)


def _text(value: float) -> str:
    return f"{float(f'{value:.3g}'):,.0f}" if 1e3 <= abs(value) < 1e12 else f"{value:.3g}"


def _plain(value: float) -> str:
    """Returns a number without an exponent: a postal code or a year must be readable."""
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e12 else f"{value:.4g}"


def _short(value: Any) -> float:
    return float(f"{float(value):.6g}")
