"""The sparsemax and its loss.

Martins, Astudillo, "From Softmax to Sparsemax: A Sparse Model of Attention and Multi-Label
Classification", ICML 2016. The API is that of `tensorflow/contrib/sparsemax` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

v1 = tf.compat.v1


def sparsemax(logits: Any, name: Any = None) -> Any:
    """Returns the nearest point of the simplex to each row.

    Args:
      logits: [batch, classes] float16, float32 or float64.
      name: A name for the ops.
    """
    with v1.name_scope(name, "sparsemax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        rows, classes = tf.shape(logits)[0], tf.shape(logits)[1]
        largest, _ = tf.math.top_k(logits, k=classes)
        sums = tf.cumsum(largest, axis=1)
        ranks = tf.range(1, tf.cast(classes, logits.dtype) + 1, dtype=logits.dtype)
        support = tf.reduce_sum(tf.cast(1 + ranks * largest > sums, tf.int32), axis=1)
        # A row that has no support, of infinite or undefined logits, becomes undefined below.
        where = tf.stack([tf.range(0, rows), tf.maximum(support, 1) - 1], axis=1)
        threshold = (tf.gather_nd(sums, where) - 1) / tf.cast(support, logits.dtype)
        found = tf.maximum(tf.cast(0, logits.dtype), logits - threshold[:, None])
        is_undefined = tf.logical_or(tf.equal(support, 0), tf.math.is_nan(sums[:, -1]))
        undefined = tf.fill([rows, classes], tf.cast(float("nan"), logits.dtype))
        return v1.where(is_undefined, undefined, found)


def sparsemax_loss(logits: Any, sparsemax: Any, labels: Any, name: Any = None) -> Any:
    """Returns the loss of the sparsemax, [batch].

    Args:
      logits: [batch, classes] floats.
      sparsemax: Their sparsemax.
      labels: The wanted distribution, [batch, classes].
      name: A name for the ops.
    """
    with v1.name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits = tf.convert_to_tensor(logits, name="logits")
        sparsemax = tf.convert_to_tensor(sparsemax, name="sparsemax")
        labels = tf.convert_to_tensor(labels, name="labels")
        # Logits of minus infinity count where their class is in the support, or is the label.
        is_support = tf.logical_or(sparsemax > 0, tf.math.is_nan(sparsemax))
        support = v1.where(is_support, sparsemax * (logits - 0.5 * sparsemax),
                           tf.zeros_like(sparsemax))
        wanted = labels * (0.5 * labels - logits)
        is_out = tf.logical_and(tf.equal(labels, 0), tf.math.is_inf(logits))
        wanted = v1.where(is_out, tf.zeros_like(logits), wanted)
        return tf.reduce_sum(support + wanted, axis=1)
