"""Packs of gradients that travel between the processes of an all-reduce.

A large gradient is split into packs of one size, and small ones share a pack. A pack is sent when
its gradients are computed, and several travel at once, so the network works during computation and
the buffers of a pack are soon free. PyTorch calls them buckets (Li et al. 2020,
arXiv:2006.15704), but splits no gradient.

Gradients of 32 bit may travel in 16 bit: they are rounded before they are added. bfloat16 keeps the
range of float32 with 8 bits of precision, float16 has 11 bits and overflows above 65,504.
"""

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_trainer.patches import training_patches

# Packs of 4 MB were the fastest of 1, 2, 4 and 8 MB for models of 53 and 80 MB, and at most 6%
# slower than the fastest for one of 13 MB (docs/scaling.md).
CPU_PACK_MB = 4


def send_in_packs(strategy: tf.distribute.Strategy, pack_mb: int | None,
                  dtype: tf.DType) -> tf.distribute.Strategy:
    """Makes a strategy send dense gradients in packs, and returns it.

    Args:
      strategy: The strategy, which sends each tensor by itself (`bytes_per_pack=1`).
      pack_mb: Size of a pack in megabytes before rounding; None leaves packing to the strategy.
      dtype: The dtype in which float32 gradients travel.
    """
    packing = _Packing(pack_mb and pack_mb * 2**20, dtype)
    training_patches.convert_gradients(strategy, packing.sent, packing.received)
    return strategy


class _Piece(NamedTuple):
    """A part of a gradient: the gradient's number, and the elements `first` up to `end`."""

    number: int
    first: int
    end: int


class _Packing:
    """Packs gradients of one replica, and unpacks the sums of an all-reduce."""

    def __init__(self, pack_bytes: int | None, dtype: tf.DType):
        self._pack_bytes, self._dtype = pack_bytes, dtype

    def sent(self, gradients: list[Any]) -> list[Any]:
        """Returns the packs, then the gradients that are in no pack."""
        packs, others = self._plan(gradients)
        flat = {piece.number: tf.reshape(gradients[piece.number], [-1])
                for pack in packs for piece in pack}
        values = [tf.concat([flat[each.number][each.first:each.end] for each in pack], 0)
                  for pack in packs]
        return [*(tf.cast(value, self._dtype) if value.dtype == tf.float32 else value
                  for value in values), *(gradients[number] for number in others)]

    def received(self, reduced: list[Any], gradients: list[Any]) -> list[Any]:
        """Returns the sums of `gradients` from the sums of what `sent` returned."""
        packs, others = self._plan(gradients)
        sums: list[Any] = [None] * len(gradients)
        for number, value in zip(others, reduced[len(packs):]):
            sums[number] = value
        pieces: dict[int, list[tuple[int, tf.Tensor]]] = {}
        for pack, value in zip(packs, reduced):
            dtype = gradients[pack[0].number].dtype
            parts = tf.split(tf.cast(value, dtype), [each.end - each.first for each in pack])
            for piece, part in zip(pack, parts):
                pieces.setdefault(piece.number, []).append((piece.first, part))
        for number, found in pieces.items():
            parts = [part for _, part in sorted(found, key=lambda each: each[0])]
            sums[number] = tf.reshape(tf.concat(parts, 0), gradients[number].shape)
        return sums

    def _plan(self, gradients: list[Any]) -> tuple[list[list[_Piece]], list[int]]:
        """Returns the packs, and the numbers of gradients that are sparse or of unknown size.

        The last layer's gradients are computed first, and TensorFlow sends the last packs first.
        """
        packs: list[list[_Piece]] = []
        open_packs: dict[tf.DType, list[_Piece]] = {}
        others = []
        for number in reversed(range(len(gradients))):
            gradient = gradients[number]
            if not isinstance(gradient, tf.Tensor) or not gradient.shape.is_fully_defined():
                others.append(number)
                continue
            pieces = self._cut(number, gradient)
            if len(pieces) > 1:
                packs += [[piece] for piece in pieces]
                continue
            pack = open_packs.get(gradient.dtype)
            size = sum(each.end - each.first for each in [*(pack or ()), *pieces])
            if pack is None or not self._pack_bytes or (
                    size * gradient.dtype.size > self._pack_bytes):
                pack = open_packs[gradient.dtype] = []
                packs.append(pack)
            pack += pieces
        return packs[::-1], others

    def _cut(self, number: int, gradient: tf.Tensor) -> list[_Piece]:
        size = gradient.shape.num_elements()
        count = max(1, round(size * gradient.dtype.size / self._pack_bytes)
                    if self._pack_bytes else 1)
        edges = [size * i // count for i in range(count + 1)]
        return [_Piece(number, first, end) for first, end in zip(edges, edges[1:])]
