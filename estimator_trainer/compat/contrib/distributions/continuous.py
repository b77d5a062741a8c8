"""Distributions of real numbers of `tf.contrib.distributions`.

Each has the density that its docstring gives, after the API of
`tensorflow/contrib/distributions/python/ops/` of TensorFlow 1.15.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import gamma, special_math

from estimator_trainer.compat.contrib.distributions import checks, scalar
from estimator_trainer.patches import op_seeds

_V1 = tf.compat.v1


class _LocationScale(scalar.Scalar):
    """A distribution of (x - loc) / scale."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool, allow_nan_stats: bool,
                 name: str, parameters: Any) -> None:
        with _V1.name_scope(name, values=[loc, scale]) as name:
            self.scale = scalar.positive(scale, "scale", validate_args)
            self.loc = tf.identity(loc, name="loc")
            checks.same_float_dtype(self.loc, self.scale)
        super().__init__([self.loc, self.scale], parameters, validate_args, allow_nan_stats, name,
                         is_reparameterized=True)

    @staticmethod
    def _param_shapes(sample_shape: Any) -> Any:
        return dict.fromkeys(("loc", "scale"), tf.convert_to_tensor(sample_shape, tf.int32))

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale


class Cauchy(_LocationScale):
    """p(x) = 1 / (pi * scale * (1 + z ** 2)), where z = (x - loc) / scale."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Cauchy") -> None:
        parameters = dict(locals())
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return self._quantile(self._uniform(n, seed))

    def _log_prob(self, x: Any) -> Any:
        return -tf.math.log1p(self._z(x) ** 2) - np.log(np.pi) - tf.math.log(self.scale)

    def _cdf(self, x: Any) -> Any:
        return tf.atan(self._z(x)) / np.pi + .5

    def _log_cdf(self, x: Any) -> Any:
        return tf.math.log1p(2 / np.pi * tf.atan(self._z(x))) - np.log(2)

    def _quantile(self, p: Any) -> Any:
        return self.loc + self.scale * tf.tan(np.pi * (p - .5))

    def _entropy(self) -> Any:
        return self._like_batch(np.log(4 * np.pi) + tf.math.log(self.scale))

    def _mode(self) -> Any:
        return self._like_batch(self.loc)

    def _mean(self) -> Any:
        return self._undefined("mean")

    def _stddev(self) -> Any:
        return self._undefined("stddev")

    def _undefined(self, name: str) -> Any:
        if not self.allow_nan_stats:
            raise ValueError(f"`{name}` is undefined for Cauchy distribution.")
        return tf.fill(self.batch_shape_tensor(), self.dtype.as_numpy_dtype(np.nan))


class Logistic(_LocationScale):
    """p(x) = exp(-z) / (scale * (1 + exp(-z)) ** 2), where z = (x - loc) / scale."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Logistic") -> None:
        parameters = dict(locals())
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        uniform = self._uniform(n, seed, np.finfo(self.dtype.as_numpy_dtype).tiny)
        op_seeds.count(1)  # One of 1.15's additions.
        return (tf.math.log(uniform) - tf.math.log1p(-uniform)) * self.scale + self.loc

    def _log_prob(self, x: Any) -> Any:
        z = self._z(x)
        return -z - 2. * tf.nn.softplus(-z) - tf.math.log(self.scale)

    def _log_cdf(self, x: Any) -> Any:
        return -tf.nn.softplus(-self._z(x))

    def _cdf(self, x: Any) -> Any:
        return tf.sigmoid(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return -tf.nn.softplus(self._z(x))

    def _survival_function(self, x: Any) -> Any:
        return tf.sigmoid(-self._z(x))

    def _entropy(self) -> Any:
        return 2 + tf.math.log(self._like_batch(self.scale))

    def _mean(self) -> Any:
        return self._like_batch(self.loc)

    def _stddev(self) -> Any:
        return self._like_batch(self.scale) * math.pi / math.sqrt(3)

    def _mode(self) -> Any:
        return self._mean()


class HalfNormal(scalar.Scalar):
    """p(x) = sqrt(2) / (scale * sqrt(pi)) * exp(-(x / scale) ** 2 / 2) of x >= 0."""

    def __init__(self, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "HalfNormal") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[scale]) as name:
            self.scale = scalar.positive(scale, "scale", validate_args)
        super().__init__([self.scale], parameters, validate_args, allow_nan_stats, name,
                         is_reparameterized=True)

    @staticmethod
    def _param_shapes(sample_shape: Any) -> Any:
        return {"scale": tf.convert_to_tensor(sample_shape, tf.int32)}

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = tf.concat([[n], tf.shape(self.scale)], 0)
        return tf.abs(_V1.random_normal(shape, dtype=self.dtype, seed=seed) * self.scale)

    def _prob(self, x: Any) -> Any:
        density = np.sqrt(2) / self.scale / np.sqrt(np.pi) * tf.exp(-.5 * (x / self.scale) ** 2)
        return density * tf.cast(x >= 0, self.dtype)

    def _cdf(self, x: Any) -> Any:
        return tf.math.erf(tf.nn.relu(x) / self.scale / np.sqrt(2.))

    def _quantile(self, p: Any) -> Any:
        return np.sqrt(2.) * self.scale * special_math.erfinv(p)

    def _entropy(self) -> Any:
        return .5 * tf.math.log(np.pi * self.scale ** 2 / 2.) + .5

    def _mean(self) -> Any:
        return self.scale * np.sqrt(2.) / np.sqrt(np.pi)

    def _mode(self) -> Any:
        return tf.zeros(self.batch_shape_tensor(), self.dtype)

    def _variance(self) -> Any:
        return self.scale ** 2 * (1. - 2. / np.pi)


class InverseGamma(scalar.Scalar):
    """p(x) = rate ** a * x ** -(a + 1) * exp(-rate / x) / Gamma(a); a is `concentration`."""

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "InverseGamma") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[concentration, rate]) as name:
            self.concentration = scalar.positive(concentration, "concentration", validate_args)
            self.rate = scalar.positive(rate, "rate", validate_args)
            checks.same_float_dtype(self.concentration, self.rate)
        super().__init__([self.concentration, self.rate], parameters, validate_args,
                         allow_nan_stats, name)

    @staticmethod
    def _param_shapes(sample_shape: Any) -> Any:
        return dict.fromkeys(("concentration", "rate"),
                             tf.convert_to_tensor(sample_shape, tf.int32))

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return 1. / _V1.random_gamma([n], self.concentration, self.rate, self.dtype, seed)

    def _log_prob(self, x: Any) -> Any:
        x = self._checked(x)
        return (-(1. + self.concentration) * tf.math.log(x) - self.rate / x
                - tf.math.lgamma(self.concentration) + self.concentration * tf.math.log(self.rate))

    def _cdf(self, x: Any) -> Any:
        return tf.math.igammac(self.concentration, self.rate / self._checked(x))

    def _entropy(self) -> Any:
        a = self.concentration
        return (a + tf.math.log(self.rate) + tf.math.lgamma(a) - (1. + a) * tf.math.digamma(a))

    def _mean(self) -> Any:
        return self._or_nan(self.concentration > 1., self.rate / (self.concentration - 1.),
                            "mean undefined when any concentration <= 1")

    def _variance(self) -> Any:
        variance = self.rate ** 2 / (self.concentration - 1.) ** 2 / (self.concentration - 2.)
        return self._or_nan(self.concentration > 2., variance,
                            "variance undefined when any concentration <= 2")

    def _mode(self) -> Any:
        return self.rate / (1. + self.concentration)

    def _checked(self, x: Any) -> Any:
        tf.debugging.assert_same_float_dtype([x], self.dtype)
        return checks.after([_V1.assert_positive(x)], x) if self.validate_args else x


class Chi2(gamma.Gamma):
    """The sum of `df` squared normal numbers: Gamma(df / 2, 1 / 2)."""

    def __init__(self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Chi2") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[df]) as name:
            df = scalar.positive(df, "df", validate_args)
            super().__init__(.5 * df, tf.constant(.5, df.dtype), validate_args, allow_nan_stats,
                             name)
        self._parameters = parameters
        self.df = df

    @staticmethod
    def _param_shapes(sample_shape: Any) -> Any:
        return {"df": tf.convert_to_tensor(sample_shape, tf.int32)}


class Chi2WithAbsDf(Chi2):
    """Chi2 of floor(|df|)."""

    def __init__(self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Chi2WithAbsDf") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[df]) as name:
            super().__init__(tf.floor(tf.abs(df, name="abs_df"), name="floor_abs_df"),
                             validate_args, allow_nan_stats, name)
        self._parameters = parameters
