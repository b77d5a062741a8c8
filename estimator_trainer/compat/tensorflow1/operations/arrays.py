"""Functions of arrays that make TensorFlow 1.15's operations, or count them.

Source: tensorflow/python/ops of TensorFlow 1.15: array_ops, math_ops, nn_impl, embedding_ops
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Sequence

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.tensorflow1.operations.replaced import Make, more
from estimator_trainer.patches.op_seeds import count

_SEGMENTS = {"sum": "sparse_segment_sum", "mean": "sparse_segment_mean",
             "sqrtn": "sparse_segment_sqrt_n"}


def _split(newer: Callable[..., Any]) -> Callable[..., Any]:
    def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None,
              name: str = "split") -> Any:
        if isinstance(num_or_size_splits, int):
            tf.constant(num_or_size_splits)  # Nothing used it.
        return newer(value, num_or_size_splits, axis, num, name)

    return split


def _filled(newer: Callable[..., Any]) -> Callable[..., Any]:
    def zeros_or_ones(shape: Any, *args: Any, **kwargs: Any) -> Any:
        count(_operations_of_size(shape))
        return newer(shape, *args, **kwargs)

    return zeros_or_ones


def _operations_of_size(shape: Any) -> int:
    """Returns the number of operations in which the size of a list with tensors was compared."""
    if not isinstance(shape, (list, tuple)) or not any(map(tf.is_tensor, shape)):
        return 0
    made, is_tensor = 2, tf.is_tensor(shape[0])
    for each in shape[1:]:
        made += (is_tensor or tf.is_tensor(each)) + (is_tensor != tf.is_tensor(each))
        is_tensor |= tf.is_tensor(each)
    return made


def _one_hot(newer: Callable[..., Any]) -> Callable[..., Any]:
    def one_hot(indices: Any, depth: Any, on_value: Any = None, off_value: Any = None,
                *args: Any, **kwargs: Any) -> Any:
        count(sum(value is not None and not tf.is_tensor(value) for value in (on_value, off_value)))
        return newer(indices, depth, on_value, off_value, *args, **kwargs)

    return one_hot


def _tensordot(newer: Callable[..., Any]) -> Callable[..., Any]:
    def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
        result = newer(a, b, axes, name)
        shapes = [each.shape if tf.is_tensor(each) else tf.TensorShape(np.shape(each))
                  for each in (a, b)]
        sides = None if shapes[0].rank is None else _axes(len(shapes[0]), axes)
        if sides is None:
            return result
        for shape, side, is_second in ((shapes[0], sides[0], False), (shapes[1], sides[1], True)):
            if shape.is_fully_defined():
                count(_left_out(shape.as_list(), side, is_second))
        if result.op.type == "MatMul":
            count(2)  # The reshaping of its result.
        return result

    return tensordot


def _axes(rank: int, axes: Any) -> tuple[Sequence[int], Sequence[int]] | None:
    """Returns the axes of both operands; None if they are tensors."""
    if isinstance(axes, int):
        return range(rank - axes, rank), range(axes)
    if not isinstance(axes, (list, tuple)) or tf.is_tensor(axes[0]) or tf.is_tensor(axes[1]):
        return None
    first, second = ([side] if isinstance(side, int) else list(side) for side in axes)
    return first, second


def _left_out(dims: list[int], axes: Sequence[int], is_second: bool) -> int:
    """Returns the number of operations without which an operand becomes a matrix today."""
    axes = [axis % len(dims) for axis in axes]
    free = [axis for axis in range(len(dims)) if axis not in axes]
    order = [*axes, *free] if is_second else [*free, *axes]
    is_matrix = len(dims) == 2 and len(axes) == 1
    return 2 * (order == sorted(order)) + 2 * is_matrix


def _fused_batch_norm(newer: Callable[..., Any]) -> Callable[..., Any]:
    names = tuple(inspect.signature(newer).parameters)

    def fused_batch_norm(*args: Any, **kwargs: Any) -> Any:
        options = {**dict(zip(names, args)), **kwargs}
        if options.get("exponential_avg_factor") is None:
            options.pop("exponential_avg_factor", None)
        if options.get("is_training", True) and options.get("exponential_avg_factor", 1.0) == 1.0:
            options.update(mean=None, variance=None)  # Nothing reads them.
        return newer(**options)

    return fused_batch_norm


def _reduced_axes(newer: Callable[..., Any]) -> Callable[..., Any]:
    def _ReductionDims(x: Any, axis: Any) -> Any:
        is_scalar = axis is None and tf.is_tensor(x) and getattr(x, "shape", None) == ()
        return tf.constant([], tf.int32) if is_scalar else newer(x, axis)

    return _ReductionDims


def _swish(newer: Callable[..., Any]) -> Callable[..., Any]:
    def product(features: tf.Tensor) -> Any:
        def gradient(dy: tf.Tensor) -> tf.Tensor:
            gate = tf.sigmoid(features)
            return dy * gate * (1.0 + features * (1.0 - gate))

        return features * tf.sigmoid(features), gradient

    def swish(features: Any, beta: Any = 1.0) -> Any:
        if not isinstance(beta, float) or beta != 1.0:
            return newer(features, beta)
        return tf.custom_gradient(product)(tf.convert_to_tensor(features, name="features"))

    return swish


def _stateless(newer: Callable[..., Any]) -> Callable[..., Any]:
    def stateless(*args: Any, **kwargs: Any) -> Any:
        count(-2)  # Today a key and an algorithm are operations.
        return newer(*args, **kwargs)

    return stateless


def _saturate_cast(newer: Callable[..., Any]) -> Callable[..., Any]:
    def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
        value, kind = tf.convert_to_tensor(value, name="value"), tf.as_dtype(dtype).base_dtype
        if value.dtype.is_complex or kind.is_complex:
            return newer(value, dtype, name)
        with tf.compat.v1.name_scope(name, "saturate_cast", [value]) as scope:
            if value.dtype.min < kind.min:
                value = tf.maximum(value, tf.constant(kind.min, value.dtype, name="min"))
            if value.dtype.max > kind.max:
                value = tf.minimum(value, tf.constant(kind.max, value.dtype, name="max"))
            return tf.cast(value, kind, name=scope)

    return saturate_cast


def _linspace(newer: Callable[..., Any]) -> Callable[..., Any]:
    def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Any:
        return tf.raw_ops.LinSpace(start=start, stop=stop, num=num, name=name)

    return linspace


def _matrix_diag(newer: Callable[..., Any]) -> Callable[..., Any]:
    def matrix_diag(diagonal: Any, name: str = "diag", *args: Any, **kwargs: Any) -> Any:
        if args or kwargs:
            return newer(diagonal, name, *args, **kwargs)
        return tf.raw_ops.MatrixDiag(diagonal=diagonal, name=name)

    return matrix_diag


def _matrix_diag_part(newer: Callable[..., Any]) -> Callable[..., Any]:
    def matrix_diag_part(input: Any, name: str = "diag_part",  # pylint: disable=redefined-builtin
                         *args: Any, **kwargs: Any) -> Any:
        if args or kwargs:
            return newer(input, name, *args, **kwargs)
        return tf.raw_ops.MatrixDiagPart(input=input, name=name)

    return matrix_diag_part


def _matrix_set_diag(newer: Callable[..., Any]) -> Callable[..., Any]:
    def matrix_set_diag(input: Any, diagonal: Any,  # pylint: disable=redefined-builtin
                        name: str = "set_diag", *args: Any, **kwargs: Any) -> Any:
        if args or kwargs:
            return newer(input, diagonal, name, *args, **kwargs)
        return tf.raw_ops.MatrixSetDiag(input=input, diagonal=diagonal, name=name)

    return matrix_set_diag


def _embedding_lookup_sparse(newer: Callable[..., Any]) -> Callable[..., Any]:
    def embedding_lookup_sparse(params: Any, sp_ids: Any, sp_weights: Any,
                                partition_strategy: str = "mod", name: str | None = None,
                                combiner: str | None = None, max_norm: Any = None,
                                **kwargs: Any) -> Any:
        reduce = getattr(tf.compat.v1, _SEGMENTS.get(combiner or "mean", ""), None)
        if sp_weights is not None or not reduce or not isinstance(sp_ids, tf.SparseTensor):
            return newer(params, sp_ids, sp_weights, partition_strategy, name, combiner, max_norm,
                         **kwargs)
        with tf.compat.v1.name_scope(name, "embedding_lookup_sparse") as scope:
            segments = tf.cast(sp_ids.indices[:, 0], tf.int32)
            ids, places = tf.unique(sp_ids.values)
            rows = tf.compat.v1.nn.embedding_lookup(
                params, ids, partition_strategy, max_norm=max_norm)
            return reduce(rows, places, segments, name=scope)

    return embedding_lookup_sparse


def _sparse_read(newer: Callable[..., Any]) -> Callable[..., Any]:
    def sparse_read(self: Any, indices: Any, name: str | None = None) -> Any:
        with tf.compat.v1.name_scope(name or "Gather") as scope:
            return tf.identity(newer(self, indices, scope))

    return sparse_read


def _size(newer: Callable[..., Any]) -> Callable[..., Any]:
    def size(self: Any, name: str | None = None) -> Any:
        return tf.raw_ops.TensorArraySizeV3(handle=self.handle, flow_in=self.flow, name=name)

    return size


_OPS = "tensorflow.python.ops"
FUNCTIONS: dict[str, Make] = {
    f"{_OPS}.array_ops.split": _split,
    f"{_OPS}.array_ops.zeros": _filled,
    f"{_OPS}.array_ops.ones": _filled,
    f"{_OPS}.array_ops.one_hot": _one_hot,
    f"{_OPS}.math_ops.tensordot": _tensordot,
    f"{_OPS}.math_ops._ReductionDims": _reduced_axes,
    f"{_OPS}.nn_impl.fused_batch_norm": _fused_batch_norm,
    f"{_OPS}.nn_impl.swish": _swish,
    "tf.nn.swish": _swish,
    f"{_OPS}.stateless_random_ops.stateless_random_normal": _stateless,
    f"{_OPS}.stateless_random_ops.stateless_random_uniform": _stateless,
    f"{_OPS}.stateless_random_ops.stateless_truncated_normal": _stateless,
    f"{_OPS}.nn_impl.weighted_moments": more(1),
    f"{_OPS}.clip_ops.clip_by_global_norm": more(1),
    f"{_OPS}.math_ops.saturate_cast": _saturate_cast,
    f"{_OPS}.math_ops.linspace_nd": _linspace,
    f"{_OPS}.array_ops.matrix_diag": _matrix_diag,
    "tf.linalg.diag": _matrix_diag,
    f"{_OPS}.array_ops.matrix_diag_part": _matrix_diag_part,
    f"{_OPS}.array_ops.matrix_set_diag": _matrix_set_diag,
    f"{_OPS}.confusion_matrix.confusion_matrix_v1": more(3),
    f"{_OPS}.metrics_impl._streaming_confusion_matrix": more(3),
    f"{_OPS}.embedding_ops.embedding_lookup_sparse": _embedding_lookup_sparse,
}
METHODS: dict[str, Make] = {
    f"{_OPS}.tensor_array_ops._GraphTensorArray.size": _size,
    f"{_OPS}.resource_variable_ops.BaseResourceVariable.sparse_read": _sparse_read,
}
