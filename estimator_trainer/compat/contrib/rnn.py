"""`tf.contrib.rnn`, with the cells of `tf.nn.rnn_cell`."""

from __future__ import annotations

from typing import Any

_HERE = "estimator_trainer.compat.contrib.fused_rnn"


def stack_bidirectional_dynamic_rnn(cells_fw: Any, cells_bw: Any, inputs: Any,
                                    initial_states_fw: Any = None, initial_states_bw: Any = None,
                                    *args: Any, **kwargs: Any) -> Any:
    """Runs layers of bidirectional RNNs, each on both directions' outputs of the one before.

    Args:
      cells_fw, cells_bw: A cell for each layer.
      inputs: [batch, time, size].
      initial_states_fw, initial_states_bw: A state for each layer.
      *args, **kwargs: dtype, sequence_length, parallel_iterations, time_major, scope.

    Returns:
      Outputs, [batch, time, both sizes], and the last states of each layer, forward and backward.
    """
    if len(cells_fw) != len(cells_bw):
        raise ValueError(f"cells_fw has {len(cells_fw)} cells and cells_bw {len(cells_bw)}; "
                         "expected as many of each.")
    layers = list(zip(cells_fw, cells_bw, initial_states_fw or [None] * len(cells_fw),
                      initial_states_bw or [None] * len(cells_bw)))
    return _stack(layers, inputs, *args, **kwargs)


def _stack(layers: Any, inputs: Any, dtype: Any = None, sequence_length: Any = None,
           parallel_iterations: Any = None, time_major: bool = False, scope: Any = None) -> Any:
    import tensorflow as tf
    v1, states = tf.compat.v1, []
    with v1.variable_scope(scope or "stack_bidirectional_rnn"):
        for number, (forward, backward, state_fw, state_bw) in enumerate(layers):
            with v1.variable_scope(f"cell_{number}"):
                outputs, state = v1.nn.bidirectional_dynamic_rnn(
                    forward, backward, inputs, sequence_length, state_fw, state_bw, dtype,
                    parallel_iterations, time_major=time_major)
            inputs = tf.concat(outputs, 2)
            states.append(state)
    return (inputs, *(tuple(each) for each in zip(*states)))


NAMES = {
    **{name: f"tf.nn.rnn_cell.{name}" for name in (
        "BasicLSTMCell", "BasicRNNCell", "DeviceWrapper", "DropoutWrapper", "GRUCell", "LSTMCell",
        "LSTMStateTuple", "MultiRNNCell", "RNNCell", "ResidualWrapper")},
    **{name: f"tf.nn.{name}" for name in (
        "static_bidirectional_rnn", "static_rnn", "static_state_saving_rnn")},
    "LSTMBlockFusedCell": f"{_HERE}.LSTMBlockFusedCell",
    "TimeReversedFusedRNN": f"{_HERE}.TimeReversedFusedRNN",
    "stack_bidirectional_dynamic_rnn": stack_bidirectional_dynamic_rnn,
}
INSTEAD = {
    "AttentionCellWrapper": "use tf.keras.layers.Attention",
    "GRUBlockCell": "use tf.contrib.rnn.GRUCell",
    "GRUBlockCellV2": "use tf.contrib.rnn.GRUCell",
    "LSTMBlockCell": "use tf.contrib.rnn.LSTMCell",
    "stack_bidirectional_rnn": "use tf.contrib.rnn.stack_bidirectional_dynamic_rnn",
}
