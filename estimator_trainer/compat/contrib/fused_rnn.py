"""The LSTM of `tf.contrib.rnn` that runs over a whole sequence in one op."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf


class LSTMBlockFusedCell:
    """An LSTM whose call takes [time, batch, size] and returns the outputs and the last state.

    The variables are `kernel` and `bias`, as in TensorFlow 1, so checkpoints fit.
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0,
                 cell_clip: Optional[float] = None, use_peephole: bool = False,
                 **options: Any) -> None:
        """The options are reuse, dtype and name, as for a layer."""
        self.num_units = num_units
        self._forget_bias, self._cell_clip = forget_bias, -1.0 if cell_clip is None else cell_clip
        self._use_peephole, self._dtype = use_peephole, options.pop("dtype", None)
        self._reuse, self._name = options.pop("reuse", None), options.pop("name", None)
        if options:
            raise TypeError(f"LSTMBlockFusedCell was given {sorted(options)}; expected reuse, dtype"
                            " or name.")
        self._weights: Any = None

    def __call__(self, inputs: Any, initial_state: Any = None, dtype: Any = None,
                 sequence_length: Any = None) -> Any:
        """Runs the LSTM.

        Args:
          inputs: [time, batch, size], or a list of [batch, size].
          initial_state: (c, h), each [batch, num_units]; zeros by default.
          dtype: Type of the state.
          sequence_length: [batch] integers; outputs beyond are 0.

        Returns:
          Outputs, [time, batch, num_units] or a list, and the LSTMStateTuple after the last step.
        """
        is_list = isinstance(inputs, (list, tuple))
        x = tf.stack(inputs) if is_list else tf.convert_to_tensor(inputs)
        time, batch = tf.shape(x)[0], tf.shape(x)[1]
        zeros = tf.zeros([batch, self.num_units], dtype or self._dtype or x.dtype)
        c, h = (zeros, zeros) if initial_state is None else initial_state
        kernel, bias, peepholes = self._variables(x)
        longest = time if sequence_length is None else tf.reduce_max(sequence_length)
        ran = tf.raw_ops.BlockLSTM(
            seq_len_max=tf.cast(longest, tf.int64), x=x, cs_prev=c, h_prev=h, w=kernel,
            wci=peepholes[0], wcf=peepholes[1], wco=peepholes[2], b=bias,
            forget_bias=self._forget_bias, cell_clip=self._cell_clip,
            use_peephole=self._use_peephole)
        cells, outputs = ran.cs, ran.h
        if sequence_length is None:
            final = cells[-1], outputs[-1]
        else:
            mask = tf.transpose(tf.sequence_mask(sequence_length, time, outputs.dtype))[:, :, None]
            outputs = outputs * mask
            where = tf.stack([tf.cast(sequence_length, tf.int32), tf.range(batch)], axis=1)
            final = tuple(tf.gather_nd(tf.concat([first[None], states], axis=0), where)
                          for first, states in ((c, cells), (h, outputs)))
        state = tf.compat.v1.nn.rnn_cell.LSTMStateTuple(*final)
        return (tf.unstack(outputs) if is_list else outputs), state

    def _variables(self, x: Any) -> Any:
        if self._weights is None:
            units, dtype = self.num_units, self._dtype or x.dtype
            v1 = tf.compat.v1
            with v1.variable_scope(None, self._name or "lstm_fused_cell", reuse=self._reuse):
                kernel = v1.get_variable("kernel", [int(x.shape[2]) + units, 4 * units], dtype)
                bias = v1.get_variable("bias", [4 * units], dtype,
                                       initializer=v1.zeros_initializer())
                peepholes = [v1.get_variable(name, [units], dtype) if self._use_peephole
                             else tf.zeros([units], dtype)
                             for name in ("w_i_diag", "w_f_diag", "w_o_diag")]
            self._weights = kernel, bias, peepholes
        return self._weights


class TimeReversedFusedRNN:
    """A fused cell that reads the sequence from its end."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def __call__(self, inputs: Any, initial_state: Any = None, dtype: Any = None,
                 sequence_length: Any = None, **kwargs: Any) -> Any:
        """Runs the cell; the arguments and the result are the cell's."""
        is_list = isinstance(inputs, (list, tuple))

        def reverse(value: Any) -> Any:
            if sequence_length is None:
                return tf.reverse(value, [0])
            return tf.compat.v1.reverse_sequence(value, sequence_length, seq_axis=0, batch_axis=1)

        x = tf.stack(inputs) if is_list else inputs
        outputs, state = self._cell(reverse(x), initial_state, dtype, sequence_length, **kwargs)
        outputs = reverse(outputs)
        return (tf.unstack(outputs) if is_list else outputs), state
