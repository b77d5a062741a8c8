"""`tf.contrib.distributions.QuantizedDistribution`: Y = ceiling(X), between two limits.

Follows the API of `tensorflow/contrib/distributions/python/ops/quantized_distribution.py` of
TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import distribution as base, util

from estimator_trainer.compat.contrib.distributions import checks

_V1 = tf.compat.v1


class QuantizedDistribution(base.Distribution):
    """P(y) = P(y - 1 < X <= y), all below `low` is `low`, and all above `high` is `high`."""

    def __init__(self, distribution: Any, low: Any = None, high: Any = None,
                 validate_args: bool = False, name: str = "QuantizedDistribution") -> None:
        parameters = dict(locals())
        self.distribution, self._validate_args = distribution, validate_args
        with _V1.name_scope(name) as name:
            low, high = (None if each is None else tf.convert_to_tensor(each, name=which)
                         for each, which in ((low, "low"), (high, "high")))
            tf.debugging.assert_same_float_dtype(
                [each for each in (low, high) if each is not None], distribution.dtype)
            assertions = [_V1.assert_less(
                low, high, message="low must be strictly less than high.")] if (
                    validate_args and low is not None and high is not None) else []
            with tf.control_dependencies(assertions):
                self._low = None if low is None else self._integer(low)
                self._high = None if high is None else self._integer(high)
        super().__init__(
            dtype=distribution.dtype, reparameterization_type=base.NOT_REPARAMETERIZED,
            validate_args=validate_args, allow_nan_stats=distribution.allow_nan_stats,
            parameters=parameters, name=name, graph_parents=[
                *distribution._graph_parents,
                *(each for each in (self._low, self._high) if each is not None)])

    @property
    def low(self) -> Any:
        """The least value, or None."""
        return self._low

    @property
    def high(self) -> Any:
        """The greatest value, or None."""
        return self._high

    def _batch_shape_tensor(self) -> Any:
        return self.distribution.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self.distribution.batch_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        x = tf.math.ceil(self.distribution.sample(n, seed=seed))
        x = x if self._low is None else tf.where(x < self._low, self._low, x)
        return x if self._high is None else tf.where(x > self._high, self._high, x)

    def _log_prob(self, y: Any) -> Any:
        def difference(large: Any, small: Any) -> Any:
            return tf.math.log(1. - tf.exp(small - large)) + large

        return self._between(y, self.log_cdf, self.log_survival_function, difference)

    def _prob(self, y: Any) -> Any:
        return self._between(y, self.cdf, self.survival_function, tf.subtract)

    def _between(self, y: Any, below: Callable[[Any], Any], above: Callable[[Any], Any],
                 difference: Callable[[Any, Any], Any]) -> Any:
        """Returns P(y - 1 < X <= y) by what is more exact, P(X <= y) or P(X > y)."""
        y = self._integer(y)
        low, high = below(y - 1), below(y)
        try:
            rest_high, rest_low = above(y - 1), above(y)
        except NotImplementedError:
            return difference(high, low)
        is_far = rest_low < high
        return difference(tf.where(is_far, rest_high, high), tf.where(is_far, rest_low, low))

    def _log_cdf(self, y: Any) -> Any:
        return self._limited(self.distribution.log_cdf, tf.floor(y), -np.inf, 0.)

    def _cdf(self, y: Any) -> Any:
        return self._limited(self.distribution.cdf, tf.floor(y), 0., 1.)

    def _log_survival_function(self, y: Any) -> Any:
        return self._limited(self.distribution.log_survival_function, tf.math.ceil(y), 0., -np.inf)

    def _survival_function(self, y: Any) -> Any:
        return self._limited(self.distribution.survival_function, tf.math.ceil(y), 1., 0.)

    def _limited(self, function: Callable[[Any], Any], j: Any, below: float, above: float) -> Any:
        found = function(j)
        j = j + tf.zeros_like(found)
        if self._low is not None:
            found = tf.where(j < self._low, below * tf.ones_like(found), found)
        if self._high is not None:
            found = tf.where(j >= self._high, above * tf.ones_like(found), found)
        return found

    def _integer(self, value: Any) -> Any:
        value = tf.convert_to_tensor(value, name="value")
        if not self._validate_args:
            return value
        return checks.after([util.assert_integer_form(
            value, message="value has non-integer components.")], value)
