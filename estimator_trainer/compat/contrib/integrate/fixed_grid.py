"""Integrates by steps of given sizes.

The API is that of `tensorflow/contrib/integrate/python/ops/odes.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.integrate import checks

v1 = tf.compat.v1


def odeint_fixed(func: Any, y0: Any, t: Any, dt: Any = None, method: str = "rk4",
                 name: Any = None) -> Any:
    """Returns the solution of dy/dt = func(y, t) at some times, [times, *shape of y0].

    Args:
      func: A function of y and t.
      y0: The state at the first time, floats or complex.
      t: The times, [times] floats that increase.
      dt: The largest step in each interval, [times - 1]; the intervals by default.
      method: "rk4" or "midpoint".
      name: A name for the ops.

    Raises:
      TypeError: for other types.
      ValueError: for another method, or lengths that do not fit.
    """
    with v1.name_scope(name, "odeint_fixed", [y0, t, dt]):
        t = checks.times(t)
        y0 = tf.convert_to_tensor(y0, name="y0")
        intervals = t[1:] - t[:-1]
        dt = intervals if dt is None else dt
        dt = v1.convert_to_tensor(dt, preferred_dtype=tf.float64, name="dt")
        counts = tf.math.ceil(intervals / dt)
        dt = intervals / counts
        counts = tf.cast(counts, tf.int32)
        checks.check_types(y0, t, dt)
        _check_sizes(t, dt)
        with checks.increasing(t), v1.name_scope(method):
            if method not in _METHODS:
                raise ValueError(f"method not supported: {method}")
            return _integrated(_METHODS[method], func, y0, t, dt, counts)


def _check_sizes(t: Any, dt: Any) -> None:
    if len(t.shape.as_list()) > 1 or len(dt.shape.as_list()) > 1:
        raise ValueError("t must be a 1D tensor")
    if t.shape[0] != dt.shape[0] + 1:
        raise ValueError("t and dt have incompatible lengths, must be N and N-1")


def _integrated(method: Any, func: Any, y0: Any, t: Any, steps: Any, counts: Any) -> Any:
    def interval(number: Any, y: Any, time: Any, solution: Any) -> Any:
        step = steps[number]

        def advance(count: Any, y: Any, time: Any) -> Any:
            change = tf.cast(method(func, time, step, y), y.dtype)
            return count + 1, y + change, time + step

        _, y, time = v1.while_loop(lambda count, *_: count < counts[number], advance,
                                   (0, y, time))
        return number + 1, y, time, solution.write(number + 1, y)

    size = tf.size(t)
    solution = tf.TensorArray(y0.dtype, size).write(0, y0)
    _, _, _, solution = v1.while_loop(lambda number, *_: number < size - 1, interval,
                                      (0, y0, t[0], solution))
    stacked = solution.stack()
    stacked.set_shape(t.shape.concatenate(y0.shape))
    return stacked


def _midpoint(func: Any, t: Any, dt: Any, y: Any) -> Any:
    step = tf.cast(dt, y.dtype)
    return step * func(y + func(y, t) * step / 2, t + dt / 2)


def _rk4(func: Any, t: Any, dt: Any, y: Any) -> Any:
    step, half = tf.cast(dt, y.dtype), t + dt / 2
    k1 = func(y, t)
    k2 = func(y + step * k1 / 2, half)
    k3 = func(y + step * k2 / 2, half)
    k4 = func(y + step * k3, t + dt)
    return tf.add_n([k1, 2 * k2, 2 * k3, k4]) * (step / 6)


_METHODS = {"midpoint": _midpoint, "rk4": _rk4}
