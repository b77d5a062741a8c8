"""Encoders of sequences of symbols.

Source: tensorflow/contrib/layers/python/layers/encoders.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.layers.columns import dense_to_sparse, model_variable
from estimator_trainer.compat.contrib.layers.embeddings import (embedding_lookup_unique,
                                                                safe_embedding_lookup_sparse)


def bow_encoder(ids: Any, vocab_size: int, embed_dim: int, sparse_lookup: bool = True,
                initializer: Any = None, regularizer: Any = None, trainable: bool = True,
                scope: Any = None, reuse: Any = None) -> Any:
    """Maps a batch of sequences of symbols to the means of their embeddings.

    Args:
      ids: [batch, length] int32 or int64, or a SparseTensor.
      vocab_size, embed_dim: Shape of the embeddings.
      sparse_lookup: Whether zeros of `ids` are no symbols.
      initializer, regularizer, trainable: For the variable `embeddings`.
      scope, reuse: The variable scope, `bow_encoder` by default.

    Returns:
      [batch, embed_dim] float32.

    Raises:
      TypeError: ids is a SparseTensor, and sparse_lookup is False.
    """
    is_sparse = isinstance(ids, tf.sparse.SparseTensor)
    with tf.compat.v1.variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = model_variable(
            "embeddings", shape=[vocab_size, embed_dim], initializer=initializer,
            regularizer=regularizer, trainable=trainable)
        if sparse_lookup:
            sparse = ids if is_sparse else dense_to_sparse(ids)
            return safe_embedding_lookup_sparse([embeddings], sparse, combiner="mean",
                                                default_id=0)
        if is_sparse:
            raise TypeError(f"ids is {ids!r} (from bow_encoder); expected a dense tensor where "
                            "sparse_lookup is False.")
        return tf.reduce_mean(tf.compat.v1.nn.embedding_lookup(embeddings, ids), axis=1)


def embed_sequence(ids: Any, vocab_size: Any = None, embed_dim: Any = None, unique: bool = False,
                   initializer: Any = None, regularizer: Any = None, trainable: bool = True,
                   scope: Any = None, reuse: Any = None) -> Any:
    """Maps a batch of sequences of symbols to a batch of sequences of embeddings.

    Args:
      ids: [batch, length] int32 or int64.
      vocab_size, embed_dim: Shape of the embeddings; None where a reused variable has it.
      unique: Whether each symbol of the batch is looked up once.
      initializer, regularizer, trainable: For the variable `embeddings`.
      scope, reuse: The variable scope, `EmbedSequence` by default.

    Returns:
      [batch, length, embed_dim] float32.

    Raises:
      ValueError: a size is missing, and nothing is reused.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(f"vocab_size and embed_dim are {(vocab_size, embed_dim)} (from "
                         "embed_sequence); expected two numbers, unless reuse is set.")
    shape = [vocab_size, embed_dim] if vocab_size and embed_dim else None
    with tf.compat.v1.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        embeddings = model_variable("embeddings", shape=shape, initializer=initializer,
                                    regularizer=regularizer, trainable=trainable)
        lookup = embedding_lookup_unique if unique else tf.compat.v1.nn.embedding_lookup
        return lookup(embeddings, ids)
