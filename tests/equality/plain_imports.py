"""Imports of a program to have tf.estimator: nothing of this project where TensorFlow has it."""

from __future__ import annotations

from importlib import metadata

if tuple(map(int, metadata.version("tensorflow").split(".")[:2])) > (2, 15):
    import estimator_trainer.compat  # noqa: F401
# isort: split
import tensorflow as tf  # noqa: F401
