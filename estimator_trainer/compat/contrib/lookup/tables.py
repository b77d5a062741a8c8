"""Tables of `tf.contrib.lookup` with the arguments that they had.

Source: tensorflow/contrib/lookup/lookup_ops.py of TensorFlow 1.15
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.ops import lookup_ops

_FAST = lookup_ops.FastHashSpec


class HashTable(lookup_ops.StaticHashTableV1):
    """A table from keys to values that an initializer fills once.

    Args:
      initializer: Fills the table: a KeyValueTensorInitializer or a TextFileInitializer.
      default_value: The value of a key that the table does not have.
      shared_name: A name by which sessions share the table.
      name: The name of the operations.
    """

    def __init__(self, initializer: Any, default_value: Any, shared_name: Any = None,
                 name: Any = None) -> None:
        self._wanted_shared_name = shared_name
        super().__init__(initializer, default_value, name=name)

    def _create_resource(self) -> Any:
        if not tf.executing_eagerly():
            # Newer versions invent one, which differs at each run.
            self._shared_name = self._wanted_shared_name or ""
        return super()._create_resource()

    @property
    def init(self) -> Any:
        """The operation that fills the table."""
        return self.initializer


def index_table_from_tensor(mapping: Any, num_oov_buckets: int = 0, default_value: Any = -1,
                            hasher_spec: Any = _FAST, dtype: Any = tf.string,
                            name: Any = None) -> Any:
    """Returns a table from a string, or an integer, to its index in `mapping`.

    Args:
      mapping: [n] tensor of the keys.
      num_oov_buckets: How many indices beyond n others get, by their hash.
      default_value: The index of others where there are no such buckets.
      hasher_spec: The hash.
      dtype: The type of the keys.
      name: The name of the operations.
    """
    return lookup_ops.index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, dtype, name)


def string_to_index_table_from_tensor(mapping: Any, num_oov_buckets: int = 0,
                                      default_value: Any = -1, hasher_spec: Any = _FAST,
                                      name: Any = None) -> Any:
    """Returns a table from a string to its index in `mapping`; see `index_table_from_tensor`."""
    return lookup_ops.index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, name=name)


def string_to_index_table_from_file(vocabulary_file: Any = None, num_oov_buckets: int = 0,
                                    vocab_size: Any = None, default_value: Any = -1,
                                    hasher_spec: Any = _FAST, name: Any = None) -> Any:
    """Returns a table from a string to the number of its line in a file."""
    return lookup_ops.index_table_from_file(
        vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, name=name)


def index_to_string_table_from_tensor(mapping: Any, default_value: Any = "UNK",
                                      name: Any = None) -> Any:
    """Returns a table from an index to its string in `mapping`."""
    return lookup_ops.index_to_string_table_from_tensor(mapping, default_value, name)


def index_to_string(tensor: Any, mapping: Any, default_value: Any = "UNK",
                    name: Any = None) -> Any:
    """Returns the strings of `mapping` at the indices in `tensor`."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)


def string_to_index(tensor: Any, mapping: Any, default_value: Any = -1, name: Any = None) -> Any:
    """Returns the indices in `mapping` of the strings in `tensor`."""
    return index_table_from_tensor(mapping, default_value=default_value,
                                   name=name).lookup(tensor)
