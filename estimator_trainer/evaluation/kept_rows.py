"""The first rows of an evaluation, column by column, as the model took them."""

from typing import Any, Iterator, Mapping

import numpy as np
import tensorflow as tf

from estimator_trainer.estimator import passthrough

_MOST_ROWS = 5000
_MOST_BYTES = 64 * 1024**2


class KeptRows:
    """Keeps the features of the first rows, if they are a dict of dense tensors.

    Attributes:
      specs: A TensorSpec for each column by name, with the batch's dimension; {}: the features are
        not several columns.
      reason: Why the features by name are not columns, as a clause; "" otherwise.
    """

    def __init__(self) -> None:
        self.specs: dict[str, tf.TensorSpec] = {}
        self.reason = ""
        self._rows: list[Mapping[str, Any]] = []
        self._most = 0

    def mark(self, features: Any, labels: Any = None) -> dict[str, Any]:
        """Notes what the features are, and returns them as `passthrough.mark` does."""
        is_named = isinstance(features, dict) and len(features) > 1
        self.specs, self.reason = {}, _problem(features) if is_named else ""
        if is_named and not self.reason:
            self.specs = {name: tf.TensorSpec(value.shape, value.dtype)
                          for name, value in features.items()}
        return passthrough.mark(features, labels, has_inputs=True, most_rank=4)

    def passed(self, answers: Iterator[passthrough.Answer]) -> Iterator[passthrough.Answer]:
        """Yields the answers unchanged, and keeps the features of the first ones."""
        for answer in answers:
            if not self._rows and self.specs:
                size = sum(map(_bytes, answer.inputs.values()))
                self._most = min(_MOST_ROWS, _MOST_BYTES // max(1, size))
            if len(self._rows) < self._most:
                self._rows.append(answer.inputs)
            yield answer

    def columns(self, rows: int) -> dict[str, np.ndarray]:
        """Returns up to so many of the rows: an array [rows, ...] for each column by name."""
        kept = self._rows[:rows]
        return {name: np.stack([row[name] for row in kept]).astype(spec.dtype.as_numpy_dtype)
                for name, spec in self.specs.items()} if kept else {}


def _problem(features: Mapping[Any, Any]) -> str:
    """Returns why features by name are not columns, as a clause; "" if they are."""
    for name, value in features.items():
        is_dense = isinstance(value, (tf.Tensor, np.ndarray))
        rank = (value.ndim if isinstance(value, np.ndarray) else value.shape.rank
                ) if is_dense else None
        if rank not in range(1, 5) or not isinstance(name, str):
            return f"the feature {name!r} is not a dense tensor of 1 to 4 dimensions"
    return ""


def _bytes(value: Any) -> int:
    return len(value) if isinstance(value, bytes) else int(np.asarray(value).nbytes)
