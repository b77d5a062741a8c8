"""Makes the batches of one input pipeline from a table's files.

    share files > read blocks > choose records > convert and check > shuffle > batch

A generator yields many rows at a time, so that no operation of TensorFlow is run for each row.
Training data that fit in memory are read once, and `memory.py` gathers the batches from there;
larger ones are shuffled in a buffer of `shuffle_buffer` rows.
"""

from __future__ import annotations

import collections
from concurrent import futures
import functools
import itertools
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence

import numpy as np
import pyarrow as pa
import tensorflow as tf

from input_fns.reading import arrow_file, memory, table_file
from input_fns.reading.errors import DataError, DataFileError, RecordError
from input_fns.reading.files import files_of_process, shares_of
from input_fns.reading.header import header_of, header_problem
from input_fns.reading.pipeline import Pipeline, pipeline_of, same_python, with_options
from input_fns.reading.row_shuffle import interleaved, joined, shuffled
from input_fns.reading.table import in_file, Table
from input_fns.reading.table_blocks import Block, pieces, Share, text_blocks
from input_fns.reading.table_rows import Layout, layout_of, Rows, rows_of

_FILES_AT_A_TIME = 16
# More blocks at a time would need the cores of the training itself.
_THREADS, _BLOCKS_AHEAD = 2, 3
# A remote file system takes a while to return the size of a file.
_FILES_TO_MEASURE = 64
# Bytes that TensorFlow keeps for a text beside its characters, and how often these may fit in a
# compressed file.
_TEXT_BYTES, _MOST_PACKED = 24, 8


class Source(NamedTuple):
    """Files, and the part of them to read.

    Attributes:
      files: The files that all pipelines share.
      tables: The columns to read, of the first file at least; the others have the same header.
      params: The params of `input_fns/csv.py`.
      every: Every so many records of a file one is held out for evaluation; 0: all are for both.
      training: Whether to read what is not held out.
    """

    files: tuple[str, ...]
    tables: Mapping[str, Table]
    params: Mapping[str, Any]
    every: int = 0
    training: bool = False

    @property
    def layout(self) -> Layout:
        """Where the columns are in the rows."""
        return layout_of(self.tables[self.files[0]], self.params)

    def rows(self, share: Share, pool: Optional[futures.Executor] = None) -> Iterator[Rows]:
        """Yields the rows of a share of a file; a pool's threads convert the next blocks meanwhile.

        Raises:
          RecordError: A record cannot be used, or the file cannot be read.
        """
        try:
            table, layout = self._table(share.path), self.layout
            chosen = self._chosen(share, table)
            if pool is None:
                for block, rows in chosen:
                    yield rows_of(block, rows, table, layout, self.params)
                return
            waiting: collections.deque[futures.Future[Rows]] = collections.deque()
            for block, rows in chosen:
                waiting.append(pool.submit(rows_of, block, rows, table, layout, self.params))
                if len(waiting) > _BLOCKS_AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except DataError as error:
            raise RecordError(str(error)) from error

    def stored(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yields the rows of all files in order, as the files have them; see `Block.stored`.

        Raises:
          DataError: A record cannot be split, or a column has another type than in the first file.
        """
        schema = None
        for path in self.files:
            table = self._table(path)
            for block, rows in self._chosen(Share(path), table):
                batch = block.stored(table).select(names)
                if len(rows) < batch.num_rows:
                    batch = batch.take(pa.array(rows))
                schema = schema or batch.schema
                try:
                    yield batch if batch.schema.equals(schema) else batch.cast(schema)
                except pa.ArrowException as error:
                    raise DataFileError(f"the columns of {path} have other types than those of "
                                        f"{self.files[0]}: {error}") from error

    def _chosen(self, share: Share, table: Table) -> Iterator[tuple[Block, np.ndarray]]:
        """Yields the blocks in which the share has records, and the positions of these."""
        count = 0
        for block, parts, part in pieces(share, table, self.params["na_value"]):
            ordinals = block.ordinals()
            chosen = np.arange(len(ordinals))
            if self.every:
                is_held_out = ordinals % self.every == 0
                chosen = np.flatnonzero(~is_held_out if self.training else is_held_out)
            if parts > 1:
                count, numbers = count + len(chosen), np.arange(count, count + len(chosen))
                chosen = chosen[numbers % parts == part]
            if len(chosen):
                yield block, chosen

    def _table(self, path: str) -> Table:
        if path in self.tables:
            return self.tables[path]
        first, header = self.files[0], header_of(path, self.params)
        problem = header_problem(path, header, (first, header_of(first, self.params)))
        if problem:
            raise RecordError(problem, "header differs")
        return in_file(self.tables[first], header)


# AutoGraph has nothing to convert here, and would take 0.2 s to find out.
@tf.autograph.experimental.do_not_convert
def batches(source: Source, mode: str, input_context: Optional[tf.distribute.InputContext],
            watched: Optional[Callable[[Iterator[Rows]], Iterator[Rows]]] = None
            ) -> tf.data.Dataset:
    """Returns the batches of one input pipeline.

    Args:
      source: What to read.
      mode: A `tf.estimator.ModeKeys`; "train" shuffles, repeats and yields full batches only, the
        others yield every record once, in order.
      input_context: Decides which part to read, and how many replicas share a batch.
      watched: A function of the rows that are read in order, which yields them unchanged.
    """
    params, training = source.params, mode == "train"
    pipeline = pipeline_of(params, input_context)
    seed = pipeline.seed if training and params["shuffle_buffer"] > 0 else None
    shares = [Share(*each) for each in shares_of(list(source.files), pipeline, training)]
    layout = source.layout
    names = [name for name in source.tables[source.files[0]].names if name != layout.label]

    def unpacked(*rows: tf.Tensor) -> Any:
        return _unpacked(rows, layout, names)

    if training and pipeline.is_handed_out:
        dataset = _handed_out(source, shares, pipeline, seed).map(unpacked)
    elif not training:
        in_order = functools.partial(_in_order, source, shares)
        rows = _dataset((lambda: watched(in_order())) if watched else in_order, layout)
        dataset = rows.rebatch(pipeline.batch_size).map(unpacked)
    elif params["epochs"] != 1 and _bytes_in_memory(source, shares) <= memory.LIMIT_BYTES:
        whole = _dataset(lambda: _whole(source, shares), layout)
        dataset = memory.training_batches(whole, pipeline.batch_size, params["epochs"], seed,
                                          lambda rows: unpacked(*rows))
    else:
        rows = _dataset(_epochs(source, shares, seed), layout)
        dataset = rows.rebatch(pipeline.batch_size, drop_remainder=True).map(unpacked)
        if not params["epochs"]:
            dataset = dataset.repeat()  # Only with a repeat does tf.data know that it has no end.
    return same_python(with_options(dataset.prefetch(tf.data.AUTOTUNE)), input_context)


def _handed_out(source: Source, shares: list[Share], pipeline: Pipeline,
                seed: Optional[int]) -> tf.data.Dataset:
    """Returns batches of rows to train on, for processes that divide the dataset."""
    layout, epochs = source.layout, source.params["epochs"]
    if _bytes_in_memory(source, shares) <= memory.LIMIT_BYTES:
        rows = next(_whole(source, shares), layout.empty())
        whole = _dataset(lambda checksum: iter([rows]), layout, memory.checksum(rows))
        return memory.handed_out_batches(
            whole, len(rows[0]), memory.order_of(pipeline.batch_size, seed), epochs,
            lambda number, batch: batch)
    count = itertools.count()
    seeds = None if seed is None else [(each or 0) % 2**32 for each in tf.compat.v1.get_seed(seed)]
    if seeds is not None:
        shares = [shares[i] for i in np.random.default_rng(seeds).permutation(len(shares))]

    def rows_of_share(number: np.int64) -> Iterator[Rows]:
        rows = _in_order(source, [shares[number]])
        return rows if seeds is None else shuffled(
            rows, source.params["shuffle_buffer"],
            np.random.default_rng([*seeds, int(number), next(count)]))

    # The paths let other processes recognize the same files.
    files = tf.data.Dataset.from_tensor_slices(
        (np.arange(len(shares)), [share.path for share in shares]))
    dataset = files.interleave(lambda number, path: _dataset(rows_of_share, layout, number),
                               cycle_length=files_of_process(len(shares)), block_length=1)
    dataset = dataset.repeat(epochs or None).rebatch(pipeline.batch_size, drop_remainder=True)
    return dataset if epochs else memory.endless(dataset)


def first_bad(source: Source) -> tuple[int, str]:
    """Returns the number of good records, and the first problem of all, or ""."""
    total = 0
    try:
        for path in source.files:
            for rows in source.rows(Share(path)):
                total += len(rows[0])
    except RecordError as error:
        return total, error.sentence
    return total, ""


def _dataset(make: Callable[..., Iterator[Rows]], layout: Layout, *args: Any) -> tf.data.Dataset:
    """Returns a dataset of the rows that a function's generators yield."""
    empty = layout.empty()
    return tf.data.Dataset.from_generator(make, output_signature=tuple(
        tf.TensorSpec([None, *each.shape[1:]], tf.string if each.dtype == object else each.dtype)
        for each in empty), args=args or None)


def _in_order(source: Source, shares: list[Share]) -> Iterator[Rows]:
    """Yields the rows of all shares in order."""
    with futures.ThreadPoolExecutor(_THREADS) as pool:
        for share in shares:
            yield from source.rows(share, pool)


def _whole(source: Source, shares: list[Share]) -> Iterator[Rows]:
    """Yields all rows at once; nothing if there are none."""
    everything = list(_in_order(source, shares))
    if everything:
        yield joined(everything)


def _epochs(source: Source, shares: list[Share],
            seed: Optional[int]) -> Callable[[], Iterator[Rows]]:
    """Returns a function whose generators yield the rows epoch after epoch, shuffled with a seed.

    The seed of the graph, which is known only now, counts too.
    """
    params = source.params
    seeds = None if seed is None else [(each or 0) % 2**32 for each in tf.compat.v1.get_seed(seed)]

    def rows() -> Iterator[Rows]:
        for epoch in range(params["epochs"]) if params["epochs"] else itertools.count():
            parts: Iterator[Rows]
            if seeds is None:
                parts = _in_order(source, shares)
            else:
                parts = _shuffled(source, shares, np.random.default_rng([*seeds, epoch]))
            has_rows = False
            for part in parts:
                has_rows = has_rows or len(part[0]) > 0
                yield part
            if not has_rows:
                return

    return rows


def _shuffled(source: Source, shares: list[Share], random: np.random.Generator) -> Iterator[Rows]:
    """Yields the rows of one epoch, from several files at a time."""
    order = [shares[i] for i in random.permutation(len(shares))]
    with futures.ThreadPoolExecutor(_THREADS) as pool:
        # The next blocks of many files would need more memory than the buffer.
        ahead = pool if len(shares) <= _THREADS else None
        yield from shuffled(interleaved((source.rows(share, ahead) for share in order),
                                        _FILES_AT_A_TIME), source.params["shuffle_buffer"], random)


def _bytes_in_memory(source: Source, shares: list[Share]) -> float:
    """Returns about how much memory the rows need; infinity if it would take long to find out."""
    if len(shares) > _FILES_TO_MEASURE:
        return float("inf")
    layout = source.layout
    row_bytes = (len(layout.floats) * np.dtype(layout.float_dtype).itemsize
                 + 8 * len(layout.integers) + _TEXT_BYTES * len(layout.texts) + 8)
    total, record_bytes = 0.0, 0.0
    for path, parts, _ in shares:
        if table_file.kind_of(path) not in (table_file.CSV, table_file.JSON):
            table = arrow_file.opened(path)
            total += (sum(table.rows) * row_bytes + table.text_bytes(layout.texts)) / parts
            continue
        stored = tf.io.gfile.stat(path).length * (_MOST_PACKED if table_file.is_packed(path) else 1)
        if not record_bytes:
            first = next(text_blocks(path, has_header=True), None)
            record_bytes = len(first.data) / max(len(first.ordinals()), 1) if first else 1.0
        # The characters of all fields are an upper bound of those of the texts.
        total += stored / parts * (row_bytes / record_bytes + bool(layout.texts))
    return total


def _unpacked(rows: tuple[tf.Tensor, ...], layout: Layout, names: list[str]) -> Any:
    """Returns (features, label) of a batch, or features alone if no label is read."""
    columns: dict[str, tf.Tensor] = {}
    for of_kind, matrix in zip((layout.floats, layout.integers, layout.texts), rows):
        if of_kind:
            columns.update(zip(of_kind, tf.unstack(matrix, num=len(of_kind), axis=1)))
    features = {name: columns[name] for name in names}
    return (features, rows[3]) if layout.label else features
