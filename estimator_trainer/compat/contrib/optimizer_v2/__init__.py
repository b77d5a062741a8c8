"""`tf.contrib.optimizer_v2`: optimizers of `tf.train`, and the base class with a state."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.optimizer_v2"

NAMES = {
    "OptimizerV2": f"{_HERE}.optimizer.OptimizerV2",
    **{f"{name}Optimizer": f"{_HERE}.optimizers.{name}Optimizer" for name in (
        "Adadelta", "Adagrad", "Adam", "GradientDescent", "Momentum", "RMSProp")},
}
