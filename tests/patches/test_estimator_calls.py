"""Each bend of TensorFlow for scripts is still needed, and still takes."""

from __future__ import annotations

import pytest
import tensorflow as tf

from estimator_trainer.patches import estimator_patches


def test_every_name_of_train_and_evaluate_calls_the_replacement_and_then_no_more():
    from tensorflow_estimator.python.estimator import training
    seen = []
    with estimator_patches.calling({
            "train_and_evaluate": lambda original, *args: seen.append(args),
            "train": lambda original, *args: seen.append("train")}):
        for module in (tf.estimator, tf.compat.v1.estimator, training):
            module.train_and_evaluate(1, 2, 3)
        tpu = tf.compat.v1.estimator.tpu.TPUEstimator
        for kind in (tf.estimator.Estimator, tf.compat.v1.estimator.Estimator, tpu):
            kind.train(None, None)
    assert seen == [(1, 2, 3)] * 3 + ["train"] * 3
    assert tf.estimator.train_and_evaluate.__module__ == training.__name__
    with pytest.raises(TypeError, match="must have type"):
        tf.estimator.train_and_evaluate(1, 2, 3)
