"""The run, top to bottom: plan -> parts -> experiment -> train_and_evaluate -> result."""

from __future__ import annotations

from typing import Any, Callable

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines
from estimator_trainer import environment
from estimator_trainer import errors
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import checkpoints
from estimator_trainer.coordination import evaluator_beat
from estimator_trainer.coordination import signals
from estimator_trainer.coordination.job_state import JobStateReader
from estimator_trainer.coordination.job_state import JobStateWriter
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.coordination.watchdog import Watchdog
from estimator_trainer.estimator import builder
from estimator_trainer.estimator import loaded_plugins
from estimator_trainer.estimator import strategy
from estimator_trainer.estimator import upstream
from estimator_trainer.estimator.builder import Experiment
from estimator_trainer.estimator.checkpoint_fit import CheckpointFit
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.evaluation import early_stopping
from estimator_trainer.evaluation import exporters
from estimator_trainer.evaluation.kept_evaluation import KeptEvaluation
from estimator_trainer.evaluation.record import EvaluationRecord
from estimator_trainer.plan.run_plan import Plan
from estimator_trainer.result import Result
from estimator_trainer.roles import evaluator
from estimator_trainer.roles import outcome
from estimator_trainer.roles import preflight
from estimator_trainer.roles import ps
from estimator_trainer.roles import specs
from estimator_trainer.steps import end_of_training
from estimator_trainer.steps import progress
from estimator_trainer.steps.end_of_training import EndOfTraining
from estimator_trainer.steps.profiler import StepProfiler


def train_and_evaluate(plan: Plan) -> Result:
    """Runs this task of the job to its end.

    Raises:
      TrainerError: for what one sentence explains; anything else came out of user code.
    """
    config, task, stop = plan.config, plan.task, Stop()
    environment.write_tf_config(task.tf_config(head=_head(plan)))
    upstream.poll_every_second()
    with signals.asking(stop, task.name):
        if task.is_chief:
            return _as_chief(plan, stop)
        rhythm = deadlines.rhythm(config.model_dir, config.peer_timeout_secs)
        state_reader = JobStateReader(config.model_dir, config.max_steps, rhythm.evaluator_secs
                                      if task.role == "evaluator" else rhythm.task_secs)
        by_role: dict[str, Callable[..., Result]] = {
            "ps": _as_ps, "evaluator": _as_evaluator, "worker": _as_worker}
        with Watchdog(config, task, stop, state_reader) as watchdog:
            try:
                return by_role[task.role](plan, stop, state_reader, watchdog)
            except errors.Interrupted as interruption:
                return outcome.interrupted(config, task, interruption)
            except Exception as error:
                explained = outcome.explained(error, plan)
                if task.role != "evaluator":
                    state_reader.ask("failed", outcome.in_short(explained), task.name)
                raise explained from error


def _as_chief(plan: Plan, stop: Stop) -> Result:
    """Trains, alone or with others, and sees to the last evaluation; tells how it ended."""
    config, task = plan.config, plan.task
    state_writer = JobStateWriter(config.model_dir, is_heard=task.name != "local",
                                  peer_timeout_secs=config.peer_timeout_secs)
    with Watchdog(config, task, stop, state_writer) as watchdog:
        try:
            return _lead(plan, stop, watchdog, state_writer)
        except errors.Interrupted as interruption:
            ended = outcome.interrupted(config, task, interruption)
            _tell(plan, state_writer, ended)
            return ended
        except Exception as error:
            explained = outcome.explained(error, plan)
            step = checkpoints.latest_step(config.model_dir)
            _tell(plan, state_writer,
                  Result(task.name, "failed", step, outcome.in_short(explained)))
            raise explained from error


def _tell(plan: Plan, state_writer: JobStateWriter, ended: Result) -> None:
    """Tells the other roles, and whoever reads result.json, of an end before the job was done."""
    try:
        state_writer.announce(ended.status, ended.step, ended.reason)
        if ended.step:
            checkpoints.write_result(plan.config.model_dir, ended)
    except tf.errors.OpError as error:
        logging.warning("cannot write how the job ended: %s", error.message)


def _lead(plan: Plan, stop: Stop, watchdog: Watchdog, state_writer: JobStateWriter) -> Result:
    config, task = plan.config, plan.task
    if config.early_stopping_metric and not (
            task.is_local or task.head_evaluates or task.has_evaluator):
        logging.warning("early_stopping_metric is set, and TF_CONFIG tells of no evaluator: only"
                        " an evaluator task that shares model_dir can stop this job early")
    state_writer.announce("running")
    checkpoints.fall_back(config.model_dir)
    is_trained = outcome.is_trained(config)
    strategies = (strategy.for_one_process(config) if is_trained else
                  strategy.for_training(config, task))
    signals.listen_again()
    parts = loaded_plugins.load(plan)
    record = _record(stop, watchdog)
    single = builder.for_one_process(config, parts.model_fn, parts.params, parts.session_config)
    evaluation = KeptEvaluation(single, parts.input_fn, [record.progress])
    preflight.check(plan, parts, evaluation)
    _announce(plan, parts)
    end = EndOfTraining(config, task, stop, watchdog, state_writer)
    stopping = early_stopping.build(config, stop.ask, task.name)
    experiment = _experiment(plan, parts, strategies, record, stopping, [end])
    with evaluation.used_by(experiment.estimator, single):
        if is_trained:
            step, reason = outcome.resume_finished(config, record)
        else:
            _train(experiment, task, stop, watchdog)
            step, reason = end.step, outcome.reason_of(end, stop)
        watchdog.leave_steps()
        stop.check()
        state_writer.announce("done", step, reason)
        if evaluator_beat.evaluator_finishes(config, task, step, stop):
            return outcome.report_of_evaluator(config, task, step, reason)
        state_writer.announce("done", step, reason, finisher=task.name)
        final = exporters.at_the_end(config, parts.receiver_fn, record)
        outcome.finish(experiment, single, record, final)
        return outcome.report(config, task, record, step, reason)


def _as_worker(plan: Plan, stop: Stop, state_reader: JobStateReader, watchdog: Watchdog) -> Result:
    config, task = plan.config, plan.task
    final_state = outcome.wait_to_begin(state_reader, stop, task)
    if final_state:
        return outcome.follow(task, final_state)
    strategies = strategy.for_training(config, task)
    signals.listen_again()
    parts = loaded_plugins.load(plan)
    _announce(plan, parts)
    end = EndOfTraining(config, task, stop, watchdog, None, state_reader)
    experiment = _experiment(plan, parts, strategies, _record(stop, watchdog), [], [end])
    _train(experiment, task, stop, watchdog)
    state_reader.leave(task.index)
    return outcome.left(task, end, stop, state_reader)


def _as_ps(plan: Plan, stop: Stop, state_reader: JobStateReader, watchdog: Watchdog) -> Result:
    _announce(plan)
    return outcome.follow(plan.task, ps.serve(plan.task, state_reader, stop))


def _as_evaluator(plan: Plan, stop: Stop, state_reader: JobStateReader,
                  watchdog: Watchdog) -> Result:
    config, task = plan.config, plan.task
    strategies = strategy.for_training(config, task)
    parts = loaded_plugins.load(plan)
    record = _record(stop, watchdog)
    stopping = early_stopping.build(config, state_reader.ask, task.name)
    experiment = _experiment(plan, parts, strategies, record, stopping, [])
    evaluation = KeptEvaluation(experiment.estimator, parts.input_fn, [record.progress])
    preflight.check(plan, parts, evaluation)
    final = exporters.at_the_end(config, parts.receiver_fn, record)
    _announce(plan, parts)
    with (evaluator_beat.beating(config.model_dir, lambda: record.step),
          evaluation.used_by(experiment.estimator)):
        final_state = evaluator.run(experiment, record, final, state_reader, stop, watchdog)
        outcome.follow(task, final_state)
        return outcome.report(config, task, record, final_state.step, final_state.reason)


def _experiment(plan: Plan, parts: LoadedPlugins, strategies: strategy.Strategies,
                record: EvaluationRecord, stopping: list[tf.estimator.Exporter],
                hooks: list[EndOfTraining]) -> Experiment:
    config, task = plan.config, plan.task
    if task.is_trainer:
        [end] = hooks
        hooks = [end, progress.for_training(config, task, parts.train_examples, end.pace),
                 CheckpointFit(config)]
        if config.profiled_steps:
            hooks.append(StepProfiler(config.model_dir, *config.profiled_steps))
    during = exporters.during_training(config, parts.receiver_fn, record)
    return Experiment(
        builder.for_training(config, parts.model_fn, parts.params, strategies,
                             parts.session_config),
        specs.train_spec(config, task, parts.input_fn, hooks),
        specs.eval_spec(config, parts.input_fn, record, [*during, *stopping]))


def _record(stop: Stop, watchdog: Watchdog) -> EvaluationRecord:
    def on_batch() -> None:
        watchdog.tick()
        stop.check()

    return EvaluationRecord(on_batch)


def _train(experiment: Experiment, task: TaskConfig, stop: Stop, watchdog: Watchdog) -> None:
    stop.check()
    spec = experiment.train_spec
    [fits] = [hook for hook in spec.hooks if isinstance(hook, CheckpointFit)]
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
        if end_of_training.is_of_another_trainer(error):
            watchdog.wait_for_end()
        raise


def _head(plan: Plan) -> str:
    """Returns what the Estimator is to call the chief: its `master` evaluates in process."""
    evaluates = plan.task.head_evaluates and not plan.task.has_evaluator
    return "master" if evaluates and plan.config.train_distribute == "none" else "chief"


def _announce(plan: Plan, parts: LoadedPlugins | None = None) -> None:
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
