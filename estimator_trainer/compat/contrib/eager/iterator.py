"""An iterator of a dataset in eager code.

Definition: tensorflow/contrib/eager/python/datasets.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

from tensorflow.python.data.ops import iterator_ops

_Iterator: Any = iterator_ops.OwnedIterator


class Iterator(_Iterator):
    """Iterates over a dataset; its elements are tensors.

    Raises:
      RuntimeError: Code does not run eagerly.
    """

    def __init__(self, dataset: Any) -> None:
        super().__init__(dataset)

    def next(self) -> Any:
        """Returns the next element."""
        return self.__next__()
