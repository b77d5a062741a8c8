"""Learning rates as functions of the global step."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from model_fns.training.errors import ParamError

DEFAULT_PARAMS = {
    "learning_rate": 0.1,  # for the mean loss of the global batch, after the warm-up
    "reference_batch_size": 0,  # global batch of learning_rate: the rate grows with the batch
    "warmup_steps": 0,  # steps in which the rate grows from 0, linearly
    "decay": "constant",  # constant, exponential, staircase, steps or cosine
    "decay_rate": 0.9,  # for exponential, staircase: factor per decay_steps; for steps: at each
    "decay_steps": 1000,  # steps after which decay_rate applies; for cosine: all after the warm-up
    "decay_epochs": 0.0,  # instead of decay_steps, in passes over the data; 0: decay_steps
    "decay_boundaries": [],  # for steps: the global steps (or epochs) where the rate is multiplied
    "global_batch_size": 0,  # examples of one global step; 0: from the input_fn's batch_size
    "train_examples": 0,  # examples of one epoch; 0: from the data
}
_DECAYS = ("constant", "exponential", "staircase", "steps", "cosine")


def learning_rate(params: dict[str, Any], global_step: tf.Tensor) -> tf.Tensor:
    """Returns the learning rate of a step.

    For the linear scaling and the warm-up see Goyal et al., "Accurate, Large Minibatch SGD"
    (arXiv:1706.02677), for the cosine, here without restarts, Loshchilov and Hutter, "SGDR"
    (arXiv:1608.03983).

    Args:
      params: See DEFAULT_PARAMS, which has the values of missing ones.
      global_step: int64 [], steps made so far.

    Returns:
      float32 [].

    Raises:
      ParamError: The decay is unknown, or in epochs of unknown length.
    """
    params = {**DEFAULT_PARAMS, **params}
    rate, kind = tf.constant(params["learning_rate"], tf.float32), params["decay"]
    if kind not in _DECAYS:
        raise ParamError(f"decay is {kind!r}; expected one of {', '.join(sorted(_DECAYS))}. For"
                         " example: --param decay=cosine")
    if params["reference_batch_size"]:
        rate *= _known(params, "global_batch_size") / params["reference_batch_size"]
    step, warmup = tf.cast(global_step, tf.float32), float(params["warmup_steps"])
    part = tf.maximum(step - warmup, 0.0) / _decay_steps(params)
    if kind in ("exponential", "staircase"):
        rate *= tf.pow(params["decay_rate"], tf.floor(part) if kind == "staircase" else part)
    elif kind == "steps":
        scale = steps_per_epoch(params) if params["decay_epochs"] else 1.0
        passed = [tf.cast(step >= boundary * scale, tf.float32)
                  for boundary in params["decay_boundaries"]]
        rate *= tf.pow(params["decay_rate"], tf.add_n(passed) if passed else 0.0)
    elif kind == "cosine":
        rate *= 0.5 * (1.0 + tf.cos(math.pi * tf.minimum(part, 1.0)))
    return rate * tf.minimum((step + 1.0) / warmup, 1.0) if warmup else rate


def steps_per_epoch(params: dict[str, Any]) -> float:
    """Returns the number of global steps in one pass over the training set.

    Raises:
      ParamError: The set's length or the batch size is unknown.
    """
    params = {**DEFAULT_PARAMS, **params}
    return _known(params, "train_examples") / _known(params, "global_batch_size")


def _decay_steps(params: dict[str, Any]) -> float:
    epochs = params["decay_epochs"]
    return epochs * steps_per_epoch(params) if epochs else float(params["decay_steps"])


def _known(params: dict[str, Any], name: str) -> int:
    if params[name] < 1:
        raise ParamError(f"{name} is {params[name]}, and the input_fn does not set it. For"
                         f" example: --param {name}=1000")
    return int(params[name])
