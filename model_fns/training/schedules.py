"""Learning rates as functions of the global step."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

DEFAULT_PARAMS = {
    "learning_rate": 0.1,  # for the mean loss of the global batch, after the warm-up
    "decay": "constant",  # constant, exponential, staircase, steps or cosine
    "decay_steps": 1000,  # steps that decay_rate stands for; of cosine: all after the warm-up
    "decay_rate": 0.9,  # factor of exponential and staircase in decay_steps; of steps, at each
    "decay_boundaries": [],  # of steps: the global steps at which the rate is multiplied
    "warmup_steps": 0,  # steps in which the rate grows from 0, linearly
}
_DECAYS = ("constant", "exponential", "staircase", "steps", "cosine")


def learning_rate(params: dict[str, Any], global_step: tf.Tensor) -> tf.Tensor:
    """Returns the learning rate of a step.

    The warm-up is that of Goyal et al., "Accurate, Large Minibatch SGD" (arXiv:1706.02677), the
    cosine that of Loshchilov and Hutter, "SGDR" (arXiv:1608.03983), without restarts.

    Args:
      params: See DEFAULT_PARAMS.
      global_step: int64 [], steps made so far.

    Returns:
      float32 [].

    Raises:
      ValueError: for an unknown decay.
    """
    rate, kind = tf.constant(params["learning_rate"], tf.float32), params["decay"]
    if kind not in _DECAYS:
        raise ValueError(f"decay is {kind!r}; expected one of {', '.join(sorted(_DECAYS))}. For"
                         " example: --param decay=cosine")
    step = tf.cast(global_step, tf.float32)
    warmup = float(params["warmup_steps"])
    part = tf.maximum(step - warmup, 0.0) / params["decay_steps"]
    if kind in ("exponential", "staircase"):
        rate *= tf.pow(params["decay_rate"], tf.floor(part) if kind == "staircase" else part)
    elif kind == "steps":
        passed = [tf.cast(step >= boundary, tf.float32) for boundary in params["decay_boundaries"]]
        rate *= tf.pow(params["decay_rate"], tf.add_n(passed) if passed else 0.0)
    elif kind == "cosine":
        rate *= 0.5 * (1.0 + tf.cos(3.141592653589793 * tf.minimum(part, 1.0)))
    return rate * tf.minimum((step + 1.0) / warmup, 1.0) if warmup else rate
