"""Checks labels that are classes, where they are read.

A class out of range gives NaN on a GPU and an error without file or record on a CPU.
"""

from __future__ import annotations

import tensorflow as tf


def checked(labels: tf.Tensor, num_classes: int) -> tf.Tensor:
    """Returns the labels, int64 [batch]; reading them fails if one is out of range.

    Args:
      labels: Labels of any dtype; only integers are classes and are checked.
      num_classes: Number of classes, which are 0 to num_classes - 1. Without a check: 0 if unknown,
        -1 if the labels are not classes.
    """
    if num_classes < 1 or not labels.dtype.is_integer:
        return labels
    in_range = tf.logical_and(labels >= 0, labels < num_classes)
    check = tf.debugging.Assert(tf.reduce_all(in_range), [
        f"label out of range; expected 0 to {num_classes - 1} (num_classes={num_classes})", labels])
    with tf.control_dependencies([check] if check is not None else []):
        return tf.identity(labels)


def problem(label: int, num_classes: int) -> str:
    """Returns the problem of one label, as the end of a sentence; "" if there is none."""
    if num_classes < 1 or 0 <= label < num_classes:
        return ""
    return f"label is {label}; expected 0 to {num_classes - 1} (num_classes={num_classes})"
