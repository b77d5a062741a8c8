"""`tf.contrib.distributions.bijectors` of vectors and matrices, and such that move numbers.

Each is the function that its docstring gives, after the API of
`tensorflow/contrib/distributions/python/ops/bijectors/` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import bijector, util

from estimator_trainer.compat.contrib.distributions import checks
from estimator_trainer.compat.contrib.distributions.bijectors import composed, numbers

_V1 = tf.compat.v1


class Permute(bijector.Bijector):
    """Y[..., i] = X[..., permutation[i]]."""

    def __init__(self, permutation: Any, validate_args: bool = False,
                 name: Optional[str] = None) -> None:
        with _V1.name_scope(name, "permute", [permutation]):
            permutation = tf.convert_to_tensor(permutation, name="permutation")
            if not permutation.dtype.is_integer:
                raise TypeError(f"permutation.dtype ({permutation.dtype.name}) should be "
                                "`int`-like.")
            message = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
            static = tf.get_static_value(permutation)
            if static is not None and set(static) != set(range(static.size)):
                raise ValueError(message)
            if static is None and validate_args:
                permutation = checks.after([_V1.assert_equal(
                    tf.sort(permutation), tf.range(tf.size(permutation), dtype=permutation.dtype),
                    message=message)], permutation)
            self._permutation = permutation
            super().__init__(forward_min_event_ndims=1, is_constant_jacobian=True,
                             validate_args=validate_args, name=name or "permute")

    @property
    def permutation(self) -> Any:
        """The index from which each number comes."""
        return self._permutation

    def _forward(self, x: Any) -> Any:
        return tf.gather(x, self.permutation, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return tf.gather(y, tf.math.invert_permutation(self.permutation), axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.constant(0., y.dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return tf.constant(0., x.dtype)


class Reshape(bijector.Bijector):
    """Y = X in another shape."""

    def __init__(self, event_shape_out: Any, event_shape_in: Any = (-1,),
                 validate_args: bool = False, name: Optional[str] = None) -> None:
        """Takes the shapes of an event; -1 stands for what is left."""
        with _V1.name_scope(name, "reshape", [event_shape_out, event_shape_in]):
            self._shapes = [tf.convert_to_tensor(each, name=of, dtype_hint=tf.int32)
                            for each, of in ((event_shape_in, "event_shape_in"),
                                             (event_shape_out, "event_shape_out"))]
            self._assertions = [check for each in self._shapes
                                for check in _shape_checks(each, validate_args)]
            super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True,
                             validate_args=validate_args, name=name or "reshape")

    def _reshaped(self, x: Any, old: Any, new: Any) -> Any:
        old_static = tf.get_static_value(old)
        ndims = checks.size(old.shape.with_rank_at_least(1), 0)
        known = ndims is not None and x.shape.rank is not None and (
            x.shape.with_rank_at_least(ndims)[x.shape.rank - ndims:])
        assertions = list(self._assertions)
        message = "Input `event_shape` does not match `event_shape_in`."
        if known is not False and known.is_fully_defined() and old_static is not None:
            if any(size >= 0 and size != found for size, found in zip(old_static, known.as_list())):
                raise ValueError(message)
        elif self.validate_args:
            found = tf.shape(x)[tf.rank(x) - tf.shape(old)[0]:]
            is_fixed = tf.reshape(old >= 0, [-1])
            assertions.append(_V1.assert_equal(
                tf.boolean_mask(found, is_fixed), tf.boolean_mask(old, is_fixed), message=message))
        x = checks.after(assertions, x)
        rank = tf.rank(x) if x.shape.rank is None else x.shape.rank
        if ndims is not None and ndims == x.shape.rank:
            return tf.reshape(x, new)
        lead = tf.shape(x)[:rank - (tf.shape(old)[0] if ndims is None else ndims)]
        return tf.reshape(x, tf.concat([lead, tf.cast(new, tf.int32)], 0))

    def _forward(self, x: Any) -> Any:
        return self._reshaped(x, *self._shapes)

    def _inverse(self, y: Any) -> Any:
        return self._reshaped(y, *self._shapes[::-1])

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return checks.after(self._assertions, tf.constant(0., y.dtype))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return checks.after(self._assertions, tf.constant(0., x.dtype))

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self.forward(tf.zeros(input_shape)).shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self.inverse(tf.zeros(output_shape)).shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return tf.shape(self.forward(tf.zeros(input_shape)))

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return tf.shape(self.inverse(tf.zeros(output_shape)))


def _shape_checks(shape: Any, validate_args: bool) -> list[Any]:
    """Returns assertions that a shape is one; raises what is known."""
    if not shape.dtype.is_integer:
        raise TypeError(f"{shape.op.name} dtype ({shape.dtype.name}) should be `int`-like.")
    if shape.shape.rank is not None and shape.shape.rank > 1:
        raise ValueError(f"`{shape.op.name}` rank ({shape.shape.rank}) should be <= 1.")
    static = tf.get_static_value(shape)
    if not validate_args or static is not None and np.all(static >= 0):
        return []
    return [
        _V1.assert_less_equal(tf.rank(shape), 1, message="rank should be <= 1."),
        _V1.assert_less_equal(tf.reduce_sum(tf.cast(tf.equal(shape, -1), tf.int32)), 1,
                              message="elements must have at most one `-1`."),
        _V1.assert_greater_equal(shape, -1, message="elements must be either positive integers or "
                                 "`-1`.")]


class SoftmaxCentered(bijector.Bijector):
    """Y = softmax([X, 0]): a vector of n numbers becomes one of n + 1 that sum to 1."""

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered") -> None:
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        if checks.size(input_shape, -1) is None:
            return input_shape
        return tf.TensorShape([input_shape[-1] + 1])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return (input_shape[-1] + 1)[..., tf.newaxis]

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        if checks.size(output_shape, -1) is None:
            return output_shape
        if output_shape[-1] <= 1:
            raise ValueError(f"output_shape[-1] = {output_shape[-1]} <= 1")
        return tf.TensorShape([output_shape[-1] - 1])

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return (_long_enough(self, output_shape)[-1] - 1)[..., tf.newaxis]

    def _forward(self, x: Any) -> Any:
        y = tf.concat([x, tf.zeros_like(x[..., :1])], -1)
        if checks.size(x.shape, -1) is not None:
            y.set_shape(x.shape[:-1].concatenate(x.shape[-1] + 1))
        return tf.nn.softmax(y)

    def _inverse(self, y: Any) -> Any:
        x = tf.math.log(y)
        return x[..., :-1] - x[..., -1:]

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -tf.reduce_sum(tf.math.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        norm = tf.nn.softplus(tf.reduce_logsumexp(x, axis=-1, keepdims=True))
        return tf.squeeze(-norm + tf.reduce_sum(x - norm, axis=-1, keepdims=True), [-1])


def _long_enough(self: Any, shape: Any) -> Any:
    return checks.after([_V1.assert_greater(
        shape[-1], 1, message="Need last dimension greater than 1.")] if self.validate_args
        else [], shape)


class Ordered(bijector.Bijector):
    """Y = [X_0, log(X_1 - X_0), log(X_2 - X_1), ...] of numbers that grow."""

    def __init__(self, validate_args: bool = False, name: str = "ordered") -> None:
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        if checks.size(input_shape, -1) is None:
            return input_shape
        return tf.TensorShape([input_shape[-1]])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return input_shape[-1][..., tf.newaxis]

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        if checks.size(output_shape, -1) is None:
            return output_shape
        if output_shape[-1] <= 1:
            raise ValueError(f"output_shape[-1] = {output_shape[-1]} <= 1")
        return tf.TensorShape([output_shape[-1]])

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return _long_enough(self, output_shape)[-1][..., tf.newaxis]

    def _forward(self, x: Any) -> Any:
        x = self._growing(x)
        return tf.concat([x[..., :1], tf.math.log(x[..., 1:] - x[..., :-1])], -1)

    def _inverse(self, y: Any) -> Any:
        return tf.cumsum(tf.concat([y[..., :1], tf.exp(y[..., 1:])], -1), axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._growing(x)
        return -tf.reduce_sum(tf.math.log(x[..., 1:] - x[..., :-1]), axis=-1)

    def _growing(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        return checks.after([_V1.assert_positive(
            x[..., 1:] - x[..., :-1],
            message="Forward transformation input must be strictly increasing.")], x)


class FillTriangular(bijector.Bijector):
    """Y = a triangular matrix of n * (n + 1) / 2 numbers X, as `tf...fill_triangular`."""

    def __init__(self, upper: bool = False, validate_args: bool = False,
                 name: str = "fill_triangular") -> None:
        self._upper = upper
        super().__init__(forward_min_event_ndims=1, inverse_min_event_ndims=2,
                         validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return util.fill_triangular(x, upper=self._upper)

    def _inverse(self, y: Any) -> Any:
        return util.fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return tf.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape: Any) -> Any:
        size = checks.size(input_shape, -1)
        rows = None if size is None else (-1 + np.sqrt(1 + 8 * size)) / 2
        if rows is not None and rows != int(rows):
            raise ValueError("Vector length is not a triangular number.")
        rows = rows if rows is None else int(rows)
        return input_shape[:-1].concatenate([rows, rows])

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        rows, columns = checks.size(output_shape, -2), checks.size(output_shape, -1)
        if rows is None or columns is None:
            return output_shape[:-2].concatenate([None])
        if rows != columns:
            raise ValueError(f"Matrix must be square. (saw [{rows}, {columns}])")
        size = rows * (rows + 1) // 2
        return output_shape[:-2].concatenate([size])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        rows = (-1. + tf.sqrt(1 + 8. * tf.cast(input_shape[-1], tf.float32))) / 2.
        if self.validate_args:
            rows = checks.after([_V1.assert_equal(
                tf.floor(rows), rows, message="Vector length is not a triangular number")], rows)
        rows = tf.cast(rows, input_shape.dtype)
        return tf.concat([input_shape[:-1], [rows, rows]], 0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        rows = output_shape[-1]
        if self.validate_args:
            rows = checks.after([_V1.assert_equal(
                rows, output_shape[-2], message="Matrix must be square.")], rows)
        return tf.concat([output_shape[:-2], [rows * (rows + 1) // 2]], 0)


class TransformDiagonal(bijector.Bijector):
    """Y = X, but with another bijector of its diagonal."""

    def __init__(self, diag_bijector: Any, validate_args: bool = False,
                 name: str = "transform_diagonal") -> None:
        self._diag_bijector = diag_bijector
        super().__init__(forward_min_event_ndims=2, inverse_min_event_ndims=2,
                         validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return tf.linalg.set_diag(x, self._diag_bijector.forward(tf.linalg.diag_part(x)))

    def _inverse(self, y: Any) -> Any:
        return tf.linalg.set_diag(y, self._diag_bijector.inverse(tf.linalg.diag_part(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._diag_bijector.forward_log_det_jacobian(tf.linalg.diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._diag_bijector.inverse_log_det_jacobian(tf.linalg.diag_part(y), event_ndims=1)


class ScaleTriL(composed.Chain):
    """Y = a lower triangular matrix of numbers X, whose diagonal is positive."""

    def __init__(self, diag_bijector: Any = None, diag_shift: Any = 1e-5,
                 validate_args: bool = False, name: str = "scale_tril") -> None:
        """Takes the bijector of the diagonal, softplus by default, and what is added to it."""
        diag = numbers.Softplus(validate_args=validate_args) if diag_bijector is None else (
            diag_bijector)
        if diag_shift is not None:
            diag = composed.Chain([numbers.AffineScalar(shift=diag_shift), diag])
        super().__init__([TransformDiagonal(diag, validate_args=validate_args),
                          FillTriangular()], validate_args, name)


class MatrixInverseTriL(bijector.Bijector):
    """Y = the inverse of a lower triangular matrix X."""

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        x = self._checked(x)
        shape = tf.shape(x)
        return tf.linalg.triangular_solve(
            x, tf.eye(shape[-1], batch_shape=shape[:-2], dtype=x.dtype), lower=True)

    def _inverse(self, y: Any) -> Any:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._checked(x)
        return -2. * tf.cast(tf.shape(x)[-1], x.dtype) * tf.reduce_sum(
            tf.math.log(tf.abs(tf.linalg.diag_part(x))), axis=-1)

    def _checked(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        rank_is_enough = _V1.assert_rank_at_least(
            x, 2, message="Input must have rank at least 2.")
        x = checks.after([rank_is_enough], x)
        shape, diag = tf.shape(x), tf.linalg.diag_part(x)
        above = x - tf.linalg.band_part(x, -1, 0)
        return checks.after([
            _V1.assert_equal(shape[-2], shape[-1], message="Input must be a square matrix."),
            _V1.assert_equal(above, tf.zeros_like(above),
                             message="Input must be lower triangular."),
            _V1.assert_none_equal(diag, tf.zeros_like(diag),
                                  message="Input must have all diagonal entries nonzero.")], x)


class CholeskyOuterProduct(bijector.Bijector):
    """Y = X @ X^T of a lower triangular matrix X."""

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        x = tf.linalg.band_part(self._square(x), -1, 0)
        return tf.matmul(x, x, adjoint_b=True)

    def _inverse(self, y: Any) -> Any:
        return tf.linalg.cholesky(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        # |dY / dX| is 2^n times the product of x_ii^(n - i) for i from 0.
        diag = tf.linalg.diag_part(x)
        if self.validate_args:
            diag = checks.after([_V1.assert_positive(
                diag, message="Input must be positive definite.")], diag)
        x = self._square(x)
        size = tf.shape(x)[-1]
        powers = tf.cast(size - tf.range(size), x.dtype)
        return tf.cast(size, x.dtype) * np.log(2.) + tf.reduce_sum(
            powers * tf.math.log(diag), axis=-1)

    def _square(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        shape = tf.shape(x)
        return checks.after([
            _V1.assert_rank_at_least(x, 2, message="Input must be a (batch of) matrix."),
            _V1.assert_equal(shape[-2], shape[-1],
                             message="Input must be a (batch of) square matrix.")], x)
