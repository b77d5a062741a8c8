"""Cells of `tf.contrib.rnn` that add something to another cell.

Srivastava et al., "Highway Networks", 2015; Bahdanau et al., "Neural Machine Translation by Jointly
Learning to Align and Translate", 2014; tensorflow/contrib/rnn of TensorFlow 1.15.
"""

from __future__ import annotations

import logging
import math
from typing import Any, Optional

import tensorflow as tf

from estimator_trainer.compat.contrib.rnn import cells
from estimator_trainer.compat.contrib.rnn.cells import Linear, RNNCell, V1

logger = logging.getLogger(__name__)


class _Wrapper(RNNCell):
    """Has the sizes and the zero state of its cell."""

    _cell: Any

    @property
    def state_size(self) -> Any:
        """Sizes of the cell's state."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """Size of the output."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the cell's state of zeros."""
        with tf.name_scope(f"{type(self).__name__}ZeroState"):
            return self._cell.zero_state(batch_size, dtype)


class EmbeddingWrapper(_Wrapper):
    """Gives a cell the rows of the variable `embedding` whose numbers are its inputs."""

    def __init__(self, cell: Any, embedding_classes: int, embedding_size: int,
                 initializer: Any = None, reuse: Optional[bool] = None) -> None:
        """Keeps the settings.

        Args:
          cell: The cell, which takes [batch, embedding_size].
          embedding_classes: Number of symbols; inputs are [batch, 1] or [batch] integers.
          embedding_size: Size of a row.
          initializer: The scope's by default, or uniform of variance 1.
          reuse: As for a layer.

        Raises:
          TypeError: `cell` is no cell.
          ValueError: A number is not positive.
        """
        super().__init__(_reuse=reuse)
        cells.check_cell(cell)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError("Both embedding_classes and embedding_size must be > 0: "
                             f"{embedding_classes}, {embedding_size}.")
        self._cell, self._initializer = cell, initializer
        self._shape = [embedding_classes, embedding_size]

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns what the cell returns."""
        with tf.device("/cpu:0"):
            initializer = self._initializer or V1.get_variable_scope().initializer or (
                V1.random_uniform_initializer(-math.sqrt(3), math.sqrt(3)))
            dtype = (state[0] if isinstance(state, tuple) else state).dtype
            embedding = V1.get_variable("embedding", self._shape, initializer=initializer,
                                        dtype=dtype)
            embedded = V1.nn.embedding_lookup(embedding, tf.reshape(inputs, [-1]))
            return self._cell(embedded, state)


class InputProjectionWrapper(_Wrapper):
    """Gives a cell the product of the inputs and a matrix."""

    def __init__(self, cell: Any, num_proj: int, activation: Any = None, input_size: Any = None,
                 reuse: Optional[bool] = None) -> None:
        """Keeps the settings.

        Args:
          cell: The cell, which takes [batch, num_proj].
          num_proj: Size of the product.
          activation: A function of the product.
          input_size: Without effect.
          reuse: As for a layer.
        """
        super().__init__(_reuse=reuse)
        if input_size is not None:
            logger.warning("%s: The input_size parameter is deprecated.", self)
        cells.check_cell(cell)
        self._cell, self._num_proj, self._activation = cell, num_proj, activation
        self._linear: Any = None

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns what the cell returns."""
        self._linear = self._linear or Linear(inputs, self._num_proj, True)
        projected = self._linear(inputs)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(_Wrapper):
    """Returns the product of a cell's output and a matrix."""

    def __init__(self, cell: Any, output_size: int, activation: Any = None,
                 reuse: Optional[bool] = None) -> None:
        """Keeps the settings; ValueError if `output_size` is not positive."""
        super().__init__(_reuse=reuse)
        cells.check_cell(cell)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._cell, self._output_size, self._activation = cell, output_size, activation
        self._linear: Any = None

    @property
    def output_size(self) -> int:
        """Size of the product."""
        return self._output_size

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the projected output and the cell's state."""
        output, state = self._cell(inputs, state)
        self._linear = self._linear or Linear(output, self._output_size, True)
        projected = self._linear(output)
        return (self._activation(projected) if self._activation else projected), state


class HighwayWrapper(_Wrapper):
    """Mixes a cell's output with its input: x * carry + output * transform."""

    def __init__(self, cell: Any, couple_carry_transform_gates: bool = True,
                 carry_bias_init: float = 1.0) -> None:
        """Keeps the settings.

        Args:
          cell: A cell whose outputs have its inputs' shape.
          couple_carry_transform_gates: Whether transform is 1 - carry.
          carry_bias_init: Where the carry's bias starts; the transform's starts at its negative.
        """
        self._cell, self._coupled = cell, couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Returns the mixture and the cell's state; ValueError or TypeError if shapes differ."""
        outputs, state = self._cell(inputs, state, scope=scope)
        tf.nest.assert_same_structure(inputs, outputs)
        for source, found in zip(tf.nest.flatten(inputs), tf.nest.flatten(outputs)):
            source.shape.assert_is_compatible_with(found.shape)
        return tf.nest.map_structure(self._mix, inputs, outputs), state

    def _mix(self, source: Any, found: Any) -> Any:
        carry = self._gate("carry", source, self._carry_bias_init)
        transform = (1 - carry if self._coupled
                     else self._gate("transform", source, -self._carry_bias_init))
        return source * carry + found * transform

    @staticmethod
    def _gate(name: str, inputs: Any, bias: float) -> Any:
        size = cells.size_of(inputs.shape.with_rank(2), 1)
        weight = V1.get_variable(f"{name}_w", [size, size])
        start = V1.get_variable(f"{name}_b", [size], initializer=V1.constant_initializer(bias))
        return tf.sigmoid(V1.nn.xw_plus_b(inputs, weight, start))


class CompiledWrapper(_Wrapper):
    """Marks a cell's operations for XLA."""

    def __init__(self, cell: Any, compile_stateful: bool = False) -> None:
        """Marks the operations of `cell`, those with a state only if `compile_stateful`."""
        self._cell, self._compile_stateful = cell, compile_stateful

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Returns what the cell returns."""
        which = True if self._compile_stateful else _is_stateless
        with tf.xla.experimental.jit_scope(compile_ops=which):
            return self._cell(inputs, state, scope=scope)


def _is_stateless(node: Any) -> bool:
    definition = V1.get_default_graph().op_def_for_type(node.op)
    return not definition.is_stateful


class AttentionCellWrapper(RNNCell):
    """Lets a cell attend to its own last outputs."""

    def __init__(self, cell: Any, attn_length: int, attn_size: Optional[int] = None,
                 attn_vec_size: Optional[int] = None, input_size: Optional[int] = None,
                 state_is_tuple: bool = True, reuse: Optional[bool] = None) -> None:
        """Keeps the settings.

        Args:
          cell: The cell.
          attn_length: Number of outputs to which it attends.
          attn_size: Size of the outputs; the cell's by default.
          attn_vec_size: Size of the attention's hidden layer; `attn_size` by default.
          input_size: Size of the inputs of the cell; that of `inputs` by default.
          state_is_tuple: Whether the state is a tuple rather than one tensor.
          reuse: As for a layer.

        Raises:
          TypeError: `cell` is no cell.
          ValueError: Its state is a tuple and `state_is_tuple` is False, or a number is not
            positive.
        """
        super().__init__(_reuse=reuse)
        cells.check_cell(cell)
        if tf.nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError("Cell returns tuple of states, but the flag state_is_tuple is not "
                             f"set. State size is: {cell.state_size}")
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        if not state_is_tuple:
            logger.warning("%s: Using a concatenated state is slower and will soon be "
                           "deprecated.  Use state_is_tuple=True.", self)
        self._cell, self._state_is_tuple, self._input_size = cell, state_is_tuple, input_size
        self._attn_size = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size = self._attn_size if attn_vec_size is None else attn_vec_size
        self._attn_length = attn_length
        self._joined: Any = None
        self._projection: Any = None
        self._query: Any = None

    @property
    def state_size(self) -> Any:
        """Sizes of the cell's state, of the last attention, and of the last outputs."""
        sizes = (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """Size of the output."""
        return self._attn_size

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the output, [batch, attn_size], and the state."""
        length, size = self._attn_length, self._attn_size
        if not self._state_is_tuple:
            state = cells.parts(state, [self._cell.state_size, size, size * length])
        state, attention, window = state
        window = tf.reshape(window, [-1, length, size])
        both = [inputs, attention]
        self._joined = self._joined or Linear(
            both, self._input_size or cells.known_size(inputs), True)
        found, state = self._cell(self._joined(both), state)
        query = tf.concat(tf.nest.flatten(state), 1) if self._state_is_tuple else state
        attention = self._attend(query, window)
        kept = tf.slice(window, [0, 1, 0], [-1, -1, -1])
        with V1.variable_scope("attn_output_projection"):
            both = [found, attention]
            self._projection = self._projection or Linear(both, size, True)
            output = self._projection(both)
        window = tf.reshape(tf.concat([kept, tf.expand_dims(output, 1)], 1), [-1, length * size])
        state = (state, attention, window)
        return output, state if self._state_is_tuple else tf.concat(state, 1)

    def _attend(self, query: Any, window: Any) -> Any:
        with V1.variable_scope("attention"):
            weight = V1.get_variable("attn_w", [1, 1, self._attn_size, self._attn_vec_size])
            vector = V1.get_variable("attn_v", [self._attn_vec_size])
            hidden = tf.reshape(window, [-1, self._attn_length, 1, self._attn_size])
            features = tf.nn.conv2d(hidden, weight, [1, 1, 1, 1], "SAME")
            self._query = self._query or Linear(query, self._attn_vec_size, True)
            projected = tf.reshape(self._query(query), [-1, 1, 1, self._attn_vec_size])
            shares = tf.nn.softmax(tf.reduce_sum(vector * tf.tanh(features + projected), [2, 3]))
            read = tf.reduce_sum(tf.reshape(shares, [-1, self._attn_length, 1, 1]) * hidden, [1, 2])
            return tf.reshape(read, [-1, self._attn_size])
