"""Distributions of `tf.contrib.distributions` that always give their `loc`.

Follows the API of `tensorflow/contrib/distributions/python/ops/deterministic.py` of TensorFlow
1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.ops.distributions import distribution

from estimator_trainer.compat.contrib.distributions import checks
from estimator_trainer.patches import op_seeds

_V1 = tf.compat.v1


class _Deterministic(distribution.Distribution):
    """P(x) = 1 if |x - loc| <= atol + rtol * |loc|, else 0."""

    def __init__(self, loc: Any, atol: Any, rtol: Any, validate_args: bool, allow_nan_stats: bool,
                 name: str, parameters: Any, is_vector: bool = False) -> None:
        with _V1.name_scope(name, values=[loc, atol, rtol]) as name:
            loc = tf.convert_to_tensor(loc, name="loc")
            if is_vector and validate_args:
                message = "Argument loc must be at least rank 1."
                if loc.shape.rank == 0:
                    raise ValueError(message)
                if loc.shape.rank is None:
                    loc = checks.after([_V1.assert_rank_at_least(loc, 1, message=message)], loc)
            self.loc = loc
            super().__init__(
                dtype=loc.dtype, reparameterization_type=distribution.NOT_REPARAMETERIZED,
                validate_args=validate_args, allow_nan_stats=allow_nan_stats,
                parameters=parameters, graph_parents=[loc], name=name)
            self.atol, self.rtol = self._tolerance(atol), self._tolerance(rtol)
            self._slack = self.atol if rtol is None else self.atol + self.rtol * tf.abs(loc)

    def _tolerance(self, value: Any) -> Any:
        value = tf.convert_to_tensor(0 if value is None else value, self.loc.dtype)
        if not self.validate_args:
            return value
        return checks.after([_V1.assert_non_negative(
            value, message="Argument 'tol' must be non-negative")], value)

    def _is_near(self, x: Any) -> Any:
        return tf.abs(x - self.loc) <= self._slack

    def _entropy(self) -> Any:
        return tf.zeros(self.batch_shape_tensor(), self.dtype)

    def _mean(self) -> Any:
        return tf.identity(self.loc)

    def _variance(self) -> Any:
        return tf.zeros_like(self.loc)

    def _mode(self) -> Any:
        return self.mean()

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        op_seeds.count(2)  # 1.15 multiplied ones.
        return tf.broadcast_to(self.loc, tf.concat([[n], tf.shape(self.loc)], 0))


class Deterministic(_Deterministic):
    """A distribution of numbers, each of which is `loc`."""

    def __init__(self, loc: Any, atol: Any = None, rtol: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Deterministic") -> None:
        parameters = dict(locals())
        super().__init__(loc, atol, rtol, validate_args, allow_nan_stats, name, parameters)

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self.loc)

    def _batch_shape(self) -> Any:
        return self.loc.shape

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], tf.int32)

    def _event_shape(self) -> Any:
        return tf.TensorShape([])

    def _prob(self, x: Any) -> Any:
        return tf.cast(self._is_near(x), self.dtype)

    def _cdf(self, x: Any) -> Any:
        return tf.cast(x >= self.loc - self._slack, self.dtype)


class VectorDeterministic(_Deterministic):
    """A distribution of vectors, each of which is `loc`."""

    def __init__(self, loc: Any, atol: Any = None, rtol: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "VectorDeterministic") -> None:
        parameters = dict(locals())
        super().__init__(loc, atol, rtol, validate_args, allow_nan_stats, name, parameters, True)

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self.loc)[:-1]

    def _batch_shape(self) -> Any:
        return self.loc.shape[:-1]

    def _event_shape_tensor(self) -> Any:
        return tf.shape(self.loc)[-1:]

    def _event_shape(self) -> Any:
        return self.loc.shape[-1:]

    def _prob(self, x: Any) -> Any:
        if self.validate_args:
            x = checks.after([_V1.assert_rank_at_least(x, 1)], x)
            x = checks.after([_V1.assert_equal(
                tf.shape(self.loc)[-1], tf.shape(x)[-1],
                message="Argument x not defined in the same space R^k as this distribution")], x)
        return tf.cast(tf.reduce_all(self._is_near(x), axis=-1), self.dtype)
