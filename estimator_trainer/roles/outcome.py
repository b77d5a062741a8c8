"""The outcome of a role: its result, or the error that it reports."""

import dataclasses
import posixpath
from typing import NoReturn

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors, result
from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster import ports
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import checkpoint_choice, checkpoints, shared_files
from estimator_trainer.coordination.job_state import JobState
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.estimator import loaded_plugins
from estimator_trainer.evaluation.evaluation_log import EvaluationLog
from estimator_trainer.graph import session_close, table_ids
from estimator_trainer.record import run_record
from estimator_trainer.record.runs import EarlierRun
from estimator_trainer.roles.task_run import FollowerRun
from estimator_trainer.training import numerics
from estimator_trainer.training.end_of_training import BY_HOOK, EndOfTraining, REQUESTED_BY_ANOTHER

_WRITING_FAILED = (tf.errors.ResourceExhaustedError, tf.errors.PermissionDeniedError,
                   tf.errors.FailedPreconditionError, tf.errors.UnknownError)
_FULL = "No space left on device"
_DATA_FAILED = (tf.errors.InvalidArgumentError, tf.errors.DataLossError, tf.errors.NotFoundError)
# All that TensorFlow raises when model_dir is gone.
_GONE = ("There was no new checkpoint after the training", "is not a valid checkpoint",
         "doesn't exist, can't save", "No such file or directory")
# TensorFlow's text in a worker that a ps does not know.
_UNKNOWN_WORKER = "No worker known as /job:worker/"
# All that TensorFlow raises when another process has the port, with any strategy.
_NO_SERVER = "Could not start gRPC server"


def follow(task: TaskConfig, final_state: JobState) -> result.Result:
    """Returns the result of a task that ends because training has ended.

    Raises TrainerError if training failed, and Interrupted if training is to be continued.
    """
    chief = task.name_of("chief", 0)
    if final_state.status == "failed":
        is_mistake = final_state.reason.startswith(result.CONFIGURATION)
        raise (errors.ConfigError if is_mistake else errors.TrainerError)(
            f"training failed in {chief} ({final_state.reason}); its log says why")
    if final_state.status in ("stopped", "lost"):
        raise errors.Interrupted(final_state.status, final_state.reason, chief)
    logging.info("training has ended at step %d: %s", final_state.step, final_state.reason)
    return result.Result(task.name, "done", final_state.step, final_state.reason)


def left(run: FollowerRun, end: EndOfTraining) -> result.Result:
    """Returns the result of a worker that has stopped training; raises what `follow` raises."""
    task = run.task
    is_alone = end.reason == BY_HOOK and not task.is_all_reduce
    if end.reason in ("train_steps", "input_exhausted") or is_alone:
        return result.Result(task.name, "done", end.step, end.reason)
    request = run.stop.request
    if request and request.status != "stopping":
        if task.is_all_reduce:
            # All trainers stopped at this step; the chief needs the reason.
            run.state.request_end(request.status, request.reason, request.by)
        return follow(task, JobState("", request.status, end.step, request.reason))
    # Once the chief has saved, it writes why all trainers stop.
    final_state = run.state.wait(deadlines.CHIEF_SAVES_SECS)
    if final_state is None:
        raise errors.Interrupted("lost", "the chief did not say why training ended", task.name)
    return follow(task, final_state)


def wait_for_reason(end: EndOfTraining, stop: Stop) -> str:
    """Returns why the chief stopped; waits for a worker's request if its vote stopped all."""
    if end.reason != REQUESTED_BY_ANOTHER:
        return end.reason
    stop.wait(deadlines.WORKER_REQUESTS_SECS)
    stop.request_end("stopped", end.reason, "a worker")
    return stop.request.reason if stop.request else end.reason


def interrupted(plan: Plan, interruption: errors.Interrupted) -> result.Result:
    """Logs and returns the end of a task that was requested to end before the job was done."""
    step = checkpoints.latest_step(plan.config.model_dir)
    logging.warning("%s at step %d: %s (%s)%s", interruption.status, step, interruption.reason,
                    interruption.by, "" if interruption.status == "failed" else
                    "; the same command goes on from there")
    return result.Result(plan.task.name, interruption.status, step, interruption.reason)


def explained(error: Exception, plan: Plan) -> Exception:
    """Returns an error of one sentence for one that is not the code's fault, else the error."""
    error = errors.unwrapped(error)
    model_dir, task = plan.config.model_dir, plan.task
    step = checkpoints.latest_step(model_dir)
    if refused := _refused(error, task):
        return refused
    if isinstance(error, tf.estimator.NanLossDuringTrainingError):
        what = f"the loss became NaN in {task.name}, after the checkpoint of step {step}"
        place = loaded_plugins.not_finite(plan)
        return errors.TrainerError(
            f"{what}: {place}. Correct the data and run the same command." if place else
            f"{what}. Try a lower learning rate, or look for bad records and logarithms of 0.")
    if isinstance(error, numerics.NotFiniteError):
        place = loaded_plugins.not_finite(plan)
        return errors.TrainerError(f"{place}. {error}") if place else error
    is_full = _FULL in str(error)
    if (isinstance(error, _WRITING_FAILED) or is_full) and model_dir in str(error):
        why = next(line for line in str(error).splitlines() if model_dir in line)
        return errors.TrainerError(
            f"model_dir {model_dir} cannot be written: {why.strip()}. The last checkpoint is"
            f" that of step {step}; {'make room' if is_full else 'let this user write there'} and"
            " run the same command.")
    if _is_gone(model_dir, error):
        return errors.TrainerError(
            f"model_dir {model_dir} was deleted, or moved, while this job trained: its"
            " checkpoints are not there any more. Put it back and run the same command, which goes"
            " on from its last checkpoint, or else from the beginning.")
    damage = checkpoint_choice.damage(error, model_dir)
    if damage:
        return errors.TrainerError(damage)
    wrong_id = table_ids.problem(error)
    if wrong_id:
        return errors.TrainerError(
            f"{wrong_id} The last checkpoint is that of step {step}.")
    problem = loaded_plugins.data_problem(plan) if isinstance(error, _DATA_FAILED) else ""
    if problem:
        return errors.TrainerError(
            f"{problem}. The last checkpoint is that of step {step}; correct the data and run the"
            " same command.")
    return error


def _refused(error: Exception, task: TaskConfig) -> errors.ConfigError | None:
    """Returns the error of a task without its port, or of a worker that a ps does not know."""
    if isinstance(error, (tf.errors.UnknownError, RuntimeError)) and _NO_SERVER in str(error):
        return errors.ConfigError(ports.taken(task))
    if _UNKNOWN_WORKER in str(error) and task.role == "worker":
        session_close.abandon()
        return errors.OtherClusterError(errors.Problem(
            "cluster", task.name, source=task.source, expected="a worker whose address is in the"
            " TF_CONFIG of each ps: a ps fetches tensors from workers",
            advice="Start the job with the addresses of all workers that may join in the TF_CONFIG"
            " of the ps."), is_missed=False)
    return None


def _is_gone(model_dir: str, error: Exception) -> bool:
    """Returns whether an error comes from a model_dir that is not there any more."""
    text = str(error)
    is_missing = any(each in text for each in _GONE) and (model_dir in text or _GONE[0] in text)
    return is_missing and not shared_files.is_listed(posixpath.join(model_dir, run_record.NAME))


def raise_explained(error: Exception, explanation: Exception) -> NoReturn:
    """Raises what `explained` returned for `error`, and leaves the cause of `error` as it is."""
    if explanation is error:
        raise error
    raise explanation from error


def report(plan: Plan, evaluations: EvaluationLog, step: int, reason: str,
           earlier: EarlierRun, note: str = "") -> result.Result:
    """Returns the end of the task that made the final evaluation; writes it to result.json.

    `note` is a sentence on how training ended, "" for none.
    """
    # An asynchronous chief that waited in vain for a worker saves steps that it never saw.
    step = evaluations.metrics.get("global_step", step)
    exports = tuple(path for path in evaluations.exports if tf.io.gfile.exists(path))
    ended = earlier.add_to(result.Result(
        plan.task.name, "done", step, reason, evaluations.metrics, exports, note=note,
        returned=(evaluations.returned, evaluations.returned_exports)))
    checkpoints.write_result(plan.config.model_dir, ended)
    return ended


def report_of_evaluator(plan: Plan, step: int, reason: str,
                        earlier: EarlierRun) -> result.Result | None:
    """Returns the end of a chief whose evaluator made the final evaluation.

    None: result.json lacks that evaluation, which was made in an earlier run.
    """
    model_dir = plan.config.model_dir
    found = checkpoints.read_result(model_dir)
    if found is None or found.status != "done" or found.step < step:
        return None
    exports = tuple(path for path in found.exports if tf.io.gfile.exists(path))
    ended = earlier.add_to(result.Result(plan.task.name, "done", step, reason, found.metrics,
                                         exports))
    if ended.note or exports != found.exports:
        # The evaluator wrote the file without what the chief found.
        checkpoints.write_result(model_dir, dataclasses.replace(
            found, exports=exports, was_finished=ended.was_finished, note=ended.note))
    return ended
