"""Instances to predict, read as JSON objects of feature name -> value, and batched.

The objects are lines of a file or of standard input, or dicts of a program. A batch does not wait
to be full, so that answers come while lines still come.
"""

import base64
import binascii
import collections
import json
import math
import os
import queue
import reprlib
import sys
import threading
from typing import Any, Callable, Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.estimator import serving_input

# The name of a feature without one.
UNNAMED = "feature"
_BATCH = 64
# How long a batch that is not full waits for the next line.
_MORE_SECS = 0.02
_READ_BYTES = 1 << 16
_END = object()


class JsonInstances:
    """Instances of described features; `fed` are the placeholders by name, once they are made."""

    def __init__(self, instances: Iterable[Any], features: Any, place: str = "instance",
                 beside: Collection[str] = (), has_missing: bool = False,
                 problem_of: Callable[[Mapping[str, np.ndarray]], str] | None = None):
        """Reads nothing yet; raises ConfigError if a feature cannot come as JSON.

        Args:
          instances: Lines of JSON, or dicts.
          features: Spec of each feature by name, or one spec, with the batch dimension first.
          place: The word before an instance's number in messages, such as "line".
          beside: Names that an instance may have too, such as the label's; they are passed over.
          has_missing: Whether a text may be null, and is then empty, as in a table.
          problem_of: Returns what is wrong with the values of an instance, or ""; None: nothing is.
        """
        self._instances, self._features, self._place = instances, features, place
        self._beside, self._has_missing = frozenset(beside), has_missing
        self._problem_of = problem_of
        self._key, self._is_key_demanded = "", False
        self._kept: collections.deque[Any] = collections.deque()
        self._specs = features if isinstance(features, dict) else {UNNAMED: features}
        self.fed: dict[str, Any] = {}
        for name, spec in self._specs.items():
            check(name, spec)

    def batches(self) -> Iterator[dict[str, Any]]:
        """Yields the features of each batch by name: numpy, sparse or ragged values.

        Raises ConfigError at the first instance that cannot be used, after the ones before it.
        """
        for rows in self._groups():
            yield {name: batch([row[name] for row in rows], spec)
                   for name, spec in self._specs.items()}

    def keep(self, key: str, is_demanded: bool) -> None:
        """Keeps the values of an entry that is no feature, from the first instance on.

        An instance without it is an error if it `is_demanded`, and otherwise has None.
        """
        self._key, self._is_key_demanded = key, is_demanded
        self._beside |= {key}

    def keys(self) -> Iterator[Any]:
        """Yields the key of each instance as it came; to be read after the instance's answer."""
        while self._kept:
            yield self._kept.popleft()

    def input_fn(self, *args: Any, **kwargs: Any) -> Any:
        """Adds placeholders that a batch feeds to the default graph; returns the features."""
        del args, kwargs
        # Without a dataset or a queue runner the Estimator warns that the input never ends.
        tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS, _NoRunner())
        self.fed = serving_input.raw_tensors(dict(self._specs))[0]
        return self.fed if isinstance(self._features, dict) else self.fed[UNNAMED]

    def _groups(self) -> Iterator[list[dict[str, np.ndarray]]]:
        """Yields rows of the same shapes, as many as have come, up to _BATCH."""
        waiting: queue.Queue[Any] = queue.Queue(_BATCH)
        threading.Thread(target=_fill, args=(waiting, self._rows), daemon=True).start()
        rows: list[dict[str, np.ndarray]] = []
        while True:
            if len(rows) == _BATCH:
                yield rows
                rows = []
            try:
                row = waiting.get(timeout=_MORE_SECS if rows else None)
            except queue.Empty:
                yield rows
                rows = []
                continue
            if rows and (row is _END or isinstance(row, Exception) or any(
                    rows[0][name].shape != row[name].shape for name, spec in self._specs.items()
                    if isinstance(spec, tf.TensorSpec))):
                yield rows
                rows = []
            if isinstance(row, Exception):
                raise row
            if row is _END:
                return
            rows.append(row)

    def _rows(self) -> Iterator[dict[str, np.ndarray]]:
        for number, instance in enumerate(self._instances, 1):
            if isinstance(instance, (str, bytes)):
                if not instance.strip():
                    continue
                instance = self._parsed(instance, number)
            yield self._row(instance, number)

    def _parsed(self, line: str | bytes, number: int) -> Any:
        try:
            return json.loads(line, parse_float=_finite, object_pairs_hook=_without_duplicates)
        except (ValueError, RecursionError) as error:
            why = error if isinstance(error, ValueError) else "too many brackets in each other"
            raise self._error(number, f"is not JSON: {why}; expected an object of feature name"
                              " -> value") from error

    def _row(self, instance: Any, number: int) -> dict[str, np.ndarray]:
        names = ", ".join(sorted(self._specs))
        if not isinstance(instance, Mapping):
            raise self._error(number, f"is a {type(instance).__name__}; expected an object with"
                              f" {names}")
        unknown = sorted(set(instance) - set(self._specs) - self._beside)
        if unknown:
            raise self._error(number, f"has {shown(unknown[0])}, which is no feature;"
                              f" expected {names}."
                              f"{errors.near_match(unknown[0], self._specs)}".rstrip("."))
        missing = [name for name in self._specs if name not in instance]
        if missing:
            raise self._error(number, f"lacks the feature {missing[0]!r}; expected {names}")
        row = {}
        for name, spec in self._specs.items():
            try:
                value = instance[name]
                is_empty = value is None and self._has_missing and spec.dtype == tf.string
                row[name] = array("" if is_empty else value, spec)
            except ValueError as error:
                raise self._error(number, f"has a wrong value for {name!r}: {error}") from error
        if self._problem_of and (problem := self._problem_of(row)):
            raise self._error(number, problem)
        if self._key:
            if self._is_key_demanded and self._key not in instance:
                raise self._error(
                    number, f"lacks {self._key!r}, which {errors.Setting('forward_key')} names")
            self._kept.append(instance.get(self._key))
        return row

    def _error(self, number: int, what: str) -> errors.ConfigError:
        end = "" if what.endswith("?") else "."
        return errors.ConfigError(f"{self._place} {number} of the data to predict {what}{end}")


def _finite(text: str) -> float:
    """Returns a number of JSON; raises ValueError for one that float64 cannot hold."""
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:20]} is too large a number")
    return number


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object of JSON; raises ValueError for a duplicate name, which Python accepts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ValueError(f"{shown(twice)} is twice in one object")
    return found


def lines(path: str) -> Iterator[str | bytes]:
    """Yields the lines of a file of any file system, or, for "-", of standard input."""
    if path == "-":
        yield from _standard_input()
        return
    try:
        with tf.io.gfile.GFile(path, "rb") as file:
            yield from file
    except tf.errors.OpError as error:
        raise errors.ConfigError(
            errors.Problem("data", path, f"which cannot be read: {errors.first_line(error)}",
                           "a file of JSON lines", errors.Setting("data", "new.jsonl"))) from error


def _standard_input() -> Iterator[bytes]:
    """Yields each line as soon as it has come.

    A thread that waits in sys.stdin would hold a lock that Python needs to exit.
    """
    rest = b""
    while more := os.read(sys.stdin.fileno(), _READ_BYTES):
        *whole, rest = (rest + more).split(b"\n")
        yield from whole
    if rest:
        yield rest


def _fill(waiting: queue.Queue[Any], rows: Callable[[], Iterator[Any]]) -> None:
    try:
        for row in rows():
            waiting.put(row)
        waiting.put(_END)
    except Exception as error:  # pylint: disable=broad-except
        waiting.put(error)


class _NoRunner:
    """A queue runner without queues."""

    def create_threads(self, *args: Any, **kwargs: Any) -> list[threading.Thread]:
        """Returns an empty list."""
        del args, kwargs
        return []


class Feeding(tf.estimator.SessionRunHook):
    """Feeds the placeholders of instances, batch by batch, and ends the session with the last.

    No thread of TensorFlow waits for an instance, so a process can end while lines still come.
    """

    def __init__(self, instances: JsonInstances):
        self._instances, self._batches = instances, instances.batches()

    def before_run(self, run_context: Any) -> tf.estimator.SessionRunArgs:
        batch = next(self._batches, None)
        if batch is None:
            raise tf.errors.OutOfRangeError(None, None, "the last instance")
        return tf.estimator.SessionRunArgs(None, feed_dict={
            tensor: batch[name] for name, tensor in self._instances.fed.items()})


_KINDS = {"i": "a whole number", "u": "a whole number", "f": "a number", "b": "true or false",
          "O": 'text, or bytes as {"b64": "..."}'}
_SHOWN_CHARS = 60
# The kinds of NumPy's arrays that are accepted for each kind of a spec.
_TAKEN = {"i": "iu", "u": "iu", "f": "iuf", "b": "b"}


def check(name: str, spec: Any) -> None:
    """Raises ConfigError if no JSON can be a value of the feature."""
    rank = spec.shape.rank
    is_list = isinstance(spec, (tf.SparseTensorSpec, tf.RaggedTensorSpec))
    if is_list and rank != 2 or not (is_list or isinstance(spec, tf.TensorSpec)):
        raise errors.ConfigError(
            f"feature {name!r} is {spec}, which JSON lines (from {errors.Setting('data')}) cannot"
            " give; expected dense features, or lists. For example:"
            f" {errors.Setting('data', 'new.csv')}, for an input_fn that reads it")


def array(value: Any, spec: Any) -> np.ndarray:
    """Returns one instance's value of a feature: numbers, text, {"b64": text}, or lists of these.

    Raises ValueError with the expected and the actual value.
    """
    dtype = spec.dtype.as_numpy_dtype
    kind = np.dtype(dtype).kind if spec.dtype != tf.bfloat16 else "f"
    shape = tf.TensorShape([None]) if not isinstance(spec, tf.TensorSpec) else spec.shape[1:]
    expected = _KINDS.get(kind, spec.dtype.name) + (
        "" if shape.rank == 0 else ", or lists of such" if shape.rank is None else
        f" for each entry of a list of shape {_shape_text(shape)}")
    try:
        got = _bytes_array(value) if kind == "O" else _number_array(value, kind, dtype)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"expected {expected}, got {shown(value)}") from error
    if not shape.is_compatible_with(got.shape):
        what = f"shape {list(got.shape)}" if got.ndim else shown(value)
        raise ValueError(f"expected {expected}, got {what}")
    return got


def batch(arrays: Sequence[np.ndarray], spec: Any) -> Any:
    """Returns the values of a batch: an array, or the value of a sparse or ragged tensor."""
    if isinstance(spec, tf.TensorSpec):
        return np.stack(arrays)
    values = np.concatenate(arrays)
    lengths = [len(each) for each in arrays]
    if isinstance(spec, tf.RaggedTensorSpec):
        splits = np.concatenate([[0], np.cumsum(lengths)])
        return tf.compat.v1.ragged.RaggedTensorValue(
            values, splits.astype(spec.row_splits_dtype.as_numpy_dtype))
    places = [(row, place) for row, length in enumerate(lengths) for place in range(length)]
    return tf.compat.v1.SparseTensorValue(
        np.array(places, np.int64).reshape(-1, 2), values,
        np.array([len(arrays), max(lengths)], np.int64))


def shown(value: Any) -> str:
    """Returns the text of a value for a message, cut and without deeply nested parts."""
    try:
        text = repr(value)
    except RecursionError:
        text = reprlib.repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS - 3]}..."


def _number_array(value: Any, kind: str, dtype: Any) -> np.ndarray:
    if value is None and dtype == np.float64:
        # A missing number, of a table whose columns the model prepares itself.
        return np.asarray(np.nan, dtype)
    got = np.asarray(value)
    if not got.size and got.ndim:
        return got.astype(dtype)
    if got.dtype.kind not in _TAKEN.get(kind, ""):
        raise ValueError
    # NumPy turns a true among numbers into 1.
    if kind != "b" and isinstance(value, list) and bool in set(map(type, np.ravel(
            np.asarray(value, object)))):
        raise ValueError
    if kind in "iu" and (got.min() < np.iinfo(dtype).min or got.max() > np.iinfo(dtype).max):
        raise OverflowError
    with np.errstate(over="ignore"):
        cast = got.astype(dtype)
    if kind == "f" and not np.isfinite(cast.astype(np.float64)).all():
        raise OverflowError
    return cast


def _bytes_array(value: Any) -> np.ndarray:
    # Lists of different lengths stay lists in the array.
    got = np.array(_bytes(value), object)
    if any(isinstance(each, list) for each in got.flat):
        raise ValueError
    return got


def _bytes(value: Any) -> Any:
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_bytes(item) for item in value]
    if isinstance(value, dict) and set(value) == {"b64"}:
        try:
            return base64.b64decode(value["b64"], validate=True)
        except binascii.Error as error:
            raise ValueError from error
    if isinstance(value, (bytes, str)):
        return tf.compat.as_bytes(value)
    raise ValueError


def _shape_text(shape: tf.TensorShape) -> str:
    return f"[{', '.join('any' if length is None else str(length) for length in shape)}]"
