"""1,797 real handwritten digits of 8x8 pixels, bundled with the package: no network needed.

The test set of "Optical Recognition of Handwritten Digits", written by 13 people:
E. Alpaydin and C. Kaynak (1998), UCI Machine Learning Repository,
https://doi.org/10.24432/C50P49, licence CC BY 4.0. `digits.csv.gz` beside this file is
byte for byte the copy in scikit-learn 1.9 (`sklearn/datasets/data/digits.csv.gz`,
sha256 09f66e6d...23aa22): a row a digit, 64 pixels of 0..16 and the class.

Splits: every fifth digit of each class is `test` (355), the others are `train` (1,442).
The rows are in the order they were written, one form of about 130 digits after another, so both
splits hold digits by the same 13 writers: scores measure a model on these writers, not on others.

Features: `image`, `[batch, 8, 8, 1]` float32 in [0, 1]; label int64, 0 to 9. On disk a
pixel v of 0..16 is the uint8 (255 v + 8) // 16, so that the usual scaling of uint8 images
(/ 255) gives v / 16 to within 1/510.

The params are the same as those of `input_fns/tfds.py`, without `dataset` and `label`:

  data_dir        directory of prepared datasets; empty: TFDS's (~/tensorflow_datasets)
  train_split     split, part or sum of splits: `train`, `train[:90%]`
  eval_split      the same, for "eval" and "infer": every record once, in order
  tfds_id         True adds each record's id, which ends in the record's row within its split
  key             the name of that feature
  augment         change of the images in training: imagenet, cifar or none; see
                  `input_fns/reading/augment.py`
  image_size      height and width that the images get, in pixels; 0: as they are

For `batch_size`, `epochs`, `shuffle_buffer` and `seed` see `input_fns/reading/pipeline.py`.
"""

from __future__ import annotations

import csv
import functools
import gzip
import pathlib
from typing import Any, Iterator, Mapping, Optional

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from input_fns.reading import pipeline
from input_fns.reading.tfds_data import known_params, read
from input_fns.reading.tfds_prepare import prepared

DEFAULT_PARAMS = {
    **pipeline.DEFAULT_PARAMS,
    "data_dir": "",
    "train_split": "train",
    "eval_split": "test",
    "tfds_id": False,
    "key": "tfds_id",
    "augment": "none",
    "image_size": 0,
}
DATA = "images of digits"
FIRST_PARAMS = ("batch_size", "train_split", "eval_split")
GLOBAL_BATCH_PARAM = "batch_size"

_TEST_EVERY = 5
_ROWS = {"train": 1442, "test": 355}
_SOURCE = pathlib.Path(__file__).with_name("digits.csv.gz")
_LABEL = "label"


def input_fn(
    mode: str,
    params: Mapping[str, Any],
    input_context: Optional[tf.distribute.InputContext] = None,
) -> tf.data.Dataset:
    """Returns batches of (dict of features, label): see the module's docstring."""
    make_builder = functools.partial(Digits, data_dir=params["data_dir"] or None)
    return read(prepared(make_builder), mode, {**params, "label": _LABEL}, input_context)


def data_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns num_classes, class_names and train_examples; before preparation for whole splits."""
    split = params["train_split"]
    known = known_params(Digits(data_dir=params["data_dir"] or None), _LABEL, split)
    return {**({"train_examples": _ROWS[split]} if split in _ROWS else {}), **known}


def _every_fifth_of_each_class(labels: np.ndarray) -> np.ndarray:
    """Returns a mask of rows; every fifth row of all would favour some classes.

    The forms repeat the classes in order.
    """
    mask = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        mask[np.flatnonzero(labels == label)[_TEST_EVERY - 1::_TEST_EVERY]] = True
    return mask


class Digits(tfds.core.GeneratorBasedBuilder):
    """The dataset as TFDS prepares it: PNG images and classes in TFRecord files."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description="The UCI test set of handwritten digits, 8x8 pixels, by 13 people.",
            features=tfds.features.FeaturesDict({
                "image": tfds.features.Image(shape=(8, 8, 1), dtype=np.uint8),
                _LABEL: tfds.features.ClassLabel(num_classes=10),
            }),
            supervised_keys=("image", _LABEL),
            homepage="https://doi.org/10.24432/C50P49",
            license="CC BY 4.0",
            disable_shuffling=True,  # keeps the rows' order, so that a tfds_id shows the row
        )

    def _split_generators(self, dl_manager: tfds.download.DownloadManager) -> dict[str, Any]:
        del dl_manager  # nothing to download
        with gzip.open(_SOURCE, "rt", encoding="ascii", newline="") as source:
            rows = np.array(list(csv.reader(source)), dtype=np.float64).astype(np.int64)
        is_test = _every_fifth_of_each_class(rows[:, 64])
        return {
            "train": self._generate_examples(rows[~is_test]),
            "test": self._generate_examples(rows[is_test]),
        }

    def _generate_examples(self, rows: np.ndarray) -> Iterator[tuple[int, dict[str, Any]]]:
        pixels = ((255 * rows[:, :64] + 8) // 16).astype(np.uint8).reshape(-1, 8, 8, 1)
        for row, (image, label) in enumerate(zip(pixels, rows[:, 64])):
            yield row, {"image": image, _LABEL: int(label)}
