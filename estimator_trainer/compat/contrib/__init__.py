"""`tf.contrib`: where the names of TensorFlow 1's packages live today, one module a package."""

from __future__ import annotations

# `tensorflow1/namespace.py` says what a table has. They name private modules of TensorFlow;
# `tests/compat/test_contrib.py` notices when one moves.
PACKAGES = frozenset((
    "cluster_resolver", "crf", "data", "deprecated", "distribute", "eager", "estimator",
    "framework", "layers", "learn", "lookup", "metrics", "opt", "predictor", "rnn", "saved_model",
    "seq2seq", "slim", "summary", "tpu", "training"))
