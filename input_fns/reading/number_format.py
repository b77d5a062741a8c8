"""Reads numbers as people write them: `1,891`, `$ 12`, `3 %`, `1.234,5`, `1 234`, `12 kg`, `(12)`.

A column of which at least 9 of 10 values are such numbers, all in one format and unit, is a column
of numbers. A value that fits two formats counts for both, and the first of them wins: `1,891` is
1891, and `1.234` is no thousands.
"""

from __future__ import annotations

import functools
import re
from typing import Iterable, Optional, Sequence

from absl import logging

from input_fns.reading import advice

# A format's name is a number that is written in it.
ENGLISH, GERMAN, SPACED = "1,234.5", "1.234,5", "1 234.5"
FORMATS = (ENGLISH, GERMAN, SPACED)

_NUMBERS_OF_TEN = 9
# A sample of this size shows that a column has other texts.
_SAMPLE = 200
# The plain blank, and those at which no line breaks.
_BLANKS = " \u00a0\u2007\u2009\u202f"
_APOSTROPHES = "'\u2019"
_CURRENCY = (r"[$\u20ac\u00a3\u00a5\u20b9\u20bd\u20a9\u20ba]"
             r"|(?:USD|EUR|GBP|JPY|CHF|CNY|INR|CAD|AUD)\b")
_UNIT = rf"[%\u2030]|{_CURRENCY}|[\u00b0\u00b5]?[A-Za-z][A-Za-z/\u00b2\u00b3]{{0,7}}"
_WRITTEN = re.compile(
    rf"\s*(?P<sign>[-+\u2212]?)\s*(?P<before>{_CURRENCY}|)[{_BLANKS}]*(?P<inner>[-+\u2212]?)"
    rf"(?P<digits>\d[\d.,{_BLANKS}{_APOSTROPHES}]*|[.,]\d+)(?P<exponent>[eE][-+]?\d+|)"
    rf"(?P<after>{_UNIT}|)\s*")
_DIGITS = {name: re.compile(pattern) for name, pattern in {
    ENGLISH: r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+",
    GERMAN: r"[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?|\d+(?:,\d*)?|,\d+",
    SPACED: rf"[1-9]\d{{0,2}}(?:[{_BLANKS}{_APOSTROPHES}]\d{{3}})+(?:[.,]\d*)?|\d+(?:[.,]\d*)?"
            r"|[.,]\d+",
}.items()}
# The characters between the groups of three digits.
GROUPS = {ENGLISH: ",", GERMAN: ".", SPACED: _BLANKS + _APOSTROPHES}


def _match(text: str) -> Optional[re.Match[str]]:
    return _WRITTEN.fullmatch(text[1:-1] if text.startswith("(") and text.endswith(")") else text)


def pattern(name: str) -> str:
    """Returns the regular expression of a format's numbers without brackets, for TensorFlow.

    Its groups are the sign, the sign behind a currency, the digits, and the exponent.
    """
    written = (rf"^\s*([-+\u2212]?)\s*(?:{_CURRENCY}|)[{_BLANKS}]*([-+\u2212]?)"
               rf"({_DIGITS[name].pattern})[{_BLANKS}]*([eE][-+]?\d+|)(?:{_UNIT}|)\s*$")
    # TensorFlow's expressions have the characters themselves.
    return re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), written)


@functools.lru_cache(maxsize=1 << 14)
def plain(text: str, name: str) -> str:
    """Returns a number as programs write it; the text itself if it is no number of the format."""
    written = _match(text)
    if not written:
        return text
    digits = written["digits"].rstrip(_BLANKS)
    if not _DIGITS[name].fullmatch(digits):
        return text
    for sign in GROUPS[name]:
        digits = digits.replace(sign, "")
    # Accountants write a negative number in brackets.
    is_negative = bool({"-", "\u2212"} & {written["sign"], written["inner"]}) or text[0] == "("
    return f"{'-' * is_negative}{digits.replace(',', '.')}{written['exponent']}"


def found(name: str, values: Sequence[str]) -> str:
    """Returns the format of a column's values, and logs it; "" if they are plain, or no numbers.

    Args:
      name: The column.
      values: Its texts that are not empty, not all of which are plain numbers.
    """
    if not _are_mostly_written(values[:_SAMPLE]):
        return ""
    different = list(dict.fromkeys(values))
    if not _are_mostly_written(different):
        return ""
    counts = {each: sum(_is_of(value, each) for value in different) for each in FORMATS}
    best = max(FORMATS, key=lambda each: counts[each])
    example = next((value for value in different if plain(value, best) != value), "")
    if not example:
        return ""  # Beside plain numbers are texts, such as NA.
    if 10 * counts[best] < _NUMBERS_OF_TEN * len(different) or len(_units(different, best)) > 1:
        odd = next((value for value in different if not _is_of(value, best)), different[-1])
        logging.warning("column %r is text: its values look like numbers, but not of one format and"
                        " unit: %r, %r. To use them as numbers, write them alike", name, example,
                        odd)
        return ""
    others = [each for each in FORMATS if each != best and counts[each] == counts[best]
              and plain(example, each) not in (example, plain(example, best))]
    logging.info("column %r has numbers in the format %s: %r is %s%s", name, best, example,
                 plain(example, best), "" if not others else
                 f". If it is {plain(example, others[0])}: "
                 + advice.typed("number_formats", {name: others[0]}))
    return best


def _are_mostly_written(values: Sequence[str]) -> bool:
    """Returns whether most values look like numbers of any format."""
    # A date, such as 2.5.2014, is of none.
    count = sum(map(is_written, values))
    return 10 * count >= _NUMBERS_OF_TEN * len(values) > 0


def is_written(text: str) -> bool:
    """Returns whether a text is a number of any format."""
    return any(_is_of(text, each) for each in FORMATS)


def _is_of(value: str, name: str) -> bool:
    written = _match(value)
    return bool(written and _DIGITS[name].fullmatch(written["digits"].rstrip(_BLANKS)))


def _units(values: Iterable[str], name: str) -> set[str]:
    """Returns what stands around the numbers of a format, unless it is nothing."""
    matches: Iterable[Optional[re.Match[str]]] = (
        _match(value) for value in values if _is_of(value, name))
    return {(each["before"] + each["after"]).lower() for each in matches if each} - {""}
