"""Residuals by the values of a column: where a regression is wrong in one direction."""

from typing import Any, Literal, Mapping, Sequence, TypedDict

import numpy as np

from estimator_trainer import schema
from estimator_trainer.evaluation.column_response import as_text

_MOST_COLUMNS = 6
_BINS, _LEAST_ROWS = 10, 5
_MOST_POINTS = 300
_MOST_CATEGORIES = 12

_Points = TypedDict("_Points", {"at": list[schema.Number], "residuals": list[schema.Number]})


class _ResidualsNeeded(TypedDict):
    name: str
    kind: Literal["number", "category"]
    at: list[schema.Number | str]
    means: list[schema.Number]
    counts: list[schema.Count]


class ColumnResidualsContent(_ResidualsNeeded, total=False):
    """The mean residual, prediction - label, at values of a column, with the rows of each mean.

    A number's values are the means of about ten bins of as many rows; `points` are some rows.
    """

    points: _Points


def of_columns(columns: Mapping[str, np.ndarray], names: Sequence[str], labels: np.ndarray,
               outputs: np.ndarray) -> list[dict[str, Any]]:
    """Returns the residuals by the first six columns of `names` that have one value a row.

    `labels` and `outputs` are float64 [rows], and the columns' arrays are at least as long.
    """
    residuals = outputs - labels
    is_finite = np.isfinite(residuals)
    found: list[dict[str, Any]] = []
    for name in names:
        values = columns[name][:len(residuals)].reshape([len(residuals), -1])
        if values.shape[1] == 1 and len(found) < _MOST_COLUMNS:
            is_number = values.dtype.kind in "fiu"
            is_full = is_finite & (np.isfinite(values[:, 0]) if is_number else True)
            if is_full.sum() >= _LEAST_ROWS:
                of_kind = _of_number if is_number else _of_category
                found.append({"name": name, **of_kind(values[is_full, 0], residuals[is_full])})
    return found


def _of_number(values: np.ndarray, residuals: np.ndarray) -> dict[str, Any]:
    edges = np.unique(np.quantile(values, np.linspace(0, 1, _BINS + 1)))
    bins = np.searchsorted(edges[1:-1], values, side="right")
    used = [i for i in np.unique(bins) if (bins == i).sum() >= _LEAST_ROWS]
    chosen = np.linspace(0, len(values) - 1, min(_MOST_POINTS, len(values))).astype(int)
    return {"kind": "number", "at": [_short(values[bins == i].mean()) for i in used],
            "means": [_short(residuals[bins == i].mean()) for i in used],
            "counts": [int((bins == i).sum()) for i in used],
            "points": {"at": list(map(_short, values[chosen])),
                       "residuals": list(map(_short, residuals[chosen]))}}


def _of_category(values: np.ndarray, residuals: np.ndarray) -> dict[str, Any]:
    different, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
    return {"kind": "category", "at": [as_text(different[i]) for i in order],
            "means": [_short(residuals[values == different[i]].mean()) for i in order],
            "counts": [int(counts[i]) for i in order]}


def _short(value: Any) -> float:
    return float(f"{float(value):.6g}")
