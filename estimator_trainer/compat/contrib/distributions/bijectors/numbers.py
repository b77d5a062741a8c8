"""`tf.contrib.distributions.bijectors` of single numbers.

Each is the function that its docstring gives, after the API of
`tensorflow/contrib/distributions/python/ops/bijectors/` of TensorFlow 1.15.
"""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import bijector, util

from estimator_trainer.compat.contrib.distributions import checks
from estimator_trainer.patches import op_seeds

_V1 = tf.compat.v1


class Numbers(bijector.Bijector):
    """A bijector whose events are single numbers."""

    def __init__(self, validate_args: bool = False, name: Optional[str] = None,
                 **kwargs: Any) -> None:
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name,
                         **kwargs)

    def _scope(self, name: str, validate_args: bool, *values: Any) -> Any:
        """Returns the scope in which parameters become tensors, before the base class is there."""
        self._graph_parents: list[Any] = []
        self._name, self._validate_args = name, validate_args
        return self._name_scope("init", values=[each for each in values if each is not None])

    def _if(self, holds: Any, value: Any) -> Any:
        """Returns a value, after an assertion where arguments are validated."""
        return checks.after([holds()], value) if self.validate_args else value


class PowerTransform(Numbers):
    """Y = (1 + X * power) ** (1 / power), and exp(X) where power is 0."""

    def __init__(self, power: Any = 0., validate_args: bool = False,
                 name: str = "power_transform") -> None:
        with self._scope(name, validate_args, power):
            value = tf.get_static_value(tf.convert_to_tensor(power, name="power"))
        if value is None or value < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        self._power = value
        super().__init__(validate_args, name)

    @property
    def power(self) -> Any:
        """The parameter of the transform."""
        return self._power

    def _forward(self, x: Any) -> Any:
        if self.power == 0.:
            return tf.exp(x)
        return tf.exp(tf.math.log1p(self._large_enough(x) * self.power) / self.power)

    def _inverse(self, y: Any) -> Any:
        y = self._positive(y)
        return tf.math.log(y) if self.power == 0. else (
            tf.math.expm1(tf.math.log(y) * self.power) / self.power)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (self.power - 1.) * tf.math.log(self._positive(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return x if self.power == 0. else (
            (1. / self.power - 1.) * tf.math.log1p(self._large_enough(x) * self.power))

    def _large_enough(self, x: Any) -> Any:
        return self._if(lambda: _V1.assert_non_negative(
            1. + x * self.power, message="Forward transformation input must be at least "
            f"{-1. / self.power}."), x)

    def _positive(self, y: Any) -> Any:
        return self._if(lambda: _V1.assert_positive(
            y, message="Inverse transformation input must be greater than 0."), y)


class Exp(PowerTransform):
    """Y = exp(X)."""

    def __init__(self, validate_args: bool = False, name: str = "exp") -> None:
        super().__init__(0., validate_args, name)


class AbsoluteValue(Numbers):
    """Y = |X|, which has two inverses."""

    def __init__(self, validate_args: bool = False, name: str = "absolute_value") -> None:
        super().__init__(validate_args, name)

    @property
    def _is_injective(self) -> bool:
        return False

    def _forward(self, x: Any) -> Any:
        return tf.abs(x)

    def _inverse(self, y: Any) -> Any:
        y = self._if(lambda: _V1.assert_non_negative(
            y, message="Argument y was negative"), y)
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        zeros = tf.zeros([], y.dtype)
        zeros = self._if(lambda: _V1.assert_non_negative(
            y, message="Argument y was negative"), zeros)
        return zeros, zeros


class AffineScalar(Numbers):
    """Y = scale * X + shift."""

    def __init__(self, shift: Any = None, scale: Any = None, validate_args: bool = False,
                 name: str = "affine_scalar") -> None:
        with self._scope(name, validate_args, scale, shift):
            self._shift: Any = None if shift is None else tf.convert_to_tensor(
                shift, name="shift")
            self._scale: Any = None if scale is None else tf.convert_to_tensor(
                scale, name="scale")
            if self._scale is not None:
                self._scale = self._if(lambda: _V1.assert_none_equal(
                    self._scale, tf.zeros([], self._scale.dtype)), self._scale)
            super().__init__(validate_args, name, is_constant_jacobian=True)

    @property
    def shift(self) -> Any:
        """The number that is added."""
        return self._shift

    @property
    def scale(self) -> Any:
        """The factor."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        op_seeds.count(1)  # 1.15 copied x.
        y = tf.identity(x) if self.scale is None else x * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        op_seeds.count(1)
        x = tf.identity(y) if self.shift is None else y - self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return tf.constant(0., x.dtype) if self.scale is None else (
            tf.math.log(tf.abs(self.scale)))


class Sigmoid(Numbers):
    """Y = 1 / (1 + exp(-X))."""

    def __init__(self, validate_args: bool = False, name: str = "sigmoid") -> None:
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Any:
        return tf.sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return tf.math.log(y) - tf.math.log1p(-y)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -tf.math.log(y) - tf.math.log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -tf.nn.softplus(-x) - tf.nn.softplus(x)


class Softplus(Numbers):
    """Y = h * log(1 + exp(X / h)), where h is `hinge_softness`, 1 by default."""

    def __init__(self, hinge_softness: Any = None, validate_args: bool = False,
                 name: str = "softplus") -> None:
        with self._scope(name, validate_args, hinge_softness):
            self._hinge_softness = hinge_softness
            if hinge_softness is not None:
                softness = tf.convert_to_tensor(hinge_softness, name="hinge_softness")
                self._hinge_softness = self._if(lambda: _V1.assert_none_equal(
                    tf.zeros([], softness.dtype), softness,
                    message="hinge_softness must be non-zero"), softness)
        super().__init__(validate_args, name)

    @property
    def hinge_softness(self) -> Any:
        """How soft the hinge at 0 is."""
        return self._hinge_softness

    def _forward(self, x: Any) -> Any:
        return self._scaled(tf.nn.softplus, x)

    def _inverse(self, y: Any) -> Any:
        return self._scaled(util.softplus_inverse, y)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -tf.math.log(-tf.math.expm1(-self._divided(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -tf.nn.softplus(-self._divided(x))

    def _divided(self, x: Any) -> Any:
        return x if self.hinge_softness is None else x / tf.cast(self.hinge_softness, x.dtype)

    def _scaled(self, function: Any, x: Any) -> Any:
        y = function(self._divided(x))
        return y if self.hinge_softness is None else tf.cast(self.hinge_softness, x.dtype) * y


class Softsign(Numbers):
    """Y = X / (1 + |X|)."""

    def __init__(self, validate_args: bool = False, name: str = "softsign") -> None:
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Any:
        return x / (1. + tf.abs(x))

    def _inverse(self, y: Any) -> Any:
        y = self._inside(y)
        return y / (1. - tf.abs(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -2. * tf.math.log1p(tf.abs(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -2. * tf.math.log1p(-tf.abs(self._inside(y)))

    def _inside(self, y: Any) -> Any:
        one = tf.ones([], y.dtype)
        y = self._if(lambda: _V1.assert_greater(
            y, -one, message="Inverse transformation input must be greater than -1."), y)
        return self._if(lambda: _V1.assert_less(
            y, one, message="Inverse transformation input must be less than 1."), y)


class Square(Numbers):
    """Y = X ** 2 of numbers that are not negative."""

    def __init__(self, validate_args: bool = False, name: str = "square") -> None:
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Any:
        return tf.square(self._not_negative(x))

    def _inverse(self, y: Any) -> Any:
        return tf.sqrt(self._not_negative(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return np.log(2.) + tf.math.log(self._not_negative(x))

    def _not_negative(self, x: Any) -> Any:
        return self._if(lambda: _V1.assert_non_negative(
            x, message="All elements must be non-negative."), x)


class SinhArcsinh(Numbers):
    """Y = sinh((arcsinh(X) + skewness) * tailweight), of Jones and Pewsey, 2009."""

    def __init__(self, skewness: Any = None, tailweight: Any = None, validate_args: bool = False,
                 name: str = "SinhArcsinh") -> None:
        with self._scope(name, validate_args, skewness, tailweight):
            tailweight = 1. if tailweight is None else tailweight
            skewness = 0. if skewness is None else skewness
            self._skewness = tf.convert_to_tensor(skewness, name="skewness")
            self._tailweight = tf.convert_to_tensor(tailweight, name="tailweight",
                                                    dtype=self._skewness.dtype)
            checks.same_float_dtype(self._skewness, self._tailweight)
            self._tailweight = self._if(lambda: _V1.assert_positive(
                self._tailweight, message="Argument tailweight was not positive"),
                self._tailweight)
        super().__init__(validate_args, name)

    @property
    def skewness(self) -> Any:
        """To which side the result leans."""
        return self._skewness

    @property
    def tailweight(self) -> Any:
        """How heavy the tails of the result are."""
        return self._tailweight

    def _forward(self, x: Any) -> Any:
        return tf.sinh((tf.asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y: Any) -> Any:
        return tf.sinh(tf.asinh(y) / self.tailweight - self.skewness)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return tf.math.log(tf.cosh((tf.asinh(x) + self.skewness) * self.tailweight)
                           / _hypotenuse(x)) + tf.math.log(self.tailweight)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.math.log(tf.cosh(tf.asinh(y) / self.tailweight - self.skewness)
                           / _hypotenuse(y)) - tf.math.log(self.tailweight)


def _hypotenuse(x: Any) -> Any:
    """Returns sqrt(x ** 2 + 1), whose square root does not overflow."""
    largest = math.sqrt(1. / np.finfo(x.dtype.as_numpy_dtype).eps)
    small = tf.abs(x) <= largest
    return tf.where(small, tf.sqrt(tf.where(small, x, tf.ones_like(x)) ** 2 + 1.), tf.abs(x))
