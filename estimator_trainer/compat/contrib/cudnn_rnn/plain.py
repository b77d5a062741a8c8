"""cuDNN's RNNs by TensorFlow's operations, for there is no cuDNN without a GPU.

Formulas: cuDNN's Developer Guide, cudnnRNNMode_t.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence

import tensorflow as tf

from estimator_trainer.compat.contrib.rnn.cells import V1


class _Step(NamedTuple):
    """A step, as `tf.nn.dynamic_rnn` runs it; the products of the inputs are made before."""

    mode: str
    matrix: Any
    bias: Any
    output_size: int

    @property
    def state_size(self) -> Any:
        """Sizes of the state."""
        return (self.output_size,) * (2 if self.mode == "lstm" else 1)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns a state of zeros."""
        return tuple(tf.zeros([batch_size, size], dtype) for size in self.state_size)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Returns the output and the state, h first."""
        h = state[0]
        kept = tf.matmul(h, self.matrix, transpose_b=True) + self.bias
        if self.mode == "lstm":
            i, f, new, o = tf.split(inputs + kept, 4, 1)
            c = tf.sigmoid(f) * state[1] + tf.sigmoid(i) * tf.tanh(new)
            h = tf.sigmoid(o) * tf.tanh(c)
            return h, (h, c)
        if self.mode == "gru":
            gates = tf.sigmoid(inputs[:, :-self.output_size] + kept[:, :-self.output_size])
            reset, update = tf.split(gates, 2, 1)
            new = tf.tanh(inputs[:, -self.output_size:] + reset * kept[:, -self.output_size:])
            h = (1 - update) * new + update * h
        else:
            h = (tf.tanh if self.mode == "rnn_tanh" else tf.nn.relu)(inputs + kept)
        return h, (h,)


def run(mode: str, inputs: Any, states: Sequence[Any], weights: Sequence[Any],
        biases: Sequence[Any], directions: int, lengths: Any = None, dropout: float = 0.0,
        seed: Optional[int] = None) -> Any:
    """Runs all layers.

    Args:
      mode: "lstm", "gru", "rnn_tanh" or "rnn_relu".
      inputs: [time, batch, size].
      states: h, and an LSTM's c, each [layers * directions, batch, units].
      weights, biases: Those of each layer and direction, in cuDNN's order.
      directions: 1 or 2.
      lengths: [batch] integers; outputs beyond are 0.
      dropout: Share of the inputs of a layer, but the first, that is dropped.
      seed: The dropout's.

    Returns:
      Outputs, [time, batch, directions * units], and the states after the last step.
    """
    found: list[Any] = []
    initial = list(zip(*(tf.unstack(each) for each in states)))
    for start in range(0, len(weights), directions):
        if start and dropout:
            inputs = V1.nn.dropout(inputs, rate=dropout, seed=seed)
        outputs = []
        for number in range(start, start + directions):
            output, state = _run(mode, inputs, initial[number], weights[number], biases[number],
                                 lengths, is_reversed=number > start)
            outputs.append(output)
            found.append(state)
        inputs = outputs[0] if directions == 1 else tf.concat(outputs, 2)
    return inputs, tuple(tf.stack(each) for each in zip(*found))


def _run(mode: str, inputs: Any, state: Any, weights: Sequence[Any], biases: Sequence[Any],
         lengths: Any, is_reversed: bool) -> Any:
    gates = len(biases) // 2
    matrix, bias = tf.concat(weights[:gates], 0), tf.concat(biases[:gates], 0)
    step = _Step(mode, tf.concat(weights[gates:], 0), tf.concat(biases[gates:], 0),
                 biases[0].shape.as_list()[0])
    products = tf.tensordot(inputs, matrix, [[2], [1]]) + bias
    outputs, state = V1.nn.dynamic_rnn(
        step, _reversed(products, lengths) if is_reversed else products, lengths,
        initial_state=state, time_major=True)
    return (_reversed(outputs, lengths) if is_reversed else outputs), state


def _reversed(values: Any, lengths: Any) -> Any:
    if lengths is None:
        return tf.reverse(values, [0])
    return V1.reverse_sequence(values, lengths, seq_axis=0, batch_axis=1)
