"""The base classes of cells, and the weights that the cells of `tf.contrib.rnn` make alike.

Names, shapes and order of variables: tensorflow/contrib/rnn of TensorFlow 1.15.
"""

from __future__ import annotations

import sys
from typing import Any, Optional, Sequence

import tensorflow as tf

V1: Any = tf.compat.v1
RNNCell: Any = V1.nn.rnn_cell.RNNCell
# A cell that makes its variables in `build`; `tf.nn.rnn_cell` does not list it.
LayerRNNCell: Any = sys.modules[RNNCell.__module__].LayerRNNCell
LSTMStateTuple: Any = V1.nn.rnn_cell.LSTMStateTuple
FLAT = V1.layers.InputSpec(ndim=2)


class Plain:
    """The common part of this package's cells that run no other cell.

    The sizes are `_state_size` and `_output_size`.
    """

    _state_size: Any
    _output_size: Any

    @property
    def state_size(self) -> Any:
        """Size of the state: a number, a shape, or a tuple of them."""
        return self._state_size

    @property
    def output_size(self) -> Any:
        """Size of the output: a number or a shape."""
        return self._output_size


class Linear:
    """A matrix product of the inputs, joined, with variables that are made at once.

    The variables are `kernel`, [sum of the inputs' sizes, output_size], and `bias`.
    """

    def __init__(self, args: Any, output_size: int, build_bias: bool, bias_initializer: Any = None,
                 kernel_initializer: Any = None) -> None:
        """Makes the variables in the current variable scope.

        Args:
          args: A [batch, size] tensor or a list of them, like those of the calls.
          output_size: Size of the result.
          build_bias: Whether there is a bias.
          bias_initializer: Zeros by default.
          kernel_initializer: The scope's by default.

        Raises:
          ValueError: There are no tensors, or the size of one is unknown.
        """
        self._is_sequence = tf.nest.is_nested(args)
        tensors = _tensors(args)
        self._kernel = _kernel(tensors, output_size, kernel_initializer)
        self._bias = (_bias(tensors[0].dtype, output_size, bias_initializer) if build_bias
                      else None)

    def __call__(self, args: Any) -> Any:
        """Returns [batch, output_size]."""
        product = _product(args if self._is_sequence else [args], self._kernel)
        return product if self._bias is None else tf.nn.bias_add(product, self._bias)


def linear(args: Any, output_size: int, bias: bool, bias_initializer: Any = None,
           kernel_initializer: Any = None) -> Any:
    """Returns the matrix product of the inputs, joined, and of a variable; see `Linear`."""
    tensors = _tensors(args)
    product = _product(tensors, _kernel(tensors, output_size, kernel_initializer))
    if not bias:
        return product
    return tf.nn.bias_add(product, _bias(tensors[0].dtype, output_size, bias_initializer))


def _tensors(args: Any) -> Sequence[Any]:
    if args is None or tf.nest.is_nested(args) and not args:
        raise ValueError("`args` must be specified")
    tensors: Sequence[Any] = args if tf.nest.is_nested(args) else [args]
    for tensor in tensors:
        if tensor.shape.ndims != 2 or size_of(tensor, 1) is None:
            raise ValueError("linear expects tensors of two dimensions, the second known; "
                             f"got {[each.shape for each in tensors]}")
    return tensors


def _kernel(tensors: Sequence[Any], output_size: int, initializer: Any) -> Any:
    return V1.get_variable("kernel", [sum(known_size(each) for each in tensors), output_size],
                           dtype=tensors[0].dtype, initializer=initializer)


def _bias(dtype: Any, size: int, initializer: Any) -> Any:
    with V1.variable_scope(V1.get_variable_scope()) as scope:
        scope.set_partitioner(None)
        if initializer is None:
            initializer = V1.constant_initializer(0.0, dtype=dtype)
        return V1.get_variable("bias", [size], dtype=dtype, initializer=initializer)


def _product(tensors: Sequence[Any], kernel: Any) -> Any:
    return tf.matmul(tensors[0] if len(tensors) == 1 else tf.concat(tensors, 1), kernel)


def sharded(name: str, shape: Sequence[int], dtype: Any, shards: int) -> Any:
    """Returns a variable that is made of `shards` variables by rows: `NAME_0`, `NAME_1`, ...

    Raises:
      ValueError: There are more shards than rows.
    """
    if shards > shape[0]:
        raise ValueError(f"Too many shards: shape={list(shape)}, num_shards={shards}")
    rows, more = divmod(shape[0], shards)
    parts = [V1.get_variable(f"{name}_{number}", [rows + (number < more), *shape[1:]], dtype=dtype)
             for number in range(shards)]
    if shards == 1:
        return parts[0]
    joined = f"{V1.get_variable_scope().name}/{name}/concat:0"
    for known in V1.get_collection("concatenated_variables"):
        if known.name == joined:
            return known
    whole = tf.concat(parts, 0, name=f"{name}/concat")
    V1.add_to_collection("concatenated_variables", whole)
    return whole


def layer_norm(inputs: Any, gain: float, shift: float, scope: str, dtype: Any = None) -> Any:
    """Normalizes each row of [batch, size], with variables `SCOPE/gamma` and `SCOPE/beta`.

    Ba et al., "Layer Normalization", 2016; the epsilon is that of `tf.contrib.layers.layer_norm`.
    """
    shape = inputs.shape[-1:]
    with V1.variable_scope(scope):
        gamma = V1.get_variable("gamma", shape=shape, dtype=dtype,
                                initializer=V1.constant_initializer(gain))
        beta = V1.get_variable("beta", shape=shape, dtype=dtype,
                               initializer=V1.constant_initializer(shift))
    mean, variance = V1.nn.moments(inputs, [1], keep_dims=True)
    epsilon = 1e-3 if inputs.dtype == tf.float16 else 1e-12
    return tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)


def check_cell(cell: Any, argument: str = "cell") -> None:
    """Raises TypeError unless an argument is a cell."""
    missing = [name for name in ("output_size", "state_size") if not hasattr(cell, name)]
    if not (hasattr(cell, "zero_state") or hasattr(cell, "get_initial_state")):
        missing.append("zero_state")
    if missing or not callable(cell):
        raise TypeError(f"The argument {argument!r} ({cell}) is not an RNNCell: it lacks "
                        f"{missing or 'a call'}.")


def size_of(value: Any, axis: int) -> Optional[int]:
    """Returns a size of a tensor, or of its shape; None if it is unknown."""
    shape = value.shape if tf.is_tensor(value) else value
    size: Optional[int] = tf.compat.dimension_value(shape[axis])
    return size


def actual_size(tensor: Any, axis: int) -> Any:
    """Returns a size of a tensor: a number if it is known, else a tensor."""
    size = size_of(tensor, axis)
    return tf.shape(tensor)[axis] if size is None else size


def known_size(inputs: Any) -> int:
    """Returns the size of [batch, size] inputs.

    Raises:
      ValueError: The size is unknown, or there are not two dimensions.
    """
    size = size_of(inputs.shape.with_rank(2), 1)
    if size is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return size


def lstm_sizes(num_units: int, num_proj: Optional[int]) -> tuple[Any, int]:
    """Returns the state's sizes and the output's size of an LSTM, projected or not."""
    output = num_proj or num_units
    return LSTMStateTuple(num_units, output), output


def clip(value: Any, limit: Optional[float]) -> Any:
    """Clips to [-limit, limit], if there is a limit."""
    return value if limit is None else tf.clip_by_value(value, -limit, limit)


def parts(state: Any, sizes: Sequence[int]) -> list[Any]:
    """Returns the columns of a [batch, sum of sizes] state by sizes."""
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    return [tf.slice(state, [0, start], [-1, size]) for start, size in zip(starts, sizes)]
