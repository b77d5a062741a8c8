"""Any TensorFlow Datasets dataset, by name.

The dataset is prepared on first use, downloaded if there is a network, and only once if several
processes start together. Each input pipeline reads its own shard, in training and in evaluation.
Params:

  dataset         name: `mnist`, `imdb_reviews/plain_text`, `cifar10:3.0.2`
  data_dir        directory of prepared datasets; empty: TFDS's (~/tensorflow_datasets)
  train_split     split, part or sum of splits: `train`, `train[:90%]`, `train+extra`
  eval_split      the same, for "eval" and "infer": every record once, in order
  label           the feature that is the label; the others stay the features
  tfds_id         True adds TFDS's own id of each record as a string feature
  key             the name of that feature
  augment         change of uint8 images in training: imagenet, cifar or none; see
                  `input_fns/reading/augment.py`
  image_size      height and width that such images get, in pixels; 0: as they are

For `batch_size`, `epochs`, `shuffle_buffer` and `seed` see `input_fns/reading/pipeline.py`.

Features are a dict; a uint8 image becomes float32 in [0, 1], other features are as in TFDS.
Training reads only full batches, which may span two epochs; with `epochs`, less than one batch is
left over at the very end.

The training order depends on `seed`, the number of the input pipeline (so that all workers have
different orders), and the graph's random seed (`RunConfig.tf_random_seed`). Change either seed
when restarting a run, and the run does not begin with the same records again.
"""

from __future__ import annotations

import difflib
import functools
from typing import Any, Mapping, Optional

import tensorflow as tf
import tensorflow_datasets as tfds

from input_fns.reading import pipeline
from input_fns.reading.errors import DataParamError
from input_fns.reading.tfds_data import known_params, read
from input_fns.reading.tfds_prepare import prepared

DEFAULT_PARAMS = {
    **pipeline.DEFAULT_PARAMS,
    "dataset": "mnist",
    "data_dir": "",
    "train_split": "train",
    "eval_split": "test",
    "label": "label",
    "tfds_id": False,
    "key": "tfds_id",
    "augment": "none",
    "image_size": 0,
}
DATA = "datasets of TensorFlow Datasets"
FIRST_PARAMS = ("dataset", "label", "train_split", "eval_split", "batch_size")
GLOBAL_BATCH_PARAM = "batch_size"


def input_fn(
    mode: str,
    params: Mapping[str, Any],
    input_context: Optional[tf.distribute.InputContext] = None,
) -> tf.data.Dataset:
    """Returns batches of (dict of features, label): see the module's docstring."""
    make_builder = functools.partial(builder, params["dataset"], params["data_dir"])
    return read(prepared(make_builder), mode, params, input_context)


def data_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns num_classes and class_names of a class label, train_examples of prepared data."""
    return known_params(builder(params["dataset"], params["data_dir"]), params["label"],
                        params["train_split"])


def builder(name: str, data_dir: str) -> tfds.core.DatasetBuilder:
    """Returns the builder of the dataset; an empty data_dir means TFDS's default.

    Raises:
      DataParamError: There is no such dataset.
    """
    try:
        return tfds.builder(name, data_dir=data_dir or None)
    except tfds.core.DatasetNotFoundError as error:
        # The index of community datasets is in a bucket: slow to fail without a network.
        known = tfds.list_builders(with_community_datasets=False)
        near = difflib.get_close_matches(name, known, n=3) or ["mnist"]
        raise DataParamError(
            f"dataset is {name!r}; expected one of the {len(known)} that TFDS has (listed by "
            f"`tfds.list_builders()`) or one prepared in data_dir {data_dir!r}; nearest: "
            f"{', '.join(near)}. For example: --param dataset={near[0]}") from error
    except (AssertionError, ValueError) as error:  # no such config, no such version
        reason = " ".join(str(error).split())
        raise DataParamError(f"dataset is {name!r}, which TFDS cannot build: {reason}") from error
