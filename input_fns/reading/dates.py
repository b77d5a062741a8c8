"""Finds dates and times among texts, and takes them apart.

A form is a regular expression for both Python and RE2, which TensorFlow has, whose groups are
brought into the order year, month, day, hour, minute, second. A Unix time is a number, of seconds
or thousandths since 1970.
"""

from __future__ import annotations

import datetime
import re
from typing import NamedTuple, Optional, Sequence

import numpy as np

_EPOCH = datetime.date(1970, 1, 1)
_DAY_SECS = 86_400
# Unix times from 1973 to 2100, and names that columns of them have: other numbers are as large.
_UNIX_SECS = (100_000_000, 4_102_444_800)
_UNIX_NAME = re.compile(r"(?i).*(time|date|stamp|epoch|unix|created|updated|modified|_at|_ts)s?"
                        r"|ts|.*[a-z](?-i:At|Ts)|.*(time|date|stamp|epoch|created|updated|modified)"
                        r"[_ ]?(m?s|millis|m?secs?|utc)")
_YEARS = range(1800, 2200)
# The share of texts that have the form; the others count as missing.
_SHARE = 0.99
_TRIED = 1000
_TIME = (r"(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?")
_COMPACT_TIME = r"(?:[T ]?(\d{2})(\d{2})(\d{2})?Z?)?"
# Each date with the places of year, month and day among its groups. A day above 12 tells month/day
# from day/month; where none does, the first of the two is taken.
_DATES = (
    (r"(\d{4})-(\d{1,2})-(\d{1,2})", _TIME, (1, 2, 3)),
    (r"(\d{4})/(\d{1,2})/(\d{1,2})", _TIME, (1, 2, 3)),
    (r"(\d{4})\.(\d{1,2})\.(\d{1,2})\.?", _TIME, (1, 2, 3)),
    (r"(\d{1,2})\.(\d{1,2})\.(\d{4})", _TIME, (3, 2, 1)),
    (r"(\d{1,2})/(\d{1,2})/(\d{4})", _TIME, (3, 1, 2)),
    (r"(\d{1,2})/(\d{1,2})/(\d{4})", _TIME, (3, 2, 1)),
    (r"(\d{1,2})-(\d{1,2})-(\d{4})", _TIME, (3, 2, 1)),
    (r"(\d{1,2})-(\d{1,2})-(\d{4})", _TIME, (3, 1, 2)),
    (r"(\d{4})(\d{2})(\d{2})", _COMPACT_TIME, (1, 2, 3)))
# Dates with the names of months, years of two digits, or hours from 1 to 12; for these, texts are
# in lower case, and @1 stands for January: see `_in_numbers`.
_CLOCK = (r"(?:,? (?:at )?(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?(?: ?([ap])\.?m\.?)?)?")
_WEEKDAY, _TH, _YEAR = r"(?:[a-z]{3,9}\.?,? )?", r"(?:st|nd|rd|th)?", r"(\d{4}|\d{2})"
_WORDED = (
    (rf"{_WEEKDAY}(\d{{1,2}}){_TH}[-/. ]@(\d{{1,2}})[-/., ]{{1,2}}{_YEAR}", (3, 2, 1)),
    (rf"{_WEEKDAY}@(\d{{1,2}})[-/. ](\d{{1,2}}){_TH}[-/., ]{{1,2}}{_YEAR}", (3, 1, 2)),
    (r"(\d{4})[-/. ]@(\d{1,2})[-/. ](\d{1,2})", (1, 2, 3)),
    (rf"(\d{{1,2}})/(\d{{1,2}})/{_YEAR}", (3, 1, 2)),
    (rf"(\d{{1,2}})/(\d{{1,2}})/{_YEAR}", (3, 2, 1)),
    (r"(\d{2})\.(\d{2})\.(\d{2})", (3, 2, 1)),
    (r"(\d{4})-(\d{1,2})-(\d{1,2})", (1, 2, 3)))
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})[a-z]*\.?")
# A year of two digits is one from 1969 to 2068.
_FIRST_OF_TWO = 69


class Dates(NamedTuple):
    """Dates: month, hour, and days since 1970 with parts of a day, of each."""

    dates: list[tuple[float, float, float]]

    @property
    def days(self) -> np.ndarray:
        """Returns the days since 1970, float64 [dates]."""
        return np.array([days for _, _, days in self.dates], np.float64)

    @property
    def extent(self) -> tuple[str, str]:
        """Returns the first and the last day, as `2024-01-31`."""
        return str(_day(self.days.min())), str(_day(self.days.max()))

    @property
    def parts(self) -> list[str]:
        """Returns which parts of the dates differ: month, weekday, hour."""
        different: dict[str, set[float]] = {
            "month": {month for month, _, _ in self.dates},
            "weekday": {int(days) % 7 for _, _, days in self.dates},
            "hour": {hour for _, hour, _ in self.dates}}
        return [part for part, values in different.items() if len(values) > 1]


class Form(NamedTuple):
    """The form of dates.

    Attributes:
      pattern: A regular expression of the whole text.
      rewrite: The order of its groups: year, month, day, hour, minute, second, with commas; at the
        end may be one of "a" and "p", for hours from 1 to 12.
      has_words: Whether the pattern is of texts in lower case, in which @1 stands for January.
    """

    pattern: str
    rewrite: str
    has_words: bool = False

    def read(self, texts: Sequence[str]) -> Dates:
        """Returns the dates of the texts that have the form and are dates that exist."""
        groups = [int(group) for group in re.findall(r"\\(\d)", self.rewrite)]
        texts = map(_in_numbers, texts) if self.has_words else texts  # type: ignore[assignment]
        matches = filter(None, map(re.compile(self.pattern).fullmatch, texts))
        fields = (([float(match[group] or 0) for group in groups[:6]],
                   match[groups[6]] if groups[6:] else None) for match in matches)
        return Dates([found for numbers, half in fields if (found := _date(half, *numbers))])


def unix_units_of_day(name: str, numbers: np.ndarray) -> int:
    """Returns how many units of a Unix time are a day; 0 if a column's numbers are none.

    The column's name has to speak of time too: identifiers and sums are as large.
    """
    if not len(numbers) or not _UNIX_NAME.fullmatch(name):
        return 0
    low, high = _UNIX_SECS
    return next((per_sec * _DAY_SECS for per_sec in (1, 1000)
                 if per_sec * low <= numbers.min() and numbers.max() < per_sec * high), 0)


def of_days(days: np.ndarray) -> Dates:
    """Returns the dates of times in days since 1970."""
    return Dates([(_day(each).month, each % 1 * 24 // 1, each) for each in days.tolist()])


def form_of(texts: Sequence[str], is_text: bool) -> Optional[Form]:
    """Returns the form that nearly all texts have, or None.

    `is_text`: whether the column is text. Numbers are dates only if they have eight digits.
    """
    shares = {}
    for date, time, (year, month, day) in _DATES if is_text else _DATES[-1:]:
        form = Form(date + (time if is_text else ""),
                    rf"\{year},\{month},\{day}," + (r"\4,\5,\6" if is_text else r"0,0,0"))
        if _share(form, texts[:_TRIED]) >= _SHARE:
            shares[form] = _share(form, texts)
    for date, (year, month, day) in _WORDED if is_text and not shares else ():
        form = Form(date + _CLOCK, rf"\{year},\{month},\{day},\4,\5,\6,\7", True)
        if _share(form, texts[:_TRIED]) >= _SHARE:
            shares[form] = _share(form, texts)
    best = max(shares, key=lambda form: shares[form], default=None)
    return best if best and shares[best] >= _SHARE else None


def _share(form: Form, texts: Sequence[str]) -> float:
    return len(form.read(texts).dates) / max(1, len(texts))


def _date(half: Optional[str], year: float, month: float, day: float, hour: float = 0.0,
          minute: float = 0.0, second: float = 0.0) -> tuple[float, float, float] | None:
    """Returns a date's entry in Dates; None if there is no such date.

    `half` of the day: "a" or "p"; otherwise hours are from 0 to 23.
    """
    if year < 100:
        year += 2000 if year < _FIRST_OF_TWO else 1900
    if half:
        hour = hour % 12 + 12 * (half == "p")
    if int(year) not in _YEARS or not (hour < 24 and minute < 60 and second < 61):
        return None
    try:
        whole = (datetime.date(int(year), int(month), int(day)) - _EPOCH).days
    except ValueError:
        return None
    return month, hour, whole + (hour * 3600 + minute * 60 + second) / _DAY_SECS


def _in_numbers(text: str) -> str:
    """Returns a text in lower case, in which @1 stands for January."""
    return _MONTH.sub(lambda match: f"@{_MONTHS.index(match[1]) + 1}", text.lower())


def _day(days: float) -> datetime.date:
    return _EPOCH + datetime.timedelta(int(days // 1))
