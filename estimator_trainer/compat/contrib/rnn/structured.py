"""LSTMs of `tf.contrib.rnn` over images, in groups, and in phases.

Shi et al., "Convolutional LSTM Network", NIPS 2015; Kuchaiev and Ginsburg, "Factorization Tricks
for LSTM Networks", 2017; Neil et al., "Phased LSTM", NIPS 2016. Arguments and variables:
tensorflow/contrib/rnn of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence

import tensorflow as tf

from estimator_trainer.compat.contrib.rnn import cells
from estimator_trainer.compat.contrib.rnn.cells import Linear, LSTMStateTuple, RNNCell, V1


class ConvLSTMCell(cells.Plain, RNNCell):
    """An LSTM whose products are convolutions. Variables: `kernel`, `biases`."""

    def __init__(self, conv_ndims: int, input_shape: Sequence[int], output_channels: int,
                 kernel_shape: Sequence[int], use_bias: bool = True, skip_connection: bool = False,
                 forget_bias: float = 1.0, initializers: Any = None,
                 name: str = "conv_lstm_cell") -> None:
        """Keeps the settings.

        Args:
          conv_ndims: 1, 2 or 3.
          input_shape: Shape of an example, with its channels.
          output_channels: Channels of the state.
          kernel_shape: Shape of the kernels.
          use_bias: Whether there is a bias.
          skip_connection: Whether the inputs are joined to the output.
          forget_bias: Added to the forget gate.
          initializers: Without effect.
          name: As for a layer.

        Raises:
          ValueError: `input_shape` has other dimensions.
        """
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._channels, self._kernel_shape = output_channels, list(kernel_shape)
        self._use_bias, self._forget_bias = use_bias, forget_bias
        self._skip_connection = skip_connection
        place = list(input_shape[:-1])
        self._state_size = LSTMStateTuple(*[tf.TensorShape([*place, output_channels])] * 2)
        self._output_size = tf.TensorShape(
            [*place, output_channels + (input_shape[-1] if skip_connection else 0)])

    def call(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Returns the output, [batch, *place, channels], and the LSTMStateTuple."""
        c, h = state
        i, j, f, o = tf.split(self._convolved([inputs, h], 4 * self._channels), 4, -1)
        c = tf.sigmoid(f + self._forget_bias) * c + tf.sigmoid(i) * tf.tanh(j)
        output = tf.tanh(c) * tf.sigmoid(o)
        if self._skip_connection:
            output = tf.concat([output, inputs], -1)
        return output, LSTMStateTuple(c, output)

    def _convolved(self, args: Sequence[Any], channels: int) -> Any:
        ranks = [each.shape.rank for each in args]
        if ranks[0] not in (3, 4, 5) or ranks[1] != ranks[0]:
            raise ValueError("Conv Linear expects two tensors of 3, 4 or 5 dimensions; got "
                             f"{[each.shape for each in args]}")
        convolve = {3: tf.nn.conv1d, 4: tf.nn.conv2d, 5: tf.nn.conv3d}[ranks[0]]
        depth = sum(each.shape.as_list()[-1] for each in args)
        kernel = V1.get_variable("kernel", [*self._kernel_shape, depth, channels],
                                 dtype=args[0].dtype)
        found = convolve(tf.concat(args, -1), kernel, 1 if ranks[0] == 3 else [1] * ranks[0],
                         padding="SAME")
        if not self._use_bias:
            return found
        return found + V1.get_variable(
            "biases", [channels], dtype=args[0].dtype,
            initializer=V1.constant_initializer(0.0, dtype=args[0].dtype))


class Conv1DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over sequences."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        """Keeps the settings of ConvLSTMCell."""
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over images."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        """Keeps the settings of ConvLSTMCell."""
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over volumes."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        """Keeps the settings of ConvLSTMCell."""
        super().__init__(conv_ndims=3, name=name, **kwargs)


class GLSTMCell(cells.Plain, RNNCell):
    """An LSTM in groups that do not see one another. Variables: `group*/kernel`, `bias_[ijfo]`."""

    def __init__(self, num_units: int, initializer: Any = None, num_proj: Optional[int] = None,
                 number_of_groups: int = 1, forget_bias: float = 1.0, activation: Any = tf.tanh,
                 reuse: Optional[bool] = None) -> None:
        """Keeps the settings.

        Args:
          num_units: Size of c.
          initializer: Makes the variables; the scope's by default.
          num_proj: Size of h, if it is projected by `projection/kernel`.
          number_of_groups: Divides the sizes.
          forget_bias: Added to the forget gate.
          activation: The function of c.
          reuse: As for a layer.

        Raises:
          ValueError: The number of groups does not divide a size.
        """
        super().__init__(_reuse=reuse)
        for name, size in (("num_units", num_units), ("num_proj", num_proj or 0)):
            if size % number_of_groups:
                raise ValueError(f"{name} must be divisible by number_of_groups")
        self._num_units, self._num_proj, self._initializer = num_units, num_proj, initializer
        self._forget_bias, self._activation = forget_bias, activation
        self._number_of_groups = number_of_groups
        self._state_size, self._output_size = cells.lstm_sizes(num_units, num_proj)
        self._groups: list[Any] = [None] * number_of_groups
        self._projection: Any = None

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns h and the LSTMStateTuple; ValueError if the inputs' size does not fit."""
        c, h = state
        batch = cells.actual_size(inputs, 0)
        size, groups = cells.size_of(inputs, 1), self._number_of_groups
        if size is None:
            raise ValueError("input size must be statically known")
        if size % groups:
            raise ValueError(f"input size ({size}) must be divisible by number_of_groups "
                             f"({groups})")
        with V1.variable_scope(V1.get_variable_scope(), initializer=self._initializer):
            gates = []
            for number in range(groups):
                with V1.variable_scope(f"group{number}"):
                    part = tf.concat([
                        tf.slice(whole, [0, number * width], [batch, width])
                        for whole, width in ((inputs, size // groups),
                                             (h, self._output_size // groups))], 1)
                    self._groups[number] = self._groups[number] or Linear(
                        part, 4 * self._num_units // groups, False)
                    gates.append(tf.split(self._groups[number](part), 4, 1))
            biases = [V1.get_variable(f"bias_{gate}", shape=[self._num_units], dtype=inputs.dtype,
                                      initializer=V1.constant_initializer(0.0, dtype=inputs.dtype))
                      for gate in "ijfo"]
            i, j, f, o = (tf.nn.bias_add(tf.concat(each, 1), bias)
                          for each, bias in zip(zip(*gates), biases))
        c = tf.sigmoid(f + self._forget_bias) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            with V1.variable_scope("projection"):
                self._projection = self._projection or Linear(h, self._num_proj, False)
                h = self._projection(h)
        return h, LSTMStateTuple(c, h)


class PhasedLSTMCell(cells.Plain, RNNCell):
    """An LSTM whose units open for a part of a period of their own.

    Variables: those of the scopes `mask_gates`, `new_input` and `output_gate`; `period`, `phase`
    and `ratio_on`.
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, leak: float = 0.001,
                 ratio_on: float = 0.1, trainable_ratio_on: bool = True,
                 period_init_min: float = 1.0, period_init_max: float = 1000.0,
                 reuse: Optional[bool] = None) -> None:
        """Keeps the settings.

        Args:
          num_units: Size of c and of h.
          use_peepholes: Whether the gates see c.
          leak: Share of the update while a unit is closed.
          ratio_on: Where the share of the period starts in which a unit is open.
          trainable_ratio_on: Whether that share is trained.
          period_init_min, period_init_max: Between which the periods start.
          reuse: As for a layer.
        """
        # The times are float64, and stay so.
        super().__init__(_reuse=reuse, autocast=False)
        self._num_units, self._use_peepholes, self._leak = num_units, use_peepholes, leak
        self._ratio_on, self._trainable_ratio_on = ratio_on, trainable_ratio_on
        self._period_init_min, self._period_init_max = period_init_min, period_init_max
        self._state_size, self._output_size = cells.lstm_sizes(num_units, None)
        self._linears: dict[str, Any] = {}

    def call(self, inputs: Any, state: Any) -> Any:
        """Takes (time, x): [batch, 1] and [batch, size]; returns h and the LSTMStateTuple."""
        (c, h), (time, x), see = state, inputs, self._use_peepholes
        gates = self._product("mask_gates", [x, h, *([c] if see else [])], 2)
        i, f = tf.split(tf.sigmoid(gates), 2, 1)
        new_input = tf.tanh(self._product("new_input", [x, h], 1))
        new_c = c * f + i * new_input
        o = tf.sigmoid(self._product("output_gate", [x, h, *([new_c] if see else [])], 1))
        new_h = tf.tanh(new_c) * o
        openness = self._openness(time)
        c = openness * new_c + (1 - openness) * c
        h = openness * new_h + (1 - openness) * h
        return h, LSTMStateTuple(c, h)

    def _product(self, scope: str, args: Sequence[Any], width: int) -> Any:
        with V1.variable_scope(scope):
            if scope not in self._linears:
                self._linears[scope] = Linear(args, width * self._num_units, True)
            return self._linears[scope](args)

    def _openness(self, time: Any) -> Any:
        size = [self._num_units]
        period = V1.get_variable("period", size, initializer=_between_exponents(
            self._period_init_min, self._period_init_max))
        phase = V1.get_variable("phase", size, initializer=V1.random_uniform_initializer(
            0., period.initial_value))
        ratio_on = V1.get_variable("ratio_on", size, trainable=self._trainable_ratio_on,
                                   initializer=V1.constant_initializer(self._ratio_on))
        shifted, length = time - tf.cast(phase, time.dtype), tf.cast(period, time.dtype)
        # The remainder's gradient is that of what is divided.
        rest = tf.stop_gradient(tf.math.floormod(shifted, length) - shifted) + shifted
        ratio = tf.cast(rest / length, tf.float32)
        rising = 2 * ratio / ratio_on
        openness = V1.where(ratio < ratio_on, 2 - rising, self._leak * ratio)
        return V1.where(ratio < 0.5 * ratio_on, rising, openness)


def _between_exponents(low: float, high: float) -> Any:
    def initialize(shape: Any, dtype: Any = tf.float32, partition_info: Any = None) -> Any:
        return tf.exp(V1.random_uniform(shape, tf.math.log(low), tf.math.log(high), dtype))

    return initialize
