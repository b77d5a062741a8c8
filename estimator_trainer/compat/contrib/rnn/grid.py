"""LSTMs of `tf.contrib.rnn` over time and frequency.

Sainath and Li, "Modeling Time-Frequency Patterns with LSTM vs. Convolutional Architectures for
LVCSR Tasks", Interspeech 2016; Li et al., "LSTM Time and Frequency Recurrence for Automatic Speech
Recognition", ASRU 2015. Arguments and variables: tensorflow/contrib/rnn of TensorFlow 1.15.
"""

from __future__ import annotations

import collections
import logging
from typing import Any, Mapping, NamedTuple, Optional, Sequence

import tensorflow as tf

from estimator_trainer.compat.contrib.rnn import cells
from estimator_trainer.compat.contrib.rnn.cells import RNNCell, V1
from estimator_trainer.compat.contrib.rnn.normalized import peepholes

logger = logging.getLogger(__name__)


def _windows(inputs: Any, start: int, size: int, count: int, skip: int) -> list[Any]:
    return [tf.slice(inputs, [0, start + number * skip], [-1, size]) for number in range(count)]


class TimeFreqLSTMCell(cells.Plain, RNNCell):
    """An LSTM whose steps also go along the frequencies of one time."""

    def __init__(self, num_units: int, use_peepholes: bool = False,
                 cell_clip: Optional[float] = None, initializer: Any = None,
                 num_unit_shards: int = 1, forget_bias: float = 1.0,
                 feature_size: Any = None, frequency_skip: int = 1,
                 reuse: Optional[bool] = None) -> None:
        """Keeps the settings.

        Args:
          num_units: Size of c and of h at a frequency.
          use_peepholes: Whether the gates see c.
          cell_clip: c is clipped to [-cell_clip, cell_clip].
          initializer: Without effect; the scope's initializer is taken.
          num_unit_shards: Number of variables that hold the matrix.
          forget_bias: Added to the forget gate.
          feature_size: Number of inputs that a frequency sees.
          frequency_skip: Distance of two frequencies.
          reuse: As for a layer.
        """
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._num_unit_shards, self._forget_bias = num_unit_shards, forget_bias
        self._feature_size, self._frequency_skip = feature_size, frequency_skip
        self._state_size, self._output_size = 2 * num_units, num_units

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns h of all frequencies, and their c and h in turn."""
        units, dtype = self._num_units, inputs.dtype
        count = int((cells.known_size(inputs) - self._feature_size) / self._frequency_skip) + 1
        windows = _windows(inputs, 0, self._feature_size, count, self._frequency_skip)
        kernel = cells.sharded("W", [cells.known_size(windows[0]) + 2 * units, 4 * units], dtype,
                               self._num_unit_shards)
        bias = V1.get_variable("B", shape=[4 * units], initializer=V1.zeros_initializer(),
                               dtype=dtype)
        see_f, see_i, see_o = peepholes(("W_F_diag", "W_I_diag", "W_O_diag"),
                                        self._use_peepholes, units, dtype)
        below, states = tf.zeros([cells.size_of(inputs, 0), units], dtype), []
        for number, window in enumerate(windows):
            c, h = (tf.slice(state, [0, (2 * number + which) * units], [-1, units])
                    for which in (0, 1))
            gates = tf.nn.bias_add(tf.matmul(tf.concat([window, h, below], 1), kernel), bias)
            i, j, f, o = tf.split(gates, 4, 1)
            c = cells.clip(tf.sigmoid(see_f(f + self._forget_bias, c)) * c
                           + tf.sigmoid(see_i(i, c)) * tf.tanh(j), self._cell_clip)
            below = tf.sigmoid(see_o(o, c)) * tf.tanh(c)
            states.extend([c, below])
        return tf.concat(states[1::2], 1), tf.concat(states, 1)


class _Weights(NamedTuple):
    """The weights of one direction, time or frequency."""

    kernel: Any
    bias: Any
    # The peepholes of c along frequency and along time, by gate.
    diagonals: Mapping[str, tuple[Any, Any]]

    def see(self, gate: str, value: Any, c_frequency: Any, c_time: Any) -> Any:
        """Returns the gate's value with its peepholes, if there are any."""
        if gate not in self.diagonals:
            return value
        along_frequency, along_time = self.diagonals[gate]
        return value + along_frequency * c_frequency + along_time * c_time


class GridLSTMCell(cells.Plain, RNNCell):
    """Two LSTMs, one along time and one along frequency, which see one another's h."""

    def __init__(self, num_units: int, use_peepholes: bool = False,
                 share_time_frequency_weights: bool = False, cell_clip: Optional[float] = None,
                 initializer: Any = None, num_unit_shards: int = 1, forget_bias: float = 1.0,
                 feature_size: Any = None, frequency_skip: Any = None,
                 num_frequency_blocks: Any = None,
                 start_freqindex_list: Optional[Sequence[int]] = None,
                 end_freqindex_list: Optional[Sequence[int]] = None,
                 couple_input_forget_gates: bool = False, state_is_tuple: bool = True,
                 reuse: Optional[bool] = None) -> None:
        """Keeps the settings.

        Args:
          num_units: Size of c and of h at a frequency.
          use_peepholes: Whether the gates see both c.
          share_time_frequency_weights: Whether both LSTMs have the same weights.
          cell_clip: c is clipped to [-cell_clip, cell_clip].
          initializer: Without effect; the scope's initializer is taken.
          num_unit_shards: Number of variables that hold a matrix.
          forget_bias: Added to the forget gates.
          feature_size: Number of inputs that a frequency sees.
          frequency_skip: Distance of two frequencies.
          num_frequency_blocks: Number of frequencies of each block, a list.
          start_freqindex_list, end_freqindex_list: The inputs of each block; all by default.
          couple_input_forget_gates: Whether the forget gate is 1 - the input gate.
          state_is_tuple: Whether the state is a named tuple rather than one tensor.
          reuse: As for a layer.

        Raises:
          ValueError: `num_frequency_blocks` is missing.
        """
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            logger.warning("%s: Using a concatenated state is slower and will soon be "
                           "deprecated.  Use state_is_tuple=True.", self)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._is_shared, self._is_coupled = share_time_frequency_weights, couple_input_forget_gates
        self._num_unit_shards, self._forget_bias = num_unit_shards, forget_bias
        self._feature_size, self._frequency_skip = feature_size, frequency_skip
        self._blocks = [int(number) for number in num_frequency_blocks]
        self._starts, self._ends = start_freqindex_list, end_freqindex_list
        self._state_is_tuple = state_is_tuple
        self._name_states("GridLSTMStateTuple", ["state"])

    def _name_states(self, type_name: str, prefixes: Sequence[str]) -> None:
        fields = [f"{prefix}_f{number:02d}_b{block:02d}_{part}" for prefix in prefixes
                  for block, count in enumerate(self._blocks) for number in range(count)
                  for part in "cm"]
        self._output_size = self._num_units * len(fields)
        self._state_tuple_type: Any = None
        self._state_size: Any = self._output_size
        if self._state_is_tuple:
            self._state_tuple_type = collections.namedtuple(type_name, fields)  # type: ignore[misc]
            self._state_size = self._state_tuple_type(*[self._num_units] * len(fields))

    @property
    def state_tuple_type(self) -> Any:
        """The named tuple's class; None if the state is a tensor."""
        return self._state_tuple_type

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns h along time and along frequency in turn, and c and h along time."""
        outputs, states = self._run(self._features(inputs), state, "state")
        return tf.concat(outputs, 1), (self._state_tuple_type(*states) if self._state_is_tuple
                                       else tf.concat(states, 1))

    def _run(self, features: Any, state: Any, prefix: str) -> Any:
        outputs: list[Any] = []
        states: list[Any] = []
        for block, windows in enumerate(features):
            found = self._compute(windows, block, state, prefix)
            outputs.extend(found[0])
            states.extend(found[1])
        return outputs, states

    def _features(self, inputs: Any, offset: int = 0) -> list[list[Any]]:
        size = cells.known_size(inputs)
        if offset:
            padding = [[0, 0], [max(-offset, 0), max(offset, 0)]]
            inputs, offset = tf.pad(inputs, padding), max(offset, 0)
        starts, ends = (self._starts, self._ends) if self._starts else ([0], [size])
        if not len(starts) == len(ends or ()) == len(self._blocks):
            raise ValueError(f"num_frequency_blocks has {len(self._blocks)} blocks, and the lists "
                             f"of indices {len(starts)} and {len(ends or ())}.")
        features = []
        for start, end, expected in zip(starts, ends or (), self._blocks):
            count = int((end - start - self._feature_size) / self._frequency_skip) + 1
            if count != expected:
                raise ValueError(f"Invalid num_frequency_blocks, requires {expected} but gets "
                                 f"{count}, please check the input size and filter config are "
                                 "correct.")
            features.append(_windows(inputs, start + offset, self._feature_size, count,
                                     self._frequency_skip))
        return features

    def _weights(self, block: int, depth: int, dtype: Any) -> list[_Weights]:
        """Returns the weights along frequency and along time, which may be the same."""
        width = (3 if self._is_coupled else 4) * self._num_units
        kinds = (("f", "freq"),) if self._is_shared else (("f", "freq"), ("t", "time"))
        gates = [gate for gate in "FIO" if gate != "F" or not self._is_coupled]
        matrices = [(cells.sharded(f"W_{kind}_{block}", [depth + 2 * self._num_units, width], dtype,
                                   self._num_unit_shards),
                     V1.get_variable(f"B_{kind}_{block}", shape=[width], dtype=dtype,
                                     initializer=V1.zeros_initializer()))
                    for kind, _ in kinds]
        diagonals = [{gate: tuple(V1.get_variable(f"W_{gate}_diag_{name}{c}_{block}", dtype=dtype,
                                                  shape=[self._num_units]) for c in "ft")
                      for gate in gates if self._use_peepholes} for _, name in kinds]
        found = [_Weights(*matrix, each) for matrix, each in zip(matrices, diagonals)]
        return found * 2 if self._is_shared else found

    def _compute(self, windows: Sequence[Any], block: int, state: Any, prefix: str) -> Any:
        units, dtype = self._num_units, windows[0].dtype
        along_frequency, along_time = self._weights(
            block, cells.known_size(windows[0]), dtype)
        batch = cells.actual_size(windows[0], 0)
        h_frequency, c_frequency = (tf.zeros([batch, units], dtype) for _ in range(2))
        outputs, states = [], []
        for number, window in enumerate(windows):
            if self._state_is_tuple:
                name = f"{prefix}_f{number:02d}_b{block:02d}"
                c_time, h_time = getattr(state, f"{name}_c"), getattr(state, f"{name}_m")
            else:
                # As in TensorFlow 1, all blocks read the first block's states.
                c_time, h_time = (tf.slice(state, [0, (2 * number + which) * units], [-1, units])
                                  for which in (0, 1))
            joined = tf.concat([window, h_time, h_frequency], 1)
            seen = c_frequency, c_time
            of_frequency = self._gates(along_frequency, joined)
            of_time = of_frequency if self._is_shared else self._gates(along_time, joined)
            c_frequency, o_frequency = self._step(along_frequency, of_frequency, c_frequency, seen)
            c_time, o_time = self._step(along_time, of_time, c_time, seen)
            h_frequency, h_time = (
                tf.sigmoid(weights.see("O", gate, c_frequency, c_time)) * tf.tanh(c)
                for weights, gate, c in ((along_frequency, o_frequency, c_frequency),
                                         (along_time, o_time, c_time)))
            outputs.extend([h_time, h_frequency])
            states.extend([c_time, h_time])
        return outputs, states

    def _gates(self, weights: _Weights, joined: Any) -> Any:
        gates = tf.nn.bias_add(tf.matmul(joined, weights.kernel), weights.bias)
        return tf.split(gates, 3 if self._is_coupled else 4, 1)

    def _step(self, weights: _Weights, gates: Any, c: Any, seen: Any) -> Any:
        """Returns the new c and the output gate before its peepholes."""
        i, j, *forget, o = gates
        i = tf.sigmoid(weights.see("I", i, *seen))
        f = 1.0 - i if self._is_coupled else tf.sigmoid(
            weights.see("F", forget[0] + self._forget_bias, *seen))
        return cells.clip(f * c + i * tf.tanh(j), self._cell_clip), o


class BidirectionalGridLSTMCell(GridLSTMCell):
    """Two GridLSTMCells, one of which goes along the frequencies from their end."""

    def __init__(self, num_units: int, use_peepholes: bool = False,
                 share_time_frequency_weights: bool = False, cell_clip: Optional[float] = None,
                 initializer: Any = None, num_unit_shards: int = 1, forget_bias: float = 1.0,
                 feature_size: Any = None, frequency_skip: Any = None,
                 num_frequency_blocks: Any = None,
                 start_freqindex_list: Optional[Sequence[int]] = None,
                 end_freqindex_list: Optional[Sequence[int]] = None,
                 couple_input_forget_gates: bool = False, backward_slice_offset: int = 0,
                 reuse: Optional[bool] = None) -> None:
        """Keeps the settings of GridLSTMCell.

        `backward_slice_offset` is added to where the windows of the way back start.
        """
        super().__init__(num_units, use_peepholes, share_time_frequency_weights, cell_clip,
                         initializer, num_unit_shards, forget_bias, feature_size, frequency_skip,
                         num_frequency_blocks, start_freqindex_list, end_freqindex_list,
                         couple_input_forget_gates, True, reuse)
        self._offset = int(backward_slice_offset)
        self._name_states("BidirectionalGridLSTMStateTuple", ["fwd_state", "bwd_state"])

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns what both cells return, forward first."""
        forward = self._features(inputs)
        backward = self._features(inputs, self._offset) if self._offset else forward
        with V1.variable_scope("fwd"):
            outputs, states = self._run(forward, state, "fwd_state")
        with V1.variable_scope("bwd"):
            found = self._run([block[::-1] for block in backward], state, "bwd_state")
        return tf.concat(outputs + found[0], 1), self._state_tuple_type(*states, *found[1])
