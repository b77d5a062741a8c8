"""Cells of `tf.contrib.rnn` with gates of their own.

Zoph and Le, "Neural Architecture Search with Reinforcement Learning", 2016; Collins et al.,
"Capacity and Trainability in Recurrent Neural Networks", ICLR 2017; Lei and Zhang, "Training RNNs
as Fast as CNNs", 2017; Chen, "Minimal RNN", 2017; Laurent and von Brecht, "A recurrent neural
network without chaos", 2016; Li et al., "Independently Recurrent Neural Network", CVPR 2018.
Arguments and variables: tensorflow/contrib/rnn of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from estimator_trainer.compat.contrib.rnn import cells
from estimator_trainer.compat.contrib.rnn.cells import (LayerRNNCell, Linear, LSTMStateTuple,
                                                        RNNCell, V1)


def _depth(shape: Any) -> int:
    """Returns the size of a layer's inputs; ValueError if it is unknown."""
    size = cells.size_of(tf.TensorShape(shape), 1)
    if size is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {shape}")
    return size


class NASCell(cells.Plain, LayerRNNCell):
    """The cell that a search found. Variables: `recurrent_kernel`, `kernel`, `bias`."""

    def __init__(self, num_units: int, num_proj: Optional[int] = None, use_bias: bool = False,
                 reuse: Optional[bool] = None, **kwargs: Any) -> None:
        """Keeps the settings.

        Args:
          num_units: Size of c.
          num_proj: Size of h, if it is projected by `projection_weights`.
          use_bias: Whether there is a bias.
          reuse, **kwargs: As for a layer.
        """
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias
        output = num_units if num_proj is None else num_proj
        self._state_size, self._output_size = LSTMStateTuple(num_units, output), output

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables."""
        depth, width = _depth(inputs_shape), 8 * self._num_units
        self.recurrent_kernel = self.add_weight("recurrent_kernel", [self._output_size, width])
        self.kernel = self.add_weight("kernel", [depth, width])
        if self._use_bias:
            self.bias = self.add_weight("bias", [width], initializer=V1.zeros_initializer)
        if self._num_proj is not None:
            self.projection_weights = self.add_weight("projection_weights",
                                                      [self._num_units, self._num_proj])
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns h and the LSTMStateTuple."""
        c, h = state
        recurrent = tf.matmul(h, self.recurrent_kernel)
        of_inputs = tf.matmul(inputs, self.kernel)
        if self._use_bias:
            recurrent = tf.nn.bias_add(recurrent, self.bias)
        pairs = list(zip(tf.split(of_inputs, 8, 1), tf.split(recurrent, 8, 1)))
        first = [tf.nn.relu(x * y) if number == 3 else activation(x + y)
                 for number, ((x, y), activation) in enumerate(zip(pairs, (
                     tf.sigmoid, tf.nn.relu, tf.sigmoid, None, tf.tanh, tf.sigmoid, tf.tanh,
                     tf.sigmoid)))]
        c = (tf.tanh(tf.tanh(first[0] * first[1]) + c) * tf.tanh(first[2] + first[3]))
        h = tf.tanh(c * tf.tanh(tf.tanh(first[4] * first[5]) + tf.sigmoid(first[6] + first[7])))
        if self._num_proj is not None:
            h = tf.matmul(h, self.projection_weights)
        return h, LSTMStateTuple(c, h)


class UGRNNCell(cells.Plain, RNNCell):
    """The update gate RNN: one gate between the state and a new value."""

    def __init__(self, num_units: int, initializer: Any = None, forget_bias: float = 1.0,
                 activation: Any = tf.tanh, reuse: Optional[bool] = None) -> None:
        """Keeps the settings.

        Args:
          num_units: Size of the state.
          initializer: Makes the variables; the scope's by default.
          forget_bias: Added to the gate.
          activation: The function of the new value.
          reuse: As for a layer.
        """
        super().__init__(_reuse=reuse)
        self._state_size = self._output_size = self._num_units = num_units
        self._initializer, self._forget_bias, self._activation = (
            initializer, forget_bias, activation)
        self._linear: Any = None

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the new state, [batch, num_units], twice."""
        cells.known_size(inputs)
        with V1.variable_scope(V1.get_variable_scope(), initializer=self._initializer):
            joined = tf.concat([inputs, state], 1)
            self._linear = self._linear or Linear(joined, 2 * self._num_units, True)
            gate, new = tf.split(self._linear(joined), 2, 1)
            new, gate = self._activation(new), tf.sigmoid(gate + self._forget_bias)
            state = gate * state + (1.0 - gate) * new
        return state, state


class IntersectionRNNCell(cells.Plain, RNNCell):
    """The +RNN: gates through time and through depth."""

    def __init__(self, num_units: int, num_in_proj: Optional[int] = None, initializer: Any = None,
                 forget_bias: float = 1.0, y_activation: Any = tf.nn.relu,
                 reuse: Optional[bool] = None) -> None:
        """Keeps the settings.

        Args:
          num_units: Size of the state and of the output.
          num_in_proj: Whether inputs of another size are projected to `num_units`.
          initializer: Makes the variables; the scope's by default.
          forget_bias: Added to the gates.
          y_activation: The function of the new output.
          reuse: As for a layer.
        """
        super().__init__(_reuse=reuse)
        self._state_size = self._output_size = self._num_units = num_units
        self._num_input_proj, self._initializer = num_in_proj, initializer
        self._forget_bias, self._y_activation = forget_bias, y_activation
        self._projection: Any = None
        self._linear: Any = None

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the output and the state; ValueError if the inputs' size does not fit."""
        size = cells.known_size(inputs)
        with V1.variable_scope(V1.get_variable_scope(), initializer=self._initializer):
            if size != self._num_units:
                if not self._num_input_proj:
                    raise ValueError("Must have input size == output size for Intersection RNN. "
                                     "To fix, num_in_proj should be set to num_units at cell init.")
                with V1.variable_scope("in_projection"):
                    self._projection = self._projection or Linear(inputs, self._num_units, True)
                    inputs = self._projection(inputs)
            joined = tf.concat([inputs, state], 1)
            self._linear = self._linear or Linear(joined, 4 * self._num_units, True)
            product = self._linear(joined)
            time_gate, new_state, depth_gate, new_output = (
                product[:, number * self._num_units:(number + 1) * self._num_units]
                for number in range(4))
            new_state, new_output = tf.tanh(new_state), self._y_activation(new_output)
            time_gate = tf.sigmoid(time_gate + self._forget_bias)
            depth_gate = tf.sigmoid(depth_gate + self._forget_bias)
            state = time_gate * state + (1.0 - time_gate) * new_state
            output = depth_gate * inputs + (1.0 - depth_gate) * new_output
        return output, state


class SRUCell(cells.Plain, LayerRNNCell):
    """The simple recurrent unit: gates of the inputs alone."""

    def __init__(self, num_units: int, activation: Any = None, reuse: Optional[bool] = None,
                 name: Optional[str] = None, **kwargs: Any) -> None:
        """Keeps the settings: the size, the function of c, and what a layer takes."""
        super().__init__(_reuse=reuse, name=name, **kwargs)
        self._state_size = self._output_size = self._num_units = num_units
        self._activation = activation or tf.tanh
        self.input_spec = cells.FLAT

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables `kernel` and `bias`."""
        self._kernel = self.add_weight("kernel", [_depth(inputs_shape), 4 * self._num_units])
        self._bias = self.add_weight("bias", [2 * self._num_units],
                                     initializer=V1.zeros_initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the output and c."""
        new, forget, reset, of_inputs = tf.split(tf.matmul(inputs, self._kernel), 4, 1)
        gates = tf.sigmoid(tf.nn.bias_add(tf.concat([forget, reset], 1), self._bias))
        forget, reset = tf.split(gates, 2, 1)
        c = forget * state + (1.0 - forget) * new
        return reset * self._activation(c) + (1.0 - reset) * of_inputs, c


class _Keras(cells.Plain, LayerRNNCell):
    """Takes its settings as a layer of Keras does."""

    def __init__(self, units: int, activation: Any = "tanh",
                 kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "ones",
                 name: Optional[str] = None, dtype: Any = None, **kwargs: Any) -> None:
        """Keeps the settings: the size, names or functions, and what a layer takes."""
        super().__init__(name=name, dtype=dtype, **kwargs)
        self._state_size = self._output_size = self.units = units
        self.activation = V1.keras.activations.get(activation)
        self.kernel_initializer = V1.keras.initializers.get(kernel_initializer)
        self.bias_initializer = V1.keras.initializers.get(bias_initializer)
        self.input_spec = cells.FLAT


class MinimalRNNCell(_Keras):
    """One gate between the state and a function of the inputs."""

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables `kernel` and `bias`."""
        self.kernel = self.add_weight("kernel", [_depth(inputs_shape) + 2 * self.units, self.units],
                                      initializer=self.kernel_initializer)
        self.bias = self.add_weight("bias", [self.units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the new state twice."""
        into, gate = tf.split(self.kernel, [cells.known_size(inputs), 2 * self.units], 0)
        new = self.activation(tf.matmul(inputs, into))
        update = tf.sigmoid(tf.nn.bias_add(tf.matmul(tf.concat([new, state], 1), gate), self.bias))
        state = update * state + (1 - update) * new
        return state, state


class CFNCell(_Keras):
    """The chaos-free network: gates weigh the state and the inputs."""

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables `kernel`, `recurrent_kernel` and `bias`."""
        units = self.units
        self.kernel = self.add_weight("kernel", [_depth(inputs_shape), 3 * units],
                                      initializer=self.kernel_initializer)
        self.recurrent_kernel = self.add_weight("recurrent_kernel", [units, 2 * units],
                                                initializer=self.kernel_initializer)
        self.bias = self.add_weight("bias", [2 * units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the new state twice."""
        into_gates, into = tf.split(self.kernel, [2 * self.units, self.units], 1)
        gates = tf.matmul(state, self.recurrent_kernel) + tf.matmul(inputs, into_gates)
        forget, ignore = tf.split(tf.sigmoid(tf.nn.bias_add(gates, self.bias)), 2, 1)
        state = forget * self.activation(state) + (1 - ignore) * self.activation(
            tf.matmul(inputs, into))
        return state, state
