"""Prepares a table's columns for a network, in the graph, so that exports take them as they come.

`table_columns` says what each column is; `input_fns/reading/column_kinds.py` has its entries. A
number becomes:

  - the number, standardised and at most 10 deviations from the mean; the mean where it is missing;
  - its place among the knots: for each two neighbours 0 below, 1 above, and a part between them
    (piecewise linear encoding, Gorishniy et al., arXiv:2203.05556);
  - 1 where it is missing, if that happened in the training data.

A date is such a number, in days, with a 1 for its month, weekday and hour. A category is a 1 among
its values, or an embedding if there are many. An unknown value is a category of its own.
"""

from __future__ import annotations

import re
from typing import Any, Mapping, NamedTuple

import tensorflow as tf

from model_fns.training.errors import ParamError

DEFAULT_PARAMS = {
    "prepare_columns": True,  # whether a table's columns are prepared as the data say
    "table_columns": {},  # what each column of a table is; {}: from the data
}
# More values than these are embedded.
_MOST_ONE_HOT = 64
_FARTHEST = 10.0
_PARTS = {"month": 12, "weekday": 7, "hour": 24}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Times as Arrow writes them.
_ISO_DATE = r"(\d{4})-(\d{1,2})-(\d{1,2})"
_ISO_TIME = r"(?:[T ](\d{2}):(\d{2}):(\d{2}(?:\.\d+)?)(?:Z|[+-]\d{2}:?\d{2})?)?"
_IN_ORDER = r"\1,\2,\3,\4,\5,\6"
_NUMBERS = "numbers"
_KINDS = ("category", "date", "number", "text")


class Prepared(NamedTuple):
    """The columns of a batch, prepared.

    Attributes:
      numbers: float32 [batch, numbers].
      categories: int64 [batch] by a name that variables can have, with the number of categories.
    """

    numbers: tf.Tensor
    categories: dict[str, tuple[tf.Tensor, int]]

    def features(self) -> dict[str, tf.Tensor]:
        """Returns all features, which `number_column` and `category_columns` are of."""
        return {_NUMBERS: self.numbers, **self.ids()}

    def number_column(self) -> Any:
        """Returns the feature column of the numbers."""
        return tf.feature_column.numeric_column(_NUMBERS, self.numbers.shape.as_list()[1:])

    def ids(self) -> dict[str, tf.Tensor]:
        """Returns the features of the categories."""
        return {name: ids for name, (ids, _) in self.categories.items()}

    def category_columns(self) -> list[Any]:
        """Returns the feature columns of the categories."""
        return [tf.feature_column.categorical_column_with_identity(name, size)
                for name, (_, size) in self.categories.items()]


def is_prepared(params: Mapping[str, Any]) -> bool:
    """Returns whether the features are a table's columns as they come.

    Args:
      params: See DEFAULT_PARAMS; a model that does not have them prepares no columns.
    """
    return bool(params.get("prepare_columns") and params.get("table_columns"))


def prepared(features: Mapping[str, tf.Tensor], columns: Mapping[str, Mapping[str, Any]],
             hash_buckets: int, bucket_sizes: Mapping[str, int] | None = None) -> Prepared:
    """Returns a batch's columns as a network takes them.

    Args:
      features: By name, numbers [batch] of any type, NaN where missing, and strings [batch].
      columns: The param `table_columns`; columns that it does not have are not used.
      hash_buckets: Categories of a text whose values are not listed.
      bucket_sizes: Other numbers of hash buckets, by column of texts, listed or not.

    Raises:
      ParamError: A column is not there, or its entry is of an unknown kind.
    """
    _check(features, columns)
    hashed = {name: size for name, size in (bucket_sizes or {}).items()
              if columns[name]["kind"] in ("category", "text")}
    numbers: list[tf.Tensor] = []
    categories: dict[str, tuple[tf.Tensor, int]] = {}
    scaled = {name: (_days(features[name], entry) if entry["kind"] == "date" else
                     tf.cast(features[name], tf.float64), entry)
              for name, entry in columns.items() if entry["kind"] in ("number", "date")}
    if scaled:
        numbers.append(_scaled([tf.reshape(value, [-1]) for value, _ in scaled.values()],
                               [entry for _, entry in scaled.values()]))
    for name, entry in columns.items():
        if entry["kind"] == "date":
            numbers += _parts(scaled[name][0], entry)
        elif entry["kind"] != "number":
            ids, size = _ids(features[name], {"kind": "text"} if name in hashed else entry,
                             hashed.get(name, hash_buckets))
            if size <= _MOST_ONE_HOT:
                numbers.append(tf.one_hot(ids, size))
            else:
                categories[_variable_name(name, categories)] = ids, size
    if not numbers:
        some = next(iter(categories.values()))[0]
        numbers = [tf.zeros([tf.shape(some)[0], 1])]
    return Prepared(tf.concat(numbers, axis=1), categories)


def _check(features: Mapping[str, tf.Tensor], columns: Mapping[str, Mapping[str, Any]]) -> None:
    missing = sorted(set(columns) - set(features))
    if missing:
        raise ParamError(f"table_columns has {', '.join(missing)}, and the features are"
                         f" {', '.join(sorted(features))}; expected columns that are features.")
    for name, entry in columns.items():
        if entry.get("kind") not in _KINDS:
            raise ParamError(f"table_columns has the kind {entry.get('kind')!r} for {name!r};"
                             f" expected one of {', '.join(_KINDS)}.")


def _scaled(values: list[tf.Tensor], entries: list[Mapping[str, Any]]) -> tf.Tensor:
    """Returns the numbers of all columns, float32 [batch, numbers]."""
    stacked = tf.stack(values, axis=1)
    is_missing = tf.math.is_nan(stacked)
    means = tf.constant([entry["mean"] for entry in entries], tf.float64)
    deviations = tf.constant([entry["deviation"] for entry in entries], tf.float64)
    filled = tf.where(is_missing, tf.zeros_like(stacked) + means, stacked)
    found = [tf.clip_by_value((filled - means) / deviations, -_FARTHEST, _FARTHEST)]
    between = [(i, low, high) for i, entry in enumerate(entries)
               for low, high in zip(entry["knots"], entry["knots"][1:])]
    if between:
        places, low, high = zip(*between)
        start = tf.constant(low, tf.float64)
        part = (tf.gather(filled, tf.constant(places), axis=1) - start) / (
            tf.constant(high, tf.float64) - start)
        found.append(tf.clip_by_value(part, 0.0, 1.0))
    flags = [i for i, entry in enumerate(entries) if entry["missing"]]
    if flags:
        found.append(tf.cast(tf.gather(is_missing, tf.constant(flags), axis=1), tf.float64))
    return tf.cast(tf.concat(found, axis=1), tf.float32)


def _ids(values: tf.Tensor, entry: Mapping[str, Any],
         hash_buckets: int) -> tuple[tf.Tensor, int]:
    """Returns the numbers of categories, int64 [batch], and how many there are."""
    values = tf.reshape(values, [-1])
    if entry["kind"] == "text":
        return tf.strings.to_hash_bucket_fast(as_text(values), hash_buckets), hash_buckets
    known = tf.constant(entry["values"], tf.string)
    size = len(entry["values"])
    # Hashes are compared, in place of a lookup table, which an export would have to initialise.
    hashes, of_known = _hash(as_text(values)), _hash(known)
    order = tf.argsort(of_known)
    place = tf.minimum(tf.searchsorted(tf.gather(of_known, order), hashes), size - 1)
    found = tf.gather(order, place)
    is_known = tf.equal(tf.gather(of_known, found), hashes)
    return tf.cast(tf.where(is_known, found, tf.fill(tf.shape(found), size)), tf.int64), size + 1


def _hash(texts: tf.Tensor) -> tf.Tensor:
    return tf.strings.to_hash_bucket_fast(texts, 2**62)


def as_text(values: tf.Tensor) -> tf.Tensor:
    """Returns numbers as the texts of a CSV file: 3, not 3.0."""
    if values.dtype == tf.string:
        return values
    number = tf.cast(values, tf.float64)
    is_whole = tf.equal(number, tf.round(number))
    whole = tf.strings.as_string(tf.cast(tf.where(is_whole, number, tf.zeros_like(number)),
                                         tf.int64))
    other = tf.where(tf.math.is_nan(number), tf.fill(tf.shape(number), ""),
                     tf.strings.as_string(number, shortest=True))
    return tf.where(is_whole, whole, other)


def _days(values: tf.Tensor, entry: Mapping[str, Any]) -> tf.Tensor:
    """Returns the days since 1970, float64 [batch]; NaN where the text is no date."""
    if "per_day" in entry:
        return tf.cast(tf.reshape(values, [-1]), tf.float64) / entry["per_day"]
    stored = texts = as_text(tf.reshape(values, [-1]))
    if entry.get("has_words"):
        texts = tf.strings.lower(texts)
        for number, month in enumerate(_MONTHS, 1):
            texts = tf.strings.regex_replace(texts, rf"\b{month}[a-z]*\.?", f"@{number}")
    days = _days_in(texts, entry["pattern"], entry["rewrite"])
    if values.dtype != tf.string or entry["pattern"].startswith(_ISO_DATE):
        return days
    # The times of a DataFrame, or of a file with types, have this form.
    return tf.where(tf.math.is_nan(days), _days_in(stored, _ISO_DATE + _ISO_TIME, _IN_ORDER), days)


def _days_in(texts: tf.Tensor, pattern: str, rewrite: str) -> tf.Tensor:
    """Returns the days since 1970, float64 [batch]; NaN where the text has not the pattern."""
    is_date = tf.strings.regex_full_match(texts, pattern)
    fields = tf.strings.regex_replace(texts, f"^{pattern}$", rewrite)
    has_half = rewrite.count(",") == 6
    fields = tf.where(is_date, fields, tf.fill(tf.shape(fields), "1970,1,1,0,0,0" + "," * has_half))
    zero = tf.constant([0.0], tf.float64)
    year, month, day, hour, minute, second, *half = tf.io.decode_csv(
        fields, [zero] * 6 + [tf.constant([""])] * has_half)
    if has_half:
        is_half = tf.not_equal(half[0], "")
        of_day = tf.math.floormod(hour, 12.0) + 12 * tf.cast(tf.equal(half[0], "p"), tf.float64)
        hour = tf.where(is_half, of_day, hour)
    # A year of two digits is one from 1969 to 2068, as in `input_fns/reading/dates.py`.
    year += tf.where(year < 69, 2000 * tf.ones_like(year), tf.where(
        year < 100, 1900 * tf.ones_like(year), tf.zeros_like(year)))
    days = _days_of(*(tf.cast(each, tf.int64) for each in (year, month, day)))
    whole = tf.cast(days, tf.float64) + (hour * 3600 + minute * 60 + second) / 86400
    return tf.where(is_date, whole, tf.fill(tf.shape(whole), tf.constant(float("nan"), tf.float64)))


def _days_of(year: tf.Tensor, month: tf.Tensor, day: tf.Tensor) -> tf.Tensor:
    """Returns the days since 1970 of dates in the Gregorian calendar, int64 [batch].

    Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
    """
    year = tf.where(month <= 2, year - 1, year)
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + tf.where(month > 2, -3 * tf.ones_like(month),
                                       9 * tf.ones_like(month))) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def _parts(days: tf.Tensor, entry: Mapping[str, Any]) -> list[tf.Tensor]:
    """Returns a 1 for month, weekday and hour: float32 [batch, 12], [batch, 7], [batch, 24]."""
    is_missing = tf.math.is_nan(days)
    known = tf.where(is_missing, tf.zeros_like(days), days)
    whole = tf.cast(tf.floor(known), tf.int64)
    of_part = {"month": _month(whole), "weekday": (whole + 3) % 7,
               "hour": tf.cast(tf.floor((known - tf.floor(known)) * 24 + 1e-6), tf.int64)}
    return [tf.one_hot(tf.where(is_missing, -tf.ones_like(whole), of_part[part]), _PARTS[part])
            for part in entry["parts"]]


def _month(days: tf.Tensor) -> tf.Tensor:
    """Returns the months, 0 to 11, of days since 1970: civil_from_days of the same source."""
    shifted = days + 719468
    of_era = shifted - shifted // 146097 * 146097
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    return (month + 2) % 12


def _variable_name(name: str, others: Mapping[str, Any]) -> str:
    """Returns a name for a column's variables, which take no spaces and no letters beyond ASCII."""
    made = "category_" + (re.sub(r"[^A-Za-z0-9_.]", "_", name).lstrip("_.") or "column")
    while made in others:
        made += "_"
    return made
