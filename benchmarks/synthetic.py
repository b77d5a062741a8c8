"""An input_fn plug-in whose images cost no time to read: one batch of noise, repeated."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

DEFAULT_PARAMS = {
    "batch_size": 64,
    "image_size": 224,  # height and width, in pixels
    "channels": 3,
    "classes": 1000,  # number of labels
}


def input_fn(mode: str, params: dict[str, Any]) -> tf.data.Dataset:
    """Returns `{"image": float32 [batch, size, size, channels]}` in [0, 1) and int64 labels.

    The dataset has no end in mode "train", and one batch else.
    """
    size = params["image_size"]
    images = tf.random.uniform([params["batch_size"], size, size, params["channels"]], seed=1)
    labels = tf.random.uniform([params["batch_size"]], 0, params["classes"], tf.int64, seed=2)
    dataset = tf.data.Dataset.from_tensors(({"image": images}, labels))
    return dataset.repeat().prefetch(2) if mode == "train" else dataset


def data_params(params: dict[str, Any]) -> dict[str, int]:
    """Returns num_classes."""
    return {"num_classes": params["classes"]}
