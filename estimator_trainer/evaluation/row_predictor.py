"""Predictions of rows that are made one batch after another, in one graph of the model."""

from __future__ import annotations

import queue
from typing import Any, Iterator, Mapping

import numpy as np
import tensorflow as tf

from estimator_trainer.evaluation import read_answers

Columns = Mapping[str, np.ndarray]
_MOST_ROWS = 4096


class RowPredictor:
    """Predicts columns of rows; a context manager, which holds a session.

    `Estimator.predict` builds a graph for each call. Here one call predicts every batch: its input
    waits for the next one.
    """

    def __init__(self, single: tf.estimator.Estimator, checkpoint_path: str,
                 specs: Mapping[str, tf.TensorSpec], num_classes: int):
        """Prepares the predictions of a checkpoint.

        Args:
          single: An Estimator of the model that computes in this process alone.
          checkpoint_path: The checkpoint.
          specs: The columns, with the batch's dimension.
          num_classes: Number of classes; 0: the model predicts a number.
        """
        self._single, self._path, self._specs = single, checkpoint_path, specs
        self._num_classes = num_classes
        self._next: queue.Queue[Columns | None] = queue.Queue()
        self._answers: Any = None
        sizes = {spec.shape[0] for spec in specs.values()} - {None}
        # A model may demand the size of the batches of its input.
        self._batch_size: int | None = min(sizes, default=None)

    def __enter__(self) -> RowPredictor:
        self._answers = self._single.predict(
            self._input_fn, checkpoint_path=self._path, yield_single_examples=False)
        return self

    def __exit__(self, *exception: Any) -> None:
        self._next.put(None)
        self._answers.close()

    def predict(self, columns: Columns) -> np.ndarray:
        """Returns probabilities, float64 [rows, classes], or numbers, float64 [rows].

        Raises:
          ValueError: The predictions are neither.
        """
        rows = len(next(iter(columns.values())))
        size = self._batch_size or _MOST_ROWS
        parts = [self._predicted({name: values[start:start + size]
                                  for name, values in columns.items()})
                 for start in range(0, rows, size)]
        return np.concatenate(parts)

    def _predicted(self, columns: Columns) -> np.ndarray:
        rows = len(next(iter(columns.values())))
        if self._batch_size and rows < self._batch_size:
            places = np.resize(np.arange(rows), self._batch_size)
            columns = {name: values[places] for name, values in columns.items()}
        self._next.put(columns)
        return outputs(next(self._answers), self._num_classes)[:rows]

    def _input_fn(self, mode: str, params: Mapping[str, Any], config: Any = None) -> Any:
        del mode, params, config
        return tf.data.Dataset.from_generator(self._batches, output_signature={
            name: tf.TensorSpec([self._batch_size, *spec.shape[1:]], spec.dtype)
            for name, spec in self._specs.items()})

    def _batches(self) -> Iterator[dict[str, np.ndarray]]:
        while (columns := self._next.get()) is not None:
            yield dict(columns)


def outputs(predictions: Mapping[str, Any], num_classes: int) -> np.ndarray:
    """Returns a batch's probabilities, float64 [rows, classes], or numbers, float64 [rows].

    A model that predicts classes alone has probabilities of 0 and 1. `num_classes` 0: numbers.
    """
    values = np.asarray(next((predictions[key] for key in ("probabilities", "logistic")
                              if key in predictions and num_classes),
                             read_answers.only_output(predictions)))
    if values.dtype.kind in "fiub" and values.ndim in (1, 2) and values.size:
        matrix = values.astype(np.float64).reshape([len(values), -1])
        if not num_classes and matrix.shape[1] == 1:
            return matrix[:, 0]
        if num_classes and values.dtype.kind == "f":
            found = read_answers.probabilities_of_batch(matrix)
            if found is not None:
                return found
    classes = next((np.asarray(predictions[key]) for key in read_answers.CLASSES
                    if key in predictions), None)
    if num_classes and classes is not None and classes.dtype.kind in "iu":
        return np.eye(num_classes)[np.minimum(classes.reshape([-1]), num_classes - 1)]
    raise ValueError("the predictions of a batch are neither probabilities nor single numbers")
