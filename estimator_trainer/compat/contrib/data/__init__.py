"""`tf.contrib.data`, most of which became `tf.data` and `tf.data.experimental`."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.data"

NAMES = {
    **{name: f"tf.data.{name}" for name in (
        "Dataset", "FixedLengthRecordDataset", "Iterator", "TextLineDataset", "TFRecordDataset")},
    **{name: f"{_HERE}.transformations.{name}" for name in (
        "assert_element_shape", "batch_and_drop_remainder", "padded_batch_and_drop_remainder",
        "read_batch_features", "reduce_dataset", "sliding_window_batch", "sloppy_interleave")},
    "LMDBDataset": f"{_HERE}.sources.LMDBDataset",
    "CheckpointInputPipelineHook": f"{_HERE}.hooks.CheckpointInputPipelineHook",
}
MODULES = ("tf.data.experimental",)
