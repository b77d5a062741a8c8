"""Numeric feature columns, standardised by a mean and a deviation."""

from __future__ import annotations

from typing import Any, Iterable

import tensorflow as tf

from model_fns.training.errors import ParamError


def check(scales: dict[str, Any], features: Iterable[str]) -> None:
    """Raises ParamError if `numeric_scale` has an unknown feature, or not a mean and deviation."""
    unknown = sorted(set(scales) - set(features))
    if unknown:
        raise ParamError(f"numeric_scale names {', '.join(unknown)}; expected some of"
                         f" {', '.join(sorted(features))}.")
    for name, scale in scales.items():
        is_pair = isinstance(scale, (list, tuple)) and len(scale) == 2 and all(
            isinstance(number, (int, float)) for number in scale)
        if not is_pair or not scale[1] > 0:
            raise ParamError(
                f"numeric_scale has {scale!r} for {name!r}; expected its mean and its deviation,"
                f" which is above 0. For example: --param numeric_scale='{{\"{name}\": [0, 1]}}'")


def column(name: str, scales: dict[str, Any], shape: tuple[int, ...] = (1,)) -> Any:
    """Returns the numeric column of a feature, unscaled if `scales` does not have the feature.

    Args:
      name: The feature.
      scales: Mean and deviation, by feature.
      shape: Shape of one example.
    """
    mean, deviation = scales.get(name, (0.0, 1.0))

    def scaled(values: tf.Tensor) -> tf.Tensor:
        # float32 cannot distinguish neighbouring large integers, such as times.
        exact = tf.cast(values, tf.float64) if values.dtype.is_integer else values
        return tf.cast((exact - mean) / deviation, tf.float32)

    return tf.feature_column.numeric_column(name, shape, normalizer_fn=scaled if name in scales
                                            else None)
