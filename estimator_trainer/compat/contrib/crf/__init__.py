"""`tf.contrib.crf`: linear-chain conditional random fields."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.crf"
NAMES = {
    **{name: f"{_HERE}.chain.{name}" for name in (
        "crf_binary_score", "crf_decode", "crf_log_likelihood", "crf_log_norm",
        "crf_multitag_sequence_score", "crf_sequence_score", "crf_unary_score",
        "viterbi_decode")},
    **{name: f"{_HERE}.cells.{name}" for name in (
        "CrfDecodeBackwardRnnCell", "CrfDecodeForwardRnnCell", "CrfForwardRnnCell")},
}
