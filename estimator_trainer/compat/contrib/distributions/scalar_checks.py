"""The distribution of numbers that `tf.contrib.distributions.SinhArcsinh` transforms."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.ops.distributions import distribution as base_module, normal

from estimator_trainer.compat.contrib.distributions import checks

_V1 = tf.compat.v1


def base(distribution: Any, value: Any, dtype: Any, validate_args: bool,
         allow_nan_stats: bool) -> tuple[Any, Any]:
    """Returns the distribution, a normal one by default, and a tensor that checks it.

    Raises:
      TypeError: The distribution is of another type.
      ValueError: The distribution is not of single numbers, or has no gradient.
    """
    if distribution is None:
        return normal.Normal(tf.zeros([], dtype), tf.ones([], dtype),
                             allow_nan_stats=allow_nan_stats), value
    if distribution.dtype != dtype:
        raise TypeError(f'dtype mismatch; distribution.dtype="{distribution.dtype.name}" is not '
                        f'"{dtype.name}"')
    if validate_args and distribution.reparameterization_type != (
            base_module.FULLY_REPARAMETERIZED):
        raise ValueError("Base distribution should be reparameterized or be a function of "
                         "non-trainable variables; distribution.reparameterization_type = "
                         f'"{distribution.reparameterization_type}" != "FULLY_REPARAMETERIZED".')
    assertions = []
    for is_scalar, name in ((distribution.is_scalar_event(), "is_scalar_event"),
                            (distribution.is_scalar_batch(), "is_scalar_batch")):
        static = tf.get_static_value(is_scalar)
        message = f"distribution must be scalar; distribution.{name}=False is not True"
        if static is not None and not static:
            raise ValueError(message)
        if static is None and validate_args:
            assertions.append(_V1.assert_equal(is_scalar, True, message=message))
    return distribution, checks.after(assertions, value)
