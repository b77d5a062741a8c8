"""`tf.contrib.lookup`, which is `tf.lookup` and the module behind it."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.lookup.tables"
_OPS = "tensorflow.python.ops.lookup_ops"

NAMES = {
    **{name: f"{_HERE}.{name}" for name in (
        "HashTable", "index_table_from_tensor", "index_to_string",
        "index_to_string_table_from_tensor", "string_to_index", "string_to_index_table_from_file",
        "string_to_index_table_from_tensor")},
    "MutableDenseHashTable": f"{_OPS}.DenseHashTable",
}
MODULES = (_OPS,)
