"""`tf.contrib.distributions.bijectors` that are cumulative distribution functions.

Each is the function that its docstring gives, after the API of
`tensorflow/contrib/distributions/python/ops/bijectors/` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.distributions import checks
from estimator_trainer.compat.contrib.distributions.bijectors.numbers import Numbers

_V1 = tf.compat.v1


class Gumbel(Numbers):
    """Y = exp(-exp(-(X - loc) / scale))."""

    def __init__(self, loc: Any = 0., scale: Any = 1., validate_args: bool = False,
                 name: str = "gumbel") -> None:
        with self._scope(name, validate_args, loc, scale):
            self._loc = tf.convert_to_tensor(loc, name="loc")
            self._scale = tf.convert_to_tensor(scale, name="scale")
            checks.same_float_dtype(self._loc, self._scale)
            self._scale = self._if(lambda: _V1.assert_positive(
                self._scale, message="Argument scale was not positive"), self._scale)
        super().__init__(validate_args, name)

    @property
    def loc(self) -> Any:
        """The location."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The scale."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        return tf.exp(-tf.exp(-(x - self.loc) / self.scale))

    def _inverse(self, y: Any) -> Any:
        return self.loc - self.scale * tf.math.log(-tf.math.log(_within(self, y, 1.)))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = _within(self, y, 1.)
        return tf.math.log(self.scale / (-tf.math.log(y) * y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        z = (x - self.loc) / self.scale
        return -z - tf.exp(-z) - tf.math.log(self.scale)


def _within(self: Any, y: Any, high: float) -> Any:
    """Returns numbers from 0 to `high`."""
    y = self._if(lambda: _V1.assert_non_negative(y, message="sample must be non-negative"), y)
    return self._if(lambda: _V1.assert_less_equal(
        y, tf.constant(high, y.dtype), message="sample must be no larger than `1`."), y)


class _TwoConcentrations(Numbers):
    """A bijector with two positive parameters."""

    def _positive(self, value: Any, name: str) -> Any:
        value = tf.convert_to_tensor(value, name=name)
        return self._if(lambda: _V1.assert_positive(
            value, message=f"Argument {name} was not positive"), value)


class Kumaraswamy(_TwoConcentrations):
    """Y = (1 - (1 - X) ** (1 / b)) ** (1 / a) on [0, 1]; a is `concentration1`."""

    def __init__(self, concentration1: Any = None, concentration0: Any = None,
                 validate_args: bool = False, name: str = "kumaraswamy") -> None:
        with self._scope(name, validate_args, concentration1, concentration0):
            self._concentration1 = self._positive(concentration1, "concentration1")
            self._concentration0 = self._positive(concentration0, "concentration0")
        super().__init__(validate_args, name)

    @property
    def concentration1(self) -> Any:
        """The power of the numbers."""
        return self._concentration1

    @property
    def concentration0(self) -> Any:
        """The power of what is missing to 1."""
        return self._concentration0

    def _forward(self, x: Any) -> Any:
        x = _within(self, x, 1.)
        return tf.exp(tf.math.log1p(-tf.exp(tf.math.log1p(-x) / self.concentration0))
                      / self.concentration1)

    def _inverse(self, y: Any) -> Any:
        y = _within(self, y, 1.)
        return -tf.math.expm1(self.concentration0 * tf.math.log1p(-y ** self.concentration1))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = _within(self, y, 1.)
        return (tf.math.log(self.concentration1) + tf.math.log(self.concentration0)
                + tf.math.xlogy(self.concentration1 - 1., y)
                + (self.concentration0 - 1.) * tf.math.log1p(-y ** self.concentration1))


class Weibull(_TwoConcentrations):
    """Y = 1 - exp(-(X / scale) ** concentration) on [0, 1]."""

    def __init__(self, scale: Any = 1., concentration: Any = 1., validate_args: bool = False,
                 name: str = "weibull") -> None:
        with self._scope(name, validate_args, scale, concentration):
            self._scale = self._positive(scale, "scale")
            self._concentration = self._positive(concentration, "concentration")
        super().__init__(validate_args, name)

    @property
    def scale(self) -> Any:
        """The scale."""
        return self._scale

    @property
    def concentration(self) -> Any:
        """The power."""
        return self._concentration

    def _forward(self, x: Any) -> Any:
        x = self._if(lambda: _V1.assert_non_negative(x), x)
        return -tf.math.expm1(-((x / self.scale) ** self.concentration))

    def _inverse(self, y: Any) -> Any:
        y = _within(self, y, 1.)
        return self.scale * (-tf.math.log1p(-y)) ** (1 / self.concentration)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = _within(self, y, 1.)
        return (-tf.math.log1p(-y) + (1 / self.concentration - 1) * tf.math.log(-tf.math.log1p(-y))
                + tf.math.log(self.scale / self.concentration))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._if(lambda: _V1.assert_non_negative(x), x)
        return (-(x / self.scale) ** self.concentration
                + (self.concentration - 1) * tf.math.log(x) + tf.math.log(self.concentration)
                - self.concentration * tf.math.log(self.scale))
