"""Trains a canned DNNClassifier on a CSV file that `make_csv_dataset` reads."""

from __future__ import annotations

import estimator_trainer.compat  # noqa: F401  Restores Estimator on a newer TensorFlow.

# isort: split
import csv
import pathlib
import tempfile

import numpy as np
import tensorflow as tf

from benchmarks.kinds.scripts import job

_ROWS, _NUMBERS, _WORDS, _BATCH = 20_000, 8, 2, 64
_VOCABULARY = ("red", "green", "blue", "white")


def _write(path: pathlib.Path) -> None:
    random = np.random.RandomState(0)
    numbers = random.randn(_ROWS, _NUMBERS)
    words = random.randint(0, len(_VOCABULARY), (_ROWS, _WORDS))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"n{i}" for i in range(_NUMBERS)), *(f"w{i}" for i in range(_WORDS)),
                         "label"])
        for row, chosen in zip(numbers, words):
            writer.writerow([*(f"{each:.4f}" for each in row), *(_VOCABULARY[i] for i in chosen),
                             int(row.sum() + chosen[0] > 1)])


def main() -> None:
    """Trains."""
    options = job.flags()
    column = tf.feature_column
    columns = [
        *(column.numeric_column(f"n{i}") for i in range(_NUMBERS)),
        *(column.indicator_column(column.categorical_column_with_vocabulary_list(
            f"w{i}", _VOCABULARY)) for i in range(_WORDS))]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "rows.csv")
        _write(path)
        job.train(
            tf.estimator.DNNClassifier([32, 16], columns, config=job.run_config(options)),
            lambda: tf.data.experimental.make_csv_dataset(
                str(path), _BATCH, label_name="label"), options)


if __name__ == "__main__":
    main()
