"""Cells of `tf.contrib.rnn` that are one op each, and the gradients of these ops.

Zaremba et al., "Recurrent Neural Network Regularization", 2014; Cho et al., "Learning Phrase
Representations using RNN Encoder-Decoder", EMNLP 2014; the ops' documentation. TensorFlow has the
kernels and has lost the gradients.
"""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from estimator_trainer.compat.contrib.rnn import cells
from estimator_trainer.compat.contrib.rnn.cells import V1


def lstm_block_cell_gradient(op: Any, *gradients: Any) -> Any:
    """Returns the gradients of the op's inputs."""
    x, cs_prev, h_prev, w, wci, wcf, wco, b = op.inputs
    i, cs, f, o, ci, co, _ = op.outputs
    size = cells.size_of(x, 1)
    if size is None or cells.size_of(cs_prev, 1) is None:
        raise ValueError("LSTMBlockCell's gradient needs the sizes of x and cs_prev; their shapes "
                         f"are {x.shape} and {cs_prev.shape}.")
    found = tf.raw_ops.LSTMBlockCellGrad(
        x=x, cs_prev=cs_prev, h_prev=h_prev, w=w, wci=wci, wcf=wcf, wco=wco, b=b, i=i, cs=cs, f=f,
        o=o, ci=ci, co=co, cs_grad=gradients[1], h_grad=gradients[6],
        use_peephole=op.get_attr("use_peephole"))
    both = tf.matmul(found.dicfo, w, transpose_b=True)
    kernel = tf.matmul(tf.concat([x, h_prev], 1), found.dicfo, transpose_a=True)
    return (both[:, :size], found.cs_prev_grad, both[:, size:], kernel,
            found.wci_grad, found.wcf_grad, found.wco_grad, tf.reduce_sum(found.dicfo, 0))


def gru_block_cell_gradient(op: Any, *gradients: Any) -> Any:
    """Returns the gradients of the op's inputs."""
    x, h_prev, w_ru, w_c, b_ru, b_c = op.inputs
    r, u, c, _ = op.outputs
    found = tf.raw_ops.GRUBlockCellGrad(x=x, h_prev=h_prev, w_ru=w_ru, w_c=w_c, b_ru=b_ru, b_c=b_c,
                                        r=r, u=u, c=c, d_h=gradients[3])
    gates = tf.matmul(tf.concat([x, h_prev], 1), found.d_r_bar_u_bar, transpose_a=True)
    candidate = tf.matmul(tf.concat([x, h_prev * r], 1), found.d_c_bar, transpose_a=True)
    return (found.d_x, found.d_h_prev, gates, candidate, tf.reduce_sum(found.d_r_bar_u_bar, 0),
            tf.reduce_sum(found.d_c_bar, 0))


tf.RegisterGradient("LSTMBlockCell")(lstm_block_cell_gradient)
tf.RegisterGradient("GRUBlockCell")(gru_block_cell_gradient)


class LSTMBlockCell(cells.Plain, cells.LayerRNNCell):
    """An LSTM, with or without peepholes. Variables: `kernel`, `bias`, `w_[ifo]_diag`."""

    def __init__(self, num_units: int, forget_bias: float = 1.0, cell_clip: Optional[float] = None,
                 use_peephole: bool = False, dtype: Any = None, reuse: Optional[bool] = None,
                 name: str = "lstm_cell") -> None:
        """Keeps the settings.

        Args:
          num_units: Size of c and of h.
          forget_bias: Added to the forget gate.
          cell_clip: c is clipped to [-cell_clip, cell_clip]; not at all by default.
          use_peephole: Whether the gates see c.
          dtype, reuse, name: As for a layer.
        """
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units, self._forget_bias = num_units, forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self._state_size, self._output_size = cells.lstm_sizes(num_units, None)
        self.input_spec = cells.FLAT

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables; ValueError if the inputs' size is unknown."""
        build_lstm(self, cells.size_of(inputs_shape, 1), self._num_units, self._use_peephole)

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns h, [batch, num_units], and the LSTMStateTuple of c and h."""
        if len(state) != 2:
            raise ValueError(f"Expecting state to be a tuple with length 2; got {len(state)}.")
        c, h = state
        wci, wcf, wco = peepholes(self, self._num_units, self._use_peephole, self.dtype)
        stepped = tf.raw_ops.LSTMBlockCell(
            x=inputs, cs_prev=c, h_prev=h, w=self._kernel, wci=wci, wcf=wcf, wco=wco, b=self._bias,
            forget_bias=self._forget_bias, cell_clip=self._cell_clip,
            use_peephole=self._use_peephole)
        return stepped.h, cells.LSTMStateTuple(stepped.cs, stepped.h)


def build_lstm(layer: Any, input_size: Optional[int], num_units: int, use_peephole: bool) -> None:
    """Makes the variables of an LSTM's layer."""
    if not input_size:
        raise ValueError(f"Expecting the size of {layer.name}'s inputs to be known.")
    layer._kernel = layer.add_weight("kernel", [input_size + num_units, num_units * 4])
    layer._bias = layer.add_weight("bias", [num_units * 4],
                                   initializer=V1.constant_initializer(0.0))
    if use_peephole:
        layer._diagonals = [layer.add_weight(name, [num_units])
                            for name in ("w_i_diag", "w_f_diag", "w_o_diag")]
    layer.built = True


def peepholes(layer: Any, num_units: int, use_peephole: bool, dtype: Any) -> Any:
    """Returns the diagonals of the input, forget and output gates; zeros if there are none."""
    return layer._diagonals if use_peephole else [tf.zeros([num_units], dtype=dtype)] * 3


class GRUBlockCell(cells.Plain, cells.LayerRNNCell):
    """A GRU. Variables: `w_ru`, `b_ru`, `w_c`, `b_c`."""

    _NAMES = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(self, num_units: Optional[int] = None, cell_size: Optional[int] = None,
                 reuse: Optional[bool] = None, name: str = "gru_cell") -> None:
        """Keeps the settings; `cell_size` is the old name of `num_units`.

        Raises:
          ValueError: Both are given, or neither.
        """
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size: Any = cell_size if num_units is None else num_units
        self._state_size = self._output_size = self._cell_size
        self.input_spec = cells.FLAT

    def build(self, input_shape: Any) -> None:
        """Makes the variables; ValueError if the inputs' size is unknown."""
        size = cells.size_of(input_shape, 1)
        if size is None:
            raise ValueError("Expecting input_size to be set.")
        units, rows = self._cell_size, size + self._cell_size
        shapes = ([rows, units * 2], None), ([units * 2], 1.0), ([rows, units], None), ([units], 0.)
        self._gate_kernel, self._gate_bias, self._candidate_kernel, self._candidate_bias = (
            self.add_weight(name, shape, initializer=None if start is None
                            else V1.constant_initializer(start))
            for name, (shape, start) in zip(self._NAMES, shapes))
        self.built = True

    def call(self, inputs: Any, h_prev: Any) -> Any:
        """Returns h, [batch, num_units], twice."""
        if cells.size_of(h_prev.shape.with_rank(2), 1) != self._cell_size:
            raise ValueError(f"Shape of h_prev[1] incorrect: cell_size {self._cell_size} vs "
                             f"{h_prev.shape[1]}")
        h = tf.raw_ops.GRUBlockCell(
            x=inputs, h_prev=h_prev, w_ru=self._gate_kernel, w_c=self._candidate_kernel,
            b_ru=self._gate_bias, b_c=self._candidate_bias).h
        return h, h


class GRUBlockCellV2(GRUBlockCell):
    """A GRU with the variables' names of `tf.nn.rnn_cell.GRUCell`."""

    _NAMES = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")


def block_lstm(seq_len_max: Any, x: Any, w: Any, b: Any, cs_prev: Any = None, h_prev: Any = None,
               wci: Any = None, wcf: Any = None, wco: Any = None, forget_bias: Any = None,
               cell_clip: Optional[float] = None, use_peephole: Optional[bool] = None,
               name: Optional[str] = None) -> Any:
    """Runs the op BlockLSTM over a list of [batch, size]; zeros stand for what is not given.

    Returns:
      Lists of a [batch, units] for each step: i, cs, f, o, ci, co, h.

    Raises:
      ValueError: The size of `b` is unknown.
    """
    width = cells.size_of(b.shape.with_rank(1), 0)
    if width is None:
        raise ValueError("`b` shape must not be None.")
    zeros = tf.zeros([width // 4], x[0].dtype)
    state = tf.zeros([cells.actual_size(x[0], 0), width // 4], x[0].dtype)
    ran = tf.raw_ops.BlockLSTM(
        seq_len_max=seq_len_max, x=tf.stack(x), w=w, b=b,
        cs_prev=state if cs_prev is None else cs_prev,
        h_prev=state if h_prev is None else h_prev, wci=zeros if wci is None else wci,
        wcf=zeros if wcf is None else wcf, wco=zeros if wco is None else wco,
        forget_bias=1.0 if forget_bias is None else forget_bias,
        cell_clip=-1 if cell_clip is None else cell_clip,
        use_peephole=bool(use_peephole), name=name)
    return [tf.unstack(each) for each in ran]
