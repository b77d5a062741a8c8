"""`tf.contrib.bayesflow`: estimates of expectations, which is what 1.15 had of it."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.bayesflow.monte_carlo"

NAMES = {name: f"{_HERE}.{name}" for name in (
    "expectation", "expectation_importance_sampler", "expectation_importance_sampler_logspace")}
DEFAULT = "use tensorflow_probability"
