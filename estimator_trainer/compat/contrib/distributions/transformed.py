"""`tf.contrib.distributions.TransformedDistribution`: Y = g(X) of a distribution of X.

Follows the API of `tensorflow/python/ops/distributions/transformed_distribution.py` of TensorFlow
1.15. log p(y) = log p(x) + log |dx / dy|, where x is the inverse of y.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import tensorflow as tf
from tensorflow.python.ops.distributions import distribution as base, identity_bijector, util

from estimator_trainer.compat.contrib.distributions import checks
from estimator_trainer.patches import op_seeds

_V1 = tf.compat.v1


class TransformedDistribution(base.Distribution):
    """The distribution of Y = bijector.forward(X)."""

    def __init__(self, distribution: Any, bijector: Any = None, batch_shape: Any = None,
                 event_shape: Any = None, validate_args: bool = False,
                 name: Optional[str] = None) -> None:
        """Takes the distribution of X.

        Args:
          distribution: A distribution.
          bijector: A bijector, the identity by default.
          batch_shape: The shape of a batch of X, if that of `distribution` is [].
          event_shape: The shape of an event of X, if that of `distribution` is [].
          validate_args: Whether shapes are checked.
          name: A scope for the operations.

        Raises:
          ValueError: A shape is given, but that of `distribution` is not [].
        """
        parameters = dict(locals())
        name = name or ("" if bijector is None else bijector.name) + distribution.name
        with _V1.name_scope(name, values=[each for each in (event_shape, batch_shape)
                                          if each is not None]) as name:
            self._new_batch = _override(batch_shape, distribution.is_scalar_batch(),
                                        validate_args, "batch_shape")
            self._new_event = _override(event_shape, distribution.is_scalar_event(),
                                        validate_args, "event_shape")
            self._bijector = bijector if bijector is not None else (
                identity_bijector.Identity(validate_args=validate_args))
            self._moved = self._dimensions_to_move(distribution.is_scalar_batch())
            # 1.15 computed shapes here, whether they were needed or not.
            op_seeds.count(25 + 2 * (event_shape is not None) + 2 * (batch_shape is not None))
        self._distribution = distribution
        super().__init__(
            dtype=distribution.dtype, validate_args=validate_args, parameters=parameters,
            reparameterization_type=distribution.reparameterization_type,
            allow_nan_stats=distribution.allow_nan_stats, name=name,
            graph_parents=[*distribution._graph_parents, *self.bijector.graph_parents])

    @property
    def distribution(self) -> Any:
        """The distribution of X."""
        return self._distribution

    @property
    def bijector(self) -> Any:
        """The function that makes Y of X."""
        return self._bijector

    def _dimensions_to_move(self, is_scalar_batch: Any) -> Any:
        """Returns how many dimensions of an event are drawn before, and belong behind, a batch."""
        if self._new_event is None or self._new_batch is not None:
            return 0
        is_scalar, size = tf.get_static_value(is_scalar_batch), _length(self._new_event)
        if is_scalar is None:
            return tf.where(is_scalar_batch, 0, size)
        return 0 if is_scalar else size

    def _event_shape_tensor(self) -> Any:
        return self.bijector.forward_event_shape_tensor(
            _picked(self._new_event, self.distribution.event_shape_tensor()))

    def _event_shape(self) -> Any:
        return self.bijector.forward_event_shape(
            self.distribution.event_shape if self._new_event is None else _static(self._new_event))

    def _batch_shape_tensor(self) -> Any:
        return _picked(self._new_batch, self.distribution.batch_shape_tensor())

    def _batch_shape(self) -> Any:
        return self.distribution.batch_shape if self._new_batch is None else (
            _static(self._new_batch))

    def _sample_n(self, n: Any, seed: Any = None, **kwargs: Any) -> Any:
        parts = [each for each in (self._new_batch, self._new_event) if each is not None]
        if isinstance(self._moved, int):
            parts.insert(len(parts) if self._moved else 0, [n])
        else:
            empty, is_last = tf.constant([], tf.int32), self._moved > 0
            parts.insert(0, util.pick_vector(is_last, empty, [n]))
            parts.append(util.pick_vector(is_last, [n], empty))
        x = self.distribution.sample(tf.concat(parts, 0), seed=seed, **kwargs)
        return _rolled(x, self._moved)

    def _call_sample_n(self, sample_shape: Any, seed: Any, name: str,
                       bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        with self._name_scope(name, values=[sample_shape]):
            op_seeds.count(-1)
            sample_shape = tf.convert_to_tensor(sample_shape, tf.int32, name="sample_shape")
            sample_shape, n = self._expand_sample_shape_to_vector(sample_shape, "sample_shape")
            x = self._sample_n(n, seed, **(distribution_kwargs or {}))
            # The bijector may keep X of Y, and gets X as it is returned.
            x = tf.reshape(x, tf.concat([sample_shape, tf.shape(x)[1:]], 0))
            y = self.bijector.forward(x, **(bijector_kwargs or {}))
            return self._set_sample_static_shape(y, sample_shape)

    def _log_prob(self, y: Any, bijector_kwargs: Any = None,
                  distribution_kwargs: Any = None) -> Any:
        def log_prob(x: Any, jacobian: Any) -> Any:
            found = self.distribution.log_prob(x, **(distribution_kwargs or {}))
            found = self._over_event(tf.reduce_sum, found)
            return self._shaped(found + tf.cast(jacobian, found.dtype), y)

        fibers = self._fibers(y, log_prob, bijector_kwargs or {})
        return fibers[0] if len(fibers) == 1 else tf.reduce_logsumexp(tf.stack(fibers), axis=0)

    def _prob(self, y: Any, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        def prob(x: Any, jacobian: Any) -> Any:
            found = self.distribution.prob(x, **(distribution_kwargs or {}))
            found = self._over_event(tf.reduce_prod, found)
            return self._shaped(found * tf.exp(tf.cast(jacobian, found.dtype)), y)

        return sum(self._fibers(y, prob, bijector_kwargs or {}))

    def _fibers(self, y: Any, function: Callable[[Any, Any], Any], kwargs: Any) -> list[Any]:
        """Returns what a function makes of each x with g(x) = y, and of its Jacobian."""
        x = self.bijector.inverse(y, **kwargs)
        jacobian = self.bijector.inverse_log_det_jacobian(
            y, event_ndims=self._event_ndims(), **kwargs)
        pairs = [(x, jacobian)] if self.bijector._is_injective else list(zip(x, jacobian))
        return [function(_rolled(x, self._moved, back=True), jacobian) for x, jacobian in pairs]

    def _over_event(self, reduce: Callable[..., Any], values: Any) -> Any:
        if self._new_event is None:
            return values
        size = _length(self._new_event)
        if isinstance(self._moved, int) and isinstance(size, int):
            return reduce(values, list(range(size)) if self._moved else list(range(-size, 0)))
        return reduce(values, tf.range(self._moved - size, self._moved))

    def _shaped(self, found: Any, y: Any) -> Any:
        ndims = self._event_ndims()
        if self._new_event is not None and isinstance(ndims, int) and y.shape.rank is not None:
            found.set_shape(tf.broadcast_static_shape(
                y.shape[:y.shape.rank - ndims], self.batch_shape))
        return found

    def _event_ndims(self) -> Any:
        if self.event_shape.rank is not None:
            return self.event_shape.rank
        size = tf.size(self.event_shape_tensor())
        static = tf.get_static_value(size)
        return size if static is None else int(static)

    def _through(self, name: str, y: Any, bijector_kwargs: Any = None,
                 distribution_kwargs: Any = None) -> Any:
        self._need_scalar(name)
        x = self.bijector.inverse(y, **(bijector_kwargs or {}))
        return getattr(self.distribution, name)(x, **(distribution_kwargs or {}))

    def _need_scalar(self, name: str) -> None:
        if self._new_event is not None:
            raise NotImplementedError(f"{name} is not implemented when overriding event_shape")
        if not self.bijector._is_injective:
            raise NotImplementedError(f"{name} is not implemented when bijector is not injective.")

    def _log_cdf(self, y: Any, **kwargs: Any) -> Any:
        return self._through("log_cdf", y, **kwargs)

    def _cdf(self, y: Any, **kwargs: Any) -> Any:
        return self._through("cdf", y, **kwargs)

    def _log_survival_function(self, y: Any, **kwargs: Any) -> Any:
        return self._through("log_survival_function", y, **kwargs)

    def _survival_function(self, y: Any, **kwargs: Any) -> Any:
        return self._through("survival_function", y, **kwargs)

    def _quantile(self, value: Any, bijector_kwargs: Any = None,
                  distribution_kwargs: Any = None) -> Any:
        self._need_scalar("quantile")
        x = self.distribution.quantile(value, **(distribution_kwargs or {}))
        return self.bijector.forward(x, **(bijector_kwargs or {}))

    def _entropy(self) -> Any:
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not self.bijector._is_injective:
            raise NotImplementedError(
                "entropy is not implemented when bijector is not injective.")
        entropy = self.distribution.entropy()
        if self._new_event is not None:
            entropy *= tf.cast(tf.reduce_prod(self._new_event), entropy.dtype)
        if self._new_batch is not None:
            entropy += tf.zeros(self._new_batch, entropy.dtype)
        dummy = tf.zeros(tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0),
                         self.dtype)
        jacobian = self.bijector.inverse_log_det_jacobian(dummy, event_ndims=self._event_ndims())
        entropy -= tf.cast(jacobian, entropy.dtype)
        entropy.set_shape(self.batch_shape)
        return entropy


def _override(shape: Any, is_scalar: Any, validate_args: bool, name: str) -> Any:
    """Returns the shape that takes the place of the distribution's own, or None."""
    if shape is None:
        return None
    shape = tf.convert_to_tensor(shape, name=name, dtype_hint=tf.int32)
    if not shape.dtype.is_integer:
        raise TypeError("shape override must be an integer")
    static = tf.get_static_value(shape)
    if static is not None and static.size == 0:
        return None
    if shape.shape.rank not in (None, 1):
        raise ValueError("shape override must be a vector")
    if static is not None and (static <= 0).any():
        raise ValueError("shape override must have positive elements")
    is_known = tf.get_static_value(is_scalar)
    message = "base distribution not scalar"
    length = _length(shape)
    if is_known is not None and not is_known and isinstance(length, int):
        raise ValueError(message)
    if not validate_args:
        return shape
    assertions = [] if static is not None else [
        _V1.assert_rank(shape, 1, message="shape override must be a vector"),
        _V1.assert_positive(shape, message="shape override must have positive elements")]
    if is_known is None or not isinstance(length, int):
        assertions.append(_V1.assert_equal(
            tf.logical_or(is_scalar, tf.equal(length, 0)), True, message=message))
    return checks.after(assertions, shape)


def _length(shape: Any) -> Any:
    """Returns how many dimensions a shape has."""
    static = checks.size(shape.shape, 0)
    return tf.size(shape) if static is None else static


def _picked(override: Any, own: Any) -> Any:
    """Returns the shape that holds, where an override may turn out to be []."""
    if override is None:
        return own
    length = _length(override)
    return override if isinstance(length, int) else util.pick_vector(length > 0, override, own)


def _static(shape: Any) -> Any:
    from tensorflow.python.framework import tensor_util
    return tensor_util.constant_value_as_shape(shape)


def _rolled(x: Any, count: Any, back: bool = False) -> Any:
    """Returns a tensor whose first dimensions are the last, or the reverse."""
    if isinstance(count, int) and not count:
        return x
    rank = tf.rank(x)
    first = rank - count if back else tf.convert_to_tensor(count)
    return tf.transpose(x, tf.concat([tf.range(first, rank), tf.range(first)], 0))
