"""Models of `tf.contrib.legacy_seq2seq`: an encoder and a decoder.

Sutskever et al., "Sequence to Sequence Learning with Neural Networks", NIPS 2014. Arguments and
variables: tensorflow/contrib/legacy_seq2seq of TensorFlow 1.15.

Symbols are lists of [batch] int32. Where `feed_previous` can be a tensor, both decoders are made,
and the tensor says which runs. `output_projection` is a pair of weights and biases that make scores
of the outputs; without it, the outputs are scores.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, Optional

import tensorflow as tf

from estimator_trainer.compat.contrib.legacy_seq2seq import decoders
from estimator_trainer.compat.contrib.rnn.cells import actual_size, RNNCell, V1
from estimator_trainer.compat.contrib.rnn.wrappers import EmbeddingWrapper, OutputProjectionWrapper


def basic_rnn_seq2seq(encoder_inputs: Any, decoder_inputs: Any, cell: Any, dtype: Any = tf.float32,
                      scope: Any = None) -> Any:
    """Encodes with a copy of a cell, and decodes with the cell.

    Args:
      encoder_inputs, decoder_inputs: [batch, size] of each step.
      cell: The cell.
      dtype: Type of the state.
      scope: A variable scope, or its name.

    Returns:
      The list of outputs, and the state after the last step.
    """
    with V1.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = V1.nn.static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return decoders.rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(encoder_inputs: Any, decoder_inputs: Any, cell: Any, loop_function: Any = None,
                     dtype: Any = tf.float32, scope: Any = None) -> Any:
    """Encodes and decodes with one cell.

    The arguments are those of basic_rnn_seq2seq, and rnn_decoder's `loop_function`.
    """
    with V1.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = V1.nn.static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        V1.get_variable_scope().reuse_variables()
        return decoders.rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function,
                                    scope=scope)


def _decoded(feed_previous: Any, decode: Callable[..., Any], like: Any, steps: int,
             **options: bool) -> Any:
    """Decodes with or without the list's inputs, as a bool says, or a tensor at run time.

    Args:
      feed_previous: A bool, or a boolean tensor.
      decode: Takes whether outputs are fed; returns the list of outputs, and the state.
      like: A state, or a function that makes one, that has the structure.
      steps: Number of outputs.
      **options: More arguments of `decode`, where a tensor says.
    """
    if isinstance(feed_previous, bool):
        return decode(feed_previous)

    def branch(is_fed: bool) -> Any:
        with V1.variable_scope(V1.get_variable_scope(), reuse=None if is_fed else True):
            outputs, state = decode(is_fed, **options)
            return outputs + tf.nest.flatten(state)

    flat = V1.cond(feed_previous, lambda: branch(True), lambda: branch(False))
    like = like() if callable(like) else like
    state = tf.nest.pack_sequence_as(like, flat[steps:]) if tf.nest.is_nested(like) else flat[steps]
    return flat[:steps], state


def embedding_rnn_seq2seq(encoder_inputs: Any, decoder_inputs: Any, cell: Any,
                          num_encoder_symbols: int, num_decoder_symbols: int, embedding_size: int,
                          output_projection: Any = None, feed_previous: Any = False,
                          dtype: Any = None, scope: Any = None) -> Any:
    """Encodes and decodes embedded symbols.

    Args:
      encoder_inputs, decoder_inputs: Symbols.
      cell: The cell, copied for the encoder.
      num_encoder_symbols, num_decoder_symbols: Number of symbols.
      embedding_size: Size of the embeddings.
      output_projection: See above.
      feed_previous: A bool or a boolean tensor, whether outputs are fed to the decoder.
      dtype: Type of the state; the scope's by default.
      scope: A variable scope, or its name.

    Returns:
      The list of outputs, and the state after the last step.
    """
    with V1.variable_scope(scope or "embedding_rnn_seq2seq") as scope:
        if dtype is not None:
            scope.set_dtype(dtype)
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        _, state = V1.nn.static_rnn(encoder, encoder_inputs, dtype=scope.dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(is_fed: bool, **options: bool) -> Any:
            return decoders.embedding_rnn_decoder(
                decoder_inputs, state, cell, num_decoder_symbols, embedding_size,
                output_projection=output_projection, feed_previous=is_fed, **options)

        return _decoded(feed_previous, decode, state, len(decoder_inputs),
                        update_embedding_for_previous=False)


def embedding_tied_rnn_seq2seq(encoder_inputs: Any, decoder_inputs: Any, cell: Any,
                               num_symbols: int, embedding_size: int,
                               num_decoder_symbols: Optional[int] = None,
                               output_projection: Any = None, feed_previous: Any = False,
                               dtype: Any = None, scope: Any = None) -> Any:
    """Encodes and decodes embedded symbols with one cell and one embedding.

    The arguments and the result are those of embedding_rnn_seq2seq; `num_decoder_symbols` is the
    number of scores, `num_symbols` by default.
    """
    with V1.variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as scope:
        dtype = scope.dtype
        decoders.check_projection(output_projection, num_symbols, dtype)
        embedding = V1.get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        source, target = ([V1.nn.embedding_lookup(embedding, each) for each in inputs]
                          for inputs in (encoder_inputs, decoder_inputs))
        if output_projection is None:
            cell = OutputProjectionWrapper(
                cell, num_symbols if num_decoder_symbols is None else num_decoder_symbols)

        def decode(is_fed: bool, update_embedding_for_previous: bool = True) -> Any:
            loop_function = decoders.next_symbol(
                embedding, output_projection, update_embedding_for_previous) if is_fed else None
            return tied_rnn_seq2seq(source, target, cell, loop_function=loop_function, dtype=dtype)

        return _decoded(
            feed_previous, decode,
            lambda: cell.zero_state(actual_size(encoder_inputs[0], 0), dtype), len(decoder_inputs),
            update_embedding_for_previous=False)


def embedding_attention_seq2seq(encoder_inputs: Any, decoder_inputs: Any, cell: Any,
                                num_encoder_symbols: int, num_decoder_symbols: int,
                                embedding_size: int, num_heads: int = 1,
                                output_projection: Any = None, feed_previous: Any = False,
                                dtype: Any = None, scope: Any = None,
                                initial_state_attention: bool = False) -> Any:
    """Encodes and decodes embedded symbols; the decoder attends to the encoder's outputs.

    The arguments and the result are those of embedding_rnn_seq2seq and attention_decoder.
    """
    with V1.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as scope:
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        outputs, state = V1.nn.static_rnn(encoder, encoder_inputs, dtype=scope.dtype)
        attention_states = tf.concat(
            [tf.reshape(each, [-1, 1, cell.output_size]) for each in outputs], 1)
        output_size = None
        if output_projection is None:
            output_size = num_decoder_symbols
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(is_fed: bool, **options: bool) -> Any:
            return decoders.embedding_attention_decoder(
                decoder_inputs, state, attention_states, cell, num_decoder_symbols, embedding_size,
                num_heads=num_heads, output_size=output_size, output_projection=output_projection,
                feed_previous=is_fed, initial_state_attention=initial_state_attention, **options)

        return _decoded(feed_previous, decode, state, len(decoder_inputs),
                        update_embedding_for_previous=False)


def one2many_rnn_seq2seq(encoder_inputs: Any, decoder_inputs_dict: Any, enc_cell: Any,
                         dec_cells_dict: Any, num_encoder_symbols: int,
                         num_decoder_symbols_dict: Any, embedding_size: int,
                         feed_previous: Any = False, dtype: Any = None, scope: Any = None) -> Any:
    """Encodes symbols once, and decodes them with several decoders.

    Args:
      encoder_inputs: Symbols.
      decoder_inputs_dict: Symbols by the decoder's name.
      enc_cell: The encoder's cell.
      dec_cells_dict: Cells by the decoder's name.
      num_encoder_symbols: Number of symbols.
      num_decoder_symbols_dict: Numbers of symbols by the decoder's name.
      embedding_size: Size of the embeddings.
      feed_previous, dtype, scope: As for embedding_rnn_seq2seq.

    Returns:
      The list of outputs and the last state, by the decoder's name.

    Raises:
      TypeError: A cell is not one.
      ValueError: The names of cells and inputs differ.
    """
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError("keys of dec_cells_dict != keys of decoder_inputs_dict")
    for cell in (enc_cell, *dec_cells_dict.values()):
        if not isinstance(cell, RNNCell):
            raise TypeError(f"a cell is not an RNNCell: {type(cell)}")
    outputs_by_name, states_by_name = {}, {}
    with V1.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as scope:
        encoder = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, state = V1.nn.static_rnn(encoder, encoder_inputs, dtype=scope.dtype)
        for name, inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with V1.variable_scope(f"one2many_decoder_{name}"):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)

                def decode(is_fed: bool) -> Any:
                    return decoders.embedding_rnn_decoder(
                        inputs, state, cell, symbols, embedding_size, feed_previous=is_fed)

                outputs_by_name[name], states_by_name[name] = _decoded(
                    feed_previous, decode, state, len(inputs))
    return outputs_by_name, states_by_name
