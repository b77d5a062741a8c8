"""Permutation importance: how much worse a model predicts when a column is shuffled.

Breiman, "Random Forests" (2001), section 10; Fisher, Rudin and Dominici, "All Models are Wrong, but
Many are Useful" (2019); scikit-learn's `permutation_importance`.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence, TypedDict

import numpy as np

from estimator_trainer import schema

Columns = Mapping[str, np.ndarray]
Predict = Callable[[Columns], np.ndarray]
Unit = tuple[str, ...]
_REPEATS = 5
# A first look with few rows chooses this many of more columns.
MOST_MEASURED = 20
_COARSE_ROWS = 200
# The correlation of ranks from which two columns say nearly the same.
_ALIKE = 0.95
# Rows that are predicted in one call.
_BATCH = 4096

_Column = TypedDict("_Column", {"name": str, "drop": schema.Number, "deviation": schema.Number})


class _ImportanceNeeded(TypedDict):
    metric: str
    base: schema.Number
    rows: schema.Count
    repeats: schema.Count
    tried: schema.Count
    columns: schema.Count
    found: list[_Column]


class ImportanceContent(_ImportanceNeeded, total=False):
    """The entry `importance` of `evaluation.json`: the drop of a metric, column by column.

    From `columns` columns, `tried` were shuffled; `found` has the most important ones, best first.
    `together` are columns that say nearly the same, and the drop when all of them are shuffled.
    """

    together: list[_Column]


class Metric(NamedTuple):
    """A metric of which more is better; `score` takes labels and outputs."""

    name: str
    score: Callable[[np.ndarray, np.ndarray], float]


class Rows(NamedTuple):
    """Rows to predict again.

    Attributes:
      columns: Arrays [rows, ...] by name.
      labels: Classes, int64 [rows], or numbers, float64 [rows].
    """

    columns: Columns
    labels: np.ndarray

    def taken(self, places: np.ndarray) -> Rows:
        """Returns the rows of these places."""
        return Rows({name: values[places] for name, values in self.columns.items()},
                    self.labels[places])


class OutOfTime(Exception):
    """The time is over, or the job's end was requested."""


def metric_of(labels: np.ndarray, outputs: np.ndarray) -> Metric:
    """Returns R² for numbers, AUC for probabilities of two classes, otherwise the accuracy."""
    if outputs.ndim == 1:
        return Metric("R²", r_squared)
    is_certain = bool(np.isin(outputs, (0, 1)).all())
    if outputs.shape[1] == 2 and 0 < labels.sum() < len(labels) and not is_certain:
        return Metric("AUC", lambda labels, outputs: auc(labels, outputs[:, 1]))
    return Metric("accuracy", lambda labels, outputs: float(
        np.mean(labels == outputs.argmax(axis=1))))


def r_squared(labels: np.ndarray, outputs: np.ndarray) -> float:
    """Returns the coefficient of determination, as scikit-learn's `r2_score`."""
    spread = float(np.sum((labels - labels.mean()) ** 2))
    return 1 - float(np.sum((labels - outputs) ** 2)) / spread if spread else 0.0


def auc(labels: np.ndarray, scores: np.ndarray) -> float:
    """Returns the area under the ROC curve, as scikit-learn's `roc_auc_score`.

    The share of pairs of a positive and a negative example that the scores order rightly; equal
    scores count half (Mann and Whitney 1947).
    """
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    positives = int(labels.sum())
    above = ranks[labels == 1].sum() - positives * (positives + 1) / 2
    return float(above / (positives * (len(labels) - positives)))


def measured(predict: Predict, rows: Rows, seed: int, until: float) -> dict[str, Any]:
    """Returns the content of the entry `importance`.

    Args:
      predict: Returns the outputs for columns: float64 [rows, classes], or [rows].
      rows: The rows to predict.
      seed: Seeds the permutations.
      until: The time, of `time.monotonic`, at which the measuring ends with what it has.

    Raises:
      ValueError: The rows have no metric.
    """
    outputs = predict(rows.columns)
    metric = metric_of(rows.labels, outputs)
    units: list[Unit] = [(name,) for name in rows.columns]
    tried, generator = len(units), np.random.default_rng(seed)
    if len(units) > MOST_MEASURED:
        start = time.monotonic()
        units, tried = _chosen(predict, rows, metric, generator,
                               start + 0.6 * (until - start))
        rows = _affordable(rows, tried * _COARSE_ROWS / (time.monotonic() - start), until)
        outputs = outputs[:len(rows.labels)]
    base = metric.score(rows.labels, outputs)
    if not np.isfinite(base):
        raise ValueError("not all predictions of these rows are finite numbers")
    groups = alike(rows.columns, [name for name, in units])
    units = [*units, *groups]
    drops: dict[Unit, list[float]] = {}
    pairs = [(unit, generator) for _ in range(_REPEATS) for unit in units]
    for unit, score in _scores(predict, rows, metric, pairs, until):
        drops.setdefault(unit, []).append(base - score)
    repeats = min(map(len, drops.values())) if len(drops) == len(units) else 0
    if not repeats:
        raise ValueError("the model predicts too slowly to shuffle its columns one after another")
    found = [_entry(unit, drops[unit][:repeats]) for unit in units if unit not in groups]
    together = [_entry(unit, drops[unit][:repeats]) for unit in groups]
    return {"metric": metric.name, "base": _short(base), "rows": len(rows.labels),
            "repeats": repeats, "tried": tried, "columns": len(rows.columns),
            "found": sorted(found, key=lambda each: -each["drop"]),
            **({"together": together} if together else {})}


def alike(columns: Columns, names: Sequence[str]) -> list[Unit]:
    """Returns the groups of columns that say nearly the same: numbers whose ranks correlate.

    Spearman (1904). The first column of a group decides; texts are alike if each value of one goes
    with one value of the other.
    """
    ranks = {name: _ranks(columns[name]) for name in names}
    groups: list[list[str]] = []
    for name in names:
        group = next((each for each in groups if _are_alike(ranks[each[0]], ranks[name])), None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    return [tuple(each) for each in groups if len(each) > 1]


def _ranks(values: np.ndarray) -> np.ndarray | None:
    """Returns mean ranks of numbers, or negative numbers for texts; None for vectors."""
    values = values.reshape([len(values), -1])
    if values.shape[1] != 1:
        return None
    different, places, counts = np.unique(values[:, 0], return_inverse=True, return_counts=True)
    if len(different) < 2:
        return None
    if values.dtype.kind not in "fiu":
        return -1 - places.reshape([-1]).astype(np.float64)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[places.reshape([-1])])


def _are_alike(first: np.ndarray | None, second: np.ndarray | None) -> bool:
    if first is None or second is None or (first[0] < 0) != (second[0] < 0):
        return False
    if first[0] > 0:
        return bool(abs(np.corrcoef(first, second)[0, 1]) > _ALIKE)
    pairs = len(np.unique(np.stack([first, second]), axis=1).T)
    return pairs == len(np.unique(first)) == len(np.unique(second)) < len(first) / 2


def _affordable(rows: Rows, rows_per_sec: float, until: float) -> Rows:
    """Returns as many of the rows as there is time for, in every repeat."""
    size = int(rows_per_sec * (until - time.monotonic()) / (_REPEATS * MOST_MEASURED))
    return rows.taken(np.arange(min(len(rows.labels), max(_COARSE_ROWS, size))))


def _chosen(predict: Predict, rows: Rows, metric: Metric, generator: np.random.Generator,
            until: float) -> tuple[list[Unit], int]:
    """Returns the most important columns of a first look, and how many columns it looked at."""
    few = rows.taken(np.arange(min(_COARSE_ROWS, len(rows.labels))))
    outputs = predict(few.columns)
    if metric.name == "AUC" and not 0 < few.labels.sum() < len(few.labels):
        metric = Metric("log likelihood", lambda labels, outputs: float(np.mean(np.log(
            np.maximum(outputs[np.arange(len(labels)), labels], 1e-12)))))
    base = metric.score(few.labels, outputs)
    drops = {unit: base - score for unit, score in _scores(
        predict, few, metric, [((name,), generator) for name in rows.columns], until)}
    return sorted(drops, key=lambda unit: -drops[unit])[:MOST_MEASURED], len(drops)


def _scores(predict: Predict, rows: Rows, metric: Metric,
            units: Iterable[tuple[Unit, np.random.Generator]],
            until: float) -> Iterator[tuple[Unit, float]]:
    """Yields the score with each unit shuffled, as many as there is time for."""
    def changes() -> Iterator[tuple[Unit, Columns]]:
        for unit, generator in units:
            places = generator.permutation(len(rows.labels))
            yield unit, {name: rows.columns[name][places] for name in unit}

    for unit, outputs in predicted(predict, rows.columns, changes(), until):
        yield unit, metric.score(rows.labels, outputs)


def predicted(predict: Predict, columns: Columns, changes: Iterable[tuple[Any, Columns]],
              until: float) -> Iterator[tuple[Any, np.ndarray]]:
    """Yields the outputs for the columns with each of the changes, until the time is over.

    Several changes are predicted in one call, which is faster for few rows.
    """
    size = len(next(iter(columns.values())))
    several: list[tuple[Any, Columns]] = []
    for change in changes:
        several.append(change)
        if (len(several) + 1) * size > _BATCH:
            yield from _predicted_together(predict, columns, several)
            several = []
            if time.monotonic() > until:
                return
    if several:
        yield from _predicted_together(predict, columns, several)


def _predicted_together(predict: Predict, columns: Columns, changes: Sequence[tuple[Any, Columns]]
                        ) -> Iterator[tuple[Any, np.ndarray]]:
    found = predict({name: np.concatenate([change.get(name, values) for _, change in changes])
                     for name, values in columns.items()})
    for (key, _), outputs in zip(changes, np.split(found, len(changes))):
        yield key, outputs


def _entry(unit: Unit, drops: Sequence[float]) -> dict[str, Any]:
    return {"name": ", ".join(unit), "drop": _short(np.mean(drops)),
            "deviation": _short(np.std(drops))}


def _short(value: Any) -> float:
    return float(f"{float(value):.6g}")
