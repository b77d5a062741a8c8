"""`tf.contrib`: where the names of TensorFlow 1's packages live today, one module a package.

`compat/tf1/namespace.py` says what a table has. TensorFlow's private modules are named in the
tables; `tests/compat/test_contrib.py` notices when one moves.
"""

from __future__ import annotations

PACKAGES = frozenset((
    "cluster_resolver", "crf", "data", "deprecated", "distribute", "eager", "estimator",
    "framework", "layers", "learn", "lookup", "metrics", "opt", "predictor", "rnn", "saved_model",
    "seq2seq", "slim", "summary", "tpu", "training"))
