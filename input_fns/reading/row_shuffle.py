"""Shuffles rows that come many at a time, in a buffer of bounded size."""

from __future__ import annotations

import collections
import itertools
from typing import Iterable, Iterator, Sequence

import numpy as np

# Matrices, whose first dimension is the row.
Rows = tuple[np.ndarray, ...]

# Rows that are taken from one source before it is another's turn.
_ROWS_IN_TURN = 512


def joined(parts: Sequence[Rows]) -> Rows:
    """Returns the rows of all parts, in order."""
    return parts[0] if len(parts) == 1 else tuple(map(np.concatenate, zip(*parts)))


def interleaved(sources: Iterable[Iterator[Rows]], most: int) -> Iterator[Rows]:
    """Yields rows of up to `most` sources in turn, a few hundred of each."""
    waiting = iter(sources)
    active = collections.deque(map(_in_turns, itertools.islice(waiting, most)))
    while active:
        source = active.popleft()
        rows = next(source, None)
        if rows is not None:
            active.append(source)
            yield rows
            continue
        following = next(waiting, None)
        if following is not None:
            active.append(_in_turns(following))


def _in_turns(source: Iterator[Rows]) -> Iterator[Rows]:
    for rows in source:
        for start in range(0, len(rows[0]), _ROWS_IN_TURN):
            yield tuple(each[start:start + _ROWS_IN_TURN] for each in rows)


def shuffled(source: Iterator[Rows], size: int, random: np.random.Generator) -> Iterator[Rows]:
    """Yields all rows in another order: each comes from a buffer of `size` rows, at random."""
    parts: list[Rows] = []
    count = 0
    for rows in source:
        parts.append(rows)
        count += len(rows[0])
        if count >= size:
            break
    if not parts:
        return
    buffer = joined(parts)
    parts = []
    # The slots of the rows that leave are filled with those that come.
    for rows in source:
        for start in range(0, len(rows[0]), count):
            new = tuple(each[start:start + count] for each in rows)
            slots = random.choice(count, len(new[0]), replace=False)
            yield tuple(each[slots] for each in buffer)
            for each, coming in zip(buffer, new):
                each[slots] = coming
    order = random.permutation(count)
    yield tuple(each[order] for each in buffer)
