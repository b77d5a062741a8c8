"""`tf.contrib.data`, which became `tf.data` and `tf.data.experimental`."""

from __future__ import annotations

from typing import Any, Callable


def batch_and_drop_remainder(batch_size: Any) -> Callable[[Any], Any]:
    """Returns a transformation for `Dataset.apply`: whole batches alone."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size: Any, padded_shapes: Any,
                                    padding_values: Any = None) -> Callable[[Any], Any]:
    """Returns a transformation for `Dataset.apply`: whole padded batches alone."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values,
                                                drop_remainder=True)


NAMES = {
    **{name: f"tf.data.{name}" for name in (
        "Dataset", "FixedLengthRecordDataset", "Iterator", "TextLineDataset", "TFRecordDataset")},
    "batch_and_drop_remainder": batch_and_drop_remainder,
    "padded_batch_and_drop_remainder": padded_batch_and_drop_remainder,
}
MODULES = ("tf.data.experimental",)
INSTEAD = {
    "assert_element_shape": "use tf.data.experimental.assert_cardinality or Dataset.map with "
                            "tf.ensure_shape",
    "read_batch_features": "use tf.data.experimental.make_batched_features_dataset",
    "reduce_dataset": "use Dataset.reduce",
    "sliding_window_batch": "use Dataset.window",
}
