"""Cross-entropies that take logits before labels, as TensorFlow did before 1.0.

The API is that of `tensorflow/contrib/nn/python/ops/cross_entropy.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

nn = tf.compat.v1.nn


def softmax_cross_entropy(logits: Any, labels: Any, dim: int = -1, name: Any = None) -> Any:
    """Returns `tf.nn.softmax_cross_entropy_with_logits` of logits and labels."""
    return nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def sparse_softmax_cross_entropy(logits: Any, labels: Any, name: Any = None) -> Any:
    """Returns `tf.nn.sparse_softmax_cross_entropy_with_logits` of logits and labels."""
    return nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def sigmoid_cross_entropy(logits: Any, targets: Any, name: Any = None) -> Any:
    """Returns `tf.nn.sigmoid_cross_entropy_with_logits` of logits and targets."""
    return nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)
