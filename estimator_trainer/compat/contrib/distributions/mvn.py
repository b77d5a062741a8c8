"""Distributions of vectors of `tf.contrib.distributions`: Y = scale @ X + loc of numbers X.

Follows the API of `mvn_*.py` and `vector_*.py` in `tensorflow/contrib/distributions/python/ops/` of
TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import exponential, kullback_leibler, laplace, normal, util

from estimator_trainer.compat.contrib.distributions import (bijectors, checks, scalar_checks,
                                                            scales, transformed)
from estimator_trainer.patches import op_seeds

_V1 = tf.compat.v1


class _LinearOperator(transformed.TransformedDistribution):
    """A distribution of scale @ X + loc, where each number in X has a variance `_UNIT`."""

    _UNIT = 1.
    _last: Any = None

    def __init__(self, distribution: Any, loc: Any, scale: Any, validate_args: bool, name: str,
                 parameters: Any) -> None:
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        with _V1.name_scope(name, values=[each for each in (loc, *scale.graph_parents)
                                          if each is not None]) as name:
            # Since expansion of a batch is by `loc` and `scale`, a number is one of each event.
            loc = loc if loc is None else tf.convert_to_tensor(loc, name="loc")
            batch_shape, event_shape = scales.shapes(loc, scale)
            super().__init__(
                distribution, bijectors.AffineLinearOperator(loc, scale, validate_args),
                batch_shape, event_shape, validate_args, name)
            self._is_static = self.batch_shape.is_fully_defined()
            op_seeds.count(3 * (self.batch_shape.rank > 0) + (loc is not None)
                           if self._is_static else 2)
        self._parameters = parameters

    # TensorFlow 1.15 made other numbers of operations, on which seeds after them depend.
    @property
    def _has_diagonal(self) -> bool:
        return isinstance(self.scale, tf.linalg.LinearOperatorDiag)

    def _call_sample_n(self, *args: Any, **kwargs: Any) -> Any:
        op_seeds.count(0 if self._is_static else 2)
        found = self._last = super()._call_sample_n(*args, **kwargs)
        op_seeds.count((30 if self._has_diagonal else 25) + (0 if self._is_static else 15))
        return found

    def _call_log_prob(self, value: Any, name: str, **kwargs: Any) -> Any:
        # The inverse of a sample is known.
        op_seeds.count(-3 if value is self._last else 22)
        return super()._call_log_prob(value, name, **kwargs)

    @property
    def loc(self) -> Any:
        """The vector that is added, or None."""
        return self.bijector.shift

    @property
    def scale(self) -> Any:
        """The linear operator."""
        return self.bijector.scale

    def _spread(self, value: Any) -> Any:
        """Returns a vector, to which `loc` is added, in the shape of batch and event."""
        op_seeds.count(-9 + 2 * (self.loc is None) if self._is_static else -2)
        value = value + tf.zeros(
            tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), self.dtype)
        return value if self.loc is None else tf.identity(self.loc) + value

    def _mean(self) -> Any:
        return self._spread(0.)

    def _mode(self) -> Any:
        return self._spread(0.)

    def _covariance(self) -> Any:
        if scales.is_diagonal(self.scale):
            return self._UNIT * tf.linalg.diag(tf.square(self.scale.diag_part()))
        return self._UNIT * self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)

    def _variance(self) -> Any:
        op_seeds.count(-2 if scales.is_diagonal(self.scale) else -4)
        if scales.is_diagonal(self.scale):
            return self._UNIT * tf.square(self.scale.diag_part())
        return self._UNIT * tf.linalg.diag_part(
            self.scale.matmul(self.scale.to_dense(), adjoint_arg=True))

    def _stddev(self) -> Any:
        if scales.is_diagonal(self.scale):
            op_seeds.count(-2)
            return np.sqrt(self._UNIT) * tf.abs(self.scale.diag_part())
        return tf.sqrt(self._variance())


class MultivariateNormalLinearOperator(_LinearOperator):
    """p(x) = exp(-|z| ** 2 / 2) / ((2 * pi) ** (k / 2) * |det(scale)|), z = scale^-1 (x - loc)."""

    def __init__(self, loc: Any = None, scale: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalLinearOperator") -> None:
        parameters = dict(locals())
        dtype = tf.float32 if scale is None else scale.dtype
        super().__init__(normal.Normal(tf.zeros([], dtype), tf.ones([], dtype)), loc, scale,
                         validate_args, name, parameters)


def _kl(a: Any, b: Any, name: Any = None) -> Any:
    """Returns (|S| ** 2 + |d| ** 2 - k) / 2 + log |det(b)| - log |det(a)|.

    S = b^-1 a of the scales, and d = b^-1 (b.loc - a.loc).
    """
    def norm(x: Any) -> Any:
        return tf.reduce_sum(tf.square(x), [-1, -2])

    with _V1.name_scope(name, "kl_mvn", [each for each in (a.loc, b.loc) if each is not None]
                        + list(a.scale.graph_parents) + list(b.scale.graph_parents)):
        if scales.is_diagonal(a.scale) and scales.is_diagonal(b.scale):
            op_seeds.count(2)
            quotient = (a.scale.diag_part() / b.scale.diag_part())[..., tf.newaxis]
        else:
            quotient = b.scale.solve(a.scale.to_dense())
        shift = (b.mean() - a.mean())[..., tf.newaxis]
        size = tf.cast(a.scale.domain_dimension_tensor(), a.dtype)
        found = (b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
                 + .5 * (-size + norm(quotient) + norm(b.scale.solve(shift))))
        found.set_shape(tf.broadcast_static_shape(a.batch_shape, b.batch_shape))
        return found


kullback_leibler.RegisterKL(MultivariateNormalLinearOperator,
                            MultivariateNormalLinearOperator)(_kl)


class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """A normal distribution whose scale is a diagonal."""

    def __init__(self, loc: Any = None, scale_diag: Any = None,
                 scale_identity_multiplier: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "MultivariateNormalDiag") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name) as name:
            scale = _diagonal(loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


def _diagonal(loc: Any, scale_diag: Any, scale_identity_multiplier: Any) -> Any:
    with _V1.name_scope("init", values=[each for each in (
            loc, scale_diag, scale_identity_multiplier) if each is not None]):
        if isinstance(loc, (list, np.ndarray)) and scale_diag is not None:
            op_seeds.count(1)  # 1.15 converted `loc` for its shape, too.
        return scales.diagonal(loc, scale_diag, scale_identity_multiplier)


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """A normal distribution whose scale is D + V @ diag(d) @ V^T."""

    def __init__(self, loc: Any = None, scale_diag: Any = None,
                 scale_identity_multiplier: Any = None, scale_perturb_factor: Any = None,
                 scale_perturb_diag: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalDiagPlusLowRank") -> None:
        """Takes V, `scale_perturb_factor` of shape [..., k, r], and d of shape [..., r]."""
        parameters = dict(locals())
        with _V1.name_scope(name) as name:
            if scale_perturb_factor is None and scale_perturb_diag is not None:
                raise ValueError("scale_perturb_diag is given; expected scale_perturb_factor too")
            scale = scales.low_rank(
                loc, scale_identity_multiplier, scale_diag, None, scale_perturb_factor,
                scale_perturb_diag, validate_args)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """A normal distribution whose scale is a lower triangular matrix."""

    def __init__(self, loc: Any = None, scale_tril: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "MultivariateNormalTriL") -> None:
        parameters = dict(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with _V1.name_scope(name) as name:
            loc = loc if loc is None else tf.convert_to_tensor(loc, name="loc")
            if scale_tril is None:
                scale = scales.diagonal(loc)
            else:
                scale = tf.linalg.LinearOperatorLowerTriangular(
                    tf.convert_to_tensor(scale_tril, name="scale_tril"), is_non_singular=True,
                    is_self_adjoint=False, is_positive_definite=False)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """A normal distribution of a covariance."""

    def __init__(self, loc: Any = None, covariance_matrix: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalFullCovariance") -> None:
        parameters = dict(locals())
        tril = None
        with _V1.name_scope(name) as name:
            if covariance_matrix is not None:
                covariance = tf.convert_to_tensor(covariance_matrix, name="covariance_matrix")
                if validate_args:
                    covariance = checks.after([_V1.assert_near(
                        covariance, tf.linalg.matrix_transpose(covariance),
                        message="Matrix was not symmetric")], covariance)
                # A matrix that is not positive definite has a factor of NaN.
                tril = tf.linalg.cholesky(covariance)
                if validate_args:
                    tril = checks.after([_V1.assert_positive(
                        tf.linalg.diag_part(tril),
                        message="Matrix was not positive definite")], tril)
        super().__init__(loc, tril, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class VectorExponentialLinearOperator(_LinearOperator):
    """scale @ X + loc of numbers X of Exponential(1)."""

    def __init__(self, loc: Any = None, scale: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True,
                 name: str = "VectorExponentialLinearOperator") -> None:
        parameters = dict(locals())
        dtype = tf.float32 if scale is None else scale.dtype
        super().__init__(exponential.Exponential(tf.ones([], dtype)), loc, scale, validate_args,
                         name, parameters)

    def _mean(self) -> Any:
        ones = tf.ones(tf.concat([self._mode_shape(), self.event_shape_tensor()], 0), self.dtype)
        return self._spread(self.scale.matvec(ones))

    def _mode_shape(self) -> Any:
        return self.batch_shape_tensor()


class VectorExponentialDiag(VectorExponentialLinearOperator):
    """scale * X + loc of numbers X of Exponential(1)."""

    def __init__(self, loc: Any = None, scale_diag: Any = None,
                 scale_identity_multiplier: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "VectorExponentialDiag") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name) as name:
            scale = _diagonal(loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class VectorLaplaceLinearOperator(_LinearOperator):
    """scale @ X + loc of numbers X of Laplace(0, 1)."""

    _UNIT = 2.

    def __init__(self, loc: Any = None, scale: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "VectorLaplaceLinearOperator") -> None:
        parameters = dict(locals())
        dtype = tf.float32 if scale is None else scale.dtype
        super().__init__(laplace.Laplace(tf.zeros([], dtype), tf.ones([], dtype)), loc, scale,
                         validate_args, name, parameters)


class VectorLaplaceDiag(VectorLaplaceLinearOperator):
    """scale * X + loc of numbers X of Laplace(0, 1)."""

    def __init__(self, loc: Any = None, scale_diag: Any = None,
                 scale_identity_multiplier: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "VectorLaplaceDiag") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name) as name:
            scale = _diagonal(loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class SinhArcsinh(transformed.TransformedDistribution):
    """loc + c * sinh((arcsinh(X) + skewness) * tailweight), of Jones and Pewsey, 2009.

    c = 2 * scale / F(2), where F is the function of X without skewness.
    """

    def __init__(self, loc: Any, scale: Any, skewness: Any = None, tailweight: Any = None,
                 distribution: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "SinhArcsinh") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[loc, scale]) as name:
            loc = tf.convert_to_tensor(loc, name="loc")
            scale = tf.convert_to_tensor(scale, loc.dtype, name="scale")
            op_seeds.count(-4)
            function, factor, skewness, tailweight = _sinh_arcsinh(
                scale, skewness, tailweight, loc.dtype)
            batch_shape = checks.static_shape([loc, scale, skewness, tailweight])
            if not batch_shape.is_fully_defined():
                batch_shape = checks.dynamic_shape([loc, scale, skewness, tailweight])
            distribution, loc = scalar_checks.base(distribution, loc, loc.dtype, validate_args,
                                                   allow_nan_stats)
            super().__init__(
                distribution, bijectors.Chain([
                    bijectors.AffineScalar(loc, factor, validate_args), function]),
                batch_shape, None, validate_args, name)
        self._parameters = parameters
        self.loc, self.scale, self.skewness, self.tailweight = loc, scale, skewness, tailweight


def _sinh_arcsinh(scale: Any, skewness: Any, tailweight: Any, dtype: Any) -> Any:
    """Returns the bijector, c, and both parameters as tensors."""
    skew, tail = (tf.convert_to_tensor(default if value is None else value, dtype, name=name)
                  for value, default, name in ((skewness, 0., "skewness"),
                                               (tailweight, 1., "tailweight")))
    straight = bijectors.SinhArcsinh(tf.zeros([], dtype), tail)
    return (bijectors.SinhArcsinh(skew, tail),
            2 * scale / straight.forward(tf.constant(2, dtype)), skew, tail)


class VectorSinhArcsinhDiag(transformed.TransformedDistribution):
    """Vectors of numbers of SinhArcsinh, each of its own scale."""

    def __init__(self, loc: Any = None, scale_diag: Any = None,
                 scale_identity_multiplier: Any = None, skewness: Any = None,
                 tailweight: Any = None, distribution: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalLinearOperator") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name) as name:
            loc = loc if loc is None else tf.convert_to_tensor(loc, name="loc")
            scale = scales.diagonal(loc, scale_diag, scale_identity_multiplier)
            batch_shape, event_shape = scales.shapes(loc, scale)
            op_seeds.count(1)
            diag, dtype = scale.diag_part(), scale.dtype
            function, factor, skewness, tailweight = _sinh_arcsinh(
                diag, skewness, tailweight, dtype)
            shaped = [each for each in (skewness, tailweight) if each.shape.rank != 0]
            if shaped:
                batch_shape = util.prefer_static_broadcast_shape(
                    batch_shape, checks.dynamic_shape(shaped)[:-1])
            distribution, diag = scalar_checks.base(distribution, diag, dtype, validate_args,
                                                    allow_nan_stats)
            super().__init__(
                distribution, bijectors.Chain([
                    bijectors.Affine(loc, scale_diag=factor, validate_args=validate_args),
                    function]), batch_shape, event_shape, validate_args, name)
        self._parameters = parameters
        self.loc, self.scale, self.skewness, self.tailweight = loc, scale, skewness, tailweight

    def _call_sample_n(self, *args: Any, **kwargs: Any) -> Any:
        found = super()._call_sample_n(*args, **kwargs)
        op_seeds.count(23)  # Shapes in `Affine`.
        return found
