"""Integrates by steps that fit an error, and interpolates between them.

Shampine, "Some Practical Runge-Kutta Formulas", 1986, with the tableau of Dormand and Prince. The
API is that of `tensorflow/contrib/integrate/python/ops/odes.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_trainer.compat.contrib.integrate import checks

v1 = tf.compat.v1

_NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1., 1.)
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
# The weights of half a step, for the interpolation.
_MIDDLE = (6025192743 / 30085553152 / 2, 0, 51252292925 / 65400821598 / 2,
           -2691868925 / 45128329728 / 2, 187940372067 / 1594534317056 / 2,
           -1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2)
_ERROR = (1951 / 21600 - 35 / 384, 0, 22642 / 50085 - 500 / 1113, 451 / 720 - 125 / 192,
          -12231 / 42400 - -2187 / 6784, 649 / 6300 - 11 / 84, 1 / 60)
_ORDER = 5


class _Step(NamedTuple):
    """The last step, from t0 to t1, with the state at t1 and its derivative."""

    y1: Any
    f1: Any
    t0: Any
    t1: Any
    dt: Any  # The size of the next step.
    polynomial: Any  # Coefficients of the states in between, the highest power first.


class _Control(NamedTuple):
    """How the size of a step follows the error."""

    rtol: Any
    atol: Any
    safety: Any
    ifactor: Any
    dfactor: Any
    max_num_steps: Any


def odeint(func: Any, y0: Any, t: Any, rtol: float = 1e-6, atol: float = 1e-12,
           method: Any = None, options: Any = None, full_output: bool = False,
           name: Any = None) -> Any:
    """Returns the solution of dy/dt = func(y, t) at some times, [times, *shape of y0].

    Args:
      func: A function of y and t.
      y0: The state at the first time, floats or complex.
      t: The times, [times] floats that increase.
      rtol, atol: The largest error of a step, relative to the state and absolute.
      method: "dopri5", or None for it.
      options: A dict of first_step (1.0), safety (0.9), ifactor (10.0), dfactor (0.2) and
        max_num_steps (1000); only with `method`.
      full_output: Whether a dict of num_func_evals, integrate_points and error_ratio, of all
        steps that were tried, is returned as well.
      name: A name for the ops.

    Raises:
      InvalidArgumentError: when there are too many steps, or a state is not finite.
      TypeError: for other types, or an option that there is not.
      ValueError: for another method.
    """
    if method not in (None, "dopri5"):
        raise ValueError(f"invalid method: {method!r}")
    if options is not None and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    with v1.name_scope(name, "odeint", [y0, t, rtol, atol]):
        y0 = tf.convert_to_tensor(y0, name="y0")
        t = checks.times(t)
        checks.check_types(y0, t)
        error_type = abs(y0).dtype
        return _solved(func, y0, t, tf.convert_to_tensor(rtol, error_type, name="rtol"),
                       tf.convert_to_tensor(atol, error_type, name="atol"), full_output,
                       **(options or {}))


def _solved(func: Any, y0: Any, t: Any, rtol: Any, atol: Any, full_output: bool,
            first_step: Any = None, safety: float = 0.9, ifactor: float = 10.0,
            dfactor: float = 0.2, max_num_steps: int = 1000) -> Any:
    first_step = 1.0 if first_step is None else first_step
    first_step, *factors = (tf.convert_to_tensor(each, t.dtype)
                            for each in (first_step, safety, ifactor, dfactor))
    control = _Control(rtol, atol, factors[0], factors[1], factors[2],
                       tf.convert_to_tensor(max_num_steps, tf.int32))
    with checks.increasing(t):
        size = tf.size(t)
    solution = tf.TensorArray(y0.dtype, size).write(0, y0)
    history = (tf.TensorArray(t.dtype, 0, dynamic_size=True),
               tf.TensorArray(rtol.dtype, 0, dynamic_size=True))

    def reach(i: Any, solution: Any, history: Any, step: Any) -> Any:
        step, history, _ = v1.while_loop(
            lambda step, *_: t[i] > step.t1,
            lambda step, history, count: _tried(func, control, step, history, count),
            (step, history, 0))
        return i + 1, solution.write(i, _between(step, t[i])), history, step

    step = _Step(y0, func(y0, t[0]), t[0], t[0], first_step, [y0] * 5)
    _, solution, history, _ = v1.while_loop(lambda i, *_: i < size, reach,
                                            (1, solution, history, step))
    y = solution.stack()
    y.set_shape(t.shape.concatenate(y0.shape))
    if not full_output:
        return y
    points = history[0].stack()
    return y, {"num_func_evals": 6 * tf.size(points) + 1, "integrate_points": points,
               "error_ratio": history[1].stack()}


def _tried(func: Any, control: _Control, step: _Step, history: Any, count: Any) -> Any:
    """Tries a step, and returns the last good one, the history and the number of trials."""
    y0, f0, t0, dt = step.y1, step.f1, step.t1, step.dt
    with tf.control_dependencies([
            v1.debugging.Assert(t0 + dt > t0, ["underflow in dt", dt]),
            v1.debugging.Assert(count < control.max_num_steps, ["max_num_steps exceeded"]),
            v1.debugging.Assert(tf.reduce_all(tf.math.is_finite(abs(y0))),
                                ["non-finite values in state `y`", y0])]):
        y1, slopes = _stepped(func, y0, f0, t0, dt)
    tolerance = control.atol + control.rtol * tf.maximum(abs(y0), abs(y1))
    error = _weighted(tf.cast(dt, y0.dtype), _ERROR, slopes)
    ratio = tf.sqrt(tf.reduce_mean(_squared(error) / _squared(tolerance)))
    accept = ratio <= 1

    def chosen(new: Any, old: Any) -> Any:
        return v1.cond(accept, new, lambda: old)

    polynomial = chosen(lambda: _polynomial(y0, y1, slopes, tf.cast(dt, y0.dtype)),
                        step.polynomial)
    step = _Step(chosen(lambda: y1, y0), chosen(lambda: slopes[-1], f0), t0,
                 chosen(lambda: t0 + dt, t0), _next_size(control, dt, ratio), list(polynomial))
    points, ratios = history
    history = (points.write(points.size(), t0 + dt), ratios.write(ratios.size(), ratio))
    return step, history, count + 1


def _stepped(func: Any, y0: Any, f0: Any, t0: Any, dt: Any) -> Any:
    """Returns the state after a step, and the slopes of all stages, the last one at its end."""
    slopes, y, size = [f0], y0, tf.cast(dt, y0.dtype)
    for node, weights in zip(_NODES, _STAGES):
        y = y0 + _weighted(size, weights, slopes)
        slopes.append(func(y, t0 + node * dt))
    return y, slopes


def _weighted(size: Any, weights: Any, slopes: Any) -> Any:
    return tf.add_n([size * weight * slope for weight, slope in zip(weights, slopes)
                     if weight != 0])


def _squared(x: Any) -> Any:
    if x.dtype.is_complex:
        return tf.square(tf.math.real(x)) + tf.square(tf.math.imag(x))
    return tf.square(x)


def _next_size(control: _Control, dt: Any, ratio: Any) -> Any:
    ratio = tf.cast(ratio, dt.dtype)
    factor = ratio ** tf.cast(1 / _ORDER, dt.dtype) / control.safety
    return dt / tf.maximum(1 / control.ifactor, tf.minimum(factor, 1 / control.dfactor))


def _polynomial(y0: Any, y1: Any, slopes: Any, dt: Any) -> Any:
    """Returns the quartic through the start, the middle and the end, and both end slopes."""
    middle = y0 + _weighted(dt, _MIDDLE, slopes)
    f0, f1 = slopes[0], slopes[-1]

    def combined(*factors: Any) -> Any:
        return tf.add_n([factor * value
                         for factor, value in zip(factors, (f0, f1, y0, y1, middle))])

    return [combined(-2 * dt, 2 * dt, -8, -8, 16), combined(5 * dt, -3 * dt, 18, 14, -32),
            combined(-4 * dt, dt, -11, -5, 16), dt * f0, y0]


def _between(step: _Step, t: Any) -> Any:
    """Returns the state at a time of the last step."""
    is_within = v1.debugging.Assert((step.t0 <= t) & (t <= step.t1), [
        "invalid interpolation, fails `t0 <= t <= t1`:", step.t0, t, step.t1])
    with tf.control_dependencies([is_within]):
        x = tf.cast((t - step.t0) / (step.t1 - step.t0), step.polynomial[0].dtype)
    powers = [tf.ones([], x.dtype), x]
    while len(powers) < len(step.polynomial):
        powers.append(powers[-1] * x)
    return tf.add_n([factor * power for factor, power in zip(step.polynomial, powers[::-1])])
