"""`tf.keras.wrappers`, which later versions lack."""

from __future__ import annotations

from estimator_trainer.compat.tensorflow1.keras_wrappers import scikit_learn

__all__ = ["scikit_learn"]
