"""`tf.contrib.legacy_seq2seq`: sequences as Python lists of a tensor for each step."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.legacy_seq2seq"

NAMES = {name: f"{_HERE}.{module}.{name}" for module, names in {
    "decoders": ("attention_decoder", "embedding_attention_decoder", "embedding_rnn_decoder",
                 "rnn_decoder"),
    "models": ("basic_rnn_seq2seq", "embedding_attention_seq2seq", "embedding_rnn_seq2seq",
               "embedding_tied_rnn_seq2seq", "one2many_rnn_seq2seq", "tied_rnn_seq2seq"),
    "losses": ("model_with_buckets", "sequence_loss", "sequence_loss_by_example"),
}.items() for name in names}
NAMES["_extract_argmax_and_embed"] = f"{_HERE}.decoders.next_symbol"
