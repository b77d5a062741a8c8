"""Counts the categories of new tables that training has not seen, and logs them in one line."""

from __future__ import annotations

import collections
from typing import Callable, Iterator, Optional

from absl import logging

from input_fns.reading.table_batches import Source
from input_fns.reading.table_rows import Rows

_SHOWN = 5


def counted(source: Source) -> Optional[Callable[[Iterator[Rows]], Iterator[Rows]]]:
    """Returns a function that yields rows unchanged, and logs their unknown categories at the end.

    Only models that prepare columns have the categories; for others there is no function.
    """
    texts = source.layout.texts
    known = {texts.index(name): {*(text.encode() for text in entry["values"]), b""}
             for name, entry in (source.params.get("table_columns") or {}).items()
             if entry.get("kind") == "category" and name in texts}
    if not known:
        return None

    def rows(parts: Iterator[Rows]) -> Iterator[Rows]:
        total = 0
        unknown: dict[int, collections.Counter[bytes]] = collections.defaultdict(
            collections.Counter)
        for part in parts:
            total += len(part[2])
            for place, values in known.items():
                # A set of the values is much smaller than the column.
                new = set(part[2][:, place]) - values
                if new:
                    unknown[place].update(text for text in part[2][:, place] if text in new)
            yield part
        if unknown:
            logging.warning("%s", _sentence({texts[place]: counts for place, counts in
                                             unknown.items()}, total))

    return rows


def _sentence(unknown: dict[str, collections.Counter[bytes]], total: int) -> str:
    columns = []
    for name, counts in list(unknown.items())[:_SHOWN]:
        example = counts.most_common(1)[0][0].decode("utf-8", "replace")
        columns.append(f"{name!r} in {counts.total():,} of {total:,} rows, such as {example!r}")
    more = f"; and {len(unknown) - _SHOWN} more columns" if len(unknown) > _SHOWN else ""
    return (f"values that training has not seen, which count as unknown: {'; '.join(columns)}"
            f"{more}.")
