"""Distributions of positive definite matrices of `tf.contrib.distributions`.

p(X) = |X| ** ((df - k - 1) / 2) * exp(-trace(S^-1 X) / 2) / Z, where
Z = 2 ** (df * k / 2) * |S| ** (df / 2) * Gamma_k(df / 2). Follows the API of
`tensorflow/contrib/distributions/python/ops/wishart.py` of TensorFlow 1.15.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import distribution, util

from estimator_trainer.compat.contrib.distributions import checks
from estimator_trainer.patches import op_seeds

_V1 = tf.compat.v1


class _Wishart(distribution.Distribution):
    """The distribution for a scale S = L @ L^T, of which L is given."""

    def __init__(self, df: Any, tril: Any, cholesky_input_output_matrices: bool,
                 validate_args: bool, allow_nan_stats: bool, name: str, parameters: Any) -> None:
        operator = tf.linalg.LinearOperatorLowerTriangular(
            tril, is_non_singular=True, is_positive_definite=True, is_square=True)
        if not tril.dtype.is_floating:
            raise TypeError(f"scale_operator.dtype={tril.dtype} is not a floating-point type")
        self.scale_operator = operator
        self.cholesky_input_output_matrices = cholesky_input_output_matrices
        self.df = tf.convert_to_tensor(df, tril.dtype, name="df")
        size = checks.size(operator.shape, -1)
        self.dimension = tf.cast(operator.domain_dimension_tensor() if size is None else size,
                                 tril.dtype, name="dimension")
        message = "Degrees of freedom (df) cannot be less than dimension of scale matrix"
        static = tf.get_static_value(self.df)
        if static is not None and size is not None:
            if np.any(static < size):
                raise ValueError(f"{message}; df = {static}, scale.dimension = {size}")
        elif validate_args:
            self.df = checks.after([_V1.assert_less_equal(
                self.dimension, self.df, message=message)], self.df)
        op_seeds.count(-1)  # 1.15 computed sizes and shapes later, in each method.
        super().__init__(
            dtype=tril.dtype, reparameterization_type=distribution.FULLY_REPARAMETERIZED,
            validate_args=validate_args, allow_nan_stats=allow_nan_stats, parameters=parameters,
            graph_parents=[self.df, self.dimension, *operator.graph_parents], name=name)

    def _square(self) -> Any:
        return self.scale_operator.matmul(self.scale_operator.to_dense(), adjoint_arg=True)

    def scale(self) -> Any:
        """Returns S, or L where matrices are given and returned as Cholesky factors."""
        return self.scale_operator.to_dense() if self.cholesky_input_output_matrices else (
            self._square())

    def _event_shape_tensor(self) -> Any:
        return tf.repeat(self.scale_operator.domain_dimension_tensor(), 2)

    def _event_shape(self) -> Any:
        return tf.TensorShape([self.scale_operator.domain_dimension] * 2)

    def _batch_shape_tensor(self) -> Any:
        return self.scale_operator.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self.scale_operator.batch_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        # Bartlett's decomposition: normal numbers below a diagonal of roots of chi-squared ones.
        op_seeds.count(7)
        shape = tf.concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        x = _V1.random_normal(shape, dtype=self.dtype, seed=seed)
        op_seeds.count(-2)
        df = self.df * tf.ones(self.batch_shape_tensor(), self.dtype)
        squares = _V1.random_gamma([n], self._sequence(.5 * df), .5, self.dtype,
                                   util.gen_new_seed(seed, "wishart"))
        op_seeds.count(31)
        x = tf.linalg.set_diag(tf.linalg.band_part(x, -1, 0), tf.sqrt(squares))
        x = self.scale_operator.matmul(x)
        return x if self.cholesky_input_output_matrices else tf.matmul(x, x, adjoint_b=True)

    def _log_prob(self, x: Any) -> Any:
        root = x if self.cholesky_input_output_matrices else tf.linalg.cholesky(x)
        trace = tf.reduce_sum(tf.square(self.scale_operator.solve(root)), [-2, -1])
        half_log_det = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(root)), [-1])
        return ((self.df - self.dimension - 1.) * half_log_det - .5 * trace
                - self.log_normalization())

    def _prob(self, x: Any) -> Any:
        return tf.exp(self._log_prob(x))

    def _entropy(self) -> Any:
        half_next, half_df = .5 * self.dimension + .5, .5 * self.df
        return (self.dimension * (half_df + half_next * math.log(2.))
                + 2 * half_next * self.scale_operator.log_abs_determinant()
                + self._lgamma(half_df) + (half_next - half_df) * self._digamma(half_df))

    def _mean(self) -> Any:
        if self.cholesky_input_output_matrices:
            return tf.sqrt(self.df) * self.scale_operator.to_dense()
        return self.df * self._square()

    def _variance(self) -> Any:
        x = tf.sqrt(self.df) * self._square()
        diag = tf.linalg.diag_part(x)[..., tf.newaxis]
        variance = tf.square(x) + tf.matmul(diag, diag, adjoint_b=True)
        return tf.linalg.cholesky(variance) if self.cholesky_input_output_matrices else variance

    def _stddev(self) -> Any:
        if self.cholesky_input_output_matrices:
            raise ValueError("Computing std. dev. when is cholesky_input_output_matrices=True "
                             "does not make sense.")
        return tf.linalg.cholesky(self.variance())

    def _mode(self) -> Any:
        factor = self.df - self.dimension - 1.
        factor = tf.where(factor < 0., tf.constant(np.nan, self.dtype), factor)
        if self.cholesky_input_output_matrices:
            return tf.sqrt(factor) * self.scale_operator.to_dense()
        return factor * self._square()

    def mean_log_det(self, name: str = "mean_log_det") -> Any:
        """Returns the mean of log |X|."""
        with self._name_scope(name):
            return (self._digamma(.5 * self.df) + self.dimension * math.log(2.)
                    + 2 * self.scale_operator.log_abs_determinant())

    def log_normalization(self, name: str = "log_normalization") -> Any:
        """Returns log Z."""
        with self._name_scope(name):
            return (self.df * self.scale_operator.log_abs_determinant()
                    + .5 * self.df * self.dimension * math.log(2.) + self._lgamma(.5 * self.df))

    def _sequence(self, a: Any) -> Any:
        """Returns a, a - 1 / 2, ..., a - (k - 1) / 2."""
        steps = tf.range(tf.cast(self.dimension, tf.int32))
        return a[..., tf.newaxis] - .5 * tf.cast(steps, self.dtype)

    def _lgamma(self, a: Any) -> Any:
        """Returns log Gamma_k(a)."""
        return (.25 * self.dimension * (self.dimension - 1.) * math.log(math.pi)
                + tf.reduce_sum(tf.math.lgamma(self._sequence(a)), [-1]))

    def _digamma(self, a: Any) -> Any:
        return tf.reduce_sum(tf.math.digamma(self._sequence(a)), [-1])


class WishartCholesky(_Wishart):
    """The distribution for a scale S whose Cholesky factor is given."""

    def __init__(self, df: Any, scale: Any, cholesky_input_output_matrices: bool = False,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "WishartCholesky") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[scale]) as name:
            scale = tf.convert_to_tensor(scale)
            if validate_args:
                scale = checks.after([
                    _V1.assert_positive(tf.linalg.diag_part(scale),
                                        message="scale must be positive definite"),
                    _V1.assert_equal(tf.shape(scale)[-1], tf.shape(scale)[-2],
                                     message="scale must be square")], scale)
            super().__init__(df, scale, cholesky_input_output_matrices, validate_args,
                             allow_nan_stats, name, parameters)


class WishartFull(_Wishart):
    """The distribution for a scale S."""

    def __init__(self, df: Any, scale: Any, cholesky_input_output_matrices: bool = False,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "WishartFull") -> None:
        parameters = dict(locals())
        op_seeds.count(1)
        with _V1.name_scope(name) as name:
            scale = tf.convert_to_tensor(scale)
            scale = util.assert_symmetric(scale) if validate_args else scale
            tril = tf.linalg.cholesky(scale)
            if validate_args:
                tril = checks.after([_V1.assert_positive(tf.linalg.diag_part(tril))], tril)
            super().__init__(df, tril, cholesky_input_output_matrices, validate_args,
                             allow_nan_stats, name, parameters)
