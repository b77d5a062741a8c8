"""The run, top to bottom: plan -> parts -> experiment -> train_and_evaluate -> result."""

from __future__ import annotations

from typing import Any, Callable

from absl import logging
import tensorflow as tf

from estimator_trainer import checkpoints
from estimator_trainer import early_stopping
from estimator_trainer import environment
from estimator_trainer import errors
from estimator_trainer import estimator
from estimator_trainer import evaluator
from estimator_trainer import exporters
from estimator_trainer import lifecycle
from estimator_trainer import parts as parts_lib
from estimator_trainer import preflight
from estimator_trainer import presence
from estimator_trainer import progress
from estimator_trainer import server
from estimator_trainer import signals
from estimator_trainer import specs
from estimator_trainer import storage
from estimator_trainer import strategy
from estimator_trainer import training_end
from estimator_trainer import waiting
from estimator_trainer.ending import Announcer
from estimator_trainer.ending import Watch
from estimator_trainer.estimator import Experiment
from estimator_trainer.exporters import EvaluationRecord
from estimator_trainer.kept_evaluation import KeptEvaluation
from estimator_trainer.monitor import Monitor
from estimator_trainer.parts import Parts
from estimator_trainer.plan import Plan
from estimator_trainer.profiling import StepProfiler
from estimator_trainer.result import Result
from estimator_trainer.stop import Stop
from estimator_trainer.task_config import TaskConfig
from estimator_trainer.training_end import EndOfTraining


def train_and_evaluate(plan: Plan) -> Result:
    """Runs this task of the job to its end.

    Raises:
      TrainerError: for what one sentence explains; anything else came out of user code.
    """
    config, task, stop = plan.config, plan.task, Stop()
    environment.write_tf_config(task.tf_config(head=_head(plan)))
    waiting.poll_every_second()
    with signals.asking(stop, task.name):
        if task.is_chief:
            return _as_chief(plan, stop)
        rhythm = storage.rhythm(config.model_dir, config.peer_timeout_secs)
        watch = Watch(config.model_dir, config.max_steps, rhythm.evaluator_secs
                      if task.role == "evaluator" else rhythm.task_secs)
        by_role: dict[str, Callable[..., Result]] = {
            "ps": _as_ps, "evaluator": _as_evaluator, "worker": _as_worker}
        with Monitor(config, task, stop, watch) as monitor:
            try:
                return by_role[task.role](plan, stop, watch, monitor)
            except errors.Interrupted as interruption:
                return lifecycle.interrupted(config, task, interruption)
            except Exception as error:
                explained = lifecycle.explained(error, plan)
                if task.role != "evaluator":
                    watch.ask("failed", lifecycle.in_short(explained), task.name)
                raise explained from error


def _as_chief(plan: Plan, stop: Stop) -> Result:
    """Trains, alone or with others, and sees to the last evaluation; tells how it ended."""
    config, task = plan.config, plan.task
    announcer = Announcer(config.model_dir, is_heard=task.name != "local",
                          peer_timeout_secs=config.peer_timeout_secs)
    with Monitor(config, task, stop, announcer) as monitor:
        try:
            return _lead(plan, stop, monitor, announcer)
        except errors.Interrupted as interruption:
            ended = lifecycle.interrupted(config, task, interruption)
            _tell(plan, announcer, ended)
            return ended
        except Exception as error:
            explained = lifecycle.explained(error, plan)
            step = checkpoints.latest_step(config.model_dir)
            _tell(plan, announcer,
                  Result(task.name, "failed", step, lifecycle.in_short(explained)))
            raise explained from error


def _tell(plan: Plan, announcer: Announcer, ended: Result) -> None:
    """Tells the other roles, and whoever reads result.json, of an end before the job was done."""
    try:
        announcer.announce(ended.status, ended.step, ended.reason)
        if ended.step:
            checkpoints.write_result(plan.config.model_dir, ended)
    except tf.errors.OpError as error:
        logging.warning("cannot write how the job ended: %s", error.message)


def _lead(plan: Plan, stop: Stop, monitor: Monitor, announcer: Announcer) -> Result:
    config, task = plan.config, plan.task
    if config.early_stopping_metric and not (
            task.is_local or task.head_evaluates or task.has_evaluator):
        logging.warning("early_stopping_metric is set, and TF_CONFIG tells of no evaluator: only"
                        " an evaluator task that shares model_dir can stop this job early")
    announcer.announce("running")
    checkpoints.fall_back(config.model_dir)
    is_trained = lifecycle.is_trained(config)
    strategies = (strategy.for_one_process(config) if is_trained else
                  strategy.for_training(config, task))
    signals.listen_again()
    parts = parts_lib.load(plan)
    record = _record(stop, monitor)
    single = estimator.for_one_process(config, parts.model_fn, parts.params, parts.session_config)
    evaluation = KeptEvaluation(single, parts.input_fn, [record.progress])
    preflight.check(plan, parts, evaluation)
    _announce(plan, parts)
    end = EndOfTraining(config, task, stop, monitor, announcer)
    stopping = early_stopping.build(config, stop.ask, task.name)
    experiment = _experiment(plan, parts, strategies, record, stopping, [end])
    with evaluation.used_by(experiment.estimator, single):
        if is_trained:
            step, reason = lifecycle.resume_finished(config, record)
        else:
            _train(experiment, task, stop, monitor)
            step, reason = end.step, lifecycle.reason_of(end, stop)
        monitor.leave_steps()
        stop.check()
        announcer.announce("done", step, reason)
        if presence.evaluator_finishes(config, task, step, stop):
            return lifecycle.report_of_evaluator(config, task, step, reason)
        announcer.announce("done", step, reason, finisher=task.name)
        final = exporters.at_the_end(config, parts.receiver_fn, record)
        lifecycle.finish(experiment, single, record, final)
        return lifecycle.report(config, task, record, step, reason)


def _as_worker(plan: Plan, stop: Stop, watch: Watch, monitor: Monitor) -> Result:
    config, task = plan.config, plan.task
    ending = lifecycle.wait_to_begin(watch, stop, task, config)
    if ending:
        return lifecycle.follow(task, ending)
    strategies = strategy.for_training(config, task)
    signals.listen_again()
    parts = parts_lib.load(plan)
    _announce(plan, parts)
    end = EndOfTraining(config, task, stop, monitor, None, watch)
    experiment = _experiment(plan, parts, strategies, _record(stop, monitor), [], [end])
    _train(experiment, task, stop, monitor)
    watch.leave(task.index)
    return lifecycle.left(task, end, stop, watch)


def _as_ps(plan: Plan, stop: Stop, watch: Watch, monitor: Monitor) -> Result:
    _announce(plan)
    return lifecycle.follow(plan.task, server.serve(plan.task, watch, stop))


def _as_evaluator(plan: Plan, stop: Stop, watch: Watch, monitor: Monitor) -> Result:
    config, task = plan.config, plan.task
    strategies = strategy.for_training(config, task)
    parts = parts_lib.load(plan)
    record = _record(stop, monitor)
    stopping = early_stopping.build(config, watch.ask, task.name)
    experiment = _experiment(plan, parts, strategies, record, stopping, [])
    evaluation = KeptEvaluation(experiment.estimator, parts.input_fn, [record.progress])
    preflight.check(plan, parts, evaluation)
    final = exporters.at_the_end(config, parts.receiver_fn, record)
    _announce(plan, parts)
    with presence.beating(config.model_dir, record), evaluation.used_by(experiment.estimator):
        ending = evaluator.run(experiment, record, final, watch, stop, monitor)
        lifecycle.follow(task, ending)
        return lifecycle.report(config, task, record, ending.step, ending.reason)


def _experiment(plan: Plan, parts: Parts, strategies: strategy.Strategies,
                record: EvaluationRecord, stopping: list[tf.estimator.Exporter],
                hooks: list[EndOfTraining]) -> Experiment:
    config, task = plan.config, plan.task
    if task.is_trainer:
        [end] = hooks
        hooks = [end, progress.for_training(config, task, parts.train_examples, end.pace),
                 preflight.CheckpointFits(config)]
        if config.profiled_steps:
            hooks.append(StepProfiler(config.model_dir, *config.profiled_steps))
    during = exporters.during_training(config, parts.receiver_fn, record)
    return Experiment(
        estimator.for_training(config, parts.model_fn, parts.params, strategies,
                               parts.session_config),
        specs.train_spec(config, task, parts.input_fn, hooks),
        specs.eval_spec(config, parts.input_fn, record, [*during, *stopping]))


def _record(stop: Stop, monitor: Monitor) -> EvaluationRecord:
    def on_batch() -> None:
        monitor.tick()
        stop.check()

    return EvaluationRecord(on_batch)


def _train(experiment: Experiment, task: TaskConfig, stop: Stop, monitor: Monitor) -> None:
    stop.check()
    spec = experiment.train_spec
    [fits] = [hook for hook in spec.hooks if isinstance(hook, preflight.CheckpointFits)]
    try:
        with fits.explained():
            if task.is_local and task.has_evaluator:
                # A lone chief beside an evaluator: `train_and_evaluate` takes it for a run on its
                # own and would evaluate in process too.
                experiment.estimator.train(spec.input_fn, hooks=spec.hooks,
                                           max_steps=spec.max_steps)
            else:
                tf.estimator.train_and_evaluate(*experiment)
    except tf.errors.OpError as error:
        if training_end.is_of_another_trainer(error):
            monitor.wait_for_end()
        raise


def _head(plan: Plan) -> str:
    """Returns what the Estimator is to call the chief: its `master` evaluates in process."""
    evaluates = plan.task.head_evaluates and not plan.task.has_evaluator
    return "master" if evaluates and plan.config.train_distribute == "none" else "chief"


def _announce(plan: Plan, parts: Parts | None = None) -> None:
    task, config = plan.task, plan.config
    for note in task.notes:
        logging.info("%s", note)
    cluster = ", ".join(f"{len(hosts)} {role}" for role, hosts in task.cluster.items())
    logging.info("model_fn=%s input_fn=%s train_distribute=%s model_dir=%s cluster: %s",
                 config.model_fn, config.input_fn, config.train_distribute, config.model_dir,
                 cluster or "none, all in this process")
    if parts:
        logging.info("params: %s", _changed(plan, parts.params) or "all as `list` shows them")


def _changed(plan: Plan, params: dict[str, Any]) -> str:
    """Returns the params that are not at their defaults."""
    plugins = [plugin for plugin in (plan.model, plan.data) if plugin]
    defaults = {key: value for plugin in plugins for key, value in (
        plugin.default_params or {}).items()}
    return " ".join(f"{key}={value!r}" for key, value in sorted(params.items())
                    if key not in defaults or defaults[key] != value)
