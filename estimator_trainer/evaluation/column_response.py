"""Partial dependence: the mean prediction when one column has the same value in all rows.

Friedman, "Greedy Function Approximation: A Gradient Boosting Machine" (2001), section 8.2; Hastie,
Tibshirani and Friedman, "The Elements of Statistical Learning" (2009), equation 10.48;
scikit-learn's `partial_dependence` with the method "brute".
"""

from typing import Any, Iterator, Literal, Sequence, TypedDict

import numpy as np

from estimator_trainer import schema
from estimator_trainer.evaluation.column_importance import Columns, Predict, predicted

MOST_COLUMNS = 6
_MOST_CLASSES = 3
# The deciles are among these shares of the rows.
_SHARES = (0.02, *(i / 20 for i in range(1, 20)), 0.98)
_MOST_CATEGORIES = 12
_MOST_CHARACTERS = 60

_Mean = TypedDict("_Mean", {"of": str, "values": list[schema.Number]})


class _ResponseNeeded(TypedDict):
    name: str
    kind: Literal["number", "category"]
    at: list[schema.Number | str]
    means: list[_Mean]
    rows: schema.Count


class ResponseContent(_ResponseNeeded, total=False):
    """The response to a column: `means` at the values `at`.

    A column of numbers has `deciles` of its values in `rows` rows, and of its empty fields their
    number, `missing`, and the means there, `at_missing`; a category has the rows of each value.
    """

    deciles: list[schema.Number]
    missing: schema.Count
    at_missing: list[schema.Number]
    counts: list[schema.Count]


def of_column(predict: Predict, columns: Columns, name: str, all_values: np.ndarray,
              until: float) -> dict[str, Any] | None:
    """Returns the response to a column, without the classes' names; None if it has no values.

    The entry `means` is float64 [values, outputs], in place of the list for `evaluation.json`.

    Args:
      predict: Returns the outputs for columns.
      columns: The rows that are predicted with each value in turn.
      name: The column.
      all_values: The column's values in more rows, which decide at which values.
      until: The time, of `time.monotonic`, after which there is no response.
    """
    values = all_values.reshape([len(all_values), -1])
    if values.shape[1] != 1:
        return None
    found = _of_numbers(values[:, 0]) if values.dtype.kind in "fiu" else _of_categories(
        values[:, 0])
    grid = found.pop("grid")
    if len(grid) < 2:
        return None

    def changes() -> Iterator[tuple[int, Columns]]:
        for i, value in enumerate(grid):
            yield i, {name: np.full_like(columns[name], value)}

    means = {i: outputs.mean(axis=0).reshape([-1])
             for i, outputs in predicted(predict, columns, changes(), until)}
    if len(means) < len(grid):
        return None
    matrix = np.stack([means[i] for i in range(len(grid))])
    found |= {"name": name, "rows": len(values)}
    if "missing" in found:
        return {**found, "means": matrix[:-1], "at_missing": matrix[-1]}
    return {**found, "means": matrix}


def with_names(found: dict[str, Any], classes: Sequence[int],
               names: Sequence[str]) -> dict[str, Any]:
    """Returns a response for `evaluation.json`, with the means of some of the outputs.

    `classes` are their numbers, and `names` their names; a number's is "".
    """
    means = found["means"]
    shown = {**found, "means": [{"of": name, "values": list(map(_short, means[:, i]))}
                                for i, name in zip(classes, names)]}
    if "at_missing" in found:
        shown["at_missing"] = [_short(found["at_missing"][i]) for i in classes]
    return shown


def shown_classes(labels: np.ndarray, outputs: np.ndarray) -> list[int]:
    """Returns which outputs a response shows: class 1 of two, the most frequent three of more."""
    if outputs.ndim == 1:
        return [0]
    if outputs.shape[1] == 2:
        return [1]
    counts = np.bincount(labels, minlength=outputs.shape[1])[:outputs.shape[1]]
    return list(map(int, np.argsort(-counts, kind="stable")[:_MOST_CLASSES]))


def _of_numbers(values: np.ndarray) -> dict[str, Any]:
    is_missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    full = values[~is_missing & np.isfinite(values)]
    if not len(full):
        return {"grid": []}
    distinct = np.unique(full)
    if len(distinct) > len(_SHARES):
        distinct = np.unique(np.quantile(full, _SHARES, method="nearest"))
    deciles = np.quantile(full, _SHARES[2:-2:2], method="nearest")
    found: dict[str, Any] = {"kind": "number", "grid": list(distinct), "at": list(map(
        _short, distinct)), "deciles": list(map(_short, deciles))}
    if is_missing.any():
        found |= {"missing": int(is_missing.sum()), "grid": [*distinct, np.nan]}
    return found


def _of_categories(values: np.ndarray) -> dict[str, Any]:
    different, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
    return {"kind": "category", "grid": [different[i] for i in order],
            "at": [as_text(different[i]) for i in order], "counts": [int(counts[i]) for i in order]}


def as_text(value: Any) -> str:
    """Returns a value of a category as text."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text[:_MOST_CHARACTERS]


def _short(value: Any) -> float:
    return float(f"{float(value):.6g}")
