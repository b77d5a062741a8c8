"""Estimators that come with TensorFlow, heads, Keras models, feature columns."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tests.equality.program import Program
from tests.equality.programs import models

v1 = tf.compat.v1
_COLUMN = tf.feature_column.numeric_column("x")


def _rows(num: int) -> tf.data.Dataset:
    x = tf.reshape(tf.range(num, dtype=tf.float32) / num, [num, 1])
    words = tf.strings.as_string(tf.range(num) % 3)
    labels = tf.cast(x > 0.5, tf.int64)
    return tf.data.Dataset.from_tensor_slices(({"x": x, "word": words}, labels)).batch(4)


def _train() -> tf.data.Dataset:
    return _rows(40).repeat()


def _evaluation() -> tf.data.Dataset:
    return _rows(10)


def _zero_optimizer(rate: float = 0.1) -> Any:
    return v1.train.GradientDescentOptimizer(rate)


def _linear(job: Any) -> Any:
    words = tf.feature_column.categorical_column_with_vocabulary_list("word", ["0", "1", "2"])
    return tf.compat.v1.estimator.LinearClassifier(
        [_COLUMN, words], config=job.config(), optimizer=_zero_optimizer())


def _linear_v2(job: Any) -> Any:
    words = tf.feature_column.categorical_column_with_hash_bucket("word", 5)
    return tf.estimator.LinearClassifier([_COLUMN, words], config=job.config())


def _regressor(job: Any) -> Any:
    return tf.compat.v1.estimator.LinearRegressor(
        [_COLUMN], config=job.config(), optimizer=_zero_optimizer())


def _wide_and_deep(job: Any) -> Any:
    words = tf.feature_column.categorical_column_with_vocabulary_list("word", ["0", "1", "2"])
    return tf.compat.v1.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=[words], linear_optimizer=_zero_optimizer(),
        dnn_feature_columns=[_COLUMN], dnn_hidden_units=[2], dnn_optimizer=_zero_optimizer(),
        config=job.config())


def _baseline(job: Any) -> Any:
    return tf.compat.v1.estimator.BaselineClassifier(
        config=job.config(), optimizer=_zero_optimizer())


def _head(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Leaves loss, metrics and train_op to a head."""
    head = tf.estimator.BinaryClassHead()
    weight = v1.get_variable("weight", [1, 1], initializer=v1.ones_initializer())
    logits = features["x"] @ weight
    return head.create_estimator_spec(
        features, mode, logits, labels, trainable_variables=[weight],
        train_op_fn=lambda loss: _zero_optimizer().minimize(loss, v1.train.get_global_step()))


def _columns(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Reads feature columns by the functions of TensorFlow 1."""
    words = tf.feature_column.embedding_column(
        tf.feature_column.categorical_column_with_vocabulary_list("word", ["0", "1", "2"]), 2,
        initializer=v1.ones_initializer())
    inputs = v1.feature_column.input_layer(features, [_COLUMN, words])
    out = v1.layers.dense(inputs, 1, kernel_initializer=v1.ones_initializer(), name="out")
    loss = v1.losses.sigmoid_cross_entropy(labels, out)
    return models.spec(mode, loss, metrics={"out": v1.metrics.mean(out)})


def _keras(job: Any) -> Any:
    inputs = tf.keras.Input([1], name="x")
    outputs = tf.keras.layers.Dense(1, kernel_initializer="ones", name="out")(inputs)
    model = tf.keras.Model(inputs, outputs)
    model.compile(tf.keras.optimizers.legacy.SGD(0.1), "mse", metrics=["mae"])
    return tf.keras.estimator.model_to_estimator(model, config=job.config())


def _keras_train() -> tf.data.Dataset:
    return models.line().repeat()


def _tpu(job: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: str,
                 params: Any) -> v1.estimator.tpu.TPUEstimatorSpec:
        job.keep(f"batch size {mode}", params["batch_size"])
        spec = models.linear(features, labels, mode)
        return v1.estimator.tpu.TPUEstimatorSpec(mode, loss=spec.loss, train_op=spec.train_op)

    config = v1.estimator.tpu.RunConfig(
        model_dir=str(job.model_dir), tf_random_seed=1, save_checkpoints_steps=4)
    return v1.estimator.tpu.TPUEstimator(model_fn, config=config, use_tpu=False,
                                         train_batch_size=4, eval_batch_size=5)


def _tpu_input_fn(params: Any) -> tf.data.Dataset:
    return models.line(20, params["batch_size"]).repeat()


def _tpu_uses(job: Any) -> None:
    try:
        estimator = job.estimator()
    except Exception as error:
        job.keep("refused", type(error).__name__)
        return
    estimator.train(_tpu_input_fn, max_steps=6)
    job.keep("evaluated", estimator.evaluate(_tpu_input_fn, steps=2))


_ROWS = dict(train_input_fn=_train, eval_input_fn=_evaluation)

PROGRAMS = {
    "linear_classifier": Program(**_ROWS, estimator=_linear),
    "linear_classifier_v2": Program(**_ROWS, estimator=_linear_v2),
    "linear_regressor": Program(**_ROWS, estimator=_regressor),
    "wide_and_deep": Program(**_ROWS, estimator=_wide_and_deep),
    "baseline": Program(**_ROWS, estimator=_baseline),
    "head": Program(_head, **_ROWS, is_plugin=True),
    "feature_columns": Program(_columns, **_ROWS, is_plugin=True),
    "keras_model": Program(train_input_fn=_keras_train, eval_input_fn=models.short_line_input_fn,
                           estimator=_keras),
    "tpu_estimator": Program(estimator=_tpu, main=_tpu_uses, shapes=("one",),
                             why="a TPUEstimator takes no strategy"),
}
