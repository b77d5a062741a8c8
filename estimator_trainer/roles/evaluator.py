"""The evaluator evaluates and exports checkpoints as they come, and ends with the training."""

import contextlib
import math
import time

from absl import logging

from estimator_trainer import deadlines, errors
from estimator_trainer.coordination import checkpoints, evaluator_heartbeat, shared_evaluation
from estimator_trainer.coordination.job_state import JobState
from estimator_trainer.coordination.job_view import Membership
from estimator_trainer.estimator import loaded_plugins, strategy
from estimator_trainer.evaluation import exporters, kept_evaluation
from estimator_trainer.record import runs
from estimator_trainer.result import Result
from estimator_trainer.roles import (evaluator_team, experiment as experiment_lib, final_evaluation,
                                     outcome)
from estimator_trainer.roles.task_run import FollowerRun

_TICK_SECS = 0.25


def evaluate(run: FollowerRun) -> Result:
    """Sends heartbeats as the job's evaluator, and evaluates until training has ended.

    Raises Interrupted if this task or the job is to stop, and TrainerError if training failed.
    """
    plan, config, task = run.plan, run.config, run.task
    if not plan.is_evaluated:
        return outcome.follow(task, _wait_for_end(run))
    strategies = strategy.of_plan(plan)
    plugins = loaded_plugins.load(plan)
    # The chief may take this evaluator for gone, and evaluate in its place.
    evaluations = experiment_lib.evaluation_log(
        run, plugins, lambda: bool((found := run.state.poll_final_state()) and found.finisher))
    experiment = experiment_lib.build(
        plan, plugins, strategies, evaluations, hooks=None, request_end=run.state.request_end)
    kept = kept_evaluation.build(experiment.estimator, plugins, evaluations)
    experiment_lib.preflight(plan, plugins, kept)
    final = final_evaluation.FinalEvaluation(experiment.eval_spec, experiment.estimator,
                                             evaluations,
                                             exporters.at_the_end(config.exporters, plugins,
                                                                  evaluations),
                                             config.max_steps)
    run.log_start(plugins)
    final_evaluation.restore(plan, evaluations,
                             checkpoints.latest_step(config.model_dir))
    with kept.used_by(experiment.estimator) if kept else contextlib.nullcontext():
        if task.index != shared_evaluation.LEAD:
            _wait_for_own_job(run)
            return outcome.follow(task, evaluator_team.assist(run, final))
        return _lead(run, plugins, final)


def _lead(run: FollowerRun, plugins: loaded_plugins.LoadedPlugins,
          final: final_evaluation.FinalEvaluation) -> Result:
    """Evaluates, alone or as the first of several, and makes the final export and result.json."""
    plan, config, task, evaluations = run.plan, run.config, run.task, final.evaluations
    with evaluator_heartbeat.sending_heartbeats(config.model_dir, lambda: evaluations.step):
        _wait_for_own_job(run)
        final_state = (evaluate_all(run, final) if task.num_evaluators < 2 else None
                       ) or evaluator_team.evaluate_all(run, final)
        ended = outcome.follow(task, final_state)
        if final_state.finisher:
            # The chief has evaluated, and writes result.json.
            return ended
        final.judge(run, plugins)
        return outcome.report(plan, evaluations, final_state.step, final_state.reason,
                              runs.as_recorded(config.model_dir))


def _wait_for_end(run: FollowerRun) -> JobState:
    """Returns how the training of a script that evaluates nothing has ended."""
    logging.info("the script trains only: waits for the end of training")
    while True:
        run.stop.check()
        final_state = run.state.poll_final_state()
        if final_state:
            return final_state
        run.watchdog.tick()
        run.stop.sleep(_TICK_SECS)


def _wait_for_own_job(run: FollowerRun) -> None:
    """Waits as long as the training of another cluster goes on in model_dir."""
    membership = Membership(run.config, run.task, run.state)
    while (now := run.state.poll()) and now.status == "running" and not membership.check(now):
        run.watchdog.tick()
        run.stop.check()
        run.stop.sleep(_TICK_SECS)


def evaluate_all(run: FollowerRun, final: final_evaluation.FinalEvaluation) -> JobState | None:
    """Evaluates every checkpoint it can until training has ended, the final one included.

    Returns how training has ended; None once another evaluator has come.

    The Estimator's own evaluator ends only at `max_steps`: never when the input ran out first or
    training stopped early, and after a sleep of `throttle_secs` even then (training.py). Raises
    Interrupted if this task is to stop, or cannot see the final checkpoint.
    """
    model_dir, evaluations = final.estimator.model_dir, final.evaluations
    poll_intervals = deadlines.poll_intervals(model_dir)
    polls_at, lost_at = 0.0, math.inf
    while True:
        run.stop.check()
        # The order matters: the checkpoint that is the latest after the end is the last.
        final_state = run.state.poll_final_state()
        if final_state and (final_state.status != "done" or final_state.finisher):
            return final_state
        if final_state or time.monotonic() >= polls_at:
            polls_at = time.monotonic() + poll_intervals.checkpoint_secs
            latest = checkpoints.latest(model_dir, known=evaluations.checkpoint_path)
            is_new = latest not in ("", evaluations.checkpoint_path)
            if is_new and not run.task.num_evaluators and shared_evaluation.has_members(model_dir):
                return None
            if final_state and _finish(final, final_state, latest):
                # The chief may have taken this evaluator for gone meanwhile.
                return run.state.poll_final_state() or final_state
            if not final_state and is_new:
                polls_at = time.monotonic() + final.spec.throttle_secs
                with final_evaluation.unless_gone(latest):
                    final.evaluate(latest)
                run.state.poll_often_from(evaluations.metrics.get("global_step", 0))
        if final_state:
            lost_at = min(lost_at, time.monotonic() + deadlines.FINAL_CHECKPOINT_SECS)
            if time.monotonic() > lost_at:
                raise errors.Interrupted(
                    "lost", f"training ended with a checkpoint of step {final_state.step}, and"
                    f" {model_dir} does not show it whole", "evaluator")
        run.watchdog.tick()
        run.stop.sleep(poll_intervals.evaluator_secs if final_state else _TICK_SECS)


def _finish(final: final_evaluation.FinalEvaluation, final_state: JobState, latest: str) -> bool:
    """Evaluates and exports the final checkpoint; returns False if it cannot be read now."""
    if checkpoints.step_of(latest) < final_state.step:
        return False
    if latest != final.evaluations.checkpoint_path:
        with final_evaluation.unless_gone(latest):
            final.evaluate(latest)
    if latest != final.evaluations.checkpoint_path:
        return False
    final.finish()
    return True
