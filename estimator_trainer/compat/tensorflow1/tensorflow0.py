"""Names of TensorFlow 0.12 that TensorFlow 1.0 removed, if their meaning is clear.

For swapped arguments, as in `tf.concat`, TensorFlow's own error is enough.

Source: tensorflow/tools/compatibility/tf_upgrade.py of TensorFlow 1.0
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import tensorflow as tf

from estimator_trainer.compat.contrib import deprecated
from estimator_trainer.compat.tensorflow1 import homes

# Names that `tf.compat.v1` lacks, and their names today.
NAMES = {
    **deprecated.NAMES,
    "batch_matmul": "tf.matmul",
    "complex_abs": "tf.abs",
    "image.per_image_whitening": "tf.image.per_image_standardization",
    "inv": "tf.reciprocal",
    "list_diff": "tf.setdiff1d",
    "listdiff": "tf.setdiff1d",
    "mul": "tf.multiply",
    "neg": "tf.negative",
    "pack": "tf.stack",
    "select": "tf.where",
    "sub": "tf.subtract",
    "train.SummaryWriter": "tf.summary.FileWriter",
    "train.SyncReplicasOptimizerV2": "tf.train.SyncReplicasOptimizer",
    "unpack": "tf.unstack",
}
# Losses that took logits first, and since 1.0 take no positional arguments.
LOSSES = ("sigmoid_cross_entropy_with_logits", "softmax_cross_entropy_with_logits",
          "sparse_softmax_cross_entropy_with_logits")


def supply() -> None:
    """Puts the names back into `tf.compat.v1`."""
    for name, home in NAMES.items():
        package, _, attribute = name.rpartition(".")
        module = getattr(tf.compat.v1, package) if package else tf.compat.v1
        if not hasattr(module, attribute):
            setattr(module, attribute, homes.resolve(home))
    for name in LOSSES:
        setattr(tf.compat.v1.nn, name, _logits_first(getattr(tf.compat.v1.nn, name)))


def _logits_first(loss: Callable[..., tf.Tensor]) -> Callable[..., tf.Tensor]:
    @functools.wraps(loss)
    def by_place_or_name(*args: tf.Tensor, **options: Any) -> tf.Tensor:
        if len(args) > 2:
            raise TypeError(f"{loss.__name__} takes logits and labels by place; {len(args)} given")
        return loss(**dict(zip(("logits", "labels"), args)), **options)

    return by_place_or_name
