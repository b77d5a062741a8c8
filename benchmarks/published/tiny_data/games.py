"""Positions of Go on a board of 19 by 19, as Minigo's self-play writes them."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

from benchmarks.published.tiny_data import records

_BOARD, _PLANES = 19, 17


def make(root: pathlib.Path) -> None:
    """Makes go/train.tfrecord.zz."""
    numbers = np.random.RandomState(0)

    def position(number: int) -> dict[str, Any]:
        planes = numbers.randint(0, 2, (_BOARD, _BOARD, _PLANES)).astype(np.uint8)
        moves = numbers.dirichlet(np.ones(_BOARD * _BOARD + 1)).astype(np.float32)
        return {"x": records.raw(planes.tobytes()), "pi": records.raw(moves.tobytes()),
                "outcome": records.floats([1.0 if number % 2 else -1.0])}

    records.write(root / "go" / "train.tfrecord.zz", position, 64, "ZLIB")
