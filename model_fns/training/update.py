"""Makes the EstimatorSpec of mode "train", with the update of the variables, from a loss."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns.training import averages, optimizers, schedules
from model_fns.training.errors import ParamError

DEFAULT_PARAMS = {
    **schedules.DEFAULT_PARAMS,
    **optimizers.DEFAULT_PARAMS,
    **averages.DEFAULT_PARAMS,
    "clip_norm": 0.0,  # largest global norm of a step's gradients, which are scaled down; 0: none
    "accumulate_steps": 1,  # batches whose mean gradients make one update, one global step
    "on_nan": "stop",  # stop, or skip: leave out an update whose gradients are not all finite
    "histograms": False,  # whether to write histograms of variables and of all replicas' gradients
}
# Graph collections in which the program requests what its flags say, and the model_fn confirms it;
# a model_fn with its own train op may use them too.
SYNC_REPLICAS = "sync_replicas"  # requested: gradients per step, and number of trainers
SYNC_OPTIMIZER = "sync_replicas_optimizer"  # confirmed: the SyncReplicasOptimizer
LOSS_SCALE, LOSS_SCALED = "loss_scale", "loss_scaled"  # 1 if requested, 1 if confirmed
RUNS_PER_STEP = "runs_per_step"  # session runs that one global step takes
_NO_GROWTH = 2**31 - 1


def spec(loss: tf.Tensor, params: dict[str, Any],
         logged: tf.Tensor | None = None) -> tf.estimator.EstimatorSpec:
    """Builds the EstimatorSpec of mode "train".

    Args:
      loss: float32 [], the mean over the batch, with all penalties.
      params: See DEFAULT_PARAMS, which has the values of missing ones.
      logged: float32 [], the loss to log, if that has another unit.

    Raises:
      ParamError: Some params do not work together.
    """
    params = {**DEFAULT_PARAMS, **params}
    global_step = tf.compat.v1.train.get_or_create_global_step()
    rate = schedules.learning_rate(params, global_step)
    optimizer = _optimizer(params, rate)
    pairs = optimizer.compute_gradients(loss)
    tf.compat.v1.summary.scalar("learning_rate", rate)
    before, beside = _write_histograms(pairs) if params["histograms"] else ([], [])
    with tf.control_dependencies(before):
        train_op = tf.group(optimizer.apply_gradients(pairs, global_step), *beside)
    loss = loss if logged is None else logged
    if params["on_nan"] == "skip":
        # The Estimator ends training if the loss is NaN.
        loss = tf.where(tf.math.is_finite(loss), loss, tf.zeros_like(loss))
    return tf.estimator.EstimatorSpec(
        tf.estimator.ModeKeys.TRAIN, loss=loss, train_op=train_op)


def _optimizer(params: dict[str, Any], rate: tf.Tensor) -> optimizers.Optimizer:
    """Returns the optimizer in the wrappers that the params request."""
    request = tf.compat.v1.get_collection(SYNC_REPLICAS)
    optimizer = optimizers.by_name(params, rate)
    if params["clip_norm"]:
        optimizer = optimizers.Clipping(optimizer, params["clip_norm"])
    if params["moving_average"] and request:
        optimizer = optimizers.Averaging(optimizer, params["moving_average"])
    is_scaled = bool(tf.compat.v1.get_collection(LOSS_SCALE))
    loss_scale = _loss_scale(params, is_scaled)
    if request:
        _refuse_with_sync(params, loss_scale)
        optimizer = tf.compat.v1.train.SyncReplicasOptimizer(optimizer, *request)
        tf.compat.v1.add_to_collection(SYNC_OPTIMIZER, optimizer)
    elif loss_scale:
        optimizer = tf.compat.v1.train.experimental.MixedPrecisionLossScaleOptimizer(
            optimizer, loss_scale)
        if is_scaled:
            tf.compat.v1.add_to_collection(LOSS_SCALED, 1)
    if params["accumulate_steps"] > 1:
        optimizer = optimizers.Accumulating(optimizer, params["accumulate_steps"])
        tf.compat.v1.add_to_collection(RUNS_PER_STEP, params["accumulate_steps"])
    if params["moving_average"] and not request:
        optimizer = optimizers.Averaging(optimizer, params["moving_average"])
    return optimizer


def _loss_scale(params: dict[str, Any], is_scaled: bool) -> Any:
    """Returns the loss scale that float16 needs, which also skips updates that are not finite."""
    if params["on_nan"] not in ("stop", "skip"):
        raise ParamError(f"on_nan is {params['on_nan']!r}; expected skip or stop. For example:"
                         " --param on_nan=skip")
    scale = tf.compat.v1.train.experimental.DynamicLossScale
    if is_scaled:
        return scale()
    return scale(initial_loss_scale=1, increment_period=_NO_GROWTH) if (
        params["on_nan"] == "skip") else None


def _refuse_with_sync(params: dict[str, Any], loss_scale: Any) -> None:
    if loss_scale is not None or params["accumulate_steps"] > 1:
        raise ParamError(
            "sync_replicas is set (from --sync_replicas), and only the chief sees the gradients"
            " of all workers: accumulate_steps, on_nan=skip and mixed_precision=float16 do not"
            " work with it. For example: --param accumulate_steps=1 --param on_nan=stop")


def _write_histograms(pairs: list[tuple[Any, tf.Variable]]) -> tuple[list[Any], list[Any]]:
    """Writes histograms of the variables, and of their gradients over the global batch.

    Returns:
      The variables' values, to read before the update, so that no histogram shows the variables
      after it; empty with a ps, whose variables other trainers update meanwhile. And the tensors
      that each step has to compute, because the replicas wait for each other.
    """
    values = [tf.identity(var) for _, var in pairs]
    for value, (_, var) in zip(values, pairs):
        tf.compat.v1.summary.histogram(f"variables/{var.op.name}", value)
    trained = [(grad, var) for grad, var in pairs if grad is not None]
    means = optimizers.mean_over_replicas(trained)
    for mean, (_, var) in zip(means, trained):
        tf.compat.v1.summary.histogram(f"gradients/{var.op.name}", tf.convert_to_tensor(mean))
    has_ps = any(tf.DeviceSpec.from_string(var.device).job == "ps" for _, var in pairs)
    is_replicated = tf.distribute.get_strategy().num_replicas_in_sync > 1
    return [] if has_ps else values, means if is_replicated else []
