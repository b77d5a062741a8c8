"""Feature columns that check their input as TensorFlow 1.15 did.

Source: tensorflow/python/feature_column/feature_column_v2.py of TensorFlow 1.15
"""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from estimator_trainer.compat.tensorflow1.operations.replaced import Make
from estimator_trainer.patches.op_seeds import count


def _identity(newer: Callable[..., Any]) -> Callable[..., Any]:
    def _transform_input_tensor(self: Any, input_tensor: tf.SparseTensor) -> tf.SparseTensor:
        if self.default_value is not None or not input_tensor.dtype.is_integer:
            count(-int(input_tensor.dtype != tf.int64))  # Two casts are made today.
            return newer(self, input_tensor)
        values = tf.cast(input_tensor.values, tf.int64, name="values")
        buckets = tf.cast(self.num_buckets, tf.int64, name="num_buckets")
        zero = tf.cast(0, tf.int64, name="zero")
        is_in_range = [
            tf.compat.v1.assert_less(
                values, buckets, (values, buckets), message="Bucket index for categorical column "
                f'"{self.name}" exceeds number of buckets', name="assert_less_than_num_buckets"),
            tf.compat.v1.assert_greater_equal(
                values, zero, (values,), name="assert_greater_or_equal_0",
                message=f'Negative bucket index for categorical column "{self.name}"')]
        with tf.control_dependencies(is_in_range):
            values = tf.identity(values)
        return tf.SparseTensor(input_tensor.indices, values, input_tensor.dense_shape)

    return _transform_input_tensor


METHODS: dict[str, Make] = {
    "tensorflow.python.feature_column.feature_column_v2.IdentityCategoricalColumn"
    "._transform_input_tensor": _identity,
}
