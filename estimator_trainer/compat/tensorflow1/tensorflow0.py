"""Names and arguments of TensorFlow 0.12 that TensorFlow 1.0 changed, if their meaning is clear.

The first use of each is logged.

Source: tensorflow/tools/compatibility/tf_upgrade.py of TensorFlow 1.0
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.contrib import deprecated
from estimator_trainer.compat.tensorflow1 import late_names, logged_once


def batch_matmul(x: Any, y: Any, adj_x: bool = False, adj_y: bool = False,
                 name: Any = None) -> Any:
    """Returns the products of two batches of matrices, each adjoint if it is to be."""
    return tf.matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y, name=name)


_BATCH = ("cholesky", "cholesky_solve", "fft", "fft2d", "fft3d", "ifft", "ifft2d", "ifft3d",
          "matrix_band_part", "matrix_determinant", "matrix_diag", "matrix_diag_part",
          "matrix_inverse", "matrix_set_diag", "matrix_solve", "matrix_solve_ls",
          "matrix_transpose", "matrix_triangular_solve", "self_adjoint_eig",
          "self_adjoint_eigvals", "svd")
# Names that `tf.compat.v1` lacks, and their names today.
NAMES: dict[str, dict[str, Any]] = {
    "": {
        **deprecated.NAMES,
        **{f"batch_{name}": f"tf.{name}" for name in _BATCH},
        "batch_matmul": batch_matmul,
        "complex_abs": "tf.abs",
        "concat_v2": "tf.concat",
        "inv": "tf.reciprocal",
        "list_diff": "tf.setdiff1d",
        "listdiff": "tf.setdiff1d",
        "mul": "tf.multiply",
        "neg": "tf.negative",
        "pack": "tf.stack",
        "reverse_v2": "tf.reverse",
        "select": "tf.where",
        "sub": "tf.subtract",
        "unpack": "tf.unstack",
    },
    "image": {"per_image_whitening": "tf.image.per_image_standardization"},
    "nn": {
        "bidirectional_rnn": "tensorflow.contrib.rnn.static_bidirectional_rnn",
        "rnn": "tensorflow.contrib.rnn.static_rnn",
        "seq2seq": "tensorflow.contrib.legacy_seq2seq",
        "state_saving_rnn": "tensorflow.contrib.rnn.static_state_saving_rnn",
    },
    "train": {
        "SummaryWriter": "tf.summary.FileWriter",
        "SyncReplicasOptimizerV2": "tf.train.SyncReplicasOptimizer",
    },
}
# Losses that took logits first, and since 1.0 take no positional arguments.
LOSSES = ("sigmoid_cross_entropy_with_logits", "softmax_cross_entropy_with_logits",
          "sparse_softmax_cross_entropy_with_logits")


def supply() -> None:
    """Puts the names back into `tf.compat.v1`, and lets functions take arguments as before 1.0."""
    v1 = tf.compat.v1
    for package, names in NAMES.items():
        module = getattr(v1, package) if package else v1
        late_names.offer(module, {name: home for name, home in names.items()
                                  if not hasattr(module, name)},
                         "TensorFlow 1.0", f"tf.{package}" if package else "tf")
    for name in LOSSES:
        setattr(v1.nn, name, _logits_first(getattr(v1.nn, name)))
    for name, understand in _FORMS.items():
        setattr(v1, name, _understanding(name, getattr(v1, name), understand))
    v1.image.resize_images = _understanding("image.resize_images", v1.image.resize_images,
                                            _resize_images)
    optimizer = v1.train.SyncReplicasOptimizer
    optimizer.__init__ = _understanding("train.SyncReplicasOptimizer", optimizer.__init__,
                                        _without_replica_id)


def _logits_first(loss: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(loss)
    def by_place_or_name(*args: Any, _sentinel: Any = None, **options: Any) -> Any:
        if args and args[0] is None:
            args = args[1:]  # The place of `_sentinel`.
        if len(args) > 2:
            raise TypeError(f"{loss.__name__} takes logits and labels by place; {len(args)} given")
        if args:
            logged_once.log(f"tf.nn.{loss.__name__} takes logits first where arguments have no "
                            "names, as before TensorFlow 1.0.")
        return loss(**dict(zip(("logits", "labels"), args)), **options)

    return by_place_or_name


def _understanding(name: str, function: Callable[..., Any],
                   understand: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Returns a function that takes arguments as it did before 1.0, too.

    Args:
      name: Its name, for the log.
      function: The function.
      understand: Returns the arguments of today for old ones; None for those of today.
    """
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        old = understand(args, kwargs)
        if old is not None:
            logged_once.log(f"tf.{name} was given arguments as before TensorFlow 1.0; the program "
                            "gets what they meant.")
            args, kwargs = old
        return function(*args, **kwargs)

    return call


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _old_names(kwargs: dict[str, Any], **names: str) -> Any:
    """Returns the named arguments by their names of today; None if none has an old one."""
    if not set(names) & set(kwargs):
        return None
    return {names.get(name, name): value for name, value in kwargs.items()}


def _concat(args: Any, kwargs: Any) -> Any:
    by_name = _old_names(kwargs, concat_dim="axis")
    if len(args) > 1 and _is_number(args[0]) and not _is_number(args[1]):
        return (args[1], args[0], *args[2:]), by_name or kwargs
    if len(args) == 1 and _is_number(args[0]) and "values" in kwargs:
        return (), {"axis": args[0], **kwargs}
    return by_name and (args, by_name)


def _split(args: Any, kwargs: Any) -> Any:
    by_name = _old_names(kwargs, split_dim="axis", num_split="num_or_size_splits")
    if args and _is_number(args[0]):
        places = dict(zip(("axis", "num_or_size_splits", "value", "name"), args))
        return (), {**places, **(by_name or kwargs)}
    return by_name and (args, by_name)


def _reverse(args: Any, kwargs: Any) -> Any:
    by_name = _old_names(kwargs, dims="axis") or dict(kwargs)
    axis = args[1] if len(args) > 1 else by_name.get("axis")
    if not isinstance(axis, (list, tuple, np.ndarray)) or not len(axis) or not all(
            isinstance(each, (bool, np.bool_)) for each in axis):
        return None
    by_name["axis"] = [index for index, each in enumerate(axis) if each]
    return (*args[:1], *args[2:]), by_name


def _sparse_split(args: Any, kwargs: Any) -> Any:
    by_name = _old_names(kwargs, split_dim="axis")
    if args and _is_number(args[0]):
        places = dict(zip(("axis", "num_split", "sp_input", "name"), args))
        return (), {**places, **(by_name or kwargs)}
    return by_name and (args, by_name)


def _resize_images(args: Any, kwargs: Any) -> Any:
    by_name = dict(kwargs)
    values = list(args)
    for name in ("images", "new_height", "new_width"):
        if name in by_name:
            values.append(by_name.pop(name))
    if len(values) < 3 or not all(isinstance(each, int) for each in values[1:3]):
        return None
    return (values[0], values[1:3], *values[3:]), by_name


def _without_replica_id(args: Any, kwargs: Any) -> Any:
    if "replica_id" not in kwargs:
        return None
    return args, {name: value for name, value in kwargs.items() if name != "replica_id"}


_FORMS = {"concat": _concat, "reverse": _reverse, "sparse_split": _sparse_split, "split": _split}
