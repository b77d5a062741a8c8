"""Statistics of samples of `tf.contrib.distributions`.

Follows the API of `sample_stats.py`, `moving_stats.py`, `normal_conjugate_posteriors.py` and
`seed_stream.py` in `tensorflow/contrib/distributions/python/ops/` of TensorFlow 1.15.
"""

from __future__ import annotations

import hashlib
from typing import Any, Optional, Sequence

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import normal, util

from estimator_trainer.compat.contrib.distributions import checks

_V1 = tf.compat.v1


def percentile(x: Any, q: Any, axis: Any = None, interpolation: Optional[str] = None,
               keep_dims: bool = False, validate_args: bool = False,
               name: Optional[str] = None) -> Any:
    """Returns the element below which q percent of the elements are.

    Args:
      x: Numbers, of any shape.
      q: A number from 0 to 100.
      axis: The dimensions over which elements are counted; all by default.
      interpolation: "nearest" (the default), "lower" or "higher": the element that is taken.
      keep_dims: Whether dimensions stay as 1.
      validate_args: Whether q is checked.
      name: A scope for the operations.

    Raises:
      ValueError: An argument is none of these.
    """
    rounded = {"lower": tf.math.ceil, "higher": tf.floor, "nearest": tf.round}
    if interpolation is not None and interpolation not in rounded:
        raise ValueError(f"Argument 'interpolation' must be in {sorted(rounded)}.  Found "
                         f"{interpolation}")
    with _V1.name_scope(name or "percentile", values=[x, q]):
        x, q = tf.convert_to_tensor(x, name="x"), tf.cast(q, tf.float64, name="q")
        if q.shape.rank not in (None, 0):
            raise ValueError(f"Expected argument 'q' to have ndims 0.  Found {q.shape}")
        if validate_args:
            q = checks.after([_V1.assert_rank(q, 0), _V1.assert_greater_equal(
                q, tf.constant(0., tf.float64)), _V1.assert_less_equal(
                    q, tf.constant(100., tf.float64))], q)
        axes = None if axis is None else _axes(x, axis)
        flat = tf.reshape(x, [-1]) if axes is None else _flat_end(x, axes)
        # Elements are sorted from the largest.
        above = tf.cast(tf.shape(flat)[-1] - 1, tf.float64) * (1. - q / 100.)
        index = tf.cast(rounded[interpolation or "nearest"](above), tf.int32)
        index = tf.clip_by_value(index, 0, tf.shape(flat)[-1] - 1)
        found = tf.math.top_k(flat, tf.shape(flat)[-1])[0][..., index]
        if not keep_dims:
            return found
        if axes is None:
            return found * tf.ones(tf.ones([tf.rank(x)], tf.int32), x.dtype)
        for each in sorted(axes):
            found = tf.expand_dims(found, each)
        return found


def _axes(x: Any, axis: Any) -> list[int]:
    static = tf.get_static_value(tf.convert_to_tensor(axis, name="axis"))
    if static is None:
        raise ValueError(f"Expected argument 'axis' to be statically available.  Found: {axis}")
    if x.shape.rank is None:
        raise ValueError("Expected argument 'x' to have statically defined 'ndims'.")
    found = [int(each) for each in np.atleast_1d(static)]
    for each in found:
        if not -x.shape.rank <= each < x.shape.rank:
            raise ValueError(f"axis {each} is not in x, which has {x.shape.rank} dimensions")
    return [each % x.shape.rank for each in found]


def _flat_end(x: Any, axes: Sequence[int]) -> Any:
    """Returns x, whose last dimension holds what is in some of its dimensions."""
    front = [each for each in range(x.shape.rank) if each not in axes]
    moved = tf.transpose(x, [*front, *axes])
    flat = tf.reshape(moved, tf.concat([tf.shape(moved)[:len(front)], [-1]], 0))
    flat.set_shape(moved.shape[:len(front)].concatenate(
        moved.shape[len(front):].num_elements()))
    return flat


def auto_correlation(x: Any, axis: int = -1, max_lags: Any = None, center: bool = True,
                     normalize: bool = True, name: str = "auto_correlation") -> Any:
    """Returns the correlation of a series with itself, m steps later, for m from 0.

    Args:
      x: Real or complex numbers.
      axis: The dimension in which steps follow one another.
      max_lags: The greatest m, all by default.
      center: Whether the mean is subtracted.
      normalize: Whether results are divided by that of m = 0.
      name: A scope for the operations.
    """
    with _V1.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        if not x.dtype.is_complex and not x.dtype.is_floating:
            raise TypeError(f"Argument x must have either float or complex dtype found: {x.dtype}")
        rank = util.prefer_static_rank(x)
        shift = rank - 1 - (rank + axis if axis < 0 else axis)
        rotated = util.rotate_transpose(x, shift)
        if center:
            rotated -= tf.reduce_mean(rotated, axis=-1, keepdims=True)
        size = tf.shape(rotated)[-1]
        lags = size - 1 if max_lags is None else tf.minimum(size - 1, max_lags)
        # By the theorem of Wiener and Khinchin, padded so that the series does not meet itself.
        length = tf.cast(2. ** tf.math.ceil(tf.math.log(tf.cast(size, tf.float64) * 2)
                                            / np.log(2.)), tf.int32)
        padded = tf.concat([rotated, tf.zeros(tf.concat(
            [tf.shape(rotated)[:-1], [length - size]], 0), x.dtype)], -1)
        if not x.dtype.is_complex:
            padded = tf.complex(padded, tf.zeros([], x.dtype))
        spectrum = tf.signal.fft(padded)
        products = tf.cast(tf.signal.ifft(spectrum * tf.math.conj(spectrum)), x.dtype)
        products = products[..., :lags + 1]
        static = tf.get_static_value(lags)
        if static is not None and rotated.shape.rank is not None:
            products.set_shape(rotated.shape[:-1].concatenate([int(static) + 1]))
        found = products / tf.cast(size - tf.range(lags + 1), x.dtype)
        if normalize:
            found /= found[..., :1]
        return util.rotate_transpose(found, -shift)


def assign_moving_mean_variance(mean_var: Any, variance_var: Any, value: Any, decay: Any,
                                name: Optional[str] = None) -> tuple[Any, Any]:
    """Updates the moving mean and variance of a value, of Finch, 2009; returns both.

    Raises:
      TypeError: A variable is not of floating point numbers, or they differ.
    """
    with _V1.name_scope(name, "assign_moving_mean_variance",
                        [variance_var, mean_var, value, decay]):
        dtype = mean_var.dtype.base_dtype
        if not dtype.is_floating:
            raise TypeError(f"mean_var.base_dtype({dtype.name}) does not have float type `dtype`.")
        if dtype != variance_var.dtype.base_dtype:
            raise TypeError(f"mean_var.base_dtype({dtype.name}) != "
                            f"variance_var.base_dtype({variance_var.dtype.base_dtype.name})")
        value = tf.convert_to_tensor(value, dtype, name="value")
        decay = tf.convert_to_tensor(decay, dtype, name="decay")
        delta = value - mean_var
        with tf.control_dependencies([delta]):
            mean = _V1.assign_add(mean_var, (1. - decay) * delta)
            variance = _V1.assign_sub(variance_var, (1. - decay) * (
                variance_var - decay * tf.square(delta)))
        return mean, variance


def assign_log_moving_mean_exp(log_mean_exp_var: Any, log_value: Any, decay: Any,
                               name: Optional[str] = None) -> Any:
    """Updates the logarithm of the moving mean of exp(log_value), and returns it."""
    with _V1.name_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay]):
        dtype = log_mean_exp_var.dtype.base_dtype
        if not dtype.is_floating:
            raise TypeError(f"log_mean_exp_var.base_dtype({dtype.name}) does not have float type "
                            "`dtype`.")
        log_value = tf.convert_to_tensor(log_value, dtype, name="log_value")
        decay = tf.convert_to_tensor(decay, dtype, name="decay")
        delta = log_value - log_mean_exp_var
        change = tf.reduce_logsumexp(tf.stack([
            tf.math.log(decay) * tf.ones_like(delta), delta + tf.math.log1p(-decay)]), axis=0)
        return log_mean_exp_var.assign_add(change)


def moving_mean_variance(value: Any, decay: Any, collections: Any = None,
                         name: Optional[str] = None) -> tuple[Any, Any]:
    """Returns the moving mean and variance of a value, kept in variables `moving_*`."""
    collections = [_V1.GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    with _V1.variable_scope(name, "moving_mean_variance", [value, decay]):
        value = tf.convert_to_tensor(value, name="value")
        if not value.dtype.is_floating:
            raise TypeError(f"value.base_dtype({value.dtype.name}) does not have float type "
                            "`dtype`.")
        mean, variance = (_V1.get_variable(
            which, value.shape, value.dtype, _V1.zeros_initializer(), trainable=False,
            collections=collections) for which in ("moving_mean", "moving_variance"))
        return assign_moving_mean_variance(mean, variance, value, decay)


def normal_conjugates_known_scale_posterior(prior: Any, scale: Any, s: Any, n: Any) -> Any:
    """Returns the Normal of the mean, after n numbers with the sum s were seen.

    Args:
      prior: The Normal of the mean before.
      scale: The known standard deviation of the numbers.
      s: Their sum, of the shape of `prior`.
      n: How many there are.

    Raises:
      TypeError: Types differ, or `prior` is no Normal.
    """
    return _posterior(prior, scale, s, n, 0.)


def normal_conjugates_known_scale_predictive(prior: Any, scale: Any, s: Any, n: Any) -> Any:
    """Returns the Normal of the next number, after n numbers with the sum s were seen.

    Arguments and errors are those of `normal_conjugates_known_scale_posterior`.
    """
    return _posterior(prior, scale, s, n, 1.)


def _posterior(prior: Any, scale: Any, s: Any, n: Any, own: float) -> Any:
    if not isinstance(prior, normal.Normal):
        raise TypeError(f"Expected prior to be an instance of type Normal, got {prior}")
    if s.dtype != prior.dtype:
        raise TypeError(f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. "
                        f"{prior.dtype}")
    n, before, known = tf.cast(n, prior.dtype), tf.square(prior.scale), tf.square(scale)
    variance = 1. / (1. / before + n / known)
    return normal.Normal(loc=(prior.loc / before + s / known) * variance,
                         scale=tf.sqrt(variance + own * known))


class SeedStream:
    """A series of seeds that depend on a seed and a text."""

    def __init__(self, seed: Any, salt: str) -> None:
        """Takes a seed, another stream, or None; `salt` keeps two functions' seeds apart."""
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt, self._counter = salt, 0

    def __call__(self) -> Optional[int]:
        """Returns the next seed, None where the first was None."""
        self._counter += 1
        if self._seed is None:
            return None
        text = str((self._seed, self._counter, self._salt)).encode("utf-8")
        return int(hashlib.sha512(text).hexdigest(), 16)

    @property
    def original_seed(self) -> Any:
        """The seed of the stream."""
        return self._seed

    @property
    def salt(self) -> str:
        """The text of the stream."""
        return self._salt
