"""A worker trains with the chief until training ends, and then reads why it ended."""

import dataclasses

from absl import logging

from estimator_trainer import errors
from estimator_trainer.coordination import stop as stop_lib
from estimator_trainer.coordination.job_state import JobState, Joined
from estimator_trainer.coordination.job_view import Membership
from estimator_trainer.estimator import loaded_plugins, strategy
from estimator_trainer.result import Result
from estimator_trainer.roles import experiment as experiment_lib, outcome
from estimator_trainer.roles.task_run import FollowerRun

_POLL_SECS = 0.25


def train(run: FollowerRun) -> Result:
    """Trains until training ends, or finds that it has ended.

    Raises Interrupted if this task or the job is to stop, and TrainerError if another task failed.
    """
    task = run.task
    try:
        final_state = _wait_to_begin(run)
    except errors.Interrupted:
        run.state.withdraw(task.index)
        raise
    if final_state:
        return outcome.follow(task, final_state)
    run = _among_others(run)
    try:
        return _train(run)
    except errors.Interrupted:
        if run.task.has_joined:  # Signalled before its first step, too.
            run.state.leave(task.index)
        raise


def _train(run: FollowerRun) -> Result:
    """Trains among the others until training ends, and returns why it ended."""
    strategies = strategy.of_plan(run.plan)
    stop_lib.reclaim_sigterm()
    plugins = loaded_plugins.load(run.plan)
    run.log_start(plugins)
    hooks = experiment_lib.hooks_of(run, plugins)
    experiment = experiment_lib.build(run.plan, plugins, strategies,
                                      experiment_lib.evaluation_log(run, plugins), hooks,
                                      service=run.service)
    experiment_lib.train(run, experiment, hooks)
    if run.task.is_all_reduce or run.task.has_joined or not run.stop.is_to_be_continued:
        # A worker that will be started again has more input to read; a chief that was started
        # meanwhile would take the input for ended. One that joined has no input of its own.
        run.state.leave(run.task.index)
    return outcome.left(run, hooks.end)


def _among_others(run: FollowerRun) -> FollowerRun:
    """Returns the run with the chief's number of trainers; announces a worker that joins."""
    now = run.state.state
    task = run.task.among(now.cluster) if now else run.task
    if task.has_joined:
        if not run.plan.has_data_service:
            share = task.input_pipeline_id
            logging.warning(
                "%s joins a job of %d trainers, and reads the same share of the data as %s; with %s"
                " the data is shared among all", task.name, task.num_trainers,
                task.name_of("worker", share - 1) if share else task.name_of("chief", 0),
                errors.Setting("data_service", True))
        run.state.join_with_ps(task.index, Joined(task.name, task.address))
    return dataclasses.replace(run, plan=dataclasses.replace(run.plan, task=task))


def _wait_to_begin(run: FollowerRun) -> JobState | None:
    """Waits until this worker can take part; returns how the job ended, if it has."""
    membership, chiefs_run = Membership(run.config, run.task, run.state), ""
    while True:
        now = run.state.poll()
        if now and now.run != chiefs_run:
            # A worker that ended now would leave a chief that has just begun waiting in vain.
            chiefs_run = now.run
            run.watchdog.tick()
        if now and now.status != "running":
            return run.state.poll_final_state()
        if now and membership.check(now) and (
                not run.task.is_all_reduce or _join_complete_run(run, now)):
            return None
        run.stop.sleep(_POLL_SECS)
        run.stop.check()


def _join_complete_run(run: FollowerRun, now: JobState) -> bool:
    """Joins the chief's run, once; returns whether all other trainers have joined it too."""
    if now.run != run.state.joined_run and not run.state.join(run.task.index):
        return False
    return now.run == run.state.joined_run and now.is_complete
