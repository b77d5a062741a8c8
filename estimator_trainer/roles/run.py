"""The run of one task: runs its role, explains a failure, and reports it to the other tasks."""

import contextlib
from typing import Any, Iterator, Mapping

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, environment, errors, machine, task_events
from estimator_trainer.checks import model_dir_name
from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import (checkpoints, evaluator_heartbeat, lease as lease_lib,
                                            stop as stop_lib)
from estimator_trainer.coordination.job_state import JobStateReader, JobStateWriter
from estimator_trainer.coordination.job_view import ChiefView, OthersView
from estimator_trainer.coordination.watchdog import Watchdog
from estimator_trainer.estimator import user_estimator
from estimator_trainer.evaluation import event_files
from estimator_trainer.input import data_service
from estimator_trainer.patches import cluster_patches, saving_patches, training_patches
from estimator_trainer.record import runs
from estimator_trainer.reports import job_history
from estimator_trainer.result import Result
from estimator_trainer.roles import (chief, data_worker, evaluator, experiment, outcome, ps,
                                     trial_metric, worker)
from estimator_trainer.roles.task_run import ChiefRun, FollowerRun
from estimator_trainer.training.train_op import SyncReplicasHook

_FOLLOWERS = {"data_worker": data_worker.serve, "evaluator": evaluator.evaluate, "ps": ps.serve,
              "worker": worker.train}
_POLL_SECS = 0.25


def train_and_evaluate(plan: Plan) -> Result:
    """Runs this task of the job to its end.

    Raises TrainerError if one sentence explains the failure; other errors come out of user code.
    """
    task, stop = plan.task, stop_lib.Stop()
    machine.allow_open_files()
    environment.write_tf_config(task.platform_tf_config)
    with (stop_lib.stopping_on_signals(
              stop, task.name, lambda: checkpoints.latest_step(plan.config.model_dir)),
          training_patches.polling_every_second(),
          saving_patches.naming_event_files(task.name),
          saving_patches.writing_graphs_natively(),
          cluster_patches.configs_in_any_cluster(lambda: task, user_estimator.of_platform),
          training_patches.synchronizing_with(SyncReplicasHook)):
        try:
            lease = _lease(plan, stop) if task.is_chief else None
        except errors.Interrupted as interruption:
            return outcome.interrupted(plan, interruption)
        try:
            with (_mirrored_events(plan), trial_metric.reported(plan) as report,
                  job_history.kept(plan) as end):
                ended = _run_chief(plan, stop, lease) if lease else _run_follower(plan, stop)
                report(ended)
                end(ended)
                return ended
        finally:
            if lease:
                lease.release()


@contextlib.contextmanager
def _mirrored_events(plan: Plan) -> Iterator[None]:
    """Copies the job's events, within a `with` statement, to where Vertex AI's TensorBoard reads.

    A directory within model_dir, in which TensorBoard would show everything twice, gets no copy
    unless the job has that TensorBoard.
    """
    variables, model_dir = environment.read(), plan.config.model_dir
    folder = variables.tensorboard_dir
    if not (folder and plan.task.is_chief) or model_dir_name.is_within(model_dir, folder) or (
            model_dir_name.is_within(folder, model_dir) and not variables.has_tensorboard):
        yield
        return
    mirror = event_files.Mirror(model_dir, folder)

    def receive(kind: str, values: Mapping[str, Any]) -> None:
        if kind in ("train", "evaluation"):
            mirror.copy_sometimes()

    try:
        with task_events.received_by(receive):
            yield
    finally:
        mirror.copy()


def _lease(plan: Plan, stop: stop_lib.Stop) -> lease_lib.Lease:
    """Takes the lease of model_dir, before anything is written there."""
    try:
        return lease_lib.acquire(plan.config.model_dir, plan.task, plan.config.force, stop)
    except (tf.errors.OpError, OSError) as error:
        raise experiment.unwritable(plan.config.model_dir, plan.task.name, error) from error


def _run_chief(plan: Plan, stop: stop_lib.Stop, lease: lease_lib.Lease) -> Result:
    """Runs the chief; reports its end to every other task, and in result.json."""
    config, task = plan.config, plan.task
    state = JobStateWriter(config.model_dir, is_shared=task.name != "local",
                           peer_timeout_secs=config.peer_timeout_secs,
                           cluster=task.counts, addresses=task.fingerprint)
    service = (data_service.Dispatching(config.model_dir, task, state)
               if plan.has_data_service else None)
    with Watchdog(config, task, stop, ChiefView(task, stop, state, lease)) as watchdog:
        try:
            ended = chief.train(ChiefRun(plan, stop, watchdog, state, service))
            runs.end(plan, ended)
            if service:
                service.end_epochs()
            return ended
        except errors.Interrupted as interruption:
            ended = outcome.interrupted(plan, interruption)
            _report_early_end(plan, state, ended)
            return ended
        except Exception as error:
            explained = outcome.explained(error, plan)
            step = checkpoints.latest_step(config.model_dir)
            _report_early_end(plan, state, Result(task.name, "failed", step,
                                                  errors.in_short(explained)))
            outcome.raise_explained(error, explained)


def _run_follower(plan: Plan, stop: stop_lib.Stop) -> Result:
    """Runs any other role; a trainer or a ps reports its failure to the chief."""
    config, task = plan.config, plan.task
    poll_intervals = deadlines.poll_intervals(config.model_dir, config.peer_timeout_secs)
    state = JobStateReader(
        config.model_dir, config.max_steps,
        poll_intervals.evaluator_secs if task.role == "evaluator" else poll_intervals.task_secs)

    def wait() -> None:
        watchdog.tick()
        stop.sleep(_POLL_SECS)
        stop.check()

    service = (data_service.Receiving(task, state, wait)
               if plan.has_data_service and task.is_trainer else None)
    with Watchdog(config, task, stop, OthersView(config, task, stop, state)) as watchdog:
        try:
            return _FOLLOWERS[task.role](FollowerRun(plan, stop, watchdog, state, service))
        except errors.Interrupted as interruption:
            return outcome.interrupted(plan, interruption)
        except Exception as error:
            explained = outcome.explained(error, plan)
            if task.role == "evaluator" and task.index:
                pass  # Another evaluator takes its checkpoint.
            elif task.role == "evaluator":
                evaluator_heartbeat.write_failure(config.model_dir)
            elif getattr(explained, "is_missed", True):
                state.request_end("failed", errors.in_short(explained), task.name)
            outcome.raise_explained(error, explained)


def _report_early_end(plan: Plan, state: JobStateWriter, ended: Result) -> None:
    """Reports an end before the job was done to the other tasks, and in result.json."""
    try:
        state.announce(ended.status, ended.step, ended.reason)
        found = checkpoints.read_result(plan.config.model_dir)
        # An earlier run may have done all that this one was to do.
        is_complete = found and found.status == "done" and found.step == ended.step and (
            chief.end_of_earlier(plan.config))
        if ended.step and not is_complete:
            checkpoints.write_result(plan.config.model_dir, ended)
        runs.end(plan, ended)
    except tf.errors.OpError as error:
        logging.warning("cannot write how the job ended: %s", errors.first_line(error))
