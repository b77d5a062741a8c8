"""Cells of `tf.contrib.rnn` whose units do not see one another's states.

Li et al., "Independently Recurrent Neural Network", CVPR 2018. Arguments and variables:
tensorflow/contrib/rnn of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from estimator_trainer.compat.contrib.rnn import cells
from estimator_trainer.compat.contrib.rnn.cells import LSTMStateTuple, V1


class _Independent(cells.Plain, cells.LayerRNNCell):
    """Makes the weights of the inputs, a vector for the state, and a bias."""

    _num_units: int
    _kernel_initializer: Any = None
    _bias_initializer: Any = None

    def _weights(self, depth: int, width: int, names: tuple[str, str, str],
                 bias: float = 0.0) -> Any:
        return (self.add_weight(names[0], [depth, width], initializer=self._kernel_initializer),
                self.add_weight(names[1], [1, width], initializer=V1.random_uniform_initializer(
                    minval=-1, maxval=1)),
                self.add_weight(names[2], [width], initializer=self._bias_initializer
                                if self._bias_initializer is not None
                                else V1.constant_initializer(bias)))

    @staticmethod
    def _depth(inputs_shape: Any) -> int:
        size = cells.size_of(inputs_shape, 1)
        if size is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        return size


class IndRNNCell(_Independent):
    """The basic one. Variables: `kernel_w`, `kernel_u`, `bias`."""

    def __init__(self, num_units: int, activation: Any = None, reuse: Optional[bool] = None,
                 name: Optional[str] = None, dtype: Any = None) -> None:
        """Keeps the settings: the size, the activation (tanh), and what a layer takes."""
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self.input_spec = cells.FLAT
        self._state_size = self._output_size = self._num_units = num_units
        self._activation = activation or tf.tanh

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables; ValueError if the inputs' size is unknown."""
        self._of_cell = self._weights(self._depth(inputs_shape), self._num_units,
                                      ("kernel_w", "kernel_u", "bias"))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the output, [batch, num_units], twice."""
        output = self._activation(_mixed(inputs, state, self._of_cell))
        return output, output


def _mixed(inputs: Any, state: Any, weights: Any) -> Any:
    kernel, vector, bias = weights
    return tf.nn.bias_add(tf.matmul(inputs, kernel) + state * vector, bias)


class _Gated(_Independent):
    """Takes initializers too."""

    def __init__(self, num_units: int, activation: Any, reuse: Optional[bool],
                 kernel_initializer: Any, bias_initializer: Any, name: Optional[str],
                 dtype: Any) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self.input_spec = cells.FLAT
        self._state_size = self._output_size = self._num_units = num_units
        self._activation = activation or tf.tanh
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer


class IndyGRUCell(_Gated):
    """The GRU. Variables, in `gates` and `candidate`: kernels of inputs and state, and `bias`."""

    def __init__(self, num_units: int, activation: Any = None, reuse: Optional[bool] = None,
                 kernel_initializer: Any = None, bias_initializer: Any = None,
                 name: Optional[str] = None, dtype: Any = None) -> None:
        """Keeps the settings, which are those of `tf.nn.rnn_cell.GRUCell`."""
        super().__init__(num_units, activation, reuse, kernel_initializer, bias_initializer, name,
                         dtype)

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables; ValueError if the inputs' size is unknown."""
        depth = self._depth(inputs_shape)
        self._of_gates = self._weights(
            depth, 2 * self._num_units, ("gates/kernel_w", "gates/kernel_u", "gates/bias"), 1.0)
        # TensorFlow 1 called the first `kernel`, without `_w`.
        self._of_candidate = self._weights(
            depth, self._num_units, ("candidate/kernel", "candidate/kernel_u", "candidate/bias"))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the new state, [batch, num_units], twice."""
        gates = tf.sigmoid(_mixed(inputs, tf.tile(state, [1, 2]), self._of_gates))
        reset, update = tf.split(gates, 2, 1)
        new = self._activation(_mixed(inputs, reset * state, self._of_candidate))
        state = update * state + (1 - update) * new
        return state, state


class IndyLSTMCell(_Gated):
    """The LSTM. Variables: `kernel_w`, `kernel_u`, `bias`."""

    def __init__(self, num_units: int, forget_bias: float = 1.0, activation: Any = None,
                 reuse: Optional[bool] = None, kernel_initializer: Any = None,
                 bias_initializer: Any = None, name: Optional[str] = None,
                 dtype: Any = None) -> None:
        """Keeps the settings, which are those of `tf.nn.rnn_cell.LSTMCell`."""
        super().__init__(num_units, activation, reuse, kernel_initializer, bias_initializer, name,
                         dtype)
        self._forget_bias = forget_bias
        self._state_size = LSTMStateTuple(num_units, num_units)

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables; ValueError if the inputs' size is unknown."""
        self._of_cell = self._weights(self._depth(inputs_shape), 4 * self._num_units,
                                      ("kernel_w", "kernel_u", "bias"))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns h, [batch, num_units], and the LSTMStateTuple."""
        c, h = state
        i, j, f, o = tf.split(_mixed(inputs, tf.tile(h, [1, 4]), self._of_cell), 4, 1)
        c = c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * self._activation(j)
        h = self._activation(c) * tf.sigmoid(o)
        return h, LSTMStateTuple(c, h)
