"""Cells with a recurrent cell along each of several dimensions.

Follows the API of `tensorflow/contrib/grid_rnn/python/ops/grid_rnn_cell.py` of TensorFlow 1.15, and
Kalchbrenner, Danihelka and Graves, 2015, "Grid long short-term memory".
"""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

_V1: Any = tf.compat.v1
_CELLS: Any = _V1.nn.rnn_cell


class GridRNNCell(_CELLS.RNNCell):
    """A cell with a state for each dimension; the outputs of the others are the input of each."""

    def __init__(self, num_units: int, num_dims: int = 1, input_dims: Any = None,
                 output_dims: Any = None, priority_dims: Any = None,
                 non_recurrent_dims: Any = None, tied: bool = False, cell_fn: Any = None,
                 non_recurrent_fn: Any = None, state_is_tuple: bool = True,
                 output_is_tuple: bool = True) -> None:
        """Takes which dimensions do what: a number, or a list of them.

        Args:
          num_units: The size of a cell of each dimension.
          num_dims: How many dimensions there are.
          input_dims: Those that the input replaces the state of.
          output_dims: Those whose output is the cell's.
          priority_dims: Those that see the new outputs of the others.
          non_recurrent_dims: Those with a plain layer, and without a state.
          tied: Whether all dimensions share their weights.
          cell_fn: A function of `num_units` that returns a cell; an LSTMCell by default.
          non_recurrent_fn: The activation of a plain layer, relu by default.
          state_is_tuple: Whether states are a tuple, else columns of one tensor.
          output_is_tuple: Whether outputs are a tuple, else columns of one tensor.

        Raises:
          ValueError: There is no such dimension.
          TypeError: `cell_fn` returns no cell.
        """
        super().__init__()
        if num_dims < 1:
            raise ValueError(f"dims must be >= 1: {num_dims}")
        self._num_units, self._num_dims, self._tied = num_units, num_dims, tied
        self._inputs, self._outputs, self._priority, plain = (
            _dimensions(each, num_dims)
            for each in (input_dims, output_dims, priority_dims, non_recurrent_dims))
        self._recurrent = [each for each in range(num_dims) if each not in plain]
        self._activation = non_recurrent_fn or tf.nn.relu
        self._state_is_tuple, self._output_is_tuple = state_is_tuple, output_is_tuple
        make = cell_fn or (lambda size: _CELLS.LSTMCell(size, state_is_tuple=state_is_tuple))
        cells = [make(num_units) for _ in range(1 if tied else num_dims)]
        if not isinstance(cells[0], _CELLS.RNNCell):
            raise TypeError(f"cell_fn must return an RNNCell instance, saw: {type(cells[0])}")
        self._cells = cells * num_dims if tied else cells

    @property
    def output_size(self) -> Any:
        """The size of the output, or a tuple of them."""
        size = self._cells[0].output_size
        return ((size,) * len(self._outputs) if self._output_is_tuple
                else size * len(self._outputs))

    @property
    def state_size(self) -> Any:
        """The size of the state, or a tuple of them."""
        if self._state_is_tuple:
            return (self._cells[0].state_size,) * len(self._recurrent)
        return self._columns() * len(self._recurrent)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Returns the output and the state after a step of [batch, depth] inputs."""
        memories, hidden = self._split(state)
        outputs: list[Any] = [None] * self._num_dims
        states: list[Any] = [None] * self._num_dims
        with _V1.variable_scope(scope or type(self).__name__):
            self._project(inputs, memories, hidden)
            first = [each for each in range(self._num_dims) if each not in self._priority]
            for number, group in enumerate((first, self._priority)):
                if group:
                    self._step(group, not number, memories, hidden, outputs, states)
            output = [outputs[each] for each in self._outputs]
            new = [states[each] for each in self._recurrent]
            return (
                tuple(output) if self._output_is_tuple else _joined(output, inputs.dtype),
                tuple(new) if self._state_is_tuple
                else _joined([part for each in new for part in each], inputs.dtype))

    def _columns(self) -> Any:
        size = self._cells[0].state_size
        return sum(size) if isinstance(size, tuple) else size

    def _split(self, state: Any) -> tuple[list[Any], list[Any]]:
        """Returns the memory of each dimension, where cells have one, and the last output."""
        memories: list[Any] = [None] * self._num_dims
        hidden: list[Any] = [None] * self._num_dims
        columns = self._columns()
        has_memory = columns > self._num_units
        if self._state_is_tuple and len(state) != len(self._recurrent):
            raise ValueError(f"Expected state as a tuple of {len(self._recurrent)} element")
        for number, dimension in enumerate(self._recurrent):
            part = (state[number] if self._state_is_tuple
                    else state[:, number * columns:(number + 1) * columns])
            if has_memory and not self._state_is_tuple:
                part = part[:, :self._num_units], part[:, self._num_units:]
            memories[dimension], hidden[dimension] = part if has_memory else (None, part)
        return memories, hidden

    def _project(self, inputs: Any, memories: list[Any], hidden: list[Any]) -> None:
        """Puts what variables make of the input in the place of states."""
        if inputs is None or not self._inputs or not tf.compat.dimension_value(
                inputs.shape.with_rank(2)[1]):
            return
        parts = inputs if isinstance(inputs, tuple) else tf.split(inputs, len(self._inputs), 1)
        if len(parts) != len(self._inputs):
            raise ValueError(f"Expect inputs as a tuple of {len(self._inputs)} tensors")
        shape = [tf.compat.dimension_value(parts[0].shape[1]), self._num_units]
        kinds = [("m", hidden)] + [("c", memories)] * (self._columns() > self._num_units)
        for part, dimension in zip(parts, self._inputs):
            for kind, values in kinds:
                weights = _V1.get_variable(f"project_{kind}_{dimension}", shape, inputs.dtype)
                values[dimension] = tf.matmul(part, weights)

    def _step(self, group: list[int], is_first: bool, memories: list[Any], hidden: list[Any],
              outputs: list[Any], states: list[Any]) -> None:
        """Makes the outputs and states of dimensions that do not see each other's."""
        latest = [old if new is None else new for old, new in zip(hidden, outputs)]
        if self._num_dims > 1:
            inputs = tf.concat(latest[:-1], 1)
        else:
            inputs = tf.zeros([hidden[0].shape.as_list()[0], 0], hidden[0].dtype)
        for dimension in group:
            is_recurrent = dimension in self._recurrent
            scope = "recurrent" if is_recurrent else "non_recurrent"
            with _V1.variable_scope(scope if self._tied else f"{scope}/cell_{dimension}"):
                if self._tied and not (is_first and dimension == group[0]):
                    _V1.get_variable_scope().reuse_variables()
                if is_recurrent:
                    memory = memories[dimension]
                    state = latest[-1] if memory is None else (memory, latest[-1])
                    outputs[dimension], states[dimension] = self._cells[dimension](inputs, state)
                else:
                    outputs[dimension] = self._plain(inputs, latest[-1])

    def _plain(self, inputs: Any, last: Any) -> Any:
        from estimator_trainer.compat.tensorflow1 import homes
        values = tf.concat([inputs, last], 1) if self._num_dims > 1 else last
        scope = _V1.get_variable_scope()
        return homes.resolve("tf_slim.fully_connected")(
            values, self._num_units, activation_fn=self._activation,
            weights_initializer=scope.initializer or _V1.glorot_uniform_initializer(),
            weights_regularizer=scope.regularizer)


def _dimensions(passed: Any, number: int) -> list[int]:
    found = sorted(set(passed if isinstance(passed, (list, tuple)) else
                       [] if passed is None else [passed]))
    if any(not 0 <= each < number for each in found):
        raise ValueError(f"Invalid dims: {found}. Must be in [0, {number})")
    return found


def _joined(tensors: list[Any], dtype: Any) -> Any:
    return tf.concat(tensors, 1) if tensors else tf.zeros([0, 0], dtype)


class _OneInput(GridRNNCell):
    """A cell whose first dimension has the input, the output and the priority."""

    def __init__(self, num_units: int, num_dims: int, cell_fn: Any, tied: bool = False,
                 non_recurrent_fn: Optional[Any] = None, state_is_tuple: bool = True,
                 output_is_tuple: bool = True) -> None:
        super().__init__(
            num_units, num_dims, input_dims=0, output_dims=0, priority_dims=0,
            non_recurrent_dims=None if non_recurrent_fn is None else 0, tied=tied,
            cell_fn=cell_fn, non_recurrent_fn=non_recurrent_fn, state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple)


class Grid1BasicRNNCell(_OneInput):
    """BasicRNNCell in one dimension."""

    def __init__(self, num_units: int, state_is_tuple: bool = True,
                 output_is_tuple: bool = True) -> None:
        super().__init__(num_units, 1, _CELLS.BasicRNNCell, False, None, state_is_tuple,
                         output_is_tuple)


class Grid2BasicRNNCell(_OneInput):
    """BasicRNNCell in two dimensions."""

    def __init__(self, num_units: int, tied: bool = False, non_recurrent_fn: Any = None,
                 state_is_tuple: bool = True, output_is_tuple: bool = True) -> None:
        super().__init__(num_units, 2, _CELLS.BasicRNNCell, tied, non_recurrent_fn,
                         state_is_tuple, output_is_tuple)


class Grid1BasicLSTMCell(_OneInput):
    """BasicLSTMCell in one dimension."""

    def __init__(self, num_units: int, forget_bias: float = 1, state_is_tuple: bool = True,
                 output_is_tuple: bool = True) -> None:
        super().__init__(num_units, 1, lambda size: _CELLS.BasicLSTMCell(size, forget_bias),
                         False, None, state_is_tuple, output_is_tuple)


class Grid2BasicLSTMCell(_OneInput):
    """BasicLSTMCell in two dimensions."""

    def __init__(self, num_units: int, tied: bool = False, non_recurrent_fn: Any = None,
                 forget_bias: float = 1, state_is_tuple: bool = True,
                 output_is_tuple: bool = True) -> None:
        super().__init__(num_units, 2, lambda size: _CELLS.BasicLSTMCell(size, forget_bias),
                         tied, non_recurrent_fn, state_is_tuple, output_is_tuple)


def _lstm(use_peepholes: bool, forget_bias: float) -> Any:
    return lambda size: _CELLS.LSTMCell(size, forget_bias=forget_bias,
                                        use_peepholes=use_peepholes)


class Grid1LSTMCell(_OneInput):
    """LSTMCell in one dimension."""

    def __init__(self, num_units: int, use_peepholes: bool = False, forget_bias: float = 1.,
                 state_is_tuple: bool = True, output_is_tuple: bool = True) -> None:
        super().__init__(num_units, 1, _lstm(use_peepholes, forget_bias), False, None,
                         state_is_tuple, output_is_tuple)


class Grid2LSTMCell(_OneInput):
    """LSTMCell in two dimensions."""

    def __init__(self, num_units: int, tied: bool = False, non_recurrent_fn: Any = None,
                 use_peepholes: bool = False, forget_bias: float = 1.,
                 state_is_tuple: bool = True, output_is_tuple: bool = True) -> None:
        super().__init__(num_units, 2, _lstm(use_peepholes, forget_bias), tied,
                         non_recurrent_fn, state_is_tuple, output_is_tuple)


class Grid3LSTMCell(_OneInput):
    """LSTMCell in three dimensions."""

    def __init__(self, num_units: int, tied: bool = False, non_recurrent_fn: Any = None,
                 use_peepholes: bool = False, forget_bias: float = 1.,
                 state_is_tuple: bool = True, output_is_tuple: bool = True) -> None:
        super().__init__(num_units, 3, _lstm(use_peepholes, forget_bias), tied,
                         non_recurrent_fn, state_is_tuple, output_is_tuple)


class Grid2GRUCell(_OneInput):
    """GRUCell in two dimensions."""

    def __init__(self, num_units: int, tied: bool = False, non_recurrent_fn: Any = None,
                 state_is_tuple: bool = True, output_is_tuple: bool = True) -> None:
        super().__init__(num_units, 2, _CELLS.GRUCell, tied, non_recurrent_fn, state_is_tuple,
                         output_is_tuple)
