"""A worker trains with the chief until training ends, and then learns why it ended."""

from __future__ import annotations

from estimator_trainer import errors
from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import stop as stop_lib
from estimator_trainer.coordination.job_state import JobState, JobStateReader
from estimator_trainer.coordination.membership import Membership
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.coordination.watchdog import Watchdog
from estimator_trainer.estimator import loaded_plugins, strategy
from estimator_trainer.result import Result
from estimator_trainer.roles import announcement, experiment as experiment_lib, outcome
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training.end_of_training import EndOfTraining

_POLL_SECS = 0.25


def run(plan: Plan, stop: Stop, state_reader: JobStateReader, watchdog: Watchdog) -> Result:
    """Trains until training ends, or finds that it has ended.

    Raises:
      Interrupted: if this task is asked to stop, or the job was.
      TrainerError: if training failed in another task.
    """
    config, task = plan.config, plan.task
    try:
        final_state = _wait_to_begin(config, state_reader, stop, task, watchdog)
    except errors.Interrupted:
        state_reader.withdraw(task.index)
        raise
    if final_state:
        return outcome.follow(task, final_state)
    strategies = strategy.of_plan(plan)
    stop_lib.reclaim_sigterm()
    parts = loaded_plugins.load(plan)
    announcement.log(plan, parts)
    hooks = experiment_lib.hooks_of(
        plan, parts, EndOfTraining(config, task, stop, watchdog, None, state_reader))
    experiment = experiment_lib.build(plan, parts, strategies,
                                      experiment_lib.record_of(plan, stop, watchdog), hooks)
    experiment_lib.train(experiment, hooks, plan, stop, watchdog)
    if task.is_all_reduce or not stop.is_to_be_continued:
        # A worker that is to be started again has more of its input to read. A chief that was
        # started meanwhile would take the input for ended.
        state_reader.leave(task.index)
    return outcome.left(task, hooks.end, stop, state_reader)


def _wait_to_begin(config: TrainerConfig, state_reader: JobStateReader, stop: Stop,
                   task: TaskConfig, watchdog: Watchdog) -> JobState | None:
    """Waits until this worker can take part; returns how the job ended, if it has."""
    membership, run = Membership(config.model_dir, task, state_reader), ""
    while True:
        now = state_reader.poll()
        if now and now.run != run:
            # A worker that ended soon after a chief began would leave that one waiting in vain.
            run = now.run
            watchdog.tick()
        if now and now.status != "running":
            return state_reader.poll_final_state()
        if now and membership.check(now) and (
                not task.is_all_reduce or _is_gathered(task, now, state_reader)):
            return None
        stop.sleep(_POLL_SECS)
        stop.check()


def _is_gathered(task: TaskConfig, now: JobState, state_reader: JobStateReader) -> bool:
    """Joins the chief's run, once; returns whether all other trainers have, too."""
    if now.run != state_reader.joined_run and not state_reader.join(task.index):
        return False
    return now.run == state_reader.joined_run and now.is_complete
