"""Trains a network of one hidden layer, in one of the ways that --way names."""

from __future__ import annotations

import estimator_trainer.compat  # noqa: F401  Restores Estimator on a newer TensorFlow.

# isort: split
import numpy as np
import tensorflow as tf

from benchmarks.kinds.scripts import job
from model_fns.training import update

_EXAMPLES, _PIXELS, _CLASSES, _UNITS, _BATCH = 10_000, 784, 10, 100, 64


def input_fn() -> tf.data.Dataset:
    """Returns shuffled batches of noise whose label a linear model can find."""
    random = np.random.RandomState(0)
    images = random.rand(_EXAMPLES, _PIXELS).astype(np.float32)
    labels = np.argmax(images @ random.randn(_PIXELS, _CLASSES), axis=1)
    dataset = tf.data.Dataset.from_tensor_slices(({"image": images}, labels))
    return dataset.shuffle(_EXAMPLES).repeat().batch(_BATCH).prefetch(2)


def _loss(features, labels):
    hidden = tf.compat.v1.layers.dense(features["image"], _UNITS, tf.nn.relu)
    logits = tf.compat.v1.layers.dense(hidden, _CLASSES)
    return tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)


def _model_fn(features, labels, mode):
    return job.spec(mode, _loss(features, labels), tf.compat.v1.train.AdamOptimizer(1e-3))


def _accumulating(features, labels, mode, params):
    """Adds up the gradients of four batches for each step."""
    if mode == tf.estimator.ModeKeys.TRAIN:
        return update.spec(_loss(features, labels), params)
    return tf.estimator.EstimatorSpec(mode, loss=_loss(features, labels))


def _synchronous(features, labels, mode, config):
    """Takes the mean gradients of the chief and the worker for each step."""
    trainers = max(1, config.num_worker_replicas)
    optimizer = tf.compat.v1.train.SyncReplicasOptimizer(
        tf.compat.v1.train.AdamOptimizer(1e-3), trainers, trainers)
    made = job.spec(mode, _loss(features, labels), optimizer)
    if mode != tf.estimator.ModeKeys.TRAIN:
        return made
    return made._replace(training_hooks=[optimizer.make_session_run_hook(config.is_chief)])


class _MeanLoss(tf.estimator.SessionRunHook):
    """Keeps the mean of all losses, as a hook of a user's may."""

    def __init__(self, name=None):
        self._name, self._sum, self._runs = name, 0.0, 0

    def begin(self):
        self._loss = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.LOSSES)[0]

    def before_run(self, run_context):
        return tf.estimator.SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        self._sum, self._runs = self._sum + run_values.results, self._runs + 1


class _Network(tf.estimator.Estimator):
    """A model class whose model_fn is a method, with hooks of its own."""

    def __init__(self, config):
        super().__init__(self._build, config=config)

    def _build(self, features, labels, mode):
        spec = _model_fn(features, labels, mode)
        return spec._replace(training_hooks=[_MeanLoss()])


def main() -> None:
    """Trains."""
    options = job.flags("way")
    config, way = job.run_config(options), options.way
    if way == "model_class":
        estimator = _Network(config)
    else:
        model_fn = {"accumulate_steps": _accumulating, "sync_replicas": _synchronous}.get(
            way, _model_fn)
        estimator = tf.estimator.Estimator(
            model_fn, config=config, params={"accumulate_steps": 4, "optimizer": "adam"}
            if way == "accumulate_steps" else None)
    hooks = {
        "hook": lambda: [_MeanLoss()],
        "early_stopping": lambda: [tf.estimator.experimental.stop_if_no_decrease_hook(
            estimator, "loss", max_steps_without_decrease=10**9)]}
    job.train(estimator, input_fn, options, hooks[way]() if way in hooks else ())


if __name__ == "__main__":
    main()
