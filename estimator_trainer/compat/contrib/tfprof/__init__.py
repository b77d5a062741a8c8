"""`tf.contrib.tfprof`, which became `tf.profiler`."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.tfprof"

NAMES = {
    "model_analyzer": f"{_HERE}.model_analyzer",
    **{name: f"{_HERE}.model_analyzer.{name}" for name in (
        "FLOAT_OPS_OPTIONS", "TRAINABLE_VARS_PARAMS_STAT_OPTIONS", "print_model_analysis")},
}
DEFAULT = "use tf.profiler"
