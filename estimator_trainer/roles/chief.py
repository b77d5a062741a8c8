"""The chief trains, alone or with others, and has the last checkpoint evaluated and exported."""

from __future__ import annotations

import contextlib

from absl import logging

from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import (checkpoint_choice, checkpoints, evaluator_heartbeat,
                                            stop as stop_lib)
from estimator_trainer.coordination.job_state import JobStateWriter
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.coordination.watchdog import Watchdog
from estimator_trainer.estimator import builder, loaded_plugins, strategy
from estimator_trainer.evaluation import early_stopping, exporters, kept_evaluation
from estimator_trainer.evaluation.evaluation_log import EvaluationLog
from estimator_trainer.record import run_history
from estimator_trainer.reports import job_history
from estimator_trainer.result import Result
from estimator_trainer.roles import (announcement, experiment as experiment_lib, final_evaluation,
                                     outcome, preflight)
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training.end_of_training import EndOfTraining


def run(plan: Plan, stop: Stop, state_writer: JobStateWriter, watchdog: Watchdog) -> Result:
    """Trains, and evaluates and exports what no evaluator does.

    Raises:
      Interrupted: if this task is asked to stop.
    """
    config, task = plan.config, plan.task
    is_trained = _begin(plan, stop, state_writer)
    strategies = strategy.for_one_process(config) if is_trained else strategy.of_plan(plan)
    stop_lib.reclaim_sigterm()
    parts = loaded_plugins.load(plan)
    record = experiment_lib.record_of(plan, stop, watchdog)
    single = builder.for_one_process(config, parts)
    evaluation = kept_evaluation.build(single, parts, record) if plan.is_evaluated else None
    preflight.check(plan, parts, evaluation)
    earlier = run_history.of(plan, parts, is_trained)
    run_history.begin(plan, parts, earlier)
    announcement.log(plan, parts)
    job_history.announce_page(plan)
    hooks = experiment_lib.hooks_of(
        plan, parts, EndOfTraining(config, task, stop, watchdog, state_writer))
    experiment = experiment_lib.build(plan, parts, strategies, record, hooks,
                                      early_stopping.build(config, stop.request_end, task.name))
    with (evaluation.used_by(experiment.estimator, single) if evaluation else
          contextlib.nullcontext()):
        if is_trained:
            step, reason = _resume_finished(config, record)
        else:
            experiment_lib.train(experiment, hooks, plan, stop, watchdog)
            step, reason = hooks.end.step, outcome.reason_of(hooks.end, stop)
            checkpoint_choice.remove_unfinished(config.model_dir)
        watchdog.leave_steps()
        stop.check()
        state_writer.announce("done", step, reason)
        if plan.is_evaluated and evaluator_heartbeat.wait(config.model_dir, task, step, stop):
            ended = outcome.report_of_evaluator(config, task, step, reason, earlier)
            if ended:
                return ended
        state_writer.announce("done", step, reason, finisher=task.name)
        if plan.is_evaluated:
            final = exporters.at_the_end(config, parts, record)
            final_evaluation.finish(experiment.eval_spec, single, record, final, config.max_steps)
            hooks.progress.warn_if_diverged(record.metrics.get("loss"))
            final_evaluation.judge(plan, parts, single, record, stop)
        return outcome.report(config, task, record, step, reason, earlier)


def _warn_if_nothing_stops_early(plan: Plan) -> None:
    task = plan.task
    if plan.config.early_stopping_metric and not (
            task.is_local or task.head_evaluates or task.has_evaluator):
        logging.warning("early_stopping_metric is set, and TF_CONFIG tells of no evaluator: only"
                        " an evaluator task that shares model_dir can stop this job early")


def _begin(plan: Plan, stop: Stop, state_writer: JobStateWriter) -> bool:
    """Makes a whole checkpoint the latest, and announces the run if it is to train.

    Returns:
      Whether an earlier run has trained to the last step.

    Raises:
      Interrupted: if this task is asked to stop.
    """
    config = plan.config
    _warn_if_nothing_stops_early(plan)
    checkpoint_choice.fall_back(config.model_dir)
    checkpoint_choice.remove_unfinished(config.model_dir)
    is_trained = bool(
        config.max_steps and checkpoints.latest_step(config.model_dir) >= config.max_steps)
    if not is_trained:
        # The trainers of an all-reduce would wait for a chief that trains nothing.
        state_writer.announce("running")
        if plan.task.is_all_reduce:
            state_writer.gather(plan.task.num_trainers - 1, stop)
    return is_trained


def _resume_finished(config: TrainerConfig, record: EvaluationLog) -> tuple[int, str]:
    """Returns step and reason of a finished run; `record` gets what that run evaluated."""
    step = checkpoints.latest_step(config.model_dir)
    logging.info("training is complete: the last checkpoint is of step %d, train_steps is %d",
                 step, config.train_steps)
    final_evaluation.restore(config.model_dir, record, step)
    return step, "train_steps"
