"""RNNs of `tf.contrib.rnn` that take a whole sequence in one call.

Graves, "Supervised Sequence Labelling with Recurrent Neural Networks", 2012, for the reversed one;
tensorflow/contrib/rnn of TensorFlow 1.15 for the arguments.
"""

from __future__ import annotations

import abc
from typing import Any, Optional

import tensorflow as tf

from estimator_trainer.compat.contrib.rnn import block, cells
from estimator_trainer.compat.contrib.rnn.cells import LSTMStateTuple, V1


class FusedRNNCell(metaclass=abc.ABCMeta):
    """The base class: a call runs all steps."""

    @abc.abstractmethod
    def __call__(self, inputs: Any, initial_state: Any = None, dtype: Any = None,
                 sequence_length: Any = None, scope: Any = None) -> Any:
        """Runs all steps.

        Args:
          inputs: [time, batch, size], or a list of [batch, size].
          initial_state: The state before the first step; zeros of `dtype` by default.
          dtype: Type of the state.
          sequence_length: [batch] integers; outputs beyond are 0.
          scope: A variable scope, or its name.

        Returns:
          Outputs, a tensor or a list like the inputs, and the state after the last step.
        """


class FusedRNNCellAdaptor(FusedRNNCell):
    """Runs a cell step by step."""

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        """Runs `cell` by `tf.nn.dynamic_rnn` or `tf.nn.static_rnn`."""
        self._cell, self._use_dynamic_rnn = cell, use_dynamic_rnn

    def __call__(self, inputs: Any, initial_state: Any = None, dtype: Any = None,
                 sequence_length: Any = None, scope: Any = None) -> Any:
        """Runs all steps, as FusedRNNCell says."""
        is_list, dynamic = isinstance(inputs, list), self._use_dynamic_rnn
        if is_list and dynamic:
            inputs = tf.stack(inputs)
        elif not is_list and not dynamic:
            inputs = tf.unstack(inputs)
        run, options = ((V1.nn.dynamic_rnn, {"time_major": True}) if dynamic
                        else (V1.nn.static_rnn, {}))
        outputs, state = run(self._cell, inputs, sequence_length=sequence_length, dtype=dtype,
                             initial_state=initial_state, scope=scope, **options)
        if is_list == dynamic:
            outputs = tf.unstack(outputs) if is_list else tf.stack(outputs)
        return outputs, state


class TimeReversedFusedRNN(FusedRNNCell):
    """Runs a fused cell over the sequence from its end; the outputs are in the inputs' order."""

    def __init__(self, cell: Any) -> None:
        """Runs `cell`, a FusedRNNCell."""
        self._cell = cell

    def __call__(self, inputs: Any, initial_state: Any = None, dtype: Any = None,
                 sequence_length: Any = None, scope: Any = None) -> Any:
        """Runs all steps, as FusedRNNCell says."""
        outputs, state = self._cell(
            _reversed(inputs, sequence_length), initial_state=initial_state, dtype=dtype,
            sequence_length=sequence_length, scope=scope)
        return _reversed(outputs, sequence_length), state


def _reversed(values: Any, lengths: Any) -> Any:
    if isinstance(values, list):
        return values[::-1]
    if lengths is None:
        return tf.reverse(values, [0])
    return V1.reverse_sequence(values, lengths, seq_axis=0, batch_axis=1)


class LSTMBlockWrapper(V1.layers.Layer, metaclass=abc.ABCMeta):
    """The base class of fused LSTMs: lengths and states are its part, the steps a subclass's."""

    @property
    @abc.abstractmethod
    def num_units(self) -> int:
        """Size of c and of h."""

    @abc.abstractmethod
    def _call_cell(self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any,
                   sequence_length: Any) -> Any:
        """Returns c and h of all steps, each [time, batch, num_units]."""

    def call(self, inputs: Any, initial_state: Any = None, dtype: Any = None,
             sequence_length: Any = None) -> Any:
        """Runs all steps.

        Args:
          inputs: [time, batch, size], or a list of [batch, size].
          initial_state: c and h, each [batch, num_units]; zeros of `dtype` by default.
          dtype: Type of the state.
          sequence_length: [batch] integers; outputs beyond are 0.

        Returns:
          h of all steps, a tensor or a list like the inputs, and the last LSTMStateTuple.

        Raises:
          ValueError: The inputs' size is unknown, or neither a state nor its type is given.
        """
        is_list = isinstance(inputs, list)
        x = tf.stack(inputs) if is_list else inputs
        if not cells.size_of(x.shape.with_rank(3), 2):
            raise ValueError(f"Expecting inputs_shape[2] to be set: {x.shape}")
        # In TensorFlow 1's order, which seeds depend on.
        batch, time = cells.actual_size(x, 1), cells.actual_size(x, 0)
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            initial_state = (tf.zeros(tf.stack([batch, self.num_units]), dtype=dtype),) * 2
        elif len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        dtype = initial_state[0].dtype if dtype is None else dtype
        if sequence_length is not None:
            sequence_length = tf.convert_to_tensor(sequence_length)
        c, h = initial_state
        c_all, outputs = self._call_cell(x, c, h, dtype, sequence_length)
        if sequence_length is None:
            state = LSTMStateTuple(c_all[-1], outputs[-1])
        else:
            outputs *= self._mask(sequence_length, time, dtype)
            state = LSTMStateTuple(*_at(sequence_length, batch, (c, c_all), (h, outputs)))
        return (tf.unstack(outputs) if is_list else outputs), state

    def _mask(self, lengths: Any, time: Any, dtype: Any) -> Any:
        mask = tf.transpose(tf.sequence_mask(lengths, time, dtype=dtype), [1, 0])
        return tf.tile(tf.expand_dims(mask, [-1]), [1, 1, self.num_units])


def _at(lengths: Any, batch: Any, *sequences: tuple[Any, Any]) -> list[Any]:
    """Returns the state after each row's last step, of pairs of the first state and all others."""
    whole = [tf.concat([tf.expand_dims(first, [0]), others], 0) for first, others in sequences]
    return [tf.gather_nd(states, tf.stack(
        [lengths, tf.cast(tf.range(batch), lengths.dtype)], axis=1)) for states in whole]


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM in one op for all steps. Variables: `kernel`, `bias`, `w_[ifo]_diag`."""

    def __init__(self, num_units: int, forget_bias: float = 1.0, cell_clip: Optional[float] = None,
                 use_peephole: bool = False, reuse: Optional[bool] = None, dtype: Any = None,
                 name: str = "lstm_fused_cell") -> None:
        """Keeps the settings, which are those of LSTMBlockCell."""
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._forget_bias = num_units, forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self.input_spec = V1.layers.InputSpec(ndim=3)

    @property
    def num_units(self) -> int:
        """Size of c and of h."""
        return self._num_units

    def build(self, input_shape: Any) -> None:
        """Makes the variables."""
        block.build_lstm(self, cells.size_of(input_shape, 2), self._num_units, self._use_peephole)

    def _call_cell(self, inputs: Any, initial_cell_state: Any = None, initial_output: Any = None,
                   dtype: Any = None, sequence_length: Any = None) -> Any:
        wci, wcf, wco = block.peepholes(self, self._num_units, self._use_peephole, dtype)
        longest = (cells.actual_size(inputs, 0) if sequence_length is None
                   else tf.reduce_max(sequence_length))
        ran = tf.raw_ops.BlockLSTM(
            seq_len_max=tf.cast(longest, tf.int64), x=inputs, cs_prev=initial_cell_state,
            h_prev=initial_output, w=self._kernel, wci=wci, wcf=wcf, wco=wco, b=self._bias,
            forget_bias=self._forget_bias, cell_clip=self._cell_clip,
            use_peephole=self._use_peephole)
        return ran.cs, ran.h
