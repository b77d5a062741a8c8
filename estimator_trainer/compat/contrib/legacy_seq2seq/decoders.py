"""Decoders of `tf.contrib.legacy_seq2seq`.

Sutskever et al., "Sequence to Sequence Learning with Neural Networks", NIPS 2014; Vinyals et al.,
"Grammar as a Foreign Language", NIPS 2015, for the attention. Arguments and variables:
tensorflow/contrib/legacy_seq2seq of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import tensorflow as tf

from estimator_trainer.compat.contrib.rnn.cells import actual_size, known_size, Linear, size_of, V1


def next_symbol(embedding: Any, output_projection: Any = None,
                update_embedding: bool = True) -> Callable[[Any, Any], Any]:
    """Returns a loop function: it gives the embedding of the likeliest symbol of an output."""

    def loop_function(previous: Any, _: Any) -> Any:
        if output_projection is not None:
            previous = V1.nn.xw_plus_b(previous, output_projection[0], output_projection[1])
        embedded = V1.nn.embedding_lookup(embedding, tf.argmax(previous, 1))
        return embedded if update_embedding else tf.stop_gradient(embedded)

    return loop_function


def check_projection(projection: Any, symbols: int, dtype: Any, weights: bool = True) -> None:
    """Raises ValueError if a pair of weights and biases is not for so many symbols."""
    if projection is None:
        return
    if weights:
        matrix = tf.convert_to_tensor(projection[0], dtype=dtype)
        matrix.shape.assert_is_compatible_with([None, symbols])
    biases = tf.convert_to_tensor(projection[1], dtype=dtype)
    biases.shape.assert_is_compatible_with([symbols])


def rnn_decoder(decoder_inputs: Any, initial_state: Any, cell: Any, loop_function: Any = None,
                scope: Any = None) -> Any:
    """Runs a cell over a list of inputs.

    Args:
      decoder_inputs: [batch, size] of each step.
      initial_state: The state before the first step.
      cell: The cell.
      loop_function: Takes the last output and the step's number, and returns the input that is
        taken instead of the list's, from the second on.
      scope: A variable scope, or its name.

    Returns:
      The list of outputs, and the state after the last step.
    """
    with V1.variable_scope(scope or "rnn_decoder"):
        outputs: list[Any] = []
        state = initial_state
        for number, inputs in enumerate(decoder_inputs):
            if number and loop_function is not None:
                with V1.variable_scope("loop_function", reuse=True):
                    inputs = loop_function(outputs[-1], number)
            if number:
                V1.get_variable_scope().reuse_variables()
            output, state = cell(inputs, state)
            outputs.append(output)
    return outputs, state


def embedding_rnn_decoder(decoder_inputs: Any, initial_state: Any, cell: Any, num_symbols: int,
                          embedding_size: int, output_projection: Any = None,
                          feed_previous: bool = False, update_embedding_for_previous: bool = True,
                          scope: Any = None) -> Any:
    """Runs a cell over the embeddings of a list of symbols.

    Args:
      decoder_inputs: [batch] int32 of each step.
      initial_state: The state before the first step.
      cell: The cell.
      num_symbols: Number of symbols.
      embedding_size: Size of the variable `embedding`'s rows.
      output_projection: A pair of weights and biases that make scores of the outputs.
      feed_previous: Whether the likeliest symbol of the last output is taken instead of the list's,
        from the second step on.
      update_embedding_for_previous: Whether these symbols' embeddings are trained.
      scope: A variable scope, or its name.

    Returns:
      The list of outputs, and the state after the last step.

    Raises:
      ValueError: The projection's shapes do not fit.
    """
    with V1.variable_scope(scope or "embedding_rnn_decoder") as scope:
        check_projection(output_projection, num_symbols, scope.dtype)
        embedding = V1.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = next_symbol(embedding, output_projection, update_embedding_for_previous
                                    ) if feed_previous else None
        # One at a time: the lookup of a symbol that is not taken is not made.
        embedded = (V1.nn.embedding_lookup(embedding, each) for each in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop_function)


class _Attention:
    """Reads from states, with variables `AttnW_*` and `AttnV_*` and the scope `Attention_*`."""

    def __init__(self, states: Any, heads: int, dtype: Any) -> None:
        self._length, self._size = actual_size(states, 1), states.shape.as_list()[2]
        self._dtype = dtype
        self._hidden = tf.reshape(states, [-1, self._length, 1, self._size])
        self._heads = []
        for head in range(heads):
            weight = V1.get_variable(f"AttnW_{head}", [1, 1, self._size, self._size], dtype=dtype)
            features = tf.nn.conv2d(self._hidden, weight, [1, 1, 1, 1], "SAME")
            vector = V1.get_variable(f"AttnV_{head}", [self._size], dtype=dtype)
            self._heads.append((features, vector))

    def zeros(self, batch: Any) -> list[Any]:
        """Returns what has been read before the first step."""
        shape = tf.stack([batch, self._size])
        found = [tf.zeros(shape, dtype=self._dtype) for _ in self._heads]
        for each in found:
            each.set_shape([None, self._size])
        return found

    def read(self, query: Any) -> list[Any]:
        """Returns [batch, size] of each head."""
        if tf.nest.is_nested(query):
            query = tf.concat(tf.nest.flatten(query), 1)
        found = []
        for head, (features, vector) in enumerate(self._heads):
            with V1.variable_scope(f"Attention_{head}"):
                projected = tf.reshape(Linear(query, self._size, True)(query),
                                       [-1, 1, 1, self._size])
                scores = tf.reduce_sum(
                    vector * tf.tanh(features + tf.cast(projected, self._dtype)), [2, 3])
                shares = tf.cast(tf.nn.softmax(tf.cast(scores, tf.float32)), self._dtype)
                read = tf.reduce_sum(
                    tf.reshape(shares, [-1, self._length, 1, 1]) * self._hidden, [1, 2])
                found.append(tf.reshape(read, [-1, self._size]))
        return found


def attention_decoder(decoder_inputs: Any, initial_state: Any, attention_states: Any, cell: Any,
                      output_size: Optional[int] = None, num_heads: int = 1,
                      loop_function: Any = None, dtype: Any = None, scope: Any = None,
                      initial_state_attention: bool = False) -> Any:
    """Runs a cell that attends to states at each step.

    Args:
      decoder_inputs: [batch, size] of each step.
      initial_state: The state before the first step.
      attention_states: [batch, length, size].
      cell: The cell.
      output_size: Size of the outputs; the cell's by default.
      num_heads: How often it attends.
      loop_function: As for rnn_decoder.
      dtype: Type of the attention; the scope's by default.
      scope: A variable scope, or its name.
      initial_state_attention: Whether it attends before the first step too.

    Returns:
      The list of outputs, [batch, output_size], and the state after the last step.

    Raises:
      ValueError: There are no inputs or heads, or a size is unknown.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if size_of(attention_states, 2) is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    with V1.variable_scope(scope or "attention_decoder", dtype=dtype) as scope:
        dtype = scope.dtype
        batch = tf.shape(decoder_inputs[0])[0]
        attention = _Attention(attention_states, num_heads, dtype)
        outputs: list[Any] = []
        state, reads = initial_state, attention.zeros(batch)
        if initial_state_attention:
            reads = attention.read(initial_state)
        for number, inputs in enumerate(decoder_inputs):
            if number:
                V1.get_variable_scope().reuse_variables()
            if number and loop_function is not None:
                with V1.variable_scope("loop_function", reuse=True):
                    inputs = loop_function(outputs[-1], number)
            size = known_size(inputs)
            cell_output, state = cell(_product([inputs, *reads], size, dtype), state)
            with V1.variable_scope(V1.get_variable_scope(),
                                   reuse=True if initial_state_attention else None):
                reads = attention.read(state)
            with V1.variable_scope("AttnOutputProjection"):
                outputs.append(_product([cell_output, *reads], output_size or cell.output_size,
                                        dtype))
    return outputs, state


def _product(tensors: list[Any], size: int, dtype: Any) -> Any:
    tensors = [tf.cast(each, dtype) for each in tensors]
    return Linear(tensors, size, True)(tensors)


def embedding_attention_decoder(decoder_inputs: Any, initial_state: Any, attention_states: Any,
                                cell: Any, num_symbols: int, embedding_size: int,
                                num_heads: int = 1, output_size: Optional[int] = None,
                                output_projection: Any = None, feed_previous: bool = False,
                                update_embedding_for_previous: bool = True, dtype: Any = None,
                                scope: Any = None, initial_state_attention: bool = False) -> Any:
    """Runs a cell with attention over the embeddings of a list of symbols.

    The arguments and the result are those of embedding_rnn_decoder and attention_decoder.
    """
    if output_size is None:
        output_size = cell.output_size
    check_projection(output_projection, num_symbols, dtype, weights=False)
    with V1.variable_scope(scope or "embedding_attention_decoder", dtype=dtype) as scope:
        embedding = V1.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = next_symbol(embedding, output_projection, update_embedding_for_previous
                                    ) if feed_previous else None
        embedded = [V1.nn.embedding_lookup(embedding, each) for each in decoder_inputs]
        return attention_decoder(
            embedded, initial_state, attention_states, cell, output_size=output_size,
            num_heads=num_heads, loop_function=loop_function,
            initial_state_attention=initial_state_attention)
