"""Operations that round to the values which a quantized tensor can have.

The definition is `tensorflow/contrib/quantize/python/quant_ops.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.training import moving_averages

v1 = tf.compat.v1
_STEP = "fake_quantization_step"


def quantized(inputs: Any, name: str, is_moving_average: bool, is_training: bool, bits: int = 8,
              symmetric: bool = False, narrow_range: bool = False, init_min: float = -6.0,
              init_max: float = 6.0, ema_decay: float = 0.999) -> Any:
    """Returns a tensor rounded to the range of two variables, `min` and `max`.

    Args:
      inputs: A float tensor.
      name: Scope of the variables.
      is_moving_average: Whether the range is the moving average of the batches', or the last one.
      is_training: Whether the range follows the inputs.
      bits: Number of bits.
      symmetric: Whether 0 is the middle of the range.
      narrow_range: Whether the lowest value is not used.
      init_min, init_max: The range at first.
      ema_decay: The moving average's decay.
    """
    with v1.variable_scope(None, default_name=name, values=[inputs]) as scope:
        scope.set_partitioner(None)
        low, high = (v1.get_variable(
            each, [], initializer=v1.constant_initializer(first), trainable=False,
            collections=[v1.GraphKeys.GLOBAL_VARIABLES],
            aggregation=tf.VariableAggregation.MEAN)
            for each, first in (("min", init_min), ("max", init_max)))
        if is_training:
            batch_low, batch_high = _range(inputs, bits, symmetric, narrow_range)
            if is_moving_average:
                low = moving_averages.assign_moving_average(low, batch_low, ema_decay,
                                                            name="AssignMinEma")
                high = moving_averages.assign_moving_average(high, batch_high, ema_decay,
                                                             name="AssignMaxEma")
            else:
                low = v1.assign(low, batch_low, name="AssignMinLast")
                high = v1.assign(high, batch_high, name="AssignMaxLast")
        return tf.quantization.fake_quant_with_min_max_vars(
            inputs, low, high, num_bits=bits, narrow_range=narrow_range)


def _range(inputs: Any, bits: int, symmetric: bool, narrow_range: bool) -> Any:
    """Returns the least and the largest value, between which 0 lies."""
    low = tf.reduce_min(inputs, name="BatchMin")
    high = tf.reduce_max(inputs, name="BatchMax")
    if not symmetric:
        return tf.minimum(low, 0.0), tf.maximum(high, 0.0)
    ratio = -1.0 if narrow_range else -((1 << bits) - 2) / (1 << bits)
    return tf.minimum(low, high / ratio), tf.maximum(high, low * ratio)


def step() -> Any:
    """Returns the number of steps, an int64 tensor that counts by one."""
    graph = v1.get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{_STEP}/Identity:0")
    except KeyError:
        with graph.name_scope(None):
            variable = v1.get_variable(
                _STEP, [], tf.int64, v1.zeros_initializer(), trainable=False,
                collections=[v1.GraphKeys.GLOBAL_VARIABLES],
                aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
            with graph.name_scope(f"{variable.op.name}/"):
                return tf.identity(v1.assign_add(variable, 1))
