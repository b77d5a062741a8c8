"""Finds the record of a file that makes a pipeline fail.

TensorFlow's error names no file and no record. After a failure the files are read again with
the pipeline's own function, first in batches, then record by record where a batch fails.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Iterator, NamedTuple, Optional

import tensorflow as tf

# UnicodeDecodeError: TensorFlow's message quotes a record that is not text.
ERRORS = (tf.errors.OpError, UnicodeDecodeError)

_BATCH = 1000
# TensorFlow puts this around the sentence that names the problem.
_AROUND = (r"Detected at node.*?Node: '[^']*'|\{\{.*?\}\}\s*|\[\[.*|Graph execution error:"
           r"|Error in user.*?Iterator::\S+:")


class Failure(NamedTuple):
    """A record that cannot be used.

    Attributes:
      number: Number of the record in its file, from 1.
      record: The stored bytes, or None if they cannot be read.
      message: TensorFlow's message, in one line.
    """

    number: int
    record: Optional[bytes]
    message: str


def first_failure(
    records: Callable[[], tf.data.Dataset],
    parse: Callable[[tf.Tensor], Any],
) -> tuple[int, Optional[Failure]]:
    """Returns the number of good records, and the first bad one, or None if all are good.

    Args:
      records: A function that returns the stored records, string scalars in an order that never
        changes.
      parse: The pipeline's own function that parses a batch of records.
    """
    good, message = _count(lambda: records().batch(_BATCH), parse)
    if message is None:
        return good, None
    more, message = _count(lambda: records().skip(good).batch(1), parse)
    good += more
    try:
        record = next(elements(lambda: records().skip(good).take(1)), None)
    except ERRORS:
        record = None
    return good, Failure(good + 1, record, message or "it cannot be read")


def elements(make_dataset: Callable[[], tf.data.Dataset]) -> Iterator[Any]:
    """Yields the elements as numpy values; works eagerly and inside any graph."""
    with tf.Graph().as_default() as graph:
        iterator = tf.compat.v1.data.make_initializable_iterator(make_dataset())
        element = iterator.get_next()
    with tf.compat.v1.Session(graph=graph) as session:
        session.run(iterator.initializer)
        while True:
            try:
                value = session.run(element)
            except tf.errors.OutOfRangeError:
                return
            yield value


def one_line(error: Exception) -> str:
    """Returns an error's message, without names of nodes and without a full stop."""
    message = getattr(error, "message", "") or ""
    text = re.sub(_AROUND, "", message, flags=re.S)
    return " ".join(text.split()).rstrip(".") or type(error).__name__


def _count(
    batches: Callable[[], tf.data.Dataset],
    parse: Callable[[tf.Tensor], Any],
) -> tuple[int, Optional[str]]:
    """Returns the number of records before the first batch that fails, and its error."""
    count = 0
    try:
        # The parsed batch is fetched too; otherwise TensorFlow does not compute it.
        for _, size in elements(lambda: batches().map(lambda batch: (parse(batch),
                                                                     tf.size(batch)))):
            count += int(size)
    except ERRORS as error:
        return count, one_line(error)
    return count, None
