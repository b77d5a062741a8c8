"""Distributions of `tf.contrib.distributions` that see another's batch in another way.

Follows the API of `independent.py`, `batch_reshape.py`, `autoregressive.py` and
`quantized_distribution.py` in `tensorflow/contrib/distributions/python/ops/` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import tensor_util
from tensorflow.python.ops.distributions import distribution as base, kullback_leibler, util

from estimator_trainer.compat.contrib.distributions import checks
from estimator_trainer.patches import op_seeds

_V1 = tf.compat.v1


class Independent(base.Distribution):
    """A distribution whose events are the last dimensions of another's batch."""

    def __init__(self, distribution: Any, reinterpreted_batch_ndims: Any = None,
                 validate_args: bool = False, name: Optional[str] = None) -> None:
        """Takes how many dimensions of the batch those are; all but the first by default.

        Raises:
          ValueError: The batch has not so many dimensions.
        """
        parameters = dict(locals())
        self.distribution = distribution
        name = name or "Independent" + distribution.name
        with _V1.name_scope(name) as name:
            rank = distribution.batch_shape.rank
            ndims = reinterpreted_batch_ndims
            if ndims is None:
                ndims = max(0, rank - 1) if rank is not None else tf.maximum(
                    0, tf.size(distribution.batch_shape_tensor()) - 1)
            static = tf.get_static_value(tf.convert_to_tensor(ndims, tf.int32))
            self._ndims = None if static is None else int(static)
            self.reinterpreted_batch_ndims = ndims if static is None else static
            super().__init__(
                dtype=distribution.dtype, validate_args=validate_args, parameters=parameters,
                reparameterization_type=distribution.reparameterization_type,
                allow_nan_stats=distribution.allow_nan_stats,
                graph_parents=distribution._graph_parents, name=name)
            message = "reinterpreted_batch_ndims({}) cannot exceed distribution.batch_ndims({})"
            self._assertions = []
            if rank is not None and self._ndims is not None:
                if self._ndims > rank:
                    raise ValueError(message.format(self._ndims, rank))
            elif validate_args:
                self._assertions = [_V1.assert_less_equal(
                    ndims, tf.size(distribution.batch_shape_tensor()),
                    message="reinterpreted_batch_ndims cannot exceed distribution.batch_ndims")]

    def _split_at(self) -> Any:
        batch = checks.after(self._assertions, self.distribution.batch_shape_tensor())
        size = checks.size(batch.shape, 0)
        size = tf.size(batch) if size is None else size
        return batch, size - self.reinterpreted_batch_ndims

    def _batch_shape_tensor(self) -> Any:
        batch, at = self._split_at()
        return batch[:at]

    def _batch_shape(self) -> Any:
        batch = self.distribution.batch_shape
        if self._ndims is None or batch.rank is None:
            return tf.TensorShape(None)
        return batch[:batch.rank - self._ndims]

    def _event_shape_tensor(self) -> Any:
        batch, at = self._split_at()
        return tf.concat([batch[at:], self.distribution.event_shape_tensor()], 0)

    def _event_shape(self) -> Any:
        batch = self.distribution.batch_shape
        if self._ndims is None or batch.rank is None:
            return tf.TensorShape(None)
        return batch[batch.rank - self._ndims:].concatenate(self.distribution.event_shape)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return checks.after(self._assertions, self.distribution.sample(n, seed=seed))

    def _log_prob(self, x: Any) -> Any:
        return self._sum(self.distribution.log_prob(x))

    def _entropy(self) -> Any:
        return self._sum(self.distribution.entropy())

    def _sum(self, values: Any) -> Any:
        values = checks.after(self._assertions, values)
        return tf.reduce_sum(values, -1 - tf.range(self.reinterpreted_batch_ndims)
                             if self._ndims is None else list(range(-self._ndims, 0)))

    def _mean(self) -> Any:
        return checks.after(self._assertions, self.distribution.mean())

    def _variance(self) -> Any:
        return checks.after(self._assertions, self.distribution.variance())

    def _stddev(self) -> Any:
        return checks.after(self._assertions, self.distribution.stddev())

    def _mode(self) -> Any:
        return checks.after(self._assertions, self.distribution.mode())


def _kl(a: Any, b: Any, name: str = "kl_independent") -> Any:
    p, q = a.distribution, b.distribution
    # TensorFlow 1.15 ended with a ValueError too where the shapes of events were not known.
    if not a.event_shape.is_fully_defined() or a.event_shape != b.event_shape:
        raise ValueError(f"Event shapes do not match: {a.event_shape} and {b.event_shape}.")
    if p.event_shape.as_list() != q.event_shape.as_list():
        raise NotImplementedError(
            "KL between Independents with different event shapes not supported.")
    ndims = a.event_shape.rank - p.event_shape.rank
    return tf.reduce_sum(kullback_leibler.kl_divergence(p, q, name=name),
                         axis=list(range(-ndims, 0)))


kullback_leibler.RegisterKL(Independent, Independent)(_kl)


class BatchReshape(base.Distribution):
    """A distribution whose batch is another's in another shape."""

    def __init__(self, distribution: Any, batch_shape: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: Optional[str] = None) -> None:
        """Takes the shape, in which -1 stands for what is left.

        Raises:
          ValueError: The shape has another number of elements, or is none.
        """
        parameters = dict(locals())
        self.distribution = distribution
        with _V1.name_scope(name or "BatchReshape" + distribution.name,
                            values=[batch_shape]) as name:
            new = tf.convert_to_tensor(batch_shape, tf.int32, name="batch_shape")
            if new.shape.rank not in (None, 1):
                raise ValueError(f"`batch_shape` must be a vector (saw rank: {new.shape.rank}).")
            op_seeds.count(1)
            self._static_batch = tensor_util.constant_value_as_shape(new)
            self._check(distribution.batch_shape.num_elements())
            self._new: Any = new
            self._assertions: list[Any] = []
            if not self._static_batch.is_fully_defined():
                self._new = self._expanded(new, distribution.batch_shape_tensor(), validate_args)
            super().__init__(
                dtype=distribution.dtype, validate_args=validate_args, parameters=parameters,
                reparameterization_type=distribution.reparameterization_type,
                allow_nan_stats=allow_nan_stats,
                graph_parents=[new, *distribution._graph_parents], name=name)

    def _check(self, old_size: Optional[int]) -> None:
        size = self._static_batch.num_elements()
        if None not in (size, old_size) and size != old_size:
            raise ValueError(f"`batch_shape` size ({size}) must match "
                             f"`distribution.batch_shape` size ({old_size}).")
        if self._static_batch.rank is not None and any(
                each is not None and each < 1 for each in self._static_batch.as_list()):
            raise ValueError("`batch_shape` elements must be >=-1.")

    def _expanded(self, new: Any, old: Any, validate_args: bool) -> Any:
        """Returns the shape, in which a number takes the place of -1."""
        size = tf.reduce_prod(old)
        rest = size // tf.maximum(1, -tf.reduce_prod(new))
        full = tf.where(tf.equal(new, -1), rest, new)
        if validate_args:
            self._assertions = [
                _V1.assert_rank(new, 1, message="`batch_shape` must be a vector."),
                _V1.assert_less_equal(tf.reduce_sum(tf.cast(tf.equal(new, -1), tf.int32)), 1,
                                      message="At most one dimension can be unknown."),
                _V1.assert_positive(full, message="Shape elements must be >=-1."),
                _V1.assert_equal(tf.reduce_prod(full), size,
                                 message="Shape sizes do not match.")]
        return checks.after(self._assertions, full)

    def _batch_shape_tensor(self) -> Any:
        return tf.identity(self._new)

    def _batch_shape(self) -> Any:
        return self._static_batch

    def _event_shape_tensor(self) -> Any:
        return checks.after(self._assertions, self.distribution.event_shape_tensor())

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        x = self.distribution.sample(n, seed=seed)
        return tf.reshape(x, tf.concat([[n], self._new, self.event_shape_tensor()], 0))

    def _of_samples(self, function: Callable[[Any], Any], x: Any) -> Any:
        x = self._checked(tf.convert_to_tensor(x))
        inner = tf.size(self._new) + tf.size(self.event_shape_tensor())
        lead = tf.shape(x)[:tf.rank(x) - inner]
        old = tf.concat([lead, self.distribution.batch_shape_tensor(),
                         self.event_shape_tensor()], 0)
        found = tf.reshape(function(tf.reshape(x, old)), tf.concat([lead, self._new], 0))
        if None not in (x.shape.rank, self.batch_shape.rank, self.event_shape.rank):
            at = x.shape.rank - self.batch_shape.rank - self.event_shape.rank
            found.set_shape(x.shape[:at].concatenate(self.batch_shape))
        return found

    def _checked(self, x: Any) -> Any:
        known = self.batch_shape.concatenate(self.event_shape)
        if x.shape.rank is not None and known.rank is not None:
            if x.shape.rank < known.rank:
                raise NotImplementedError(
                    "Broadcasting is not supported; too few batch and event dims (expected at "
                    f"least {known.rank}, saw {x.shape.rank}).")
            found = x.shape[x.shape.rank - known.rank:]
            if found.is_fully_defined() and known.is_fully_defined():
                if found.as_list() != known.as_list():
                    raise NotImplementedError(
                        "Broadcasting is not supported; unexpected batch and event shape "
                        f"(expected {known.as_list()}, saw {found.as_list()}).")
                return x
        if not self.validate_args:
            return x
        expected = tf.concat([self._new, self.event_shape_tensor()], 0)
        enough = _V1.assert_greater_equal(
            tf.rank(x), tf.size(expected),
            message="Broadcasting is not supported; too few batch and event dims.")
        with tf.control_dependencies([enough]):
            inner = tf.shape(x)[tf.maximum(tf.rank(x) - tf.size(expected), 0):]
        return checks.after([enough, _V1.assert_equal(
            expected, inner, message="Broadcasting is not supported; unexpected batch and event "
            "shape.")], x)

    def _log_prob(self, x: Any) -> Any:
        return self._of_samples(self.distribution.log_prob, x)

    def _prob(self, x: Any) -> Any:
        return self._of_samples(self.distribution.prob, x)

    def _log_cdf(self, x: Any) -> Any:
        return self._of_samples(self.distribution.log_cdf, x)

    def _cdf(self, x: Any) -> Any:
        return self._of_samples(self.distribution.cdf, x)

    def _log_survival_function(self, x: Any) -> Any:
        return self._of_samples(self.distribution.log_survival_function, x)

    def _survival_function(self, x: Any) -> Any:
        return self._of_samples(self.distribution.survival_function, x)

    def _statistic(self, value: Any, events: int = 1) -> Any:
        found = tf.reshape(value, tf.concat(
            [self._new, *[self.event_shape_tensor()] * events], 0))
        shape = self.batch_shape
        for _ in range(events):
            shape = shape.concatenate(self.event_shape)
        found.set_shape(shape)
        return found

    def _entropy(self) -> Any:
        return self._statistic(self.distribution.entropy(), 0)

    def _mean(self) -> Any:
        return self._statistic(self.distribution.mean())

    def _mode(self) -> Any:
        return self._statistic(self.distribution.mode())

    def _stddev(self) -> Any:
        return self._statistic(self.distribution.stddev())

    def _variance(self) -> Any:
        return self._statistic(self.distribution.variance())

    def _covariance(self) -> Any:
        return self._statistic(self.distribution.covariance(), 2)


class Autoregressive(base.Distribution):
    """A distribution of vectors whose parameters depend on the vector's earlier numbers."""

    def __init__(self, distribution_fn: Callable[..., Any], sample0: Any = None,
                 num_steps: Optional[int] = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Autoregressive") -> None:
        """Takes a function of a vector that returns a distribution.

        Args:
          distribution_fn: The function; called without a vector where there is no `sample0`.
          sample0: The first vector.
          num_steps: How often vectors are drawn anew, the size of an event by default.
          validate_args: Not used.
          allow_nan_stats: Whether statistics may be NaN.
          name: A scope for the operations.

        Raises:
          ValueError: The number of steps is not known, or less than 1.
        """
        parameters = dict(locals())
        with _V1.name_scope(name) as name:
            self.distribution_fn, self.sample0 = distribution_fn, sample0
            self.distribution0 = distribution_fn() if sample0 is None else distribution_fn(sample0)
            if num_steps is None:
                num_steps = self.distribution0.event_shape.num_elements()
                if num_steps is None:
                    raise ValueError("distribution_fn must generate a distribution with fully "
                                     "known `event_shape`.")
            if num_steps < 1:
                raise ValueError(f"num_steps ({num_steps}) must be at least 1.")
            self.num_steps = num_steps
        super().__init__(
            dtype=self.distribution0.dtype, validate_args=validate_args, parameters=parameters,
            reparameterization_type=self.distribution0.reparameterization_type,
            allow_nan_stats=allow_nan_stats, graph_parents=self.distribution0._graph_parents,
            name=name)

    def _batch_shape(self) -> Any:
        return self.distribution0.batch_shape

    def _batch_shape_tensor(self) -> Any:
        return self.distribution0.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution0.event_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution0.event_shape_tensor()

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        # Numbers that are drawn again have to come out as before.
        seed = util.gen_new_seed(np.random.randint(2 ** 32 - 1, dtype=np.uint32),
                                 "autoregressive") if seed is None else seed
        samples = self.distribution0.sample(n, seed=seed)
        for _ in range(self.num_steps):
            samples = self.distribution_fn(samples).sample(seed=seed)
        return samples

    def _log_prob(self, value: Any) -> Any:
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value: Any) -> Any:
        return self.distribution_fn(value).prob(value)
