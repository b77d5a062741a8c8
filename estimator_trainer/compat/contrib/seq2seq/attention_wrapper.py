"""An RNN cell that attends to a memory at each step.

The API is that of `tensorflow/contrib/seq2seq/python/ops/attention_wrapper.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_trainer.compat.contrib.seq2seq import tensors
from estimator_trainer.compat.contrib.seq2seq.attention import AttentionMechanism

v1 = tf.compat.v1
_RNNCell: Any = v1.nn.rnn_cell.RNNCell
_TILE = ("Are you using the BeamSearchDecoder?  You may need to tile your {} via the "
         "tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width.")


class AttentionWrapperState(NamedTuple):
    """The state of an AttentionWrapper.

    With several mechanisms, `alignments`, `alignment_history` and `attention_state` are tuples.
    """

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """Returns a state with some fields replaced by values of the same shapes.

        Args:
          **kwargs: The fields' new values.

        Raises:
          ValueError: when a shape is another; a shape that is known later is checked later.
        """
        replaced: AttentionWrapperState = tf.nest.map_structure(
            _with_same_shape, self, self._replace(**kwargs))
        return replaced


def _with_same_shape(old: Any, new: Any) -> Any:
    if not (tf.is_tensor(old) and tf.is_tensor(new)):
        return new
    if old.shape.is_fully_defined() and new.shape.is_fully_defined():
        if old.shape != new.shape:
            raise ValueError(f"The field of the state that has the shape {old.shape} cannot be "
                             f"replaced by a tensor of the shape {new.shape}.")
        return new
    old.shape.assert_is_compatible_with(new.shape)
    with tf.control_dependencies([v1.assert_equal(
            tf.shape(old), tf.shape(new), message="A field of the state changes its shape.")]):
        new = tf.identity(new)
    new.set_shape(old.shape)
    return new


class AttentionWrapper(_RNNCell):
    """Runs a cell, then attends to a memory with the cell's output."""

    def __init__(self, cell: Any, attention_mechanism: Any, attention_layer_size: Any = None,
                 alignment_history: bool = False, cell_input_fn: Any = None,
                 output_attention: bool = True, initial_cell_state: Any = None, name: Any = None,
                 attention_layer: Any = None, attention_fn: Any = None,
                 dtype: Any = None) -> None:
        """Makes the cell; variables come with its first call.

        Args:
          cell: An RNN cell.
          attention_mechanism: An AttentionMechanism, or a list of those.
          attention_layer_size: Size of the layer on the cell's output and the context, an integer
            for each mechanism; without a layer, the context is the attention.
          alignment_history: Whether the state keeps all steps' alignments, in a TensorArray.
          cell_input_fn: A function from inputs and attention to the cell's inputs; their
            concatenation by default.
          output_attention: Whether the output is the attention instead of the cell's output.
          initial_cell_state: The cell's state in `zero_state`.
          name: Name of the cell and its scope.
          attention_layer: A layer for each mechanism, instead of `attention_layer_size`.
          attention_fn: A function from mechanism, cell's output, state and layer to attention,
            alignments and state; `compute_attention` by default.
          dtype: The cell's type.

        Raises:
          TypeError: when an argument is not of its type.
          ValueError: when there are not as many layers or sizes as mechanisms, or both.
        """
        super().__init__(name=name, dtype=dtype)
        tensors.check_cell(cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = tuple(attention_mechanism) if self._is_multi else (attention_mechanism,)
        for each in mechanisms:
            if not isinstance(each, AttentionMechanism):
                raise TypeError("attention_mechanism must be an AttentionMechanism or list of "
                                "multiple AttentionMechanism instances, saw type: "
                                f"{type(each).__name__}")
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError("cell_input_fn must be callable, saw type: "
                            f"{type(cell_input_fn).__name__}")
        self._cell_input_fn = cell_input_fn or (
            lambda inputs, attention: tf.concat([inputs, attention], -1))
        self._attention_layers, self._attention_layer_size = _layers(
            cell, mechanisms, attention_layer_size, attention_layer)
        self._attention_fn = attention_fn or compute_attention
        self._cell, self._attention_mechanisms = cell, mechanisms
        self._output_attention, self._alignment_history = output_attention, alignment_history
        with v1.name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = self._checked_initial_state(initial_cell_state)

    def _checked_initial_state(self, state: Any) -> Any:
        if state is None:
            return None
        batch_size = tensors.static_or_dynamic(tf.nest.flatten(state)[-1], 0)
        message = (f"When constructing AttentionWrapper {self._base_name}: Non-matching batch "
                   "sizes between the memory (encoder output) and initial_cell_state.  "
                   + _TILE.format("initial state"))
        with tf.control_dependencies(self._batch_size_checks(batch_size, message)):
            return tf.nest.map_structure(
                lambda s: tf.identity(s, name="check_initial_cell_state"), state)

    def _batch_size_checks(self, batch_size: Any, message: str) -> Any:
        return [v1.assert_equal(batch_size, each.batch_size, message=message)
                for each in self._attention_mechanisms]

    def _item_or_tuple(self, values: Any) -> Any:
        values = tuple(values)
        return values if self._is_multi else values[0]

    @property
    def output_size(self) -> Any:
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> Any:
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size, time=tf.TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(each.alignments_size for each in mechanisms),
            attention_state=self._item_or_tuple(each.state_size for each in mechanisms),
            alignment_history=self._item_or_tuple(
                each.alignments_size if self._alignment_history else () for each in mechanisms))

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the state before the first step.

        Args:
          batch_size: The memory's, an integer or a tensor of one.
          dtype: Type of the state.
        """
        with v1.name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            message = (f"When calling zero_state of AttentionWrapper {self._base_name}: "
                       "Non-matching batch sizes between the memory (encoder output) and the "
                       "requested batch size.  Are you using the BeamSearchDecoder?  If so, make "
                       "sure your encoder output has been tiled to beam_width via "
                       "tf.contrib.seq2seq.tile_batch, and the batch_size= argument passed to "
                       "zero_state is batch_size * beam_width.")
            with tf.control_dependencies(self._batch_size_checks(batch_size, message)):
                cell_state = tf.nest.map_structure(
                    lambda s: tf.identity(s, name="checked_cell_state"), cell_state)
            mechanisms = self._attention_mechanisms
            alignments = [each.initial_alignments(batch_size, dtype) for each in mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state, time=tf.zeros([], tf.int32),
                attention=tensors.zeros(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    each.initial_state(batch_size, dtype) for each in mechanisms),
                alignment_history=self._item_or_tuple(
                    tf.TensorArray(dtype, 0, dynamic_size=True, element_shape=each.shape)
                    if self._alignment_history else () for each in alignments))

    def call(self, inputs: Any, state: Any) -> Any:
        """Makes a step.

        Args:
          inputs: [batch, size].
          state: An AttentionWrapperState.

        Returns:
          The attention or the cell's output, and the next state.

        Raises:
          TypeError: for another state.
        """
        if not isinstance(state, AttentionWrapperState):
            raise TypeError("Expected state to be instance of AttentionWrapperState. Received "
                            f"type {type(state)} instead.")
        inputs = self._cell_input_fn(inputs, state.attention)
        output, cell_state = self._cell(inputs, state.cell_state)
        message = (f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between "
                   "the memory (encoder output) and the query (decoder output).  "
                   + _TILE.format("memory input"))
        batch_size = tensors.static_or_dynamic(output, 0)
        with tf.control_dependencies(self._batch_size_checks(batch_size, message)):
            output = tf.identity(output, name="checked_cell_output")
        attentions, alignments, states, histories = zip(*self._attend(output, state))
        attention = tf.concat(attentions, 1)
        state = AttentionWrapperState(
            time=state.time + 1, cell_state=cell_state, attention=attention,
            attention_state=self._item_or_tuple(states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(histories))
        return (attention if self._output_attention else output), state

    def _attend(self, output: Any, state: Any) -> Any:
        """Yields a mechanism's attention, alignments, state and history."""
        states, histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            states, histories = [states], [histories]
        for number, mechanism in enumerate(self._attention_mechanisms):
            layer = self._attention_layers[number] if self._attention_layers else None
            attention, alignments, next_state = self._attention_fn(
                mechanism, output, states[number], layer)
            history = (histories[number].write(state.time, alignments)
                       if self._alignment_history else ())
            yield attention, alignments, next_state, history


def _layers(cell: Any, mechanisms: Any, sizes: Any, layers: Any) -> Any:
    """Returns the attention layers, or None, and the size of all attentions."""
    if sizes is not None and layers is not None:
        raise ValueError("Only one of attention_layer_size and attention_layer should be set")
    depths: list[Any] = [
        tf.compat.dimension_value(each.values.shape[-1]) if hasattr(each, "values") else None
        for each in mechanisms]
    if sizes is not None:
        sizes = _as_many("attention_layer_size", sizes, mechanisms)
        return tuple(
            v1.layers.Dense(size, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
            for size, mechanism in zip(sizes, mechanisms)), sum(sizes)
    if layers is not None:
        layers = _as_many("attention_layer", layers, mechanisms)
        return layers, sum(
            tf.compat.dimension_value(layer.compute_output_shape(
                [None, cell.output_size + depth])[-1]) for layer, depth in zip(layers, depths))
    return None, sum(depths)


def _as_many(name: str, values: Any, mechanisms: Any) -> Any:
    values = tuple(values) if isinstance(values, (list, tuple)) else (values,)
    if len(values) != len(mechanisms):
        raise ValueError(f"If provided, {name} must contain exactly one entry per "
                         f"attention_mechanism, saw: {len(values)} vs {len(mechanisms)}")
    return values


def compute_attention(attention_mechanism: Any, cell_output: Any, attention_state: Any,
                      attention_layer: Any) -> Any:
    """Returns the attention, [batch, size], the alignments, [batch, time], and the next state.

    Args:
      attention_mechanism: An AttentionMechanism with values.
      cell_output: The query, [batch, size].
      attention_state: The mechanism's state.
      attention_layer: A layer on the query and the context, or None.
    """
    alignments, state = attention_mechanism(cell_output, state=attention_state)
    context = tf.matmul(tf.expand_dims(alignments, 1), attention_mechanism.values)
    context = tf.squeeze(context, [1])
    if attention_layer is not None:
        context = attention_layer(tf.concat([cell_output, context], 1))
    return context, alignments, state
