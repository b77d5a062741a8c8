"""`tf.contrib.opt`: the optimizers that programs use most."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.optimizers"

NAMES = {name: f"{_HERE}.{name}" for name in (
    "AdamWOptimizer", "LazyAdamOptimizer", "MomentumWOptimizer",
    "extend_with_decoupled_weight_decay")}
INSTEAD = {
    "AdaMaxOptimizer": "use tf.keras.optimizers.Adamax in a Keras model, or tf.train.AdamOptimizer",
    "MovingAverageOptimizer": "use tf.train.ExponentialMovingAverage",
    "NadamOptimizer": "use tf.train.AdamOptimizer",
    "ScipyOptimizerInterface": "use scipy.optimize, or tfp.optimizer of tensorflow_probability",
}
