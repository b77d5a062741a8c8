"""Hooks and saving listeners: which calls they get, and what they find in the graph."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tests.equality import observed
from tests.equality.program import Program
from tests.equality.programs import models

v1 = tf.compat.v1


def _named(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Names a tensor and a collection for hooks and listeners."""
    spec = models.linear(features, labels, mode)
    if mode == "train":
        weight = v1.trainable_variables()[0]
        twice = tf.multiply(weight.read_value(), 2.0, name="twice")
        v1.add_to_collection("for_listeners", twice)
        tf.reduce_sum(features["x"], name="sum_of_inputs")
    return spec


class _ReadsByName(tf.estimator.SessionRunHook):
    """A hook that fetches a tensor of the model_fn by its name, beside each step."""

    def __init__(self, job: Any):
        self._job = job

    def before_run(self, run_context: Any) -> Any:
        return tf.estimator.SessionRunArgs("sum_of_inputs:0")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._job.call("sum_of_inputs", float(run_values.results))


class _Reads(tf.estimator.CheckpointSaverListener):
    """A listener that runs a tensor of the model_fn after each save."""

    def __init__(self, job: Any, by_name: bool):
        self._job, self._by_name = job, by_name

    def begin(self) -> None:
        self._tensor = (v1.get_default_graph().get_tensor_by_name("twice:0") if self._by_name
                        else v1.get_collection("for_listeners")[0])

    def after_save(self, session: Any, global_step_value: int) -> None:
        self._job.call("twice", int(global_step_value), session.run(self._tensor).tolist())


class _Stops(observed.Hook):
    """A hook that ends training at the global step 6."""

    def after_run(self, run_context: Any, run_values: Any) -> None:
        super().after_run(run_context, run_values)
        if self.step >= 6:
            run_context.request_stop()


class _StopsAtASave(observed.Listener):
    """A listener that ends training once step 4 is saved."""

    def after_save(self, session: Any, global_step_value: int) -> Any:
        super().after_save(session, global_step_value)
        return global_step_value >= 4


def _hook_in_the_spec(features: Any, labels: Any, mode: str,
                      config: Any) -> tf.estimator.EstimatorSpec:
    """Has hooks of its own, one of them of the chief alone, and one of evaluation."""
    spec = models.linear(features, labels, mode)
    if mode == "train":
        logged = tf.estimator.LoggingTensorHook({"loss": spec.loss}, every_n_iter=2)
        saver = tf.estimator.SummarySaverHook(
            save_steps=3, output_dir=f"{config.model_dir}/own",
            summary_op=v1.summary.scalar("own", spec.loss))
        return spec._replace(training_hooks=[logged], training_chief_hooks=[saver])
    return spec


def _own_saver(job: Any) -> list[Any]:
    """Returns a saver with a listener, in place of the Estimator's."""
    return [tf.estimator.CheckpointSaverHook(
        str(job.model_dir), save_steps=3, listeners=[observed.Listener(job, "own")])]


def _nan(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Has a loss that becomes NaN at step 4."""
    spec = models.linear(features, labels, mode)
    step = v1.train.get_or_create_global_step()
    loss = tf.where(step < 4, spec.loss, float("nan"))
    return spec._replace(loss=loss)


def _train(job: Any) -> None:
    """Trains by Estimator.train, with hooks and listeners."""
    estimator = job.estimator()
    job.keep("train returns itself", estimator.train(
        models.endless_line_input_fn, hooks=list(job.program.hooks(job)), max_steps=6,
        saving_listeners=list(job.program.listeners(job))) is estimator)


def _evaluates(job: Any) -> None:
    """Trains with a listener that evaluates each checkpoint."""
    estimator = job.estimator()

    class Evaluates(observed.Listener):
        def after_save(self, session: Any, global_step_value: int) -> None:
            metrics = estimator.evaluate(models.short_line_input_fn, name="listened")
            job.call("evaluated", int(global_step_value), int(metrics["global_step"]),
                     float(metrics["loss"]))

    estimator.train(models.endless_line_input_fn, max_steps=8,
                    saving_listeners=[Evaluates(job)])


class _EvalHook(observed.Hook):
    """A hook of evaluation."""


_LINE = dict(train_input_fn=models.endless_line_input_fn, eval_input_fn=models.short_line_input_fn)
_LINEAR = dict(model_fn=models.linear, **_LINE)
_NO_LISTENERS = "plain takes no saving listeners under multi_worker_mirrored"
_ALONE = dict(shapes=("one", "ps", "ps_worker"),
              why="a replica's tensor is no tensor of the session's hooks")
_ONE_PROCESS = dict(shapes=("one", "mirrored"),
                    why="Estimator.train and the evaluator's hooks are calls of one process")


def _hook(job: Any) -> list[Any]:
    return [observed.Hook(job)]


def _listener(job: Any) -> list[Any]:
    return [observed.Listener(job)]


PROGRAMS = {
    "line": Program(**_LINEAR, is_plugin=True),
    "hooks": Program(**_LINEAR, hooks=_hook),
    "two_hooks": Program(
        models.linear, models.line_input_fn, max_steps=None, shapes=("one", "ps", "ps_worker"),
        why="under a strategy the end of the input is known before a run finds it",
        hooks=lambda job: [observed.Hook(job, "first"), observed.Hook(job, "second")]),
    "listeners": Program(**_LINEAR, listeners=_listener, shapes=(
        "one", "mirrored", "ps", "ps_worker"), why=_NO_LISTENERS),
    "listener_stops": Program(**_LINEAR, listeners=lambda job: [_StopsAtASave(job)], shapes=(
        "one", "mirrored", "ps"), why=f"{_NO_LISTENERS}, and a second worker of a ps goes on"),
    "train_with_listeners": Program(**_LINEAR, main=_train, hooks=_hook, listeners=_listener,
                                    **_ONE_PROCESS),
    "listener_evaluates": Program(**_LINEAR, main=_evaluates, **_ONE_PROCESS),
    "listener_by_name": Program(_named, **_LINE, listeners=lambda job: [_Reads(job, True)],
                                **_ALONE),
    "listener_by_collection": Program(
        _named, **_LINE, listeners=lambda job: [_Reads(job, False)], **_ALONE),
    "hook_by_name": Program(_named, **_LINE, hooks=lambda job: [_ReadsByName(job)], **_ALONE),
    "hook_stops": Program(**_LINEAR, hooks=lambda job: [_Stops(job)]),
    "stop_at_step": Program(**_LINEAR, max_steps=None, hooks=lambda job: [
        tf.estimator.StopAtStepHook(last_step=5)]),
    "stop_after_steps": Program(**_LINEAR, max_steps=12, hooks=lambda job: [
        tf.estimator.StopAtStepHook(num_steps=6), observed.Hook(job)]),
    "hooks_in_the_spec": Program(_hook_in_the_spec, **_LINE, **_ALONE, is_plugin=True),
    "own_saver": Program(**_LINEAR, hooks=_own_saver, run_config={
        "save_checkpoints_steps": None, "save_checkpoints_secs": None}, **_ONE_PROCESS),
    "nan_loss": Program(_nan, **_LINE, plain_fails={shape: "NanTensorHook raises" for shape in (
        "one", "mirrored", "ps", "ps_worker", "multi_worker")}),
    "nan_hook": Program(**_LINEAR, hooks=lambda job: [
        tf.estimator.LoggingTensorHook(["global_step"], every_n_iter=3), observed.Hook(job)]),
    "eval_hooks": Program(**_LINEAR, eval_spec=lambda job: {"hooks": [_EvalHook(job, "eval")]},
                          **_ONE_PROCESS),
}
