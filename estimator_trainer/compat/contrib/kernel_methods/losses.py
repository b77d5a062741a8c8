"""The hinge loss of one class of several.

Crammer and Singer, "On the Algorithmic Implementation of Multiclass Kernel-based Vector Machines",
JMLR 2001. Source of the interface: tensorflow/contrib/kernel_methods/python/losses.py of
TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_losses = tf.compat.v1.losses


def sparse_multiclass_hinge_loss(labels: Any, logits: Any, weights: Any = 1., scope: Any = None,
                                 loss_collection: Any = tf.compat.v1.GraphKeys.LOSSES,
                                 reduction: str = _losses.Reduction.SUM_BY_NONZERO_WEIGHTS) -> Any:
    """Returns how far another class' logit comes within 1 of the right one's.

    Args:
      labels: [batch] or [batch, 1] integers.
      logits: [batch, classes].
      weights: A number, or [batch] or [batch, 1].
      scope, loss_collection, reduction: As in `tf.losses`.

    Raises:
      ValueError: a tensor is of another rank, or labels are no integers.
    """
    if logits.shape.ndims != 2:
        raise ValueError("logits should have rank 2 ([batch_size, num_classes]). Given rank is "
                         f"{logits.shape.ndims}")
    if labels.dtype not in (tf.int32, tf.int64):
        raise ValueError(f"Invalid dtype for labels: {labels.dtype}. Acceptable dtypes: int32 and "
                         "int64")
    if labels.shape.ndims not in (1, 2):
        raise ValueError("labels should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given "
                         f"rank is {labels.shape.ndims}")
    weights = tf.convert_to_tensor(weights)
    if weights.shape.ndims not in (0, 1, 2):
        raise ValueError("non-scalar weights should have rank 1 ([batch_size]) or 2 "
                         f"([batch_size, 1]). Given rank is {weights.shape.ndims}")
    with tf.compat.v1.name_scope(scope, "sparse_multiclass_hinge_loss", [logits, labels]) as scope:
        logits = tf.cast(logits, tf.float32)
        classes = tf.shape(logits)[1]
        with tf.control_dependencies([tf.compat.v1.assert_less(
                labels, tf.cast(classes, labels.dtype))]):
            labels = tf.reshape(labels, [-1])
        if weights.shape.ndims:
            weights = tf.reshape(weights, [-1])
            weights.shape.assert_is_compatible_with(labels.shape)
        right = tf.gather(logits, labels, axis=1, batch_dims=1)
        others = tf.one_hot(labels, classes, on_value=0., off_value=1.)
        margins = tf.nn.relu(logits - tf.expand_dims(right, 1) + others)
        return _losses.compute_weighted_loss(tf.reduce_max(margins, axis=1), weights, scope,
                                             loss_collection, reduction)
