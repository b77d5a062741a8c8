"""Distributions of `tf.contrib.distributions` whose methods take conditions.

Follows the API of `conditional_distribution.py` and `conditional_transformed_distribution.py` in
`tensorflow/contrib/distributions/python/ops/` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

from tensorflow.python.ops.distributions import distribution

from estimator_trainer.compat.contrib.distributions import transformed


class ConditionalDistribution(distribution.Distribution):
    """A distribution whose methods pass keyword arguments to those of a subclass."""

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "sample",
               **condition_kwargs: Any) -> Any:
        """Returns samples of `sample_shape`, batch and event."""
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(self, value: Any, name: str = "log_prob", **condition_kwargs: Any) -> Any:
        """Returns the logarithm of the density."""
        return self._call_log_prob(value, name, **condition_kwargs)

    def prob(self, value: Any, name: str = "prob", **condition_kwargs: Any) -> Any:
        """Returns the density."""
        return self._call_prob(value, name, **condition_kwargs)

    def log_cdf(self, value: Any, name: str = "log_cdf", **condition_kwargs: Any) -> Any:
        """Returns log P[X <= value]."""
        return self._call_log_cdf(value, name, **condition_kwargs)

    def cdf(self, value: Any, name: str = "cdf", **condition_kwargs: Any) -> Any:
        """Returns P[X <= value]."""
        return self._call_cdf(value, name, **condition_kwargs)

    def log_survival_function(self, value: Any, name: str = "log_survival_function",
                              **condition_kwargs: Any) -> Any:
        """Returns log P[X > value]."""
        return self._call_log_survival_function(value, name, **condition_kwargs)

    def survival_function(self, value: Any, name: str = "survival_function",
                          **condition_kwargs: Any) -> Any:
        """Returns P[X > value]."""
        return self._call_survival_function(value, name, **condition_kwargs)


class ConditionalTransformedDistribution(ConditionalDistribution,
                                         transformed.TransformedDistribution):
    """A TransformedDistribution whose methods take `bijector_kwargs`, `distribution_kwargs`."""
