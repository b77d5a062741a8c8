"""The layers of `tf.contrib.cudnn_rnn`.

Appleyard et al., "Optimizing Performance of Recurrent Neural Networks on GPUs", 2016; the
documentation of the op CudnnRNNV3; arguments and names: tensorflow/contrib/cudnn_rnn of
TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from estimator_trainer.compat.contrib.cudnn_rnn import formats, plain, saveables
from estimator_trainer.compat.contrib.rnn.cells import actual_size, size_of, V1

_INPUT_MODES = ("linear_input", "skip_input", "auto_select")


class _CudnnRNN(V1.layers.Layer):
    """Layers of RNNs with all weights in one variable, `opaque_kernel`."""

    _rnn_mode: str
    _gates: int
    _states = 1
    _saveable_class: Any

    def __init__(self, num_layers: int, num_units: int, input_mode: str = formats.LINEAR_INPUT,
                 direction: str = formats.UNIDIRECTION, dropout: float = 0.0,
                 seed: Optional[int] = None, dtype: Any = tf.float32,
                 kernel_initializer: Any = None, bias_initializer: Any = None,
                 name: Optional[str] = None) -> None:
        """Keeps the settings.

        Args:
          num_layers: Number of layers.
          num_units: Size of the state.
          input_mode: "linear_input", or "auto_select" where that means the same.
          direction: "unidirectional" or "bidirectional".
          dropout: Share of the inputs of a layer, but the first, that is dropped in training.
          seed: The seed of the dropout and of the initial values.
          dtype: float16, float32 or float64.
          kernel_initializer: Glorot's uniform by default.
          bias_initializer: Zeros by default.
          name: As for a layer.

        Raises:
          ValueError: The direction, mode or type is none of these.
        """
        super().__init__(dtype=dtype, name=name)
        if direction not in (formats.UNIDIRECTION, formats.BIDIRECTION):
            raise ValueError(f"Invalid direction: {direction}, expecting {formats.UNIDIRECTION} or "
                             f"{formats.BIDIRECTION}")
        if input_mode not in _INPUT_MODES:
            raise ValueError(f"Invalid input_mode: {input_mode}, expect one of {_INPUT_MODES}")
        if dtype not in (tf.float16, tf.float32, tf.float64):
            raise ValueError(f"Only support float16, float32, float64, provided {dtype}")
        self._plain_dtype, self._seed, self._dropout = tf.as_dtype(dtype), seed, dropout
        self.num_layers, self.num_units = num_layers, num_units
        self.input_mode, self.direction = input_mode, direction
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer
        self._layout: Any = None
        self.saveable: Any = None

    @property
    def rnn_mode(self) -> str:
        """The op's `rnn_mode`."""
        return self._rnn_mode

    @property
    def num_dirs(self) -> int:
        """Number of directions."""
        return 1 if self.direction == formats.UNIDIRECTION else 2

    @property
    def input_size(self) -> int:
        """Size of the inputs; ValueError before the layer is built."""
        if self._layout is None:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        size: int = self._layout.input_size
        return size

    @property
    def canonical_weight_shapes(self) -> list[tuple[int, ...]]:
        """Shapes of cuDNN's matrices; RuntimeError before the layer is built."""
        if self._layout is None:
            raise RuntimeError(f"{type(self).__name__}.canonical_weight_shapes invoked before "
                               "input shape is known")
        return [tuple(each) for each in self._layout.weight_shapes]

    @property
    def canonical_bias_shapes(self) -> list[list[int]]:
        """Shapes of cuDNN's biases."""
        return [[self.num_units]] * (2 * self._gates * self.num_dirs * self.num_layers)

    def build(self, input_shape: Any) -> None:
        """Makes the variable, and what saves it; ValueError if the inputs' size is unknown."""
        shape = tf.TensorShape(input_shape)
        if shape.ndims != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {shape.ndims}")
        size = size_of(shape, -1)
        if size is None:
            raise ValueError("The last dimension of the inputs to `CudnnRNN` should be defined. "
                             "Found `None`.")
        if self.input_mode == "skip_input" or self.input_mode != "linear_input" and (
                size == self.num_units):
            raise NotImplementedError(
                f"{type(self).__name__} with input_mode={self.input_mode!r} would leave out the "
                "inputs' matrix, which is not supported; use input_mode='linear_input'.")
        self.input_spec = V1.layers.InputSpec(ndim=3, axes={-1: size})
        self._layout = formats.Layout(self._gates, self.num_layers, self.num_units, size,
                                      self.direction)
        self.kernel = self.add_weight("opaque_kernel", [self._layout.size],
                                      initializer=self._initial(), dtype=self._plain_dtype)
        if V1.get_variable_scope().reuse is not True:
            self.saveable = self._saveable_class(
                self.kernel, self.num_layers, self.num_units, size, self.input_mode,
                self.direction, V1.get_variable_scope(), f"{self.kernel.op.name}_saveable")
            V1.add_to_collection(V1.GraphKeys.SAVEABLE_OBJECTS, self.saveable)
        self.built = True

    def _initial(self) -> Any:
        """Returns an initializer that gives each matrix and bias what its own one does."""
        dtype = self._plain_dtype
        kernel = self._kernel_initializer or V1.glorot_uniform_initializer(
            seed=self._seed)
        bias = self._bias_initializer or V1.constant_initializer(0.0)
        joined = self._layout.joined([kernel(each, dtype=dtype) for each in
                                      self._layout.weight_shapes],
                                     [bias(each, dtype=dtype) for each in self._layout.bias_shapes])
        return lambda shape, dtype=None, partition_info=None: joined

    def state_shape(self, batch_size: Any) -> Any:
        """Returns a tuple of the states' shapes."""
        return ([self.num_layers * self.num_dirs, batch_size, self.num_units],) * self._states

    def call(self, inputs: Any, initial_state: Any = None, sequence_lengths: Any = None,
             time_major: bool = True, training: bool = True) -> Any:
        """Runs all layers.

        Args:
          inputs: [time, batch, size], or [batch, time, size] without `time_major`.
          initial_state: A tuple of h, and an LSTM's c; zeros by default. Shapes: `state_shape`, or
            without `time_major`, with the first two axes swapped.
          sequence_lengths: [batch] int32; outputs beyond are 0.
          time_major: Which axis of the inputs is the time.
          training: Whether there is dropout.

        Returns:
          Outputs, [time, batch, num_dirs * num_units], and the states after the last step.

        Raises:
          TypeError: `initial_state` is no tuple.
        """
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        inputs = tf.convert_to_tensor(inputs, dtype=self.dtype)
        if not time_major:
            inputs = tf.transpose(inputs, [1, 0, 2])
        if initial_state is None:
            states = tuple(tf.zeros(shape, dtype=self.dtype)
                           for shape in self.state_shape(actual_size(inputs, 1)))
        else:
            states = tuple(_swapped(tf.convert_to_tensor(each, dtype=self.dtype), not time_major)
                           for each in initial_state)
        run = self._cudnn if tf.config.list_physical_devices("GPU") else self._plain
        outputs, states = run(inputs, states, sequence_lengths, training)
        return (_swapped(outputs, not time_major),
                tuple(_swapped(each, not time_major) for each in states))

    def _plain(self, inputs: Any, states: Any, lengths: Any, training: bool) -> Any:
        weights, biases = self._layout.parted(self.kernel)
        return plain.run(self._rnn_mode, inputs, states, weights, biases, self.num_dirs, lengths,
                         self._dropout if training else 0.0, self._seed)

    def _cudnn(self, inputs: Any, states: Any, lengths: Any, training: bool) -> Any:
        seed, seed2 = V1.get_seed(self._seed)
        options = {
            "input": inputs, "input_h": states[0],
            "input_c": states[1] if self._states == 2 else tf.constant([], dtype=self.dtype),
            "params": self.kernel, "is_training": training, "rnn_mode": self._rnn_mode,
            "input_mode": "linear_input", "direction": self.direction, "dropout": self._dropout,
            "seed": seed or 0, "seed2": seed2 or 0}
        if lengths is not None:
            ran = tf.raw_ops.CudnnRNNV3(sequence_lengths=lengths, time_major=True, **options)
        else:
            ran = tf.raw_ops.CudnnRNN(**options)
        return ran.output, (ran.output_h, ran.output_c)[:self._states]


def _swapped(value: Any, is_swapped: bool) -> Any:
    return tf.transpose(value, [1, 0, 2]) if is_swapped else value


class CudnnLSTM(_CudnnRNN):
    """LSTMs without forget bias; the state is (h, c)."""

    _rnn_mode, _gates, _states = "lstm", 4, 2
    _saveable_class = saveables.CudnnLSTMSaveable


class CudnnGRU(_CudnnRNN):
    """GRUs whose reset gate weighs the product of the state; the state is (h,)."""

    _rnn_mode, _gates = "gru", 3
    _saveable_class = saveables.CudnnGRUSaveable


class CudnnRNNTanh(_CudnnRNN):
    """RNNs with tanh; the state is (h,)."""

    _rnn_mode, _gates = "rnn_tanh", 1
    _saveable_class = saveables.CudnnRNNTanhSaveable


class CudnnRNNRelu(_CudnnRNN):
    """RNNs with relu; the state is (h,)."""

    _rnn_mode, _gates = "rnn_relu", 1
    _saveable_class = saveables.CudnnRNNReluSaveable
