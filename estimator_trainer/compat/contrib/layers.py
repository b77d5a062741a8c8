"""`tf.contrib.layers`: its layers are in tf_slim, its columns in `tf.feature_column`."""

from __future__ import annotations

from typing import Any

from estimator_trainer.compat.contrib import feature_columns, slim


def embed_sequence(ids: Any, vocab_size: Any = None, embed_dim: Any = None, unique: bool = False,
                   *args: Any, **kwargs: Any) -> Any:
    """Maps a batch of sequences of symbols to a batch of sequences of embeddings.

    Args:
      ids: [batch, length] int32 or int64.
      vocab_size, embed_dim: Shape of the embeddings; None where a reused variable has it.
      unique: Whether each symbol of the batch is looked up once.
      *args, **kwargs: initializer, regularizer, trainable, scope, reuse.

    Returns:
      [batch, length, embed_dim] float32.
    """
    import tensorflow as tf
    embeddings = _embeddings((vocab_size, embed_dim), *args, **kwargs)
    if not unique:
        return tf.compat.v1.nn.embedding_lookup(embeddings, ids)
    each, where = tf.unique(tf.reshape(ids, [-1]))
    rows = tf.gather(tf.compat.v1.nn.embedding_lookup(embeddings, each), where)
    return tf.reshape(rows, tf.concat([tf.shape(ids), tf.shape(rows)[1:]], axis=0))


def _embeddings(shape: Any, initializer: Any = None, regularizer: Any = None,
                trainable: bool = True, scope: Any = None, reuse: Any = None) -> Any:
    import tensorflow as tf
    v1 = tf.compat.v1
    if not (reuse or all(shape)):
        raise ValueError(f"vocab_size and embed_dim are {shape!r} (from embed_sequence); expected "
                         "two numbers, unless reuse is set.")
    with v1.variable_scope(scope, "EmbedSequence", reuse=reuse):
        return v1.get_variable(
            "embeddings", shape if all(shape) else None, initializer=initializer,
            regularizer=regularizer, trainable=trainable,
            collections=[v1.GraphKeys.GLOBAL_VARIABLES, v1.GraphKeys.MODEL_VARIABLES])


NAMES = {
    **{name: slim.NAMES[name] for name in slim.FUNCTIONS},
    **feature_columns.NAMES,
    "embed_sequence": embed_sequence,
    "safe_embedding_lookup_sparse": "tf.nn.safe_embedding_lookup_sparse",
    "utils": "tf_slim.layers.utils",
    **{name: f"tf_slim.layers.utils.{name}" for name in (
        "collect_named_outputs", "convert_collection_to_dict", "append_tensor_alias",
        "gather_tensors_aliases", "get_tensor_aliases", "smart_cond")},
}
INSTEAD = {
    **feature_columns.INSTEAD,
    "bow_encoder": "use tf.feature_column.embedding_column",
    "embedding_lookup_unique": "use tf.nn.embedding_lookup",
    "scattered_embedding_column": "use tf.feature_column.embedding_column",
}
