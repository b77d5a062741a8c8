"""LSTMs of `tf.contrib.rnn` whose layers or weights are normalized, and the coupled LSTM.

Ba et al., "Layer Normalization", 2016; Semeniuta et al., "Recurrent Dropout without Memory Loss",
COLING 2016; Greff et al., "LSTM: A Search Space Odyssey", 2015; Salimans and Kingma, "Weight
Normalization", 2016. Arguments and variables: tensorflow/contrib/rnn of TensorFlow 1.15.
"""

from __future__ import annotations

import itertools
import logging
from typing import Any, Optional, Sequence

import tensorflow as tf

from estimator_trainer.compat.contrib.rnn import cells
from estimator_trainer.compat.contrib.rnn.cells import LSTMStateTuple, RNNCell, V1

logger = logging.getLogger(__name__)


class LayerNormBasicLSTMCell(cells.Plain, RNNCell):
    """An LSTM with layer normalization and dropout of the new input.

    Variables: `kernel`, `bias` without normalization, and `gamma` and `beta` in `input`,
    `transform`, `forget`, `output` and `state`.
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, input_size: Any = None,
                 activation: Any = tf.tanh, layer_norm: bool = True, norm_gain: float = 1.0,
                 norm_shift: float = 0.0, dropout_keep_prob: Any = 1.0,
                 dropout_prob_seed: Optional[int] = None, reuse: Optional[bool] = None) -> None:
        """Keeps the settings.

        Args:
          num_units: Size of c and of h.
          forget_bias: Added to the forget gate.
          input_size: Without effect.
          activation: The function of the new input and of c.
          layer_norm: Whether layers are normalized.
          norm_gain, norm_shift: Where gamma and beta start.
          dropout_keep_prob: A number or a tensor; the new input is dropped out if it is below 1.
          dropout_prob_seed: The dropout's seed.
          reuse: As for a layer.
        """
        super().__init__(_reuse=reuse)
        if input_size is not None:
            logger.warning("%s: The input_size parameter is deprecated.", self)
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed
        self._state_size, self._output_size = cells.lstm_sizes(num_units, None)

    def _norm(self, inputs: Any, scope: str) -> Any:
        return cells.layer_norm(inputs, self._norm_gain, self._norm_shift, scope,
                                inputs.dtype) if self._layer_norm else inputs

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns h, [batch, num_units], and the LSTMStateTuple."""
        c, h = state
        joined = tf.concat([inputs, h], 1)
        size = 4 * self._num_units
        kernel = V1.get_variable("kernel", [cells.size_of(joined, -1), size], dtype=joined.dtype)
        gates = tf.matmul(joined, kernel)
        if not self._layer_norm:
            # The scope's initializer, not zeros.
            gates = tf.nn.bias_add(gates, V1.get_variable("bias", [size], dtype=joined.dtype))
        i, j, f, o = (self._norm(gate, scope) for gate, scope in zip(
            tf.split(gates, 4, 1), ("input", "transform", "forget", "output")))
        new = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new = V1.nn.dropout(new, self._keep_prob, seed=self._seed)
        c = self._norm(c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * new, "state")
        h = self._activation(c) * tf.sigmoid(o)
        return h, LSTMStateTuple(c, h)


class LayerNormLSTMCell(cells.Plain, RNNCell):
    """An LSTM with peepholes, a projection and layer normalization, each if wanted."""

    def __init__(self, num_units: int, use_peepholes: bool = False,
                 cell_clip: Optional[float] = None, initializer: Any = None,
                 num_proj: Optional[int] = None, proj_clip: Optional[float] = None,
                 forget_bias: float = 1.0, activation: Any = None, layer_norm: bool = False,
                 norm_gain: float = 1.0, norm_shift: float = 0.0,
                 reuse: Optional[bool] = None) -> None:
        """Keeps the settings, which are those of `tf.nn.rnn_cell.LSTMCell`."""
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._num_proj, self._proj_clip = initializer, num_proj, proj_clip
        self._forget_bias, self._activation = forget_bias, activation or tf.tanh
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift
        self._state_size, self._output_size = cells.lstm_sizes(num_units, num_proj)

    def _norm(self, inputs: Any, scope: str) -> Any:
        return cells.layer_norm(inputs, self._norm_gain, self._norm_shift,
                                scope) if self._layer_norm else inputs

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns h and the LSTMStateTuple."""
        c, h = state
        cells.known_size(inputs)
        with V1.variable_scope(V1.get_variable_scope(), initializer=self._initializer):
            both = [inputs, h]
            if self._layer_norm:
                gates = cells.linear(both, 4 * self._num_units, False)
                # A variable that checkpoints have, though the normalization takes its place.
                V1.get_variable("bias", [4 * self._num_units], dtype=inputs.dtype,
                                initializer=V1.constant_initializer(0.0))
            else:
                gates = cells.linear(both, 4 * self._num_units, True)
            i, j, f, o = (self._norm(gate, scope) for gate, scope in zip(
                tf.split(gates, 4, 1), ("input", "transform", "forget", "output")))
            see_f, see_i, see_o = peepholes(
                ("w_f_diag", "w_i_diag", "w_o_diag"), self._use_peepholes, self._num_units,
                inputs.dtype)
            c = (tf.sigmoid(see_f(f + self._forget_bias, c)) * c
                 + tf.sigmoid(see_i(i, c)) * self._activation(j))
            c = cells.clip(self._norm(c, "state"), self._cell_clip)
            h = tf.sigmoid(see_o(o, c)) * self._activation(c)
            if self._num_proj is not None:
                with V1.variable_scope("projection"):
                    h = cells.linear(h, self._num_proj, False)
                h = cells.clip(h, self._proj_clip)
        return h, LSTMStateTuple(c, h)


def peepholes(names: Sequence[str], used: bool, num_units: int, dtype: Any) -> list[Any]:
    """Returns a function for each gate, which adds the peephole of c to the gate if wanted."""
    if not used:
        return [lambda gate, c: gate] * len(names)
    diagonals = [V1.get_variable(name, shape=[num_units], dtype=dtype) for name in names]
    return [lambda gate, c, diagonal=diagonal: gate + diagonal * c for diagonal in diagonals]


class CoupledInputForgetGateLSTMCell(cells.Plain, RNNCell):
    """An LSTM whose input gate is 1 - the forget gate. Variables: `W_0`, `B`, `W_[FO]_diag`."""

    def __init__(self, num_units: int, use_peepholes: bool = False, initializer: Any = None,
                 num_proj: Optional[int] = None, proj_clip: Optional[float] = None,
                 num_unit_shards: int = 1, num_proj_shards: int = 1, forget_bias: float = 1.0,
                 state_is_tuple: bool = True, activation: Any = tf.tanh,
                 reuse: Optional[bool] = None, layer_norm: bool = False, norm_gain: float = 1.0,
                 norm_shift: float = 0.0) -> None:
        """Keeps the settings.

        Args:
          num_units: Size of c.
          use_peepholes: Whether the gates see c.
          initializer: Without effect; the scope's initializer is taken.
          num_proj: Size of h, if it is projected.
          proj_clip: The projection is clipped to [-proj_clip, proj_clip].
          num_unit_shards, num_proj_shards: Number of variables that hold a matrix.
          forget_bias: Added to the forget gate.
          state_is_tuple: Whether the state is an LSTMStateTuple rather than one tensor.
          activation: The function of the new input and of c.
          reuse: As for a layer.
          layer_norm, norm_gain, norm_shift: Whether layers are normalized, and where gamma and
            beta start.
        """
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            logger.warning("%s: Using a concatenated state is slower and will soon be "
                           "deprecated.  Use state_is_tuple=True.", self)
        self._num_units, self._use_peepholes, self._num_proj = num_units, use_peepholes, num_proj
        self._proj_clip, self._num_unit_shards = proj_clip, num_unit_shards
        self._num_proj_shards, self._forget_bias = num_proj_shards, forget_bias
        self._state_is_tuple, self._activation = state_is_tuple, activation
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift
        sizes, self._output_size = cells.lstm_sizes(num_units, num_proj)
        self._state_size = sizes if state_is_tuple else sum(sizes)

    def _norm(self, inputs: Any, scope: str) -> Any:
        return cells.layer_norm(inputs, self._norm_gain, self._norm_shift,
                                scope) if self._layer_norm else inputs

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns h and the state."""
        output = self._num_units if self._num_proj is None else self._num_proj
        c, h = state if self._state_is_tuple else cells.parts(state, [self._num_units, output])
        width = 3 * self._num_units
        kernel = cells.sharded("W", [cells.known_size(inputs) + output, width], inputs.dtype,
                               self._num_unit_shards)
        bias = V1.get_variable("B", shape=[width], initializer=V1.zeros_initializer(),
                               dtype=inputs.dtype)
        gates = tf.matmul(tf.concat([inputs, h], 1), kernel)
        if not self._layer_norm:
            gates = tf.nn.bias_add(gates, bias)
        j, f, o = (self._norm(gate, scope) for gate, scope in zip(
            tf.split(gates, 3, 1), ("transform", "forget", "output")))
        see_f, see_o = peepholes(("W_F_diag", "W_O_diag"), self._use_peepholes, self._num_units,
                                 inputs.dtype)
        forget = tf.sigmoid(see_f(f + self._forget_bias, c))
        c = self._norm(forget * c + (1 - forget) * self._activation(j), "state")
        h = tf.sigmoid(see_o(o, c)) * self._activation(c)
        if self._num_proj is not None:
            h = cells.clip(tf.matmul(h, cells.sharded(
                "W_P", [self._num_units, self._num_proj], inputs.dtype,
                self._num_proj_shards)), self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else tf.concat([c, h], 1)


class WeightNormLSTMCell(cells.Plain, RNNCell):
    """An LSTM whose columns of weights have the lengths that a variable says."""

    def __init__(self, num_units: int, norm: bool = True, use_peepholes: bool = False,
                 cell_clip: Optional[float] = None, initializer: Any = None,
                 num_proj: Optional[int] = None, proj_clip: Optional[float] = None,
                 forget_bias: float = 1, activation: Any = None,
                 reuse: Optional[bool] = None) -> None:
        """Keeps the settings, which are those of `tf.nn.rnn_cell.LSTMCell`, and `norm`."""
        super().__init__(_reuse=reuse)
        self._scope = "wn_lstm_cell"  # Checkpoints have the name twice.
        self._num_units, self._is_normalized, self._use_peepholes = num_units, norm, use_peepholes
        self._cell_clip, self._initializer, self._num_proj = cell_clip, initializer, num_proj
        self._proj_clip, self._forget_bias = proj_clip, forget_bias
        self._activation = activation or tf.tanh
        self._state_size, self._output_size = cells.lstm_sizes(num_units, num_proj)

    def _product(self, args: Sequence[Any], size: int) -> Any:
        rows = [cells.known_size(each) for each in args]
        kernel = V1.get_variable("kernel", [sum(rows), size], dtype=args[0].dtype)
        if self._is_normalized:
            ends = list(itertools.accumulate(rows))
            with tf.control_dependencies(None):
                kernel = tf.concat([
                    self._normal(kernel[end - count:end, :], f"norm_{number}")
                    for number, (count, end) in enumerate(zip(rows, ends))], 0)
        return tf.matmul(args[0] if len(args) == 1 else tf.concat(args, 1), kernel)

    def _normal(self, part: Any, name: str) -> Any:
        length = V1.get_variable(name, [part.shape[1]], dtype=part.dtype)
        return tf.nn.l2_normalize(part, axis=0) * length

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns h and the LSTMStateTuple."""
        c, h = state
        with V1.variable_scope("wn_lstm_cell", initializer=self._initializer):
            gates = self._product([inputs, h], 4 * self._num_units)
            bias = V1.get_variable("bias", [4 * self._num_units], dtype=inputs.dtype,
                                   initializer=V1.constant_initializer(0.0))
            i, j, f, o = tf.split(tf.nn.bias_add(gates, bias), 4, 1)
            see_f, see_i, see_o = peepholes(
                ("w_f_diag", "w_i_diag", "w_o_diag"), self._use_peepholes, self._num_units,
                inputs.dtype)
            c = cells.clip(c * tf.sigmoid(see_f(f + self._forget_bias, c))
                           + tf.sigmoid(see_i(i, c)) * self._activation(j), self._cell_clip)
            h = tf.sigmoid(see_o(o, c)) * self._activation(c)
            if self._num_proj is not None:
                with V1.variable_scope("projection"):
                    h = cells.clip(self._product([h], self._num_proj), self._proj_clip)
        return h, LSTMStateTuple(c, h)
