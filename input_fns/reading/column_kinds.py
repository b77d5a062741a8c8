"""Decides what each column of a table is to a model: a number, a category, a date, an identifier.

The decisions are the param `table_columns` of the models that prepare columns themselves: an entry
for each column that is used, by name.

  number    {"kind": "number", "mean", "deviation", "knots", "missing"}: knots are ascending values
            with about as many rows between each two; missing: some of its fields are empty
  category  {"kind": "category", "values"}: the texts, the most frequent one first
  text      {"kind": "text"}: a text of too many values to list them
  date      {"kind": "date", "pattern", "rewrite", "parts", ...}: the entries of a number, in days
            since 1970, and how its text is taken apart, see `dates.Form`; parts: "month",
            "weekday", "hour"; of a Unix time "per_day", how many of its units are a day, in place
            of pattern and rewrite

A column whose values are nearly all different, or all the same, says nothing about other rows, and
is left out. A type in `column_types`, or the column in `columns`, keeps it.
"""

from __future__ import annotations

import collections
import re
from typing import Any, Mapping, NamedTuple, Optional

import numpy as np

from input_fns.reading import advice, dates
from input_fns.reading.column import Column, measured
from input_fns.reading.table_scan import Scan

# A text of more values is not listed one by one, and a category of more is embedded.
_MOST_VALUES = 1000
# A value that is seen once teaches nothing about other rows, unless there are few rows.
_ROWS_FOR_PAIRS = 1000
# A share of different values from which a column is an identifier.
_DISTINCT_SHARE = 0.95
_LEAST_ROWS = 20
_LEAST_ROWS_OF_ANY_NAME = 100
_YEARS = (1500, 2200)
_ID_NAME = re.compile(
    r"(?i)(.*[_\s.-])?(id|ids|uuid|guid|key|index|idx|row|rowid|nr|no|number|unnamed(:.*)?)"
    r"|(?-i:.*[a-z](Id|ID|Nr|No|Key|Index))|id[_\s.-].*")
# More lines are no table that is read.
_MOST_LOGGED = 60
# Knots of a number, at most, and the rows that each needs: fewer rows teach noise.
_MOST_KNOTS = 33
_LEAST_KNOTS = 5
_ROWS_OF_A_KNOT = 150


class Decision(NamedTuple):
    """The decision on a column.

    Attributes:
      entry: The column's entry in `table_columns`; None if the column is left out.
      values: Number of different values.
      text: The decision in words, for the log.
      is_identifier: Whether the column is left out because its values are nearly all different.
    """

    entry: Optional[dict[str, Any]]
    values: int
    text: str
    is_identifier: bool = False

    @property
    def kind(self) -> str:
        """Returns the kind in one word."""
        return str(self.entry["kind"]) if self.entry else "left out"


def decided(name: str, scan: Scan, column: Column, params: Mapping[str, Any]) -> Decision:
    """Returns the decision on a column that is no label.

    Args:
      name: The column.
      scan: The lines that were read, from which a column's texts come.
      column: What is known of the column.
      params: The params of `input_fns/csv.py`.
    """
    set_by_user = params["column_types"].get(name, "") or (
        "columns" if name in params["columns"] else "")
    texts = [text for text, is_training in zip(scan.columns[name], scan.is_training)
             if is_training and text not in ("", params["na_value"])]
    counts = collections.Counter(texts)
    form = None
    if set_by_user in ("", "columns", "date"):
        form = dates.form_of(texts, is_text=column.kind is str or set_by_user == "date")
    if not set_by_user:
        reason = _reason_to_leave_out(name, len(texts), counts, column, is_date=form is not None)
        if reason:
            kind = "text" if column.kind is str else column.kind.__name__
            keep = advice.of_type(name, kind, params)
            return Decision(None, len(counts), f"{reason}; to use it: {keep}", len(counts) > 1)
    if set_by_user == "category":
        return _category(counts, len(texts))
    if form is not None:
        return _date({"pattern": form.pattern, "rewrite": form.rewrite,
                      **({"has_words": True} if form.has_words else {})}, form.read(texts), counts,
                     len(texts) < int(scan.is_training.sum()))
    if column.kind is str:
        return _category(counts, len(texts))
    assert column.numbers is not None and column.training is not None
    per_day = 0 if set_by_user else dates.unix_units_of_day(name, column.numbers)
    if per_day:
        return _date({"per_day": per_day}, dates.of_days(column.training / per_day), counts,
                     bool(column.num_empty))
    return _number(column, len(counts))


def log_rows(decisions: Mapping[str, Decision]) -> list[str]:
    """Returns the table of columns and decisions for the log, a line for each of the first ones."""
    names = [shown(name) for name in decisions][:_MOST_LOGGED]
    width = max(map(len, names))
    rows = [f"  {name:<{width}}  {each.kind:<8}  {each.values:>7,} values  {each.text}"
            for name, each in zip(names, decisions.values())]
    others = collections.Counter(each.kind for each in list(decisions.values())[_MOST_LOGGED:])
    if others:
        counts = ", ".join(f"{kind} {count:,}" for kind, count in others.most_common())
        rows.append(f"  and {others.total():,} more columns: {counts}; record.json has them all")
    return rows


def shown(name: str) -> str:
    """Returns a column's name, shortened."""
    return name if len(name) <= 28 else f"{name[:25]}..."


def _reason_to_leave_out(name: str, rows: int, counts: Mapping[str, int], column: Column,
                         is_date: bool) -> str:
    """Returns why a column says nothing about other rows; "" if it may.

    `rows` have a value in the column; `counts` has each value.
    """
    if len(counts) == 1 and not column.num_empty:
        return "the same in all rows"
    if rows < _LEAST_ROWS or len(counts) < _DISTINCT_SHARE * rows:
        return ""
    share = "all values are" if len(counts) == rows else f"{len(counts):,} of {rows:,} values are"
    if column.kind is str:
        is_id = rows >= _LEAST_ROWS_OF_ANY_NAME or _ID_NAME.fullmatch(name)
        return f"{share} different" if is_id and not is_date else ""
    numbers = np.asarray(column.numbers)
    is_whole = column.kind is int or bool((numbers == np.round(numbers)).all())
    return f"{share} different" if is_whole and (
        _ID_NAME.fullmatch(name) or _counts_rows(column)) else ""


def _counts_rows(column: Column) -> bool:
    """Returns whether integers number the rows: all different, and hardly a gap among them.

    Years, such as those of a time series with a row a year, do so too, but say something.
    """
    numbers = np.asarray(column.numbers)
    if _YEARS[0] <= numbers.min() and numbers.max() <= _YEARS[1]:
        return False
    spread = int(numbers.max()) - int(numbers.min()) + 1
    return len(numbers) >= _LEAST_ROWS_OF_ANY_NAME and spread <= 1.01 * len(numbers) and (
        len(np.unique(numbers)) == len(numbers))


def _category(counts: Mapping[str, int], rows: int) -> Decision:
    least = 2 if rows >= _ROWS_FOR_PAIRS else 1
    values = [text for text, count in collections.Counter(counts).most_common() if count >= least]
    if len(values) > _MOST_VALUES or not values:
        return Decision({"kind": "text"}, len(counts), "hashed into hash_buckets")
    shown = ", ".join(values[:3]) + (", ..." if len(values) > 3 else "")
    rare = len(counts) - len(values)
    return Decision({"kind": "category", "values": values}, len(counts), shown + (
        f"; {rare:,} that are seen once count as unknown" if rare else ""))


def _number(column: Column, values: int) -> Decision:
    assert column.training is not None
    entry = {"kind": "number", **_scale(column.training), "missing": bool(column.num_empty)}
    empty = f"; {column.num_empty:,} empty: the mean and a flag" if column.num_empty else ""
    return Decision(entry, values, f"mean {entry['mean']:.6g}, deviation {entry['deviation']:.6g}"
                    + empty)


def _date(taken_apart: dict[str, Any], found: dates.Dates, counts: Mapping[str, int],
          has_empty: bool) -> Decision:
    entry = {"kind": "date", **taken_apart, "parts": found.parts, **_scale(found.days),
             "missing": has_empty}
    first, last = found.extent
    return Decision(entry, len(counts), f"{first} to {last}: days"
                    + "".join(f", {part}" for part in found.parts))


def _scale(numbers: np.ndarray) -> dict[str, Any]:
    """Returns mean, deviation and knots of a column's numbers in the training lines."""
    mean, deviation = measured(numbers)
    return {"mean": mean, "deviation": deviation, "knots": _knots(numbers)}


def _knots(numbers: np.ndarray) -> list[float]:
    """Returns ascending values with about as many numbers between each two, or none."""
    most = min(_MOST_KNOTS, len(numbers) // _ROWS_OF_A_KNOT + 1)
    if most < _LEAST_KNOTS:
        return []
    values = np.unique(numbers)
    if len(values) > most:
        values = np.unique(np.quantile(numbers, np.linspace(0, 1, most)))
    return [] if len(values) < 3 else [float(f"{value:.15g}") for value in values]
