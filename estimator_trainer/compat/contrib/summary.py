"""`tf.contrib.summary`: summaries that are written by ops, behind `tf.compat.v2.summary`."""

from __future__ import annotations

_OPS = "tensorflow.python.ops.summary_ops_v2"

NAMES = {
    "all_summary_ops": "tf.summary.all_v2_summary_ops",
    **{name: f"{_OPS}.{name}" for name in (
        "always_record_summaries", "audio", "create_file_writer", "create_summary_file_writer",
        "flush", "generic", "histogram", "image", "initialize", "never_record_summaries",
        "record_summaries_every_n_global_steps", "scalar", "should_record_summaries",
        "summary_writer_initializer_op", "import_event", "eval_dir", "SummaryWriter")},
    "graph": f"{_OPS}.graph_v1",
}
INSTEAD = {"create_db_writer": "use tf.contrib.summary.create_file_writer"}
