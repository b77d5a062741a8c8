"""A TFDS dataset whose records tell which they are, for the tests of the input plug-in `tfds`."""

from __future__ import annotations

import pathlib
from typing import Any, Iterator

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

TRAIN_ROWS, TEST_ROWS = 17, 5


class NumberedRows(tfds.core.GeneratorBasedBuilder):
    """Rows that carry their own number; pixel values run from 0 to 255."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({
                "image": tfds.features.Image(shape=(2, 3, 1), dtype=np.uint8),
                "counts": tfds.features.Tensor(shape=(2,), dtype=np.uint8),
                "row": np.int64,
                "text": tfds.features.Text(),
                "label": tfds.features.ClassLabel(num_classes=4),
            }))

    def _split_generators(self, dl_manager: Any) -> dict[str, Any]:
        return {"train": self._generate_examples(TRAIN_ROWS),
                "test": self._generate_examples(TEST_ROWS)}

    def _generate_examples(self, rows: int) -> Iterator[tuple[int, dict[str, Any]]]:
        for row in range(rows):
            image = np.array([0, 1, 2, 51, 254, 255], np.uint8).reshape(2, 3, 1)
            yield row, {"image": image, "counts": [row, 255], "row": row,
                        "text": "x" * row, "label": row % 4}


def prepared(folder: pathlib.Path, files: int) -> str:
    """Puts the dataset into a data_dir, its train split in so many files; returns the data_dir."""
    builder = NumberedRows(data_dir=str(folder))
    builder.download_and_prepare(download_config=tfds.download.DownloadConfig(num_shards=files))
    assert builder.info.splits["train"].num_shards == files
    return str(folder)


def rows_of(dataset: tf.data.Dataset) -> list[int]:
    """Returns the numbers of the rows that a dataset yields."""
    return [int(row) for features, _ in dataset for row in features["row"]]
