"""Instances to predict that come as JSON objects: feature name -> value, in batches, as they come.

The objects are lines of a file or of standard input, or dicts of a program. A batch takes what is
there, so that the answers come while lines still come.
"""

from __future__ import annotations

import json
import math
import os
import queue
import sys
import threading
from typing import Any, Callable, Iterable, Iterator, Mapping

import numpy as np
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.estimator import serving_input
from estimator_trainer.prediction import json_values

Specs = Mapping[str, Any]
# The name of features that have none.
UNNAMED = "feature"
_BATCH = 64
# So long a batch that is not full waits for the next line.
_MORE_SECS = 0.02
_READ_BYTES = 1 << 16
_END = object()


class JsonInstances:
    """Instances of the features that `specs` describes.

    Attributes:
      fed: The placeholders by name, once they are made.
    """

    def __init__(self, instances: Iterable[Any], features: Any, place: str = "instance"):
        """Begins no reading.

        Args:
          instances: Lines of JSON, or dicts.
          features: Spec of each feature by name, or one spec, with the batch dimension first.
          place: The word before an instance's number in messages, such as "line".

        Raises:
          ConfigError: if a feature cannot come as JSON.
        """
        self._instances, self._features, self._place = instances, features, place
        self._specs = features if isinstance(features, dict) else {UNNAMED: features}
        self.fed: dict[str, Any] = {}
        for name, spec in self._specs.items():
            json_values.check(name, spec)

    def batches(self) -> Iterator[dict[str, Any]]:
        """Yields the features of each batch by name: numpy, sparse or ragged values.

        Raises:
          ConfigError: at the first instance that cannot be used, after those before it.
        """
        for rows in self._groups():
            yield {name: json_values.batch([row[name] for row in rows], spec)
                   for name, spec in self._specs.items()}

    def placeholders(self) -> Any:
        """Returns the features as placeholders, which a batch feeds, in the default graph."""
        # Without a dataset or a runner of queues the Estimator warns that this never ends.
        tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS, _NoRunner())
        self.fed = serving_input.raw_tensors(dict(self._specs))[0]
        return self.fed if isinstance(self._features, dict) else self.fed[UNNAMED]

    def _groups(self) -> Iterator[list[dict[str, np.ndarray]]]:
        """Yields rows of the same shapes, as many as are there, up to _BATCH."""
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
            if rows and (row is _END or isinstance(row, Exception) or not self._same(rows[0], row)):
                yield rows
                rows = []
            if isinstance(row, Exception):
                raise row
            if row is _END:
                return
            rows.append(row)

    def _same(self, first: Mapping[str, np.ndarray], row: Mapping[str, np.ndarray]) -> bool:
        return all(first[name].shape == row[name].shape for name, spec in self._specs.items()
                   if isinstance(spec, tf.TensorSpec))

    def _rows(self) -> Iterator[dict[str, np.ndarray]]:
        for number, instance in enumerate(self._instances, 1):
            if isinstance(instance, (str, bytes)):
                if not instance.strip():
                    continue
                instance = self._parsed(instance, number)
            yield self._row(instance, number)

    def _parsed(self, line: str | bytes, number: int) -> Any:
        try:
            return json.loads(line, parse_float=_finite, object_pairs_hook=_without_twins)
        except (ValueError, RecursionError) as error:
            why = error if isinstance(error, ValueError) else "too many brackets in each other"
            raise self._wrong(number, f"is not JSON: {why}; expected an object of feature name"
                              " -> value") from error

    def _row(self, instance: Any, number: int) -> dict[str, np.ndarray]:
        names = ", ".join(sorted(self._specs))
        if not isinstance(instance, Mapping):
            raise self._wrong(number, f"is a {type(instance).__name__}; expected an object with"
                              f" {names}")
        unknown = sorted(set(instance) - set(self._specs))
        if unknown:
            raise self._wrong(number, f"has {json_values.shown(unknown[0])}, which is no feature;"
                              f" expected {names}."
                              f"{errors.near_match(unknown[0], self._specs)}".rstrip("."))
        missing = [name for name in self._specs if name not in instance]
        if missing:
            raise self._wrong(number, f"lacks the feature {missing[0]!r}; expected {names}")
        row = {}
        for name, spec in self._specs.items():
            try:
                row[name] = json_values.array(instance[name], spec)
            except ValueError as error:
                raise self._wrong(number, f"has a wrong value for {name!r}: {error}") from error
        return row

    def _wrong(self, number: int, what: str) -> errors.ConfigError:
        end = "" if what.endswith("?") else "."
        return errors.ConfigError(f"{self._place} {number} of the data to predict {what}{end}")


def _finite(text: str) -> float:
    """Returns a number of JSON; one that is too large for float64 would become infinite."""
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:20]} is too large a number")
    return number


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object of JSON; of two values of one name Python would drop the first."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ValueError(f"{json_values.shown(twice)} is twice in one object")
    return found


def lines(path: str) -> Iterator[str | bytes]:
    """Yields the lines of a file of any file system, or, for "-", of standard input.

    Raises:
      ConfigError: if the file cannot be read.
    """
    if path == "-":
        yield from _standard_input()
        return
    try:
        with tf.io.gfile.GFile(path, "rb") as file:
            yield from file
    except tf.errors.OpError as error:
        raise errors.ConfigError(
            f"data is {path!r} (from --data), which cannot be read: {errors.first_line(error)};"
            " expected a file of JSON lines. For example: --data=new.jsonl") from error


def _standard_input() -> Iterator[bytes]:
    """Yields each line when it is there.

    A thread that waits in sys.stdin would hold its lock, without which Python cannot end.
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
    """A runner of queues that has none to run."""

    def create_threads(self, *args: Any, **kwargs: Any) -> list[threading.Thread]:
        """Returns no thread."""
        del args, kwargs
        return []


class Feeding(tf.estimator.SessionRunHook):
    """Feeds the placeholders of instances, batch by batch, and ends the session with the last.

    No thread of TensorFlow waits for an instance, so a process can end while lines still come.
    """

    def __init__(self, instances: JsonInstances):
        """Makes the hook; `instances.placeholders` is called in the graph."""
        self._instances, self._batches = instances, instances.batches()

    def before_run(self, run_context: Any) -> tf.estimator.SessionRunArgs:
        batch = next(self._batches, None)
        if batch is None:
            raise tf.errors.OutOfRangeError(None, None, "the last instance")
        return tf.estimator.SessionRunArgs(None, feed_dict={
            tensor: batch[name] for name, tensor in self._instances.fed.items()})
