"""Expectations of a function, estimated from samples.

Follows the API of `tensorflow/contrib/bayesflow/python/ops/monte_carlo_impl.py` of TensorFlow 1.15.
Importance sampling is E_p[f(Z)] = E_q[f(Z) p(Z) / q(Z)], the mean over samples of q.
"""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

_V1 = tf.compat.v1


def expectation(f: Callable[[Any], Any], samples: Any, log_prob: Any = None,
                use_reparametrization: bool = True, axis: Any = 0, keep_dims: bool = False,
                name: Any = None) -> Any:
    """Returns the mean of f(samples) over `axis`.

    Without `use_reparametrization` the gradient is that of the score: of f * p / stop(p).

    Raises:
      ValueError: `f`, or `log_prob` where it is needed, is no function.
    """
    with _V1.name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return tf.reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        fixed = tf.stop_gradient(samples)
        log_p, values = log_prob(fixed), f(fixed)
        values += values * (log_p - tf.stop_gradient(log_p))
        return tf.reduce_mean(values, axis=axis, keepdims=keep_dims)


def expectation_importance_sampler(f: Callable[[Any], Any], log_p: Callable[[Any], Any],
                                   sampling_dist_q: Any, z: Any = None, n: Any = None,
                                   seed: Any = None,
                                   name: str = "expectation_importance_sampler") -> Any:
    """Returns the estimate of E_p[f(Z)] from samples `z` of q, or from `n` that are drawn.

    Raises:
      ValueError: Both or none of `z` and `n` are given.
    """
    with _V1.name_scope(name, values=[each for each in (z, n) if each is not None]):
        z = _samples(sampling_dist_q, z, n, seed)
        log_weights = log_p(z) - sampling_dist_q.log_prob(z)
        values = f(z)
        # A logarithm is of a number above 0; the ones that are added cancel in the difference.
        plus, minus = (_log_mean(tf.math.log(tf.nn.relu(each) + 1.) + log_weights)
                       for each in (values, -values))
        return tf.exp(plus) - tf.exp(minus)


def expectation_importance_sampler_logspace(
        log_f: Callable[[Any], Any], log_p: Callable[[Any], Any], sampling_dist_q: Any,
        z: Any = None, n: Any = None, seed: Any = None,
        name: str = "expectation_importance_sampler_logspace") -> Any:
    """Returns the logarithm of the estimate of E_p[f(Z)], of the logarithm of f.

    Raises:
      ValueError: Both or none of `z` and `n` are given.
    """
    with _V1.name_scope(name, values=[each for each in (z, n) if each is not None]):
        z = _samples(sampling_dist_q, z, n, seed)
        return _log_mean(log_f(z) + log_p(z) - sampling_dist_q.log_prob(z))


def _log_mean(logs: Any) -> Any:
    """Returns the logarithm of the mean over the first axis."""
    largest = tf.stop_gradient(tf.reduce_max(logs, axis=[0]))
    return tf.math.log(tf.reduce_mean(tf.exp(logs - largest), axis=[0])) + largest


def _samples(distribution: Any, z: Any, n: Any, seed: Any) -> Any:
    if (n is None) == (z is None):
        raise ValueError(f"Must specify exactly one of arguments 'n' and 'z'. Found: n = {n}, "
                         f"z = {z}")
    return distribution.sample(n, seed=seed) if z is None else tf.convert_to_tensor(z, name="z")
