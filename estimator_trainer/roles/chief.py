"""The chief trains, alone or with others, and has the last checkpoint evaluated and exported."""

import contextlib
import dataclasses
import time

from absl import logging

from estimator_trainer.coordination import (best_model, checkpoint_choice, checkpoints,
                                            evaluator_heartbeat, stop as stop_lib)
from estimator_trainer.estimator import builder, loaded_plugins, strategy
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.evaluation import exporters, kept_evaluation, no_improvement, target
from estimator_trainer.evaluation.evaluation_log import EvaluationLog
from estimator_trainer.record import runs
from estimator_trainer.reports import job_history
from estimator_trainer.result import MAX_SECS, Result
from estimator_trainer.roles import experiment as experiment_lib, final_evaluation, outcome
from estimator_trainer.roles.task_run import ChiefRun
from estimator_trainer.settings import intervals
from estimator_trainer.settings.length import Length, MOST_STEPS, STOP_AT
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import trained_records


def train(run: ChiefRun) -> Result:
    """Trains, evaluates and exports what no evaluator does; raises Interrupted on a request."""
    plan, config, task, stop = run.plan, run.config, run.task, run.stop
    finished = _begin(run)
    strategies = strategy.for_one_process(config) if finished else strategy.of_plan(plan)
    stop_lib.reclaim_sigterm()
    plugins = loaded_plugins.load(plan)
    run, config, length = _bounded(run, plugins)
    if length and checkpoints.latest_step(config.model_dir) >= config.train_steps:
        finished = finished or "train_steps"
    evaluations = experiment_lib.evaluation_log(run, plugins)
    single = builder.for_one_process(config, plugins)
    kept = kept_evaluation.build(single, plugins, evaluations) if plan.is_evaluated else None
    experiment_lib.preflight(plan, plugins, kept)
    earlier = runs.earlier(plan, plugins, finished)
    runs.begin(plan, plugins, earlier)
    run.log_start(plugins)
    job_history.announce_page(plan)
    hooks = experiment_lib.hooks_of(run, plugins)
    experiment = experiment_lib.build(run.plan, plugins, strategies, evaluations, hooks,
                                      stop.request_end, run.service)
    with (kept.used_by(experiment.estimator, single) if kept else contextlib.nullcontext()):
        step, reason, note = (
            _resume_finished(run, evaluations, finished) if finished else
            _trained(run, plugins, experiment, hooks, evaluations, length))
        run.watchdog.leave_steps()
        stop.check()
        step, reason, note = _best_as_model(run, evaluations, length, step, reason, note)
        run.state.announce("done", step, reason)
        if plan.is_evaluated and evaluator_heartbeat.wait(config.model_dir, task, step, stop):
            if ended := outcome.report_of_evaluator(plan, step, reason, earlier):
                return ended
        run.state.announce("done", step, reason, finisher=task.name)
        if plan.is_evaluated:
            final = final_evaluation.FinalEvaluation(
                experiment.eval_spec, single, evaluations,
                exporters.at_the_end(config.exporters, plugins, evaluations), config.max_steps)
            final.finish()
            hooks.progress.warn_if_diverged(evaluations.metrics.get("loss"))
            final.judge(run, plugins, hooks.progress.losses)
        return outcome.report(plan, evaluations, step, reason, earlier, note)


def _trained(run: ChiefRun, plugins: LoadedPlugins, experiment: experiment_lib.Experiment,
             hooks: experiment_lib.TrainingHooks, evaluations: EvaluationLog,
             length: Length | None) -> tuple[int, str, str]:
    """Trains; returns the last step, why training ended, and a note."""
    least_steps = no_improvement.least_steps(run.config, length, evaluations) if length else int

    def end_at_limit() -> None:
        if hooks.end.reason != "train_steps":
            run.stop.request_end("stopped", MAX_SECS, run.task.name)

    most_secs = run.config.max_secs
    with stop_lib.calling_after(
            most_secs - (time.monotonic() - run.plan.began) if most_secs else None, end_at_limit):
        experiment_lib.train(run, experiment, hooks, least_steps)
    reason = outcome.wait_for_reason(hooks.end, run.stop)
    checkpoint_choice.remove_unfinished(run.config.model_dir)
    return hooks.end.step, reason, _records(run, plugins, hooks, reason)


def _records(run: ChiefRun, plugins: LoadedPlugins, hooks: experiment_lib.TrainingHooks,
             reason: str) -> str:
    """Logs and returns how much of a training set that is handed out was trained on, or ""."""
    if run.service is None or hooks.trained is None:
        return ""
    made = hooks.end.step - run.service.first_step
    of_pass, passes = run.service.size
    if "epochs" in plugins.params:
        passes = plugins.params["epochs"] or -1
    found = trained_records.described(
        [hooks.trained.trained, *run.state.trained()],
        made * experiment_lib.num_synchronous(run.config, run.task),
        (of_pass or plugins.train_examples, passes), is_at_end=reason == "input_exhausted")
    logging.info("the data service: %s", found)
    return f"{found[0].upper()}{found[1:]}."


def _begin(run: ChiefRun) -> str:
    """Makes a whole checkpoint the latest, and announces the run if it is to train.

    Returns why an earlier run has ended training; "" if this one trains.
    """
    config, task = run.config, run.task
    if (config.early_stopping_metric or config.stop_at) and not (
            task.is_local or task.head_evaluates or task.has_evaluator):
        logging.warning("%s is set, and TF_CONFIG lists no evaluator: only an evaluator task that"
                        " shares model_dir can stop this job early",
                        "early_stopping_metric" if config.early_stopping_metric else "stop_at")
    if not config.is_until_no_improvement:
        best_model.begin(config.model_dir, "best" in config.exporters, config.keep_checkpoint_max)
    checkpoint_choice.fall_back(config.model_dir, config.keep_checkpoint_max)
    checkpoint_choice.remove_unfinished(config.model_dir)
    finished = end_of_earlier(config)
    if not finished:
        # The trainers of an all-reduce would wait for a chief that trains nothing.
        run.state.announce("running")
        if task.is_all_reduce:
            run.state.gather(task.num_trainers - 1, run.stop)
    return finished


def end_of_earlier(config: TrainerConfig) -> str:
    """Returns why an earlier run in model_dir has trained to its end; "" if it has not."""
    best = best_model.ended(config.model_dir) if config.is_until_no_improvement else None
    if best:
        return best.ended
    if config.max_steps and checkpoints.latest_step(config.model_dir) >= config.max_steps:
        return "train_steps"
    return STOP_AT if target.had_reached(config) else ""


def _resume_finished(run: ChiefRun, evaluations: EvaluationLog,
                     reason: str) -> tuple[int, str, str]:
    """Returns step, reason and no note of a finished run; restores what that run evaluated."""
    config = run.config
    step = checkpoints.latest_step(config.model_dir)
    best = best_model.ended(config.model_dir) if config.is_until_no_improvement else None
    if best:
        step = best.step
        best_model.make_latest(config.model_dir, best.ended, best.last_step,
                               config.keep_checkpoint_max)
        logging.info("training is complete: it ended at step %d (%s), and the best checkpoint is"
                     " that of step %d", best.last_step, reason, step)
    elif reason == STOP_AT:
        logging.info("training is complete: it ended at step %d with %s", step, config.stop_at)
    else:
        logging.info("training is complete: the last checkpoint is of step %d, train_steps is %d",
                     step, config.train_steps)
    final_evaluation.restore(run.plan, evaluations, step)
    return step, reason, ""


def _bounded(run: ChiefRun, plugins: LoadedPlugins
             ) -> tuple[ChiefRun, TrainerConfig, Length | None]:
    """Returns the run and its settings with the bounds by rows, and the length; None: no such rule.

    The record keeps the settings of the plan before.
    """
    config, length = run.config, None
    if config.is_until_no_improvement:
        length = no_improvement.length_of(plugins)
        config = no_improvement.bounded(config, length)
    elif run.plan.passes and not config.train_steps and not config.save_summary_steps:
        # The rows alone decide the number of steps.
        steps = int(run.plan.passes * no_improvement.length_of(plugins).pass_steps)
        config = dataclasses.replace(config, save_summary_steps=intervals.by_length(steps))
    plan = dataclasses.replace(run.plan, config=config)
    return dataclasses.replace(run, plan=plan), config, length


def _best_as_model(run: ChiefRun, evaluations: EvaluationLog, length: Length | None, step: int,
                   reason: str, note: str) -> tuple[int, str, str]:
    """Makes the best checkpoint the model; returns its step, the reason of the end, and a note.

    Under another rule, with the target of `stop_at` reached, and where no evaluation has found any,
    step, reason and note stay.
    """
    model_dir = run.config.model_dir
    has_rule = length and (reason != STOP_AT or best_model.ended(model_dir))
    best = best_model.make_latest(
        model_dir, MOST_STEPS if reason == "train_steps" else reason, step,
        run.config.keep_checkpoint_max) if has_rule else None
    if length is None or best is None:
        return step, reason, note
    no_improvement.restore(model_dir, evaluations, best)
    found = no_improvement.described(model_dir, best, length)
    return best.step, best.ended, f"{found} {note}".rstrip()
