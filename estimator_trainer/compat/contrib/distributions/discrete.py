"""Distributions of whole numbers of `tf.contrib.distributions`.

Each has the probability that its docstring gives, after the API of
`tensorflow/contrib/distributions/python/ops/` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import util

from estimator_trainer.compat.contrib.distributions import checks, scalar

_V1 = tf.compat.v1


class Poisson(scalar.Scalar):
    """P(k) = rate ** k * exp(-rate) / k!."""

    def __init__(self, rate: Any = None, log_rate: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Poisson") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[rate]) as name:
            if (rate is None) == (log_rate is None):
                raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
            which = "log_rate" if rate is None else "rate"
            value = tf.convert_to_tensor(log_rate if rate is None else rate, name=which)
            if not value.dtype.is_floating:
                raise TypeError(f"{which}.dtype ({value.dtype.name}) is a not a float-type.")
            if rate is None:
                self.rate, self.log_rate = tf.exp(value, name="rate"), value
            else:
                self.rate = scalar.positive(value, "rate", validate_args)
                self.log_rate = tf.math.log(value, name="log_rate")
        super().__init__([self.rate], parameters, validate_args, allow_nan_stats, name)

    def _log_prob(self, x: Any) -> Any:
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_normalization(self) -> Any:
        return self.rate

    def _log_unnormalized_prob(self, x: Any) -> Any:
        x = self._whole(x)
        return x * self.log_rate - tf.math.lgamma(1. + x)

    def _cdf(self, x: Any) -> Any:
        return tf.math.igammac(1. + self._whole(x), self.rate)

    def _log_cdf(self, x: Any) -> Any:
        return tf.math.log(self.cdf(x))

    def _mean(self) -> Any:
        return tf.identity(self.rate)

    def _variance(self) -> Any:
        return tf.identity(self.rate)

    def _mode(self) -> Any:
        return tf.floor(self.rate)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return _V1.random_poisson(self.rate, [n], self.dtype, seed)


class NegativeBinomial(scalar.Scalar):
    """P(k) = binomial(k + n - 1, k) * (1 - probs) ** n * probs ** k; n is `total_count`."""

    def __init__(self, total_count: Any, logits: Any = None, probs: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "NegativeBinomial") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[total_count, logits, probs]) as name:
            self.logits, self.probs = scalar.logits_and_probs(logits, probs, validate_args, name)
            self.total_count = scalar.positive(total_count, "total_count", validate_args)
        super().__init__([self.total_count, self.probs], parameters, validate_args,
                         allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        rate = _V1.random_gamma([n], self.total_count, tf.exp(-self.logits), self.dtype, seed)
        return _V1.random_poisson(rate, [], self.dtype, util.gen_new_seed(seed, "negative_binom"))

    def _cdf(self, x: Any) -> Any:
        return tf.math.betainc(self.total_count, 1. + self._whole(x), tf.sigmoid(-self.logits))

    def _log_prob(self, x: Any) -> Any:
        x = self._whole(x)
        unnormalized = (self.total_count * tf.math.log_sigmoid(-self.logits)
                        + x * tf.math.log_sigmoid(self.logits))
        return unnormalized + (tf.math.lgamma(self.total_count + x) - tf.math.lgamma(1. + x)
                               - tf.math.lgamma(self.total_count))

    def _mean(self) -> Any:
        return self.total_count * tf.exp(self.logits)

    def _mode(self) -> Any:
        count = tf.maximum(self.total_count - 1., tf.zeros_like(self.total_count))
        return tf.floor(count * tf.exp(self.logits))

    def _variance(self) -> Any:
        return self._mean() / tf.sigmoid(-self.logits)


class Geometric(scalar.Scalar):
    """P(k) = (1 - probs) ** k * probs: how often one fails before the first success."""

    def __init__(self, logits: Any = None, probs: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Geometric") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[logits, probs]) as name:
            self.logits, probs = scalar.logits_and_probs(logits, probs, validate_args, name)
            self.probs = scalar.positive(probs, "probs", validate_args)
        super().__init__([self.probs], parameters, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        uniform = self._uniform(n, seed, np.finfo(self.dtype.as_numpy_dtype).tiny)
        return tf.floor(tf.math.log(uniform) / tf.math.log1p(-self.probs))

    def _cdf(self, x: Any) -> Any:
        x = self._spread(x)
        return tf.where(x < 0., tf.zeros_like(x),
                        -tf.math.expm1((1. + x) * tf.math.log1p(-self.probs)))

    def _log_prob(self, x: Any) -> Any:
        x = self._spread(x)
        probs = self.probs * tf.ones_like(x)
        safe = tf.where(tf.equal(x, 0.), tf.zeros_like(probs), probs)
        return x * tf.math.log1p(-safe) + tf.math.log(probs)

    def _spread(self, x: Any) -> Any:
        x = self._whole(x) if self.validate_args else tf.floor(x)
        return x * tf.ones_like(self.probs)

    def _entropy(self) -> Any:
        probs = self.probs
        if self.validate_args:
            probs = checks.after([_V1.assert_less(
                probs, tf.constant(1., probs.dtype),
                message="Entropy is undefined when logits = inf or probs = 1.")], probs)
        return tf.nn.softplus(self.logits) / probs - self.logits

    def _mean(self) -> Any:
        return tf.exp(-self.logits)

    def _variance(self) -> Any:
        return self._mean() / self.probs

    def _mode(self) -> Any:
        return tf.zeros(self.batch_shape_tensor(), self.dtype)


class Binomial(scalar.Scalar):
    """P(k) = binomial(n, k) * probs ** k * (1 - probs) ** (n - k); n is `total_count`."""

    def __init__(self, total_count: Any, logits: Any = None, probs: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Binomial") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[total_count, logits, probs]) as name:
            count = tf.convert_to_tensor(total_count, name="total_count")
            self.total_count = checks.after([
                _V1.assert_non_negative(count, message="total_count must be non-negative."),
                util.assert_integer_form(
                    count, message="total_count cannot contain fractional components.")]
                if validate_args else [], count)
            self.logits, self.probs = scalar.logits_and_probs(logits, probs, validate_args, name)
        super().__init__([self.total_count, self.probs], parameters, validate_args,
                         allow_nan_stats, name)

    def _log_prob(self, counts: Any) -> Any:
        counts = self._checked(counts)
        rest = self.total_count - counts
        return (counts * tf.math.log(self.probs) + rest * tf.math.log1p(-self.probs)
                - tf.math.lgamma(1. + rest) - tf.math.lgamma(1. + counts)
                + tf.math.lgamma(1. + self.total_count))

    def _cdf(self, counts: Any) -> Any:
        counts = self._checked(counts)
        probs = self.probs + tf.zeros_like(counts)
        counts = counts + tf.zeros_like(self.probs)
        is_all = tf.equal(counts, self.total_count)
        ones = tf.ones_like(self.total_count - counts)
        rest = tf.where(is_all, ones, self.total_count - counts)
        return tf.where(is_all, ones, tf.math.betainc(rest, counts + 1, 1 - probs))

    def _mean(self) -> Any:
        return self.total_count * self.probs

    def _variance(self) -> Any:
        return self._mean() * (1. - self.probs)

    def _mode(self) -> Any:
        return tf.floor((1. + self.total_count) * self.probs)

    def _checked(self, counts: Any) -> Any:
        if not self.validate_args:
            return counts
        counts = self._whole(counts)
        return checks.after([_V1.assert_less_equal(
            counts, self.total_count, message="counts are not less than or equal to n.")], counts)
