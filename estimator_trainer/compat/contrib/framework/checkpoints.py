"""Values of checkpoints: read, or given to variables and to initializers.

Source: tensorflow/contrib/framework/python/framework/checkpoint_utils.py and
python/ops/checkpoint_ops.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

from absl import logging
import tensorflow as tf


def load_checkpoint(filepattern: str) -> Any:
    """Returns a reader of a checkpoint.

    Args:
      filepattern: The checkpoint's prefix, or a folder whose latest one is read.

    Raises:
      ValueError: the folder has no checkpoint.
    """
    return tf.train.load_checkpoint(filepattern)


def load_variable(checkpoint_dir: str, name: str) -> Any:
    """Returns a variable's value, an array; the name may end with ":0"."""
    return load_checkpoint(checkpoint_dir).get_tensor(name.removesuffix(":0"))


def assign_from_checkpoint(model_path: str, var_list: Any,
                           ignore_missing_vars: bool = False) -> Any:
    """Returns an operation that gives variables their values of a checkpoint, and what it is fed.

    Args:
      model_path: The checkpoint's prefix.
      var_list: Variables, or those by their names in the checkpoint, one or a list of parts.
      ignore_missing_vars: Whether names that the checkpoint lacks are logged only.

    Raises:
      ValueError: a name is not in the checkpoint, or a value has another shape.
    """
    reader, operations = tf.compat.v1.train.NewCheckpointReader(model_path), []
    values: dict[Any, Any] = {}
    for name, variables in _by_checkpoint_name(var_list).items():
        if not reader.has_tensor(name):
            if not ignore_missing_vars:
                raise ValueError(f"Checkpoint is missing variable [{name}]")
            logging.warning("Checkpoint is missing variable [%s]", name)
            continue
        value = reader.get_tensor(name)
        for variable in variables:
            placeholder = tf.compat.v1.placeholder(
                variable.dtype.base_dtype, variable.shape, f"placeholder/{variable.op.name}")
            operations.append(variable.assign(placeholder))
            values[placeholder] = _part(value, name, variable)
    return tf.group(*operations), values


def _by_checkpoint_name(var_list: Any) -> dict[str, list[Any]]:
    if isinstance(var_list, dict):
        return {name: list(each) if isinstance(each, (tuple, list)) else [each]
                for name, each in var_list.items()}
    found: dict[str, list[Any]] = {}
    for variable in var_list:
        part = variable._save_slice_info
        found.setdefault(part.full_name if part else variable.op.name, []).append(variable)
    return found


def _part(value: Any, name: str, variable: Any) -> Any:
    """Returns what a variable, which may be a part of one, has of a value."""
    part = variable._save_slice_info
    if part:
        bounds = zip(part.var_offset, part.var_shape)
        return value[tuple(slice(start, start + size) for start, size in bounds)]
    if variable.shape != value.shape:
        raise ValueError(f"Total size of new array must be unchanged for {name} lh_shape: "
                         f"[{value.shape}], rh_shape: [{variable.shape}]")
    return value


def list_variables(checkpoint_dir: str) -> list[tuple[str, list[int]]]:
    """Returns the names and shapes of a checkpoint's variables, sorted."""
    return sorted(load_checkpoint(checkpoint_dir).get_variable_to_shape_map().items())


def init_from_checkpoint(checkpoint_dir: str, assignment_map: Any) -> None:
    """Lets variables start with a checkpoint's values.

    Args:
      checkpoint_dir: The checkpoint's prefix, or a folder whose latest one is read.
      assignment_map: Variables, or their names, by names in the checkpoint; scopes end with "/".

    Raises:
      ValueError: a name is not in the checkpoint, or a shape differs.
    """
    tf.compat.v1.train.init_from_checkpoint(checkpoint_dir, assignment_map)


def load_linear_multiclass_bias_initializer(
        ckpt_path: str, bias_tensor_name: str, new_class_vocab_size: int,
        old_class_vocab_file: str, new_class_vocab_file: str, num_class_oov_buckets: int = 0,
        initializer: Any = None, max_rows_in_memory: int = -1) -> Any:
    """Returns an initializer of a bias, whose classes are in another order than the checkpoint's.

    Args:
      ckpt_path: The checkpoint.
      bias_tensor_name: The bias' name there.
      new_class_vocab_size: How many lines of the new file are classes.
      old_class_vocab_file, new_class_vocab_file: Files of a class a line.
      num_class_oov_buckets: How many values `initializer` makes after the classes.
      initializer: Makes the values that the checkpoint lacks; zeros by default.
      max_rows_in_memory: How many rows are read at once; -1 for all.
    """
    return _remap()(
        ckpt_path=ckpt_path, old_tensor_name=bias_tensor_name,
        new_row_vocab_size=new_class_vocab_size, new_col_vocab_size=1,
        old_row_vocab_file=old_class_vocab_file, new_row_vocab_file=new_class_vocab_file,
        old_col_vocab_file=None, new_col_vocab_file=None,
        num_row_oov_buckets=num_class_oov_buckets, num_col_oov_buckets=0,
        initializer=initializer or tf.compat.v1.zeros_initializer(),
        max_rows_in_memory=max_rows_in_memory)


def load_variable_slot_initializer(
        ckpt_path: str, old_tensor_name: str, primary_partition_info: Any, new_row_vocab_size: int,
        new_col_vocab_size: int, old_row_vocab_file: Any = None, new_row_vocab_file: Any = None,
        old_col_vocab_file: Any = None, new_col_vocab_file: Any = None,
        num_row_oov_buckets: int = 0, num_col_oov_buckets: int = 0, initializer: Any = None,
        max_rows_in_memory: int = -1) -> Any:
    """Returns an initializer of a slot of a variable, of which it has the same part.

    Args:
      ckpt_path, old_tensor_name: Where the slot's values are.
      primary_partition_info: Which part of the variable the slot belongs to.
      **others: As in `load_and_remap_matrix_initializer`.
    """
    load = _remap()(
        ckpt_path=ckpt_path, old_tensor_name=old_tensor_name,
        new_row_vocab_size=new_row_vocab_size, new_col_vocab_size=new_col_vocab_size,
        old_row_vocab_file=old_row_vocab_file, new_row_vocab_file=new_row_vocab_file,
        old_col_vocab_file=old_col_vocab_file, new_col_vocab_file=new_col_vocab_file,
        num_row_oov_buckets=num_row_oov_buckets, num_col_oov_buckets=num_col_oov_buckets,
        initializer=initializer, max_rows_in_memory=max_rows_in_memory)

    def initialize(shape: Any, dtype: Any = tf.float32, partition_info: Any = None) -> Any:
        return load(shape, dtype, partition_info=primary_partition_info)

    return initialize


def _remap() -> Any:
    from tensorflow.python.training import checkpoint_ops
    return getattr(checkpoint_ops, "_load_and_remap_matrix_initializer")
