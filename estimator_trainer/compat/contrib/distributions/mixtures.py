"""Mixtures of distributions of `tf.contrib.distributions`: p(x) = sum_k probs[k] * p_k(x).

Follows the API of `mixture.py` and `mixture_same_family.py` in
`tensorflow/contrib/distributions/python/ops/` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Sequence

import tensorflow as tf
from tensorflow.python.ops.distributions import categorical, distribution, util

from estimator_trainer.compat.contrib.distributions import checks
from estimator_trainer.patches import op_seeds

_V1 = tf.compat.v1


def _check_types(cat: Any, components: Any) -> None:
    """Raises TypeError or ValueError unless a mixture can be made of these."""
    if not isinstance(cat, categorical.Categorical):
        raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
    if not components:
        raise ValueError("components must be a non-empty list or tuple")
    if not isinstance(components, (list, tuple)):
        raise TypeError(f"components must be a list or tuple, but saw: {components}")
    if not all(isinstance(each, distribution.Distribution) for each in components):
        raise TypeError("all entries in components must be Distribution instances but saw: "
                        f"{components}")
    dtype = components[0].dtype
    if any(each.dtype != dtype for each in components):
        raise TypeError("All components must have the same dtype, but saw dtypes: "
                        f"{[(each.name, each.dtype) for each in components]}")


class Mixture(distribution.Distribution):
    """A mixture of distributions of any kinds."""

    def __init__(self, cat: Any, components: Sequence[Any], validate_args: bool = False,
                 allow_nan_stats: bool = True, use_static_graph: bool = False,
                 name: str = "Mixture") -> None:
        """Takes the distribution of k, and the distributions of x, a list.

        Args:
          cat: A Categorical.
          components: Distributions of one type and shape, as many as `cat` has classes.
          validate_args: Whether shapes are checked when values are computed.
          allow_nan_stats: Whether statistics may be NaN.
          use_static_graph: Whether each component is sampled for each sample.
          name: A scope for the operations.

        Raises:
          TypeError: An argument is no such distribution, or types differ.
          ValueError: Shapes or numbers do not match.
        """
        parameters = dict(locals())
        _check_types(cat, components)
        self._static_event, self._static_batch = components[0].event_shape, cat.batch_shape
        for each in components:
            self._static_event = self._static_event.merge_with(each.event_shape)
            self._static_batch = self._static_batch.merge_with(each.batch_shape)
        if self._static_event.rank is None:
            raise ValueError("Expected to know rank(event_shape) from components, but none of the "
                             "components provide a static number of ndims")
        with _V1.name_scope(name, values=[cat.logits]) as name:
            op_seeds.count(2)
            count = tf.get_static_value(cat.event_size)
            if count is None:
                raise ValueError("Could not infer number of classes from cat and unable to "
                                 "compare this value to the number of components passed in.")
            if int(count) != len(components):
                raise ValueError(f"cat.num_classes != len(components): {int(count)} vs. "
                                 f"{len(components)}")
            self._assertions = [] if not validate_args else [
                _V1.assert_equal(
                    part(cat.batch_shape_tensor()), part(each.batch_shape_tensor()),
                    message=f"components[{index}] batch shape must match cat batch shape")
                for part in (tf.size, tf.identity) for index, each in enumerate(components)]
        self.cat, self.components = cat, list(components)
        self.num_components, self._use_static_graph = int(count), use_static_graph
        super().__init__(
            dtype=components[0].dtype,
            reparameterization_type=distribution.NOT_REPARAMETERIZED,
            validate_args=validate_args, allow_nan_stats=allow_nan_stats, parameters=parameters,
            graph_parents=[parent for each in (cat, *components)
                           for parent in each._graph_parents], name=name)

    def _batch_shape_tensor(self) -> Any:
        return self.cat.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self._static_batch

    def _event_shape_tensor(self) -> Any:
        return self.components[0].event_shape_tensor()

    def _event_shape(self) -> Any:
        return self._static_event

    def _weights(self, softmax: Any = tf.nn.softmax, with_event: bool = False) -> list[Any]:
        """Returns the probability of each component, in the shape of a batch."""
        with tf.control_dependencies(self._assertions):
            weights: list[Any] = tf.unstack(softmax(self.cat.logits), self.num_components, -1)
        if with_event:
            for _ in range(self.event_shape.rank):
                weights = [tf.expand_dims(each, -1) for each in weights]
        return weights

    def _mean(self) -> Any:
        return tf.add_n([weight * each.mean() for weight, each in zip(
            self._weights(with_event=True), self.components)])

    def _stddev(self) -> Any:
        # The variance is the mean of variances and the variance of means.
        weights = self._weights(with_event=True)
        means = [each.mean() for each in self.components]
        mean = tf.add_n([weight * each for weight, each in zip(weights, means)])
        return tf.sqrt(tf.add_n([
            weight * (tf.square(each.stddev()) + tf.square(own - mean))
            for weight, each, own in zip(weights, self.components, means)]))

    def _log_prob(self, x: Any) -> Any:
        return self._log_of_sum("log_prob", x)

    def _log_cdf(self, x: Any) -> Any:
        return self._log_of_sum("log_cdf", x)

    def _log_of_sum(self, name: str, x: Any) -> Any:
        x = tf.convert_to_tensor(x, name="x")
        return tf.reduce_logsumexp(tf.stack([
            weight + getattr(each, name)(x) for weight, each in zip(
                self._weights(tf.nn.log_softmax), self.components)], 0), [0])

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Any:
        """Returns the mean of the components' entropies."""
        with self._name_scope(name, values=[self.cat.logits]):
            return tf.add_n([weight * each.entropy() for weight, each in zip(
                self._weights(), self.components)])

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        with tf.control_dependencies(self._assertions):
            n = tf.convert_to_tensor(n, name="n")
            chosen = self.cat.sample(n, seed=seed)
            if self._use_static_graph:
                return self._sampled_of_all(n, chosen, seed)
            return self._sampled_by_need(n, chosen, seed)

    def _sampled_of_all(self, n: Any, chosen: Any, seed: Any) -> Any:
        """Returns of each component's samples those that are chosen."""
        found = 0.
        for _ in range(self.event_shape.rank):
            chosen = tf.expand_dims(chosen, -1)
        for index, each in enumerate(self.components):
            seed = util.gen_new_seed(seed, "mixture")
            found += each.sample(n, seed=seed) * tf.cast(tf.equal(chosen, index), self.dtype)
        return found

    def _sampled_by_need(self, n: Any, chosen: Any, seed: Any) -> Any:
        """Returns samples, of which each component draws as many as are chosen.

        Each draws whole batches, of which one member is taken.
        """
        batch_size = tf.reduce_prod(self.batch_shape_tensor())
        places = tf.reshape(tf.range(tf.size(chosen)), tf.shape(chosen))
        places = tf.dynamic_partition(places, chosen, self.num_components)
        members = tf.reshape(tf.tile(tf.range(batch_size), [n]), tf.shape(chosen))
        members = tf.dynamic_partition(members, chosen, self.num_components)
        samples = []
        for each, place, member in zip(self.components, places, members):
            seed = util.gen_new_seed(seed, "mixture")
            drawn = each.sample(tf.size(place), seed=seed)
            flat = tf.reshape(drawn, tf.concat([[-1], self.event_shape_tensor()], 0))
            samples.append(tf.gather(flat, batch_size * tf.range(tf.size(place)) + member))
        found = tf.reshape(tf.dynamic_stitch(places, samples), tf.concat(
            [tf.shape(chosen), self.event_shape_tensor()], 0))
        found.set_shape(chosen.shape.concatenate(self.event_shape))
        return found


class MixtureSameFamily(distribution.Distribution):
    """A mixture whose components are the last dimension of the batch of one distribution."""

    def __init__(self, mixture_distribution: Any, components_distribution: Any,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "MixtureSameFamily") -> None:
        """Takes the distribution of k, a Categorical, and that of x, whose batch is [..., k].

        Raises:
          ValueError: Shapes or numbers do not match.
        """
        parameters = dict(locals())
        self.mixture_distribution = mixture_distribution
        self.components_distribution = components_distribution
        with _V1.name_scope(name) as name:
            if not mixture_distribution.dtype.is_integer:
                raise ValueError(f"`mixture_distribution.dtype` ({mixture_distribution.dtype.name}"
                                 ") is not over integers")
            if mixture_distribution.event_shape.rank not in (None, 0):
                raise ValueError("`mixture_distribution` must have scalar `event_dim`s")
            op_seeds.count(1)
            self._check_batches()
            classes = checks.size(
                mixture_distribution.logits.shape.with_rank_at_least(1), -1)
            components = checks.size(
                components_distribution.batch_shape.with_rank_at_least(1), -1)
            if None not in (classes, components) and classes != components:
                raise ValueError(f"`mixture_distribution components` ({classes}) does not equal "
                                 "`components_distribution.batch_shape[-1]` "
                                 f"({components})")
            self._num_components = classes if classes is not None else components
        self._event_ndims = components_distribution.event_shape.rank
        if self._event_ndims is None:
            self._event_ndims = tf.size(components_distribution.event_shape_tensor())
        super().__init__(
            dtype=components_distribution.dtype,
            reparameterization_type=distribution.NOT_REPARAMETERIZED,
            validate_args=validate_args, allow_nan_stats=allow_nan_stats, parameters=parameters,
            graph_parents=[*mixture_distribution._graph_parents,
                           *components_distribution._graph_parents], name=name)

    def _check_batches(self) -> None:
        mixed = self.mixture_distribution.batch_shape
        inner = self.components_distribution.batch_shape.with_rank_at_least(1)[:-1]
        message = (f"`mixture_distribution.batch_shape` (`{mixed}`) is not compatible with "
                   f"`components_distribution.batch_shape` (`{inner}`)")
        if mixed.is_fully_defined() and inner.is_fully_defined():
            if mixed.rank != 0 and mixed.as_list() != inner.as_list():
                raise ValueError(message)

    def _batch_shape_tensor(self) -> Any:
        return self.components_distribution.batch_shape_tensor()[:-1]

    def _batch_shape(self) -> Any:
        return self.components_distribution.batch_shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Any:
        return self.components_distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.components_distribution.event_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        x = self.components_distribution.sample(n, seed=seed)
        mask = tf.one_hot(
            self.mixture_distribution.sample(n, seed=util.gen_new_seed(
                seed, "MixtureSameFamily")), tf.shape(self.mixture_distribution.logits)[-1],
            dtype=x.dtype)
        mask = self._with_event(mask)
        return tf.reduce_sum(x * mask, axis=-1 - self._event_ndims)

    def _with_event(self, x: Any, lead: int = 1) -> Any:
        """Returns what has a number for each component, in a shape like that of samples.

        Args:
          x: Numbers of shape [sample, batch of the mixture, component], or without the sample.
          lead: How many dimensions are before the batch.
        """
        ones = tf.ones([self._event_ndims], tf.int32)
        missing = tf.ones([tf.size(self.batch_shape_tensor())
                           - tf.size(self.mixture_distribution.batch_shape_tensor())], tf.int32)
        shape = tf.shape(x)
        return tf.reshape(x, tf.concat([shape[:lead], missing, shape[lead:], ones], 0))

    def _log_prob(self, x: Any) -> Any:
        weights = tf.nn.log_softmax(self.mixture_distribution.logits, axis=-1)
        found = self.components_distribution.log_prob(self._padded(x))
        return tf.reduce_logsumexp(found + weights, axis=-1)

    def _log_cdf(self, x: Any) -> Any:
        found = self.components_distribution.log_cdf(self._padded(x))
        return tf.reduce_logsumexp(
            found + tf.nn.log_softmax(self.mixture_distribution.logits), axis=-1)

    def _cdf(self, x: Any) -> Any:
        found = self.components_distribution.cdf(self._padded(x))
        return tf.reduce_sum(found * self.mixture_distribution.probs, axis=-1)

    def _padded(self, x: Any) -> Any:
        """Returns x with a dimension of 1 for the components."""
        x, axis = tf.convert_to_tensor(x), -1 - self._event_ndims
        if x.shape.rank is not None and isinstance(axis, int):
            axis = max(axis, -1 - x.shape.rank)  # A number stands for a whole event.
        return tf.expand_dims(x, axis)

    def _weights(self) -> Any:
        return self._with_event(self.mixture_distribution.probs, lead=0)

    def _mean(self) -> Any:
        means = self.components_distribution.mean()
        return tf.reduce_sum(self._weights() * means, axis=-1 - self._event_ndims)

    def _variance(self) -> Any:
        means = self.components_distribution.mean()
        axis = -1 - self._event_ndims
        within = tf.reduce_sum(
            self._weights() * self.components_distribution.variance(), axis=axis)
        between = tf.reduce_sum(self._weights() * tf.math.squared_difference(
            means, tf.expand_dims(self._mean(), axis)), axis=axis)
        return within + between

    def _covariance(self) -> Any:
        if self.event_shape.rank not in (None, 1):
            raise NotImplementedError("covariance is not implemented")
        means = self.components_distribution.mean()
        weights = self._weights()[..., tf.newaxis]
        within = tf.reduce_sum(weights * self.components_distribution.covariance(), axis=-3)
        difference = (means - tf.expand_dims(self._mean(), -2))[..., tf.newaxis]
        between = tf.reduce_sum(weights * tf.matmul(difference, difference, transpose_b=True),
                                axis=-3)
        return within + between
