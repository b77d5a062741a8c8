"""The rows of the data to predict as they came: read beside the answers, in the same order."""

from typing import Any, Iterator, Sequence

from pyarrow import compute
import pyarrow as pa

from estimator_trainer import errors

_ROWS = 4096
_ZERO_FRACTION = r"\.0+$"


class InputRows:
    """Rows that an input_fn's module reads as they are stored (`rows_to_predict`).

    Attributes:
      names: The columns that stand beside the answers.
    """

    def __init__(self, batches: Iterator[pa.RecordBatch], names: Sequence[str]):
        """Reads nothing yet; the batches have these names, and maybe others."""
        self.names = tuple(names)
        self._batches = batches
        self._waiting: list[pa.RecordBatch] = []

    def take(self, count: int) -> pa.Table | None:
        """Returns the next rows, as many as wanted; None after the last if none are wanted.

        Raises TrainerError if there are fewer.
        """
        while sum(batch.num_rows for batch in self._waiting) < max(count, 1):
            batch = next(self._batches, None)
            if batch is None:
                break
            self._waiting.append(batch.select(self.names))
        if not self._waiting:
            if count:
                raise _changed()
            return None
        table = pa.Table.from_batches(self._waiting)
        if table.num_rows < count:
            raise _changed()
        self._waiting = table.slice(count).to_batches()
        return table.slice(0, count)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yields each row as plain values by name; None where a value is missing."""
        for batch in self._batches:
            for start in range(0, batch.num_rows, _ROWS):
                part = batch.select(self.names).slice(start, _ROWS)
                columns = [_plain(column) for column in part.columns]
                for i in range(part.num_rows):
                    yield {name: column[i] for name, column in zip(self.names, columns)}


def _plain(column: pa.Array) -> list[Any]:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(column.dictionary_decode())
    if pa.types.is_floating(kind):
        # A float32 has fewer digits than Python's floats; NaN is no JSON.
        values = column.to_pylist() if pa.types.is_float64(kind) else column.to_numpy(
            zero_copy_only=False)
        return [None if value != value else value for value in values]
    if any(is_kind(kind) for is_kind in (pa.types.is_integer, pa.types.is_boolean,
                                         pa.types.is_binary, pa.types.is_large_binary)):
        return column.to_pylist()
    # Python has no nanoseconds; Arrow writes a time as text.
    texts = column.cast(pa.string())
    if pa.types.is_timestamp(kind):
        texts = compute.replace_substring_regex(texts, _ZERO_FRACTION, "")
    return texts.to_pylist()


def _changed() -> errors.TrainerError:
    return errors.TrainerError("the data to predict have fewer rows than a moment ago; expected"
                               " files that do not change while they are read")
