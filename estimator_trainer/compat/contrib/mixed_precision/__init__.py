"""`tf.contrib.mixed_precision`: losses that are scaled, so that float16 gradients do not vanish."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.mixed_precision.loss_scale"

NAMES = {name: f"{_HERE}.{name}" for name in (
    "ExponentialUpdateLossScaleManager", "FixedLossScaleManager", "LossScaleManager",
    "LossScaleOptimizer")}
