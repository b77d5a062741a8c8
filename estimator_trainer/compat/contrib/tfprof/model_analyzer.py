"""`tf.contrib.tfprof.model_analyzer`: counts of a model's parameters and operations.

Follows the API of `tensorflow/contrib/tfprof/model_analyzer.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_PROFILER = tf.compat.v1.profiler
TRAINABLE_VARS_PARAMS_STAT_OPTIONS: Any = (
    _PROFILER.ProfileOptionBuilder.trainable_variables_parameter())
FLOAT_OPS_OPTIONS: Any = _PROFILER.ProfileOptionBuilder.float_operation()
_DEFAULT: Any = _PROFILER.ProfileOptionBuilder.trainable_variables_parameter()


def print_model_analysis(graph: Any, run_meta: Any = None, op_log: Any = None,
                         tfprof_cmd: str = "scope", tfprof_options: Any = None) -> Any:
    """Prints what a graph has, and returns it as `tf.profiler.profile` does."""
    return _PROFILER.profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options or _DEFAULT)
