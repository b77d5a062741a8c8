"""Unusual patterns of published programs: hooks of TensorFlow's own, calls of an Estimator."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import tensorflow as tf

from tests.equality.program import Program
from tests.equality.programs import models

v1 = tf.compat.v1


def _shaped(outputs: Callable[[tf.Tensor], tf.Tensor]) -> Callable[..., Any]:
    """Returns a regression whose outputs, [batch, 1], a function computes of x, [batch, 1]."""

    def model_fn(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
        y = outputs(features["x"])
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y, "x": features["x"]})
        loss = v1.losses.mean_squared_error(labels, y) + v1.losses.get_regularization_loss()
        return models.spec(mode, loss, metrics={"mean": v1.metrics.mean(y)})

    return model_fn


def _weight(name: str, shape: list[int], **arguments: Any) -> Any:
    return v1.get_variable(name, shape, initializer=v1.constant_initializer(0.5), **arguments)


def _template(x: tf.Tensor) -> tf.Tensor:
    """Shares variables by a template, and by reuse."""
    layer = v1.make_template("layer", lambda value: value * _weight("w", [1]))
    with v1.variable_scope("shared"):
        first = x + _weight("b", [1])
    twice = layer(layer(first))
    with v1.variable_scope("shared", reuse=True):
        return twice + v1.get_variable("b", [1])


def _custom_getter(x: tf.Tensor) -> tf.Tensor:
    def halved(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        return getter(name, *args, **kwargs) / 2.0

    with v1.variable_scope("halved", custom_getter=halved):
        return x * _weight("w", [1])


def _custom_gradient(x: tf.Tensor) -> tf.Tensor:
    @tf.custom_gradient
    def doubled(value: tf.Tensor) -> Any:
        return value, lambda gradient: 2.0 * gradient

    return doubled(x * _weight("w", [1]))


def _recomputed(x: tf.Tensor) -> tf.Tensor:
    w = _weight("w", [1])
    return tf.recompute_grad(lambda value: tf.nn.relu(value * w))(x)


def _mapped(x: tf.Tensor) -> tf.Tensor:
    w = _weight("w", [1])
    sums = tf.scan(lambda total, row: total + row * w, x, tf.zeros([1]))
    return tf.map_fn(lambda row: row * w, x) + 0.1 * sums


def _rnn(x: tf.Tensor) -> tf.Tensor:
    cell = v1.nn.rnn_cell.BasicLSTMCell(3, name="cell")
    # Made within the loop of dynamic_rnn, the variables would not follow from the graph's seed.
    with v1.variable_scope("rnn", initializer=v1.constant_initializer(0.1)):
        outputs, _ = v1.nn.dynamic_rnn(cell, tf.stack([x, 2.0 * x], 1), dtype=tf.float32)
    return tf.reduce_sum(outputs[:, -1], 1, keepdims=True) * _weight("w", [1])


def _lstm(x: tf.Tensor) -> tf.Tensor:
    layer = tf.keras.layers.LSTM(2, kernel_initializer="ones", recurrent_initializer="ones")
    return tf.reduce_sum(layer(tf.stack([x, x], 1)), 1, keepdims=True) * _weight("w", [1])


def _asserted(x: tf.Tensor) -> tf.Tensor:
    with tf.control_dependencies([v1.assert_greater(tf.shape(x)[0], 0)]):
        return tf.debugging.check_numerics(x * _weight("w", [1]), "x")


def _penalized(x: tf.Tensor) -> tf.Tensor:
    w = _weight("w", [1], regularizer=lambda value: 0.1 * tf.reduce_sum(value ** 2),
                constraint=lambda value: tf.clip_by_value(value, 0.0, 0.55))
    return v1.layers.dense(x * w, 1, kernel_initializer=v1.ones_initializer(),
                           kernel_regularizer=lambda value: 0.01 * tf.reduce_sum(value ** 2))


def _conditional(x: tf.Tensor) -> tf.Tensor:
    w = _weight("w", [1])
    return tf.cond(tf.reduce_mean(x) > 0.5, lambda: x * w, lambda: tf.switch_case(
        tf.cast(v1.train.get_or_create_global_step() % 2, tf.int32),
        [lambda: x * w * w, lambda: x + w]))


def _python(x: tf.Tensor) -> tf.Tensor:
    y = tf.numpy_function(lambda value: np.float32(np.sqrt(value)), [x], tf.float32)
    y.set_shape([None, 1])
    return y * _weight("w", [1])


def _stops_early(job: Any) -> None:
    """Stops by the hooks that read the events of evaluations."""
    estimator = job.estimator()
    hook = tf.estimator.experimental.stop_if_no_decrease_hook(
        estimator, "loss", max_steps_without_decrease=2, min_steps=0, run_every_secs=None,
        run_every_steps=1)
    job.keep("train_and_evaluate returns", tf.estimator.train_and_evaluate(
        estimator, job.train_spec(hooks=[hook]), job.eval_spec()))


def _evaluates_in_memory(job: Any) -> None:
    estimator = job.estimator()
    hook = tf.estimator.experimental.InMemoryEvaluatorHook(
        estimator, models.short_line_input_fn, steps=2, every_n_iter=3)
    estimator.train(models.endless_line_input_fn, max_steps=8, hooks=[hook])
    job.keep("evaluated", estimator.evaluate(models.short_line_input_fn))


def _adds_metrics(job: Any) -> None:
    def more(labels: Any, predictions: Any, features: Any) -> dict[str, Any]:
        return {"mean_x": v1.metrics.mean(features["x"])}

    job.train_and_evaluate(tf.estimator.add_metrics(job.estimator(), more))


def _feeding(job: Any) -> None:
    """Trains on what a hook feeds into each session run."""
    tensors: dict[str, tf.Tensor] = {}

    def input_fn() -> Any:
        tensors["x"] = v1.placeholder(tf.float32, [2, 1])
        return {"x": tensors["x"]}, 2.0 * tensors["x"]

    class Feeding(tf.estimator.SessionRunHook):
        def before_run(self, run_context: Any) -> Any:
            return tf.estimator.SessionRunArgs(
                None, {tensors["x"]: np.array([[0.25], [0.5]], np.float32)})

    estimator = job.estimator()
    estimator.train(input_fn, steps=6, hooks=[Feeding()])
    job.keep("evaluated", estimator.evaluate(models.short_line_input_fn))


def _predicts(job: Any) -> None:
    """Uses every kind of prediction and export after training."""
    estimator = job.estimator()
    job.keep("trained", tf.estimator.train_and_evaluate(
        estimator, job.train_spec(), job.eval_spec()))
    first = tf.train.get_checkpoint_state(str(job.model_dir)).all_model_checkpoint_paths[0]
    for name, arguments in (("rows", {}), ("batches", {"yield_single_examples": False}),
                            ("some", {"predict_keys": ["y"], "checkpoint_path": first})):
        job.keep(name, list(estimator.predict(models.short_line_input_fn, **arguments)))
    job.keep("variables", sorted(estimator.get_variable_names()))
    job.keep("value", estimator.get_variable_value("weight"))
    job.keep("exported", estimator.export_saved_model(
        f"{job.model_dir}/mine", models.serving_input_receiver_fn, as_text=False,
        checkpoint_path=first))


def _starts_warm(job: Any) -> None:
    """Starts a second Estimator from the first, one variable under another name."""
    estimator = job.estimator()
    estimator.train(models.endless_line_input_fn, max_steps=4)

    def renamed(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
        w = v1.get_variable("scale", [1, 1])
        b = v1.get_variable("bias", [1])
        loss = v1.losses.mean_squared_error(labels, tf.matmul(features["x"], w) + b)
        return models.spec(mode, loss)

    second = tf.estimator.Estimator(
        renamed, config=job.config(model_dir=f"{job.model_dir}/second"),
        warm_start_from=tf.estimator.WarmStartSettings(
            str(job.model_dir), ".*", var_name_to_prev_var_name={"scale": "weight"}))
    second.train(models.endless_line_input_fn, max_steps=8)
    job.keep("second", [second.get_variable_value(name).tolist() for name in ("scale", "bias")])


def _of_numpy() -> Any:
    x = np.arange(24, dtype=np.float32).reshape(24, 1) / 24
    return v1.estimator.inputs.numpy_input_fn(
        {"x": x}, 2 * x + 1, batch_size=4, num_epochs=None, shuffle=False)()


_LINE = dict(train_input_fn=models.endless_line_input_fn, eval_input_fn=models.short_line_input_fn)
_LINEAR = dict(model_fn=models.linear, **_LINE)
_ALONE = dict(shapes=("one", "mirrored"),
              why="Estimator's own methods are calls of one process")
_NO_STATE = dict(shapes=("one", "ps", "ps_worker"), why="plain cannot do it in several replicas")

PROGRAMS = {
    **{f"model_{name}": Program(_shaped(outputs), **_LINE, is_plugin=True) for name, outputs in {
        "template": _template, "custom_getter": _custom_getter,
        "custom_gradient": _custom_gradient, "mapped": _mapped, "rnn": _rnn, "lstm": _lstm,
        "asserted": _asserted, "penalized": _penalized, "conditional": _conditional,
        "python": _python}.items()},
    "model_recomputed": Program(_shaped(_recomputed), **_LINE, is_plugin=True),
    "stops_early": Program(**_LINEAR, main=_stops_early, max_steps=30, run_config={
        "save_checkpoints_steps": 2}, shapes=("one",), why="it reads what one process writes"),
    "evaluates_in_memory": Program(**_LINEAR, main=_evaluates_in_memory, shapes=("one",),
                                   why="plain's hook has no strategy"),
    "adds_metrics": Program(**_LINEAR, main=_adds_metrics),
    "feeds": Program(**_LINEAR, main=_feeding, shapes=("one",), why="a strategy feeds nothing"),
    "predicts": Program(**_LINEAR, main=_predicts, **_ALONE),
    "starts_warm": Program(**_LINEAR, main=_starts_warm, **_ALONE),
    "numpy_endless": Program(models.linear, _of_numpy, models.short_line_input_fn, **_NO_STATE),
}
