"""Fields of RunConfig, and the calls of an Estimator in many orders."""

from __future__ import annotations

import threading
from typing import Any

import tensorflow as tf

from tests.equality import observed
from tests.equality.program import Program
from tests.equality.programs import models

v1 = tf.compat.v1


def _with_summaries(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Writes scalars and a histogram."""
    spec = models.linear(features, labels, mode)
    v1.summary.scalar("sum", tf.reduce_sum(features["x"]))
    v1.summary.scalar("scope/labels", tf.reduce_mean(labels))
    v1.summary.histogram("inputs", features["x"])
    return spec


def _with_scalars(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Writes scalars alone, which a loop keeps."""
    v1.summary.scalar("sum", tf.reduce_sum(features["x"]))
    return models.linear(features, labels, mode)


def _merged_by_hand(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Has a summary_op of its own in the Scaffold."""
    spec = models.linear(features, labels, mode)
    mine = v1.summary.merge([v1.summary.scalar("mine", spec.loss * 2.0, collections=[])])
    return spec._replace(scaffold=v1.train.Scaffold(summary_op=mine))


def _initialized(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Sets a variable in the Scaffold's init_fn."""
    spec = models.linear(features, labels, mode)
    [weight] = [each for each in v1.trainable_variables() if each.name == "weight:0"]
    return spec._replace(scaffold=v1.train.Scaffold(
        init_fn=lambda scaffold, session: weight.load([[3.0]], session)))


def _own_saver(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Saves some variables alone, and keeps two checkpoints."""
    unsaved = models.counter("unsaved")
    spec = models.linear(features, labels, mode)
    saved = [each for each in v1.global_variables() if each is not unsaved]
    train_op = tf.group(spec.train_op, unsaved.assign_add(1.0)) if mode == "train" else None
    return spec._replace(train_op=train_op, scaffold=v1.train.Scaffold(
        saver=v1.train.Saver(saved, max_to_keep=2), ready_op=tf.constant([], tf.string),
        ready_for_local_init_op=tf.constant([], tf.string),
        local_init_op=tf.group(v1.local_variables_initializer(), unsaved.initializer)))


def _local_init(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Sets a local variable in the Scaffold's local_init_op."""
    offset = v1.get_variable("offset", [], collections=["local_variables"], use_resource=True,
                             initializer=v1.zeros_initializer(), trainable=False)
    spec = models.linear({"x": features["x"] + offset}, labels, mode)
    return spec._replace(scaffold=v1.train.Scaffold(
        local_init_op=tf.group(v1.local_variables_initializer(), offset.assign(2.0))))


def _twice(job: Any) -> None:
    """Trains, evaluates, trains again, evaluates again, and predicts."""
    estimator = job.estimator()
    for steps in (3, 4):
        estimator.train(models.endless_line_input_fn, steps=steps)
        job.keep(f"evaluated after {steps}", estimator.evaluate(models.short_line_input_fn))
    estimator.train(models.endless_line_input_fn, max_steps=9)
    estimator.train(models.endless_line_input_fn, max_steps=5)
    job.keep("step", estimator.get_variable_value("global_step"))
    job.keep("names", estimator.get_variable_names())
    job.keep("predicted", list(estimator.predict(models.short_line_input_fn)))
    job.keep("latest", estimator.latest_checkpoint())


def _epochs(job: Any) -> None:
    """Trains to the end of the input, twice, and evaluates under a name, some steps of it."""
    estimator = job.estimator()
    for _ in range(2):
        estimator.train(models.line_input_fn)
    job.keep("named", estimator.evaluate(models.line_input_fn, steps=2, name="some"))
    job.keep("of a checkpoint", estimator.evaluate(
        models.line_input_fn, checkpoint_path=tf.train.latest_checkpoint(job.model_dir)))


def _second_call(job: Any) -> None:
    """Calls train_and_evaluate twice; the second finds nothing to do."""
    estimator = job.estimator()
    for i in range(2):
        job.keep(f"call {i} returns", tf.estimator.train_and_evaluate(
            estimator, job.train_spec(), job.eval_spec()))


def _higher_goal(job: Any) -> None:
    """Calls train_and_evaluate twice, the second time with a higher goal."""
    estimator = job.estimator()
    for goal in (4, 10):
        job.keep(f"to {goal} returns", tf.estimator.train_and_evaluate(
            estimator, job.train_spec(max_steps=goal), job.eval_spec()))


def _several(job: Any) -> None:
    """Has two Estimators, the second warm-started from the first."""
    first = job.estimator()
    first.train(models.endless_line_input_fn, max_steps=4)
    second = tf.estimator.Estimator(
        models.linear, config=job.config(model_dir=f"{job.model_dir}/second"),
        warm_start_from=tf.estimator.WarmStartSettings(
            first.model_dir, vars_to_warm_start="weight"))
    second.train(models.endless_line_input_fn, max_steps=3)
    for name, estimator in (("first", first), ("second", second)):
        job.keep(f"weights of {name}", [estimator.get_variable_value(variable)
                                        for variable in ("weight", "bias", "global_step")])


def _threads(job: Any) -> None:
    """Trains two Estimators in two threads."""
    made = [tf.estimator.Estimator(models.linear, config=job.config(
        model_dir=f"{job.model_dir}/{i}")) for i in range(2)]
    failed: list[str] = []

    def train(estimator: Any) -> None:
        try:
            estimator.train(models.endless_line_input_fn, max_steps=6)
        except Exception as error:
            failed.append(repr(error))

    threads = [threading.Thread(target=train, args=(each,)) for each in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    job.keep("failed", failed)
    job.keep("weights", [each.get_variable_value("weight") for each in made])


def _seen_config(job: Any) -> None:
    """Tells of what model_fn and input_fn get by their arguments, and of the Estimator's fields."""

    def model_fn(features: Any, labels: Any, mode: str, params: Any,
                 config: Any) -> tf.estimator.EstimatorSpec:
        # Plain's chief of a cluster evaluates nothing.
        if mode == "train" or job.shape in ("one", "mirrored"):
            job.keep(f"model_fn {mode}", [
                dict(params), config.task_type, config.task_id, config.is_chief,
                config.num_worker_replicas, config.num_ps_replicas, config.save_summary_steps,
                config.tf_random_seed, config.keep_checkpoint_max])
        return models.linear(features, labels, mode)

    def input_fn(params: Any, config: Any) -> tf.data.Dataset:
        job.keep("input_fn", [dict(params), config.task_type, config.is_chief,
                              config.log_step_count_steps])
        return models.endless_line_input_fn()

    estimator = tf.estimator.Estimator(model_fn, config=job.config(), params={"rate": 0.5})
    job.keep("train_and_evaluate returns", tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(input_fn, max_steps=4),
        tf.estimator.EvalSpec(models.short_line_input_fn, steps=None, throttle_secs=0)))
    job.keep("fields", [estimator.params, estimator.config.task_type])


def _raises(job: Any) -> None:
    """Has a model_fn that raises a KeyError of a dict of its own."""

    def model_fn(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
        return models.linear({"x": features["x"] * {"scale": 1.0}["rate"]}, labels, mode)

    estimator = tf.estimator.Estimator(model_fn, config=job.config())
    try:
        estimator.train(models.line_input_fn)
    except KeyError as error:
        # Under a strategy, a traceback stands in front.
        text = str(error).strip().rpartition("\n")[2].strip()
        job.keep("raised", [text, error.__cause__ is None, error.__suppress_context__])


_LINE = dict(train_input_fn=models.endless_line_input_fn, eval_input_fn=models.short_line_input_fn)
_LINEAR = dict(model_fn=models.linear, **_LINE)
_ALONE = dict(shapes=("one", "mirrored"),
              why="Estimator's own methods are calls of one process")


def _places(job: Any) -> None:
    """Has a device_fn, of which the model's operations and variables tell."""

    def model_fn(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
        spec = models.linear(features, labels, mode)
        job.keep(f"devices in {mode}", [spec.loss.device, *sorted(
            variable.device for variable in v1.trainable_variables())])
        return spec

    estimator = tf.estimator.Estimator(model_fn, config=job.config(
        device_fn=lambda op: "/device:CPU:0"))
    estimator.train(models.endless_line_input_fn, max_steps=4)
    job.keep("evaluated", estimator.evaluate(models.short_line_input_fn))


_NO_REPLICAS = dict(shapes=("one", "ps", "ps_worker"),
                    why="such a Scaffold works on the variables of one replica")
_NEVER = {"save_checkpoints_steps": None, "save_checkpoints_secs": None}


def _configured(**fields: Any) -> Program:
    return Program(_with_scalars, **_LINE, run_config=fields, listeners=lambda job: [
        observed.Listener(job)] if job.shape == "one" else [])


PROGRAMS = {
    "summaries": Program(_with_summaries, **_LINE, is_plugin=True),
    "scalars": Program(_with_scalars, **_LINE, is_plugin=True),
    "summaries_by_hand": Program(_merged_by_hand, **_LINE, **_NO_REPLICAS),
    "init_fn": Program(_initialized, **_LINE, is_plugin=True, **_NO_REPLICAS),
    "scaffold_saver": Program(_own_saver, **_LINE, shapes=("one", "ps"), why=(
        "plain cannot do it in several replicas, and a worker finds all variables ready at once")),
    "local_init_op": Program(_local_init, **_LINE, **_NO_REPLICAS),
    "no_summaries": _configured(save_summary_steps=None),
    "summary_each_step": _configured(save_summary_steps=1),
    "rare_summaries": _configured(save_summary_steps=100),
    "save_each_step": _configured(save_checkpoints_steps=1),
    "save_by_secs": _configured(save_checkpoints_secs=600, save_checkpoints_steps=None),
    "never_saves": Program(**_LINEAR, run_config=_NEVER, main=lambda job: job.estimator().train(
        models.endless_line_input_fn, max_steps=6), **_ALONE),
    "never_saves_and_evaluates": Program(**_LINEAR, run_config=_NEVER, **_ALONE, plain_fails={
        shape: "without a saver there is nothing to evaluate" for shape in _ALONE["shapes"]}),
    "keeps_two": _configured(save_checkpoints_steps=1, keep_checkpoint_max=2),
    "keeps_all": _configured(save_checkpoints_steps=1, keep_checkpoint_max=0),
    "keeps_by_hours": _configured(save_checkpoints_steps=1, keep_checkpoint_max=1,
                                  keep_checkpoint_every_n_hours=1e-9),
    "a_protocol": _configured(protocol="grpc"),
    "waits_for_a_session": _configured(session_creation_timeout_secs=60),
    "workers_come_late": _configured(experimental_max_worker_delay_secs=1),
    "places": Program(**_LINEAR, main=_places, shapes=("one",),
                      why="ps and strategies place variables by themselves"),
    "no_graph_def": _configured(checkpoint_save_graph_def=False),
    "logs_each_step": _configured(log_step_count_steps=1),
    "not_seeded": _configured(tf_random_seed=None),
    "trains_in_turns": Program(**_LINEAR, main=_twice, **_ALONE),
    "trains_in_epochs": Program(**_LINEAR, main=_epochs, **_ALONE),
    "a_second_call": Program(**_LINEAR, main=_second_call, **_ALONE),
    "a_higher_goal": Program(**_LINEAR, main=_higher_goal, **_ALONE),
    "several_estimators": Program(**_LINEAR, main=_several, **_ALONE),
    "two_threads": Program(**_LINEAR, main=_threads, shapes=("one",),
                           why="a strategy's graph is of one thread"),
    "what_functions_see": Program(**_LINEAR, main=_seen_config),
    "a_key_error": Program(**_LINEAR, main=_raises, **_ALONE),
}
