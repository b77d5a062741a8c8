"""`tf.contrib.compiler`: code that XLA compiles."""

from __future__ import annotations

NAMES = {
    "estimator_model_fn": "estimator_trainer.compat.contrib.compiler.model_fns.estimator_model_fn",
    "experimental_jit_scope": "tf.xla.experimental.jit_scope",
}
MODULES = ("tf.xla.experimental",)
