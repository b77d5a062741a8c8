"""Distributions of one-hot vectors of `tf.contrib.distributions`, and of their relaxations.

Follows the API of `tensorflow/contrib/distributions/python/ops/` of TensorFlow 1.15. The
relaxations are those of Maddison et al., 2016 (Concrete) and Jang et al., 2016 (Gumbel-Softmax).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import distribution, kullback_leibler

from estimator_trainer.compat.contrib.distributions import (bijectors, checks, continuous, scalar,
                                                            transformed)
from estimator_trainer.patches import op_seeds

_V1 = tf.compat.v1


class _Logits(distribution.Distribution):
    """A distribution whose events have the size of the last dimension of its logits."""

    @property
    def event_size(self) -> Any:
        """The size of an event, int32 of shape []."""
        return tf.shape(self.logits)[-1]

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self.logits)[:-1]

    def _batch_shape(self) -> Any:
        return self.logits.shape[:-1]

    def _event_shape_tensor(self) -> Any:
        return tf.shape(self.logits)[-1:]

    def _event_shape(self) -> Any:
        return self.logits.shape.with_rank_at_least(1)[-1:]

    def _with_logits(self, x: Any) -> Any:
        """Returns a sample and the logits in one shape."""
        x = self._checked(x)
        logits = tf.ones_like(x, dtype=self.logits.dtype) * self.logits
        return tf.ones_like(logits, dtype=x.dtype) * x, logits

    def _checked(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        return checks.after([
            _V1.assert_non_positive(x),
            _V1.assert_near(tf.zeros([], self.dtype), tf.reduce_logsumexp(x, axis=[-1]))], x)


class OneHotCategorical(_Logits):
    """P(x) = probs of the index where x is 1."""

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = tf.int32,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "OneHotCategorical") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[logits, probs]) as name:
            self.logits, self.probs = scalar.logits_and_probs(
                logits, probs, validate_args, name, True)
            op_seeds.count(6)  # The shapes, which 1.15 computed at once.
        super().__init__(
            dtype=dtype, reparameterization_type=distribution.NOT_REPARAMETERIZED,
            validate_args=validate_args, allow_nan_stats=allow_nan_stats, parameters=parameters,
            graph_parents=[self.logits, self.probs], name=name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        op_seeds.count(-1)
        drawn = _V1.multinomial(tf.reshape(self.logits, [-1, self.event_size]), n, seed=seed)
        op_seeds.count(-9)
        drawn = tf.one_hot(tf.transpose(drawn), self.event_size, dtype=self.dtype)
        return tf.reshape(drawn, tf.concat([[n], tf.shape(self.logits)], 0))

    def _log_prob(self, x: Any) -> Any:
        op_seeds.count(15)
        x, logits = self._with_logits(x)
        return -_V1.nn.softmax_cross_entropy_with_logits_v2(labels=x, logits=logits)

    def _entropy(self) -> Any:
        return -tf.reduce_sum(tf.nn.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Any:
        op_seeds.count(-6)
        mode = tf.one_hot(tf.argmax(self.logits, axis=-1), self.event_size, dtype=self.dtype)
        mode.set_shape(self.logits.shape)
        return mode

    def _covariance(self) -> Any:
        outer = -tf.matmul(self.probs[..., None], self.probs[..., None, :])
        return tf.linalg.set_diag(outer, self._variance())

    def _variance(self) -> Any:
        return self.probs * (1. - self.probs)


def _kl(a: Any, b: Any, name: Any = None) -> Any:
    with _V1.name_scope(name, "kl_categorical_categorical", [a.logits, b.logits]):
        return tf.reduce_sum(tf.nn.softmax(a.logits) * (
            tf.nn.log_softmax(a.logits) - tf.nn.log_softmax(b.logits)), axis=-1)


kullback_leibler.RegisterKL(OneHotCategorical, OneHotCategorical)(_kl)


class ExpRelaxedOneHotCategorical(_Logits):
    """The logarithm of RelaxedOneHotCategorical: log_softmax((logits + Gumbel) / temperature)."""

    def __init__(self, temperature: Any, logits: Any = None, probs: Any = None, dtype: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "ExpRelaxedOneHotCategorical") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[logits, probs, temperature]) as name:
            self.logits, self.probs = scalar.logits_and_probs(
                logits, probs, validate_args, name, True)
            if dtype is None:
                dtype = self.logits.dtype
                temperature = temperature if validate_args else tf.cast(temperature, dtype)
            self.temperature = scalar.positive(temperature, "temperature", validate_args)
            op_seeds.count(8)  # The shapes, which 1.15 computed at once.
        super().__init__(
            dtype=dtype, reparameterization_type=distribution.FULLY_REPARAMETERIZED,
            validate_args=validate_args, allow_nan_stats=allow_nan_stats, parameters=parameters,
            graph_parents=[self.logits, self.probs, self.temperature], name=name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        op_seeds.count(-5)
        shape = tf.concat([[n], tf.shape(self.logits)], 0)
        # One row for each sample and each member of the batch.
        rows = [-1, self.event_size]
        logits = tf.reshape(self.logits * tf.ones(shape, self.dtype), rows)
        uniform = _V1.random_uniform(tf.shape(logits), np.finfo(self.dtype.as_numpy_dtype).tiny,
                                     1., self.dtype, seed)
        noisy = tf.reshape(-tf.math.log(-tf.math.log(uniform)) + logits, shape)
        return tf.nn.log_softmax(noisy / self._columns())

    def _log_prob(self, x: Any) -> Any:
        op_seeds.count(9)
        x, logits = self._with_logits(x)
        size = tf.cast(self.event_size, x.dtype)
        log_norm = tf.math.lgamma(size) + (size - 1.) * tf.math.log(self.temperature)
        softmax = tf.nn.log_softmax(logits - x * self._columns())
        return log_norm + tf.reduce_sum(softmax, -1)

    def _columns(self) -> Any:
        """Returns temperatures that broadcast to logits."""
        rank = self.temperature.shape.rank
        return self.temperature if rank == 0 else self.temperature[..., tf.newaxis]


class RelaxedOneHotCategorical(transformed.TransformedDistribution):
    """softmax((logits + Gumbel) / temperature)."""

    def __init__(self, temperature: Any, logits: Any = None, probs: Any = None, dtype: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "RelaxedOneHotCategorical") -> None:
        super().__init__(
            ExpRelaxedOneHotCategorical(temperature, logits, probs, dtype, validate_args,
                                        allow_nan_stats), bijectors.Exp(), name=name)


class RelaxedBernoulli(transformed.TransformedDistribution):
    """sigmoid((logits + Logistic) / temperature)."""

    def __init__(self, temperature: Any, logits: Any = None, probs: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "RelaxedBernoulli") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[logits, probs, temperature]) as name:
            heat = scalar.positive(temperature, "temperature", validate_args)
            logits, probs = scalar.logits_and_probs(logits, probs, validate_args, name)
            super().__init__(
                continuous.Logistic(logits / heat, 1. / heat, validate_args, allow_nan_stats,
                                    name=name + "/Logistic"),
                bijectors.Sigmoid(validate_args=validate_args), name=name)
        self._parameters = parameters
        self.temperature, self.logits, self.probs = heat, logits, probs

    @staticmethod
    def _param_shapes(sample_shape: Any) -> Any:
        return {"logits": tf.convert_to_tensor(sample_shape, tf.int32)}
