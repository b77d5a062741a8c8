"""Stacks of bidirectional RNNs of `tf.contrib.rnn`.

Schuster and Paliwal, "Bidirectional Recurrent Neural Networks", 1997; tensorflow/contrib/rnn of
TensorFlow 1.15 for the arguments.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import tensorflow as tf

from estimator_trainer.compat.contrib.rnn.cells import V1


def stack_bidirectional_rnn(cells_fw: Any, cells_bw: Any, inputs: Any,
                            initial_states_fw: Any = None, initial_states_bw: Any = None,
                            dtype: Any = None, sequence_length: Any = None,
                            scope: Any = None) -> Any:
    """Runs layers of bidirectional RNNs, each on both directions' outputs of the one before.

    Args:
      cells_fw, cells_bw: A list of a cell for each layer.
      inputs: A list of [batch, size].
      initial_states_fw, initial_states_bw: A list of a state for each layer.
      dtype: Type of the states, if there are none.
      sequence_length: [batch] integers.
      scope: A variable scope, or its name.

    Returns:
      Outputs, a list of [batch, both sizes], and the last states of each layer, forward and
      backward.

    Raises:
      ValueError: The lists are none, empty, or of different lengths.
    """

    def run(forward: Any, backward: Any, inputs: Any, state_fw: Any, state_bw: Any,
            scope: Any) -> Any:
        return V1.nn.static_bidirectional_rnn(
            forward, backward, inputs, initial_state_fw=state_fw, initial_state_bw=state_bw,
            sequence_length=sequence_length, dtype=dtype, scope=scope)

    return _stack(run, cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope)


def stack_bidirectional_dynamic_rnn(cells_fw: Any, cells_bw: Any, inputs: Any,
                                    initial_states_fw: Any = None, initial_states_bw: Any = None,
                                    dtype: Any = None, sequence_length: Any = None,
                                    parallel_iterations: Optional[int] = None,
                                    time_major: bool = False, scope: Any = None,
                                    swap_memory: bool = False) -> Any:
    """Runs layers of bidirectional RNNs, each on both directions' outputs of the one before.

    Args:
      cells_fw, cells_bw: A list of a cell for each layer.
      inputs: [batch, time, size], or [time, batch, size] with `time_major`.
      initial_states_fw, initial_states_bw: A list of a state for each layer.
      dtype: Type of the states, if there are none.
      sequence_length: [batch] integers.
      parallel_iterations, time_major, swap_memory: As for `tf.nn.bidirectional_dynamic_rnn`.
      scope: A variable scope, or its name.

    Returns:
      Outputs, [batch, time, both sizes], and the last states of each layer, forward and backward.

    Raises:
      ValueError: The lists are none, empty, or of different lengths.
    """

    def run(forward: Any, backward: Any, inputs: Any, state_fw: Any, state_bw: Any,
            scope: Any) -> Any:
        outputs, (state_fw, state_bw) = V1.nn.bidirectional_dynamic_rnn(
            forward, backward, inputs, initial_state_fw=state_fw, initial_state_bw=state_bw,
            sequence_length=sequence_length, parallel_iterations=parallel_iterations, dtype=dtype,
            swap_memory=swap_memory, time_major=time_major)
        return tf.concat(outputs, 2), state_fw, state_bw

    return _stack(run, cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope)


def _stack(run: Callable[..., Any], cells_fw: Any, cells_bw: Any, inputs: Any, initial_fw: Any,
           initial_bw: Any, scope: Any) -> Any:
    for name, cells in (("cells_fw", cells_fw), ("cells_bw", cells_bw)):
        if not isinstance(cells, list) or not cells:
            raise ValueError(f"{name} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    initial_fw, initial_bw = (
        _states(name, states, len(cells_fw)) for name, states in (
            ("initial_states_fw", initial_fw), ("initial_states_bw", initial_bw)))
    states_fw, states_bw = [], []
    with V1.variable_scope(scope or "stack_bidirectional_rnn"):
        for number, layer in enumerate(zip(cells_fw, cells_bw)):
            with V1.variable_scope(f"cell_{number}") as cell_scope:
                inputs, state_fw, state_bw = run(*layer, inputs, initial_fw[number],
                                                 initial_bw[number], cell_scope)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)


def _states(name: str, states: Any, count: int) -> Sequence[Any]:
    if states is None:
        return [None] * count
    if not isinstance(states, list) or len(states) not in (0, count):
        raise ValueError(f"{name} must be a list of state tensors (one per layer).")
    return states or [None] * count
