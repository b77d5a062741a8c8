"""The two forms of an RNN's weights: cuDNN's buffer, and the variables of cells.

cuDNN's buffer, "opaque", is a vector: the matrices of each layer and direction, in the order of
cuDNN's Developer Guide (cudnnGetRNNWeightParams), those of the inputs and then those of the state;
after all matrices, their biases in the same order. Matrices are [units, inputs]. A cell's kernel,
"canonical", is the transposed matrix of inputs and state, and its bias the sum of two.
"""

from __future__ import annotations

import itertools
from typing import Any, Optional, Sequence

import tensorflow as tf

UNIDIRECTION, BIDIRECTION = "unidirectional", "bidirectional"
LINEAR_INPUT = "linear_input"


class Layout:
    """The shapes in cuDNN's buffer."""

    def __init__(self, gates: int, num_layers: int, num_units: int, input_size: int,
                 direction: str = UNIDIRECTION, num_proj: Optional[int] = None) -> None:
        """Keeps the sizes; `gates` is the number of matrices of a layer's inputs."""
        self.gates, self.num_layers, self.num_units = gates, num_layers, num_units
        self.input_size, self.num_proj = input_size, num_proj
        self.directions = 2 if direction == BIDIRECTION else 1

    def width(self, layer: int) -> int:
        """Returns the size of a layer's inputs."""
        return (self.num_proj or self.num_units) * self.directions if layer else self.input_size

    @property
    def weight_shapes(self) -> list[list[int]]:
        """Shapes of all matrices."""
        hidden = self.num_proj or self.num_units
        shapes = []
        for layer in range(self.num_layers):
            one = [[self.num_units, self.width(layer)]] * self.gates
            one = one + [[self.num_units, hidden]] * self.gates
            if self.num_proj:
                one = one + [[self.num_proj, self.num_units]]
            shapes.extend(one * self.directions)
        return shapes

    @property
    def bias_shapes(self) -> list[list[int]]:
        """Shapes of all biases."""
        return [[self.num_units]] * (2 * self.gates * self.num_layers * self.directions)

    @property
    def size(self) -> int:
        """Length of the buffer."""
        return (sum(rows * columns for rows, columns in self.weight_shapes)
                + sum(size for (size,) in self.bias_shapes))

    def joined(self, weights: Sequence[Any], biases: Sequence[Any]) -> Any:
        """Returns the buffer."""
        return tf.concat([tf.reshape(each, [-1]) for each in (*weights, *biases)], 0)

    def parted(self, buffer: Any) -> tuple[list[Any], list[Any]]:
        """Returns matrices and biases by layer and direction."""
        shapes = self.weight_shapes + self.bias_shapes
        sizes = [rows[0] * (rows[1] if len(rows) == 2 else 1) for rows in shapes]
        parts = [tf.reshape(part, shape) for part, shape in zip(
            tf.split(tf.reshape(buffer, [self.size]), sizes), shapes)]
        count = len(self.weight_shapes)
        return self._by_layer(parts[:count]), self._by_layer(parts[count:])

    def _by_layer(self, parts: Sequence[Any]) -> list[Any]:
        count = len(parts) // (self.num_layers * self.directions)
        return [parts[start:start + count] for start in range(0, len(parts), count)]


class CudnnParamsFormatConverter:
    """Turns one form into the other."""

    # Gates in a cell's order, by their place in cuDNN's.
    _ORDER: tuple[int, ...]
    # Kernels of a cell.
    _KERNELS = 1

    def __init__(self, num_layers: int, num_units: int, input_size: int,
                 num_proj: Optional[int] = None, input_mode: str = LINEAR_INPUT,
                 direction: str = UNIDIRECTION) -> None:
        """Keeps the sizes.

        Args:
          num_layers: Number of layers.
          num_units: Size of the state.
          input_size: Size of the first layer's inputs.
          num_proj: Size to which an LSTM's output is projected.
          input_mode: "linear_input".
          direction: "unidirectional" or "bidirectional".
        """
        self._layout = Layout(len(self._ORDER), num_layers, num_units, input_size, direction,
                              num_proj)

    def tf_canonical_to_opaque(self, tf_canonicals: Sequence[Any],
                               weights_proj: Optional[Sequence[Any]] = None) -> Any:
        """Returns cuDNN's buffer, a vector.

        Args:
          tf_canonicals: Kernels of all layers and directions, and after them the biases.
          weights_proj: Projections of all layers and directions.
        """
        half = len(tf_canonicals) // 2
        weights: list[Any] = []
        biases: list[Any] = []
        for number in range(half // self._KERNELS):
            mine = slice(number * self._KERNELS, (number + 1) * self._KERNELS)
            width = self._layout.width(number // self._layout.directions)
            weights.extend(self._to_matrices(tf_canonicals[:half][mine], width))
            if weights_proj is not None:
                weights.append(tf.transpose(weights_proj[number]))
            biases.extend(self._to_vectors(tf_canonicals[half:][mine]))
        return self._layout.joined(weights, biases)

    def opaque_to_tf_canonical(self, opaque_param: Any) -> Any:
        """Returns the lists of kernels, of biases, and with a projection that of projections."""
        weights, biases = self._layout.parted(opaque_param)
        count = 2 * self._layout.gates
        kernels = list(itertools.chain(*(self._to_kernels(each[:count]) for each in weights)))
        sums = list(itertools.chain(*(self._to_biases(each) for each in biases)))
        if not self._layout.num_proj:
            return kernels, sums
        return kernels, sums, [tf.transpose(each[count]) for each in weights]

    def _to_kernels(self, weights: Sequence[Any]) -> list[Any]:
        gates = self._layout.gates
        return [tf.transpose(tf.concat([
            tf.concat([weights[gate], weights[gates + gate]], 1) for gate in self._ORDER], 0))]

    def _to_matrices(self, kernels: Sequence[Any], width: int) -> list[Any]:
        found = self._by_gate(tf.transpose(kernels[0]))
        return [each[:, :width] for each in found] + [each[:, width:] for each in found]

    def _to_biases(self, biases: Sequence[Any]) -> list[Any]:
        gates = self._layout.gates
        return [tf.concat([biases[gate] + biases[gates + gate] for gate in self._ORDER], 0)]

    def _to_vectors(self, biases: Sequence[Any]) -> list[Any]:
        return self._by_gate(biases[0] * 0.5) * 2

    def _by_gate(self, rows: Any) -> list[Any]:
        """Returns the rows of each gate in cuDNN's order."""
        parts = tf.split(rows, len(self._ORDER), 0)
        return [parts[self._ORDER.index(gate)] for gate in range(len(self._ORDER))]


class CudnnParamsFormatConverterLSTM(CudnnParamsFormatConverter):
    """The format of an LSTM: cuDNN has the forget gate before the new input."""

    _ORDER = (0, 2, 1, 3)


class CudnnParamsFormatConverterTanh(CudnnParamsFormatConverter):
    """The format of an RNN with tanh."""

    _ORDER = (0,)


class CudnnParamsFormatConverterRelu(CudnnParamsFormatConverterTanh):
    """The format of an RNN with relu."""


class CudnnParamsFormatConverterGRU(CudnnParamsFormatConverter):
    """The format of a GRU: a cell has kernels of both gates, of the inputs and of the state."""

    _ORDER = (0, 1, 2)
    _KERNELS = 3

    def _to_kernels(self, weights: Sequence[Any]) -> list[Any]:
        gates = [tf.concat([weights[gate], weights[3 + gate]], 1) for gate in (0, 1)]
        return [tf.transpose(each) for each in (tf.concat(gates, 0), weights[2], weights[5])]

    def _to_matrices(self, kernels: Sequence[Any], width: int) -> list[Any]:
        gates, of_inputs, kept = (tf.transpose(each) for each in kernels)
        reset, update = tf.split(gates, 2, 0)
        return [reset[:, :width], update[:, :width], of_inputs,
                reset[:, width:], update[:, width:], kept]

    def _to_biases(self, biases: Sequence[Any]) -> list[Any]:
        return [tf.concat(biases[:2], 0) + tf.concat(biases[3:5], 0), biases[2], biases[5]]

    def _to_vectors(self, biases: Sequence[Any]) -> list[Any]:
        reset, update = tf.split(biases[0] * 0.5, 2, 0)
        return [reset, update, biases[1], reset, update, biases[2]]
