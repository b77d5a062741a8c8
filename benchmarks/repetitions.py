"""Measures the rows of a table in turn, several times over, and compares them.

A slower minute of the machine then hits all rows. So a ratio is taken inside one repetition, and
the median and the span of the ratios count.
"""

from __future__ import annotations

import statistics
from typing import Callable, Iterable


class Repetitions:
    """The numbers that were measured for each row of a table.

    Attributes:
      values: A number for each repetition, by row; the others are compared to the first row.
    """

    def __init__(self, values: dict[str, list[float]]):
        self.values = values

    def median(self, row: str) -> float:
        """Returns the median of a row's numbers."""
        return statistics.median(self.values[row])

    def span(self, row: str, form: str) -> str:
        """Returns the least and the greatest of a row's numbers, such as "1.2-1.4"."""
        return _span(self.values[row], form)

    def ratios(self, row: str) -> list[float]:
        """Returns a row's numbers divided by the first row's, for each repetition."""
        first = next(iter(self.values))
        return [own / other for own, other in zip(self.values[row], self.values[first])]

    def ratio(self, row: str) -> str:
        """Returns the median of the ratios and their span, as two cells of a table."""
        ratios = self.ratios(row)
        return f"{statistics.median(ratios):.2f}x | {_span(ratios, '.2f')}"


def measured(rows: Iterable[str], repeats: int, measure: Callable[[str], float]) -> Repetitions:
    """Calls `measure` with each row in turn, `repeats` times over."""
    values: dict[str, list[float]] = {row: [] for row in rows}
    for _ in range(repeats):
        for row, numbers in values.items():
            numbers.append(measure(row))
    return Repetitions(values)


def _span(numbers: list[float], form: str) -> str:
    return f"{min(numbers):{form}}-{max(numbers):{form}}"
