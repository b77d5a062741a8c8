"""The base class of `tf.contrib.distributions`' distributions of single numbers."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import distribution, util

from estimator_trainer.compat.contrib.distributions import checks

_V1 = tf.compat.v1


class Scalar(distribution.Distribution):
    """A distribution of numbers; its batch has the shape to which its parameters broadcast."""

    def __init__(self, shaped: list[Any], parameters: Any, validate_args: bool,
                 allow_nan_stats: bool, name: str, is_reparameterized: bool = False,
                 dtype: Any = None) -> None:
        self._shaped = shaped
        super().__init__(
            dtype=dtype or shaped[-1].dtype, parameters=parameters, validate_args=validate_args,
            allow_nan_stats=allow_nan_stats, graph_parents=shaped, name=name,
            reparameterization_type=distribution.FULLY_REPARAMETERIZED if is_reparameterized
            else distribution.NOT_REPARAMETERIZED)

    def _batch_shape_tensor(self) -> Any:
        return checks.dynamic_shape(self._shaped)

    def _batch_shape(self) -> Any:
        return checks.static_shape(self._shaped)

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], tf.int32)

    def _event_shape(self) -> Any:
        return tf.TensorShape([])

    def _like_batch(self, value: Any) -> Any:
        """Returns a value in the shape of the batch."""
        for each in self._shaped:
            value = value * tf.ones_like(each, dtype=self.dtype)
        return value

    def _uniform(self, n: Any, seed: Any, least: float = 0.) -> Any:
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        return _V1.random_uniform(shape, least, 1., self.dtype, seed)

    def _or_nan(self, is_defined: Any, value: Any, message: str) -> Any:
        """Returns a statistic where it is defined; elsewhere NaN, or an error if that is asked."""
        if self.allow_nan_stats:
            nan = tf.fill(self.batch_shape_tensor(), np.array(np.nan, self.dtype.as_numpy_dtype))
            return tf.where(is_defined, value, nan)
        return checks.after([_V1.assert_equal(
            tf.reduce_all(is_defined), True, message=f"x < y did not hold: {message}")], value)

    def _whole(self, x: Any) -> Any:
        """Returns a sample of a distribution of whole numbers."""
        return util.embed_check_nonnegative_integer_form(x) if self.validate_args else x


def positive(value: Any, name: str, validate_args: bool) -> Any:
    """Returns a parameter as a tensor, which is to be positive."""
    check = [_V1.assert_positive(value)] if validate_args else []
    with tf.control_dependencies(check):
        return tf.identity(value, name=name)


def logits_and_probs(logits: Optional[Any], probs: Optional[Any], validate_args: bool, name: str,
                     multidimensional: bool = False) -> Any:
    """Returns logits and probabilities, of which one is given."""
    return util.get_logits_and_probs(logits=logits, probs=probs, validate_args=validate_args,
                                     name=name, multidimensional=multidimensional)
