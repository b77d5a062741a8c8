"""`tf.contrib.lookup`, which is `tf.lookup` and the module behind it."""

from __future__ import annotations

from typing import Any

_OPS = "tensorflow.python.ops.lookup_ops"


def _ops() -> Any:
    from tensorflow.python.ops import lookup_ops
    return lookup_ops


def index_table_from_tensor(mapping: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns a table from a string, or an integer, to its index in `mapping`.

    Args:
      mapping: [n] tensor.
      *args, **kwargs: num_oov_buckets, default_value, hasher_spec, dtype, name.
    """
    return _ops().index_table_from_tensor(mapping, *args, **kwargs)


def index_to_string_table_from_tensor(mapping: Any, default_value: str = "UNK",
                                      name: Any = None) -> Any:
    """Returns a table from an index to its string in `mapping`."""
    return _ops().index_to_string_table_from_tensor(mapping, default_value, name)


def index_to_string(tensor: Any, mapping: Any, default_value: str = "UNK",
                    name: Any = None) -> Any:
    """Returns the strings of `mapping` at the indices in `tensor`."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)


def string_to_index(tensor: Any, mapping: Any, default_value: int = -1, name: Any = None) -> Any:
    """Returns the indices in `mapping` of the strings in `tensor`."""
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


NAMES = {
    **{each.__name__: each for each in (
        index_table_from_tensor, index_to_string_table_from_tensor, index_to_string,
        string_to_index)},
    "string_to_index_table_from_tensor": index_table_from_tensor,
    "string_to_index_table_from_file": f"{_OPS}.index_table_from_file",
    "HashTable": f"{_OPS}.StaticHashTableV1",
    "MutableDenseHashTable": f"{_OPS}.DenseHashTable",
}
MODULES = (_OPS,)
