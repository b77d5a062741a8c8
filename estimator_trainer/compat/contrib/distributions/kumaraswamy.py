"""`tf.contrib.distributions.Kumaraswamy`: P(X <= x) = 1 - (1 - x ** a) ** b on [0, 1].

Follows the API of `tensorflow/contrib/distributions/python/ops/kumaraswamy.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import distribution, uniform

from estimator_trainer.compat.contrib.distributions import bijectors, checks, transformed
from estimator_trainer.patches import op_seeds

_V1 = tf.compat.v1


class Kumaraswamy(transformed.TransformedDistribution):
    """A uniform distribution that is transformed; a is `concentration1`, b `concentration0`."""

    def __init__(self, concentration1: Any = None, concentration0: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Kumaraswamy") -> None:
        with _V1.name_scope(name, values=[concentration1, concentration0]) as name:
            a = tf.convert_to_tensor(concentration1, name="concentration1")
            b = tf.convert_to_tensor(concentration0, name="concentration0")
        op_seeds.count(-3)
        batch_shape = checks.static_shape([a, b])
        super().__init__(
            uniform.Uniform(tf.zeros([], a.dtype), tf.ones([], a.dtype),
                            allow_nan_stats=allow_nan_stats),
            bijectors.Kumaraswamy(a, b, validate_args),
            batch_shape if batch_shape.is_fully_defined() else checks.dynamic_shape([a, b]),
            name=name)
        self._reparameterization_type = distribution.FULLY_REPARAMETERIZED

    @property
    def concentration1(self) -> Any:
        """The power of x."""
        return self.bijector.concentration1

    @property
    def concentration0(self) -> Any:
        """The power of what is missing to 1."""
        return self.bijector.concentration0

    def _entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        one = tf.ones([], b.dtype)
        harmonic = tf.math.digamma(b + one) - tf.math.digamma(one)
        # TensorFlow 1.15 adds the logarithms, where the definition subtracts them.
        return 1 - 1. / a + (1 - 1. / b) * harmonic + tf.math.log(a) + tf.math.log(b)

    def _moment(self, n: int) -> Any:
        spread = tf.ones_like(self.concentration1 + self.concentration0)
        a, b = self.concentration1 * spread, self.concentration0 * spread
        return tf.exp(tf.math.log(b) + tf.math.lbeta(tf.stack([1 + n / a, b], -1)))

    def _mean(self) -> Any:
        return self._moment(1)

    def _variance(self) -> Any:
        return self._moment(2) - tf.square(self._moment(1))

    def _mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)) ** (1. / a)
        if self.allow_nan_stats:
            nan = tf.fill(self.batch_shape_tensor(), np.array(np.nan, self.dtype.as_numpy_dtype))
            return tf.where((a > 1.) & (b > 1.), mode, nan)
        one = tf.ones([], a.dtype)
        return checks.after([
            _V1.assert_less(one, a, message="Mode undefined for concentration1 <= 1."),
            _V1.assert_less(one, b, message="Mode undefined for concentration0 <= 1.")], mode)
