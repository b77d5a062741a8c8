"""`tf.contrib.distributions.bijectors`: Y = scale @ X + shift, of vectors.

Follows the API of `affine.py` and `affine_linear_operator.py` in
`tensorflow/contrib/distributions/python/ops/bijectors/` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf
from tensorflow.python.ops.distributions import bijector

from estimator_trainer.compat.contrib.distributions import checks, scales

_V1 = tf.compat.v1


class _Affine(bijector.Bijector):
    """A bijector of a shift and a scale."""

    _shift: Any
    _scale: Any

    @property
    def shift(self) -> Any:
        """The vector that is added."""
        return self._shift

    @property
    def scale(self) -> Any:
        """The matrix, a linear operator, or the number that multiplies vectors."""
        return self._scale

    def _non_singular(self) -> list[Any]:
        if not self.validate_args:
            return []
        try:
            return [self.scale.assert_non_singular()]
        except NotImplementedError:
            return []


class AffineLinearOperator(_Affine):
    """Y = scale @ X + shift, where `scale` is a `tf.linalg.LinearOperator`."""

    def __init__(self, shift: Any = None, scale: Any = None, validate_args: bool = False,
                 name: str = "affine_linear_operator") -> None:
        self._graph_parents: list[Any] = []
        self._name, self._validate_args = name, validate_args
        parents = []
        with self._name_scope("init", values=[] if shift is None else [shift]):
            dtype = tf.float32
            if shift is not None:
                shift = tf.convert_to_tensor(shift, name="shift")
                parents, dtype = [shift], shift.dtype.base_dtype
            if scale is not None:
                _check_operator(scale, shift, validate_args)
                parents, dtype = parents + list(scale.graph_parents), scale.dtype.base_dtype
            self._shift, self._scale = shift, scale
            super().__init__(forward_min_event_ndims=1, graph_parents=parents,
                             is_constant_jacobian=True, dtype=dtype, validate_args=validate_args,
                             name=name)

    def _forward(self, x: Any) -> Any:
        if self.scale is not None:
            with tf.control_dependencies(self._non_singular()):
                x = self.scale.matvec(x)
        return x if self.shift is None else x + self.shift

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        if self.scale is None:
            return x
        return self.scale.solvevec(x)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self.scale is None:
            return tf.constant(0, x.dtype.base_dtype)
        with tf.control_dependencies(self._non_singular()):
            return self.scale.log_abs_determinant()


def _check_operator(scale: Any, shift: Any, validate_args: bool) -> None:
    if not isinstance(scale, tf.linalg.LinearOperator):
        raise TypeError(f"scale is not an instance of tf.LinearOperator: {scale}")
    if shift is not None and shift.dtype.base_dtype != scale.dtype.base_dtype:
        raise TypeError(f"shift.dtype({shift.dtype}) is incompatible with "
                        f"scale.dtype({scale.dtype}).")
    if validate_args and not scale.is_non_singular:
        raise ValueError("Scale matrix must be non-singular.")


class Affine(_Affine):
    """Y = scale @ X + shift, where the matrix is given in parts that are added."""

    def __init__(self, shift: Any = None, scale_identity_multiplier: Any = None,
                 scale_diag: Any = None, scale_tril: Any = None, scale_perturb_factor: Any = None,
                 scale_perturb_diag: Any = None, validate_args: bool = False,
                 name: str = "affine") -> None:
        """Takes the shift of shape [..., k] and the parts of the matrix.

        Args:
          shift: The vector that is added.
          scale_identity_multiplier: The factor of an identity matrix, of shape [...].
          scale_diag: A diagonal, of shape [..., k].
          scale_tril: A lower triangular matrix, of shape [..., k, k].
          scale_perturb_factor: V in V D V^T, of shape [..., k, r].
          scale_perturb_diag: The diagonal of D, of shape [..., r]; ones by default.
          validate_args: Whether the matrix is checked to have an inverse.
          name: A scope for the operations.

        Raises:
          ValueError: D is given without V.
          TypeError: Types differ.
        """
        self._graph_parents: list[Any] = []
        self._name, self._validate_args = name, validate_args
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("When scale_perturb_diag is specified, scale_perturb_factor must be "
                             "specified.")
        parts = (scale_diag, scale_tril, scale_perturb_factor)
        self._is_number = all(each is None for each in parts)
        with self._name_scope("init", values=[each for each in (
                shift, scale_identity_multiplier, *parts, scale_perturb_diag)
                if each is not None]):
            self._shift = None if shift is None else tf.convert_to_tensor(
                shift, name="shift")
            dtype = tf.float32 if self._shift is None else self._shift.dtype.base_dtype
            if self._is_number:
                self._scale = self._number(scale_identity_multiplier, dtype)
                parents = [self._scale]
            else:
                self._scale = scales.low_rank(
                    self._shift, scale_identity_multiplier, scale_diag, scale_tril,
                    scale_perturb_factor, scale_perturb_diag, validate_args)
                _check_operator(self._scale, self._shift, False)
                parents = list(self._scale.graph_parents)
            super().__init__(
                forward_min_event_ndims=1, is_constant_jacobian=True,
                graph_parents=parents + ([] if shift is None else [self._shift]),
                dtype=self._scale.dtype.base_dtype, validate_args=validate_args, name=name)

    def _number(self, multiplier: Any, dtype: Any) -> Any:
        multiplier = tf.convert_to_tensor(
            1., dtype) if multiplier is None else tf.convert_to_tensor(
                multiplier, name="identity_multiplier")
        if not self._validate_args:
            return multiplier
        return checks.after([_V1.assert_none_equal(
            multiplier, tf.zeros([], multiplier.dtype),
            message="identity_multiplier should be non-zero.")], multiplier)

    def _forward(self, x: Any) -> Any:
        if self._is_number:
            y = x * self._scale
        else:
            with tf.control_dependencies(self._non_singular()):
                y = _matvec(self.scale.matmul, x)
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        return x / self._scale if self._is_number else _matvec(self.scale.solve, x)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._is_number:
            size = tf.cast(tf.shape(x)[-1], self._scale.dtype)
            return tf.math.log(tf.abs(self._scale)) * size
        return self.scale.log_abs_determinant()


def _matvec(function: Any, x: Any) -> Optional[Any]:
    """Returns what a method for matrices makes of vectors, as one column each."""
    return tf.squeeze(function(x[..., tf.newaxis]), [-1])
