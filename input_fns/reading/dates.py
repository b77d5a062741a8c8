"""Finds dates and times among texts, and takes them apart.

A form is a regular expression for both Python and RE2, which TensorFlow has, whose groups are
brought into the order year, month, day, hour, minute, second.
"""

from __future__ import annotations

import datetime
import re
from typing import NamedTuple, Optional, Sequence

import numpy as np

_EPOCH = datetime.date(1970, 1, 1)
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


class Form(NamedTuple):
    """The form of dates.

    Attributes:
      pattern: A regular expression of the whole text.
      rewrite: The order of its groups: year, month, day, hour, minute, second, with commas.
    """

    pattern: str
    rewrite: str

    def days(self, texts: Sequence[str]) -> np.ndarray:
        """Returns the days since 1970 of the texts that have the form, with parts of a day."""
        return np.array([_days(*self._numbers(text)) for text in texts if self.is_of(text)],
                        np.float64)

    def parts(self, texts: Sequence[str]) -> list[str]:
        """Returns which parts of the dates differ: month, weekday, hour."""
        fields = [self._numbers(text) for text in texts if self.is_of(text)]
        different = {
            "month": len({each[1] for each in fields}),
            "weekday": len({int(_days(*each)) % 7 for each in fields}),
            "hour": len({each[3] for each in fields})}
        return [part for part, count in different.items() if count > 1]

    def _numbers(self, text: str) -> tuple[float, ...]:
        """Returns year, month, day, hour, minute and second; () if the text has another form."""
        match = re.fullmatch(self.pattern, text)
        if not match:
            return ()
        fields = [float(match[int(group)] or 0) for group in re.findall(r"\\(\d)", self.rewrite)]
        return (*fields, *[0.0] * (6 - len(fields)))

    def is_of(self, text: str) -> bool:
        """Returns whether a text is a date of this form that exists."""
        fields = self._numbers(text)
        if not fields or int(fields[0]) not in _YEARS or not (
                fields[3] < 24 and fields[4] < 60 and fields[5] < 61):
            return False
        try:
            datetime.date(*map(int, fields[:3]))
        except ValueError:
            return False
        return True


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
    best = max(shares, key=lambda form: shares[form], default=None)
    return best if best and shares[best] >= _SHARE else None


def _share(form: Form, texts: Sequence[str]) -> float:
    return sum(map(form.is_of, texts)) / max(1, len(texts))


def _days(year: float, month: float, day: float, hour: float, minute: float,
          second: float) -> float:
    whole = (datetime.date(int(year), int(month), int(day)) - _EPOCH).days
    return whole + (hour * 3600 + minute * 60 + second) / 86400
