"""From settings to a process that computes: one way for commands, Python functions and scripts.

The plan is made without TensorFlow, and every problem in it ends the start. Then the logs, the
threads and XLA are set up and TensorFlow is imported, each replica gets its CPU, the device and the
storage are checked, and frozen variables are kept out of the optimizers. Only a script knows its
model_dir and its strategy later; `script/run.py` sends them through the same checks.
"""

import contextlib
import dataclasses
import functools
import posixpath
import sys
import time
from typing import Callable, Iterator, Sequence

from estimator_trainer import deadlines, environment, errors, progress_bar, storage
from estimator_trainer.checks import model_dir_name, run_plan
from estimator_trainer.checks.plan import Invocation, Plan
from estimator_trainer.record import recorded_run
from estimator_trainer.result import Result
from estimator_trainer.settings.trainer_config import TrainerConfig

# One of the functions of run_plan.
MakePlan = Callable[[TrainerConfig, environment.Environment, Invocation], Plan]

# Listing what does not exist takes one short request, and no right on the bucket itself.
_NOWHERE = ".estimator_trainer-looks-for-the-bucket/*"


def planned(make: MakePlan, config: TrainerConfig, variables: environment.Environment,
            invocation: Invocation) -> Plan:
    """Returns the plan of a run that can begin, with a model_dir.

    Raises:
      ConfigError: with every problem of the plan, one a line.
    """
    return run_plan.ready(sketched(make, config, variables, invocation))


def sketched(make: MakePlan, config: TrainerConfig, variables: environment.Environment,
             invocation: Invocation) -> Plan:
    """Returns the plan of a run, maybe with problems, and maybe without a model_dir."""
    read = _reader(make, config, variables)
    return make(config, variables, dataclasses.replace(invocation, read=read))


def prepare(plan: Plan) -> None:
    """Makes this process one that can compute what is planned, or raises ConfigError."""
    import_tensorflow(plan)
    from estimator_trainer.estimator import strategy
    try:
        strategy.split_cpu(plan.config.num_replicas)
    except RuntimeError as error:
        raise errors.ConfigError(errors.Problem(
            "num_replicas", plan.config.num_replicas,
            "and TensorFlow has begun to compute in this process with one CPU",
            "this setting in the first call of the process",
            "restart the notebook's kernel")) from error
    if plan.script is None:
        check(plan)


def check(plan: Plan) -> None:
    """Checks the device and the storage of a run with TensorFlow, or raises ConfigError."""
    from estimator_trainer.estimator import strategy
    strategy.check(plan.config.device, plan.task)
    check_storage(plan)


@contextlib.contextmanager
def computing(plan: Plan) -> Iterator[None]:
    """Prepares this process; the seed and frozen variables count within a `with` statement."""
    prepare(plan)
    from estimator_trainer.estimator import frozen, random_state
    from estimator_trainer.evaluation import event_files
    if plan.config.model_dir:
        event_files.close_deleted(plan.config.model_dir)
    with contextlib.ExitStack() as undone:
        undone.enter_context(progress_bar.until_end())
        if plan.config.seed:
            undone.enter_context(random_state.kept())
        if plan.config.freeze or plan.config.warm_start_from:
            undone.enter_context(frozen.kept(plan.config.freeze))
        yield


@contextlib.contextmanager
def using_model(plan: Plan) -> Iterator[None]:
    """Does what `computing` does; errors that are not the code's fault become one sentence."""
    with computing(plan), explaining(plan):
        yield


@contextlib.contextmanager
def explaining(plan: Plan) -> Iterator[None]:
    """Turns errors that are not the code's fault into one sentence."""
    from estimator_trainer.roles import outcome
    try:
        yield
    except Exception as error:
        outcome.raise_explained(error, _of_model(outcome.explained(error, plan), plan))


def _of_model(error: Exception, plan: Plan) -> Exception:
    """Returns the error, in words on a trained model if it has such and the data are at fault.

    An error of a plug-in has such words in `of_model`, beside the `param` that the data do not fit.
    """
    words: str = getattr(error, "of_model", "")
    user_set = plan.params.user_set if plan.params else ()
    if words and plan.recorded and getattr(error, "param", "") not in user_set:
        error.args = (words,)
    return error


def train(plan: Plan) -> Result:
    """Trains and evaluates in the role of this process; returns how that ended."""
    with computing(plan):
        from absl import logging

        from estimator_trainer.roles import run
        ended = run.train_and_evaluate(plan)
    if plan.task.is_local and model_dir_name.is_scratch(plan.config.model_dir):
        logging.info("%s", model_dir_name.scratch_notice(plan.config.model_dir))
    return ended


def wait_for_model(config: TrainerConfig, variables: environment.Environment) -> None:
    """Waits until a model_dir, which need not exist, has a record or a checkpoint."""
    plan = run_plan.for_model_dir(config, variables)
    run_plan.refuse(plan)
    names = [posixpath.join(plan.config.model_dir, name) for name in recorded_run.SIGNS]
    read = recorded_run.read_local
    if storage.scheme(plan.config.model_dir):
        read_model_dirs(config, variables)
        from estimator_trainer.coordination import shared_files
        read = shared_files.read_text
    secs = deadlines.poll_intervals(plan.config.model_dir).checkpoint_secs
    is_waiting = False
    while not any(read(name) is not None for name in names):
        if not is_waiting:
            print(f"estimator-trainer: waits for a training in {plan.config.model_dir}",
                  file=sys.stderr)
        is_waiting = True
        time.sleep(secs)


def read_model_dirs(config: TrainerConfig, variables: environment.Environment,
                    folders: Sequence[str] = ()) -> list[str]:
    """Prepares this process to read model_dirs, and returns them; default: that of the settings."""
    plans = [run_plan.for_model_dir(dataclasses.replace(config, model_dir=folder), variables)
             for folder in folders or [config.model_dir]]
    for plan in plans:
        run_plan.refuse(plan)
    import_tensorflow(plans[0])
    for plan in plans:
        check_storage(plan)
    return [plan.config.model_dir for plan in plans]


def import_tensorflow(plan: Plan) -> None:
    """Imports TensorFlow, in seconds, with the logs, threads and file systems of a plan."""
    # absl's logging takes 10 ms, and `check` logs nothing.
    from estimator_trainer import logs, tensorflow_import
    config = plan.config
    logs.configure(plan.task.name, config.verbose)
    environment.set_threads(config.intra_op_threads, config.inter_op_threads)
    if config.xla:
        environment.compile_on_cpus()
    tensorflow_import.load(config.verbose, config.tf1, config.tf1_op_seeds)
    params = plan.params.values.values() if plan.params else ()
    paths = [*config.paths.values(), *(value for value in params if isinstance(value, str))]
    if plan.versions.mode == "native" and storage.needs_plugin(paths):
        storage.load()


def _reader(make: MakePlan, config: TrainerConfig,
            variables: environment.Environment) -> recorded_run.Read:
    """Returns the function that reads the record; a remote one is read by TensorFlow."""
    @functools.lru_cache(maxsize=None)
    def import_first() -> None:
        plan = make(config, variables, Invocation())
        import_tensorflow(plan)
        check_storage(plan)

    def read(path: str) -> str | None:
        if not storage.scheme(path) or run_plan.storage_problems(config.paths):
            return recorded_run.read_local(path)
        import_first()
        from estimator_trainer.coordination import shared_files
        return shared_files.read_text(path)

    return read


def check_storage(plan: Plan) -> None:
    """Checks that the file systems and the buckets of the settings can be read.

    TensorFlow would wait without end for a bucket of a wrong name: it makes the folders of a path
    one by one, and tries again whatever fails.
    """
    errors.refuse(filter(None, (_storage_problem(name, path, plan.versions.tensorflow)
                                for name, path in plan.config.paths.items())))


def _storage_problem(name: str, path: str, tensorflow: str | None) -> errors.Problem | None:
    import tensorflow as tf
    if storage.scheme(path) not in tf.io.gfile.get_registered_schemes():
        return storage.problem(name, path, tensorflow, plugin=None)
    if not (bucket := storage.bucket(path)):
        return None
    try:
        tf.io.gfile.glob(posixpath.join(bucket, _NOWHERE))
    except tf.errors.NotFoundError:
        example = f"gcloud storage buckets create {bucket}"
        return errors.Problem(name, path, f"and there is no bucket {bucket}", "one that exists",
                              example if storage.scheme(path) == "gs" else "",
                              advice="Correct the name, or make it.")
    except (tf.errors.PermissionDeniedError, tf.errors.UnauthenticatedError) as error:
        return errors.Problem(
            name, path, f"and {bucket} may not be read: {errors.first_line(error)}",
            advice="Grant this task the right to list, read and write objects there, on Google"
            " Cloud the role roles/storage.objectUser.")
    except tf.errors.OpError as error:
        return errors.Problem(
            name, path, f"and {bucket} cannot be reached: {errors.first_line(error)}",
            advice="Check this machine's network and credentials, or choose another directory.")
    return None
