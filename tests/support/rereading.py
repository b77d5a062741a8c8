"""A graph that is built once and reads one content after the other, for tests of very many.

To build the pipeline of an input_fn takes a tenth of a second and more.
"""

from __future__ import annotations

import contextlib
import pathlib
import time
from typing import Any, Callable

import tensorflow as tf

# The most CPU time that reading a small file may take, whatever is in it: a busy machine takes
# longer, but computes no more.
MOST_CPU_SECS = 5.0


class FileReader:
    """A dataset that reads the same file again and again, whatever a test has written there."""

    def __init__(self, path: pathlib.Path, make_dataset: Callable[[], tf.data.Dataset]):
        with tf.Graph().as_default() as graph:
            iterator = tf.compat.v1.data.make_initializable_iterator(make_dataset())
            self._start, self._batch = iterator.initializer, iterator.get_next()
        self._path, self._session = path, tf.compat.v1.Session(graph=graph)
        # The first run optimizes the graph, which is no part of reading a file.
        with contextlib.suppress(tf.errors.OpError):
            self._session.run(self._start)
            self._session.run(self._batch)

    def read(self, content: bytes) -> list[Any]:
        """Returns the batches of a file of this content.

        Raises:
          OpError, UnicodeDecodeError: as the dataset does where it cannot read on.
        """
        self._path.write_bytes(content)
        began, batches = time.process_time(), []
        try:
            self._session.run(self._start)
            while True:
                batches.append(self._session.run(self._batch))
        except tf.errors.OutOfRangeError:
            return batches
        finally:
            assert time.process_time() - began < MOST_CPU_SECS


class Parser:
    """A function of stored records, string [batch], that is called again and again."""

    def __init__(self, parse: Callable[[tf.Tensor], Any]):
        with tf.Graph().as_default() as graph:
            records = tf.compat.v1.placeholder(tf.string, [None])
            self._run = tf.compat.v1.Session(graph=graph).make_callable(
                tf.nest.flatten(parse(records)), [records])

    def __call__(self, records: list[bytes]) -> list[Any]:
        """Returns the parsed values, features by their names, then labels.

        Raises:
          OpError, UnicodeDecodeError: as the function does where it cannot parse one.
        """
        began = time.process_time()
        try:
            return self._run(records)
        finally:
            assert time.process_time() - began < MOST_CPU_SECS
