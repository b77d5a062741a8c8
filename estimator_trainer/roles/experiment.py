"""The experiment of a task: its Estimator, specs and hooks, tried before the first step."""

import contextlib
import functools
import posixpath
from typing import Callable, NamedTuple, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer import environment, errors
from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import evaluator_heartbeat, shared_files
from estimator_trainer.estimator import builder, random_state
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.estimator.starting_checkpoint import CheckpointFit
from estimator_trainer.estimator.strategy import Strategies
from estimator_trainer.evaluation import exporters, no_improvement, target
from estimator_trainer.evaluation.evaluation_log import check_metric, EvaluationLog
from estimator_trainer.evaluation.kept_evaluation import KeptEvaluation
from estimator_trainer.input.data_service import DataService
from estimator_trainer.patches import saving_patches
from estimator_trainer.roles.task_run import ChiefRun, FollowerRun, TaskRun
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import (end_of_training, numerics, progress, session_runs,
                                        step_samples, table_memory, trained_records)


class Experiment(NamedTuple):
    """The arguments of `tf.estimator.train_and_evaluate`."""

    estimator: tf.estimator.Estimator
    train_spec: tf.estimator.TrainSpec
    eval_spec: tf.estimator.EvalSpec

    def train(self) -> None:
        """Trains in this process, without evaluation."""
        spec = self.train_spec
        self.estimator.train(spec.input_fn, hooks=spec.hooks, max_steps=spec.max_steps,
                             saving_listeners=spec.saving_listeners)


class TrainingHooks(NamedTuple):
    """The hooks of a task that trains, in the order in which the Estimator calls them.

    `fit` compares the model with the checkpoint that training resumes from; `numerics` checks the
    variables before each checkpoint, and is None with --nocheck_numerics; `trained` counts the
    records of a training set that is handed out, and is None for another.
    """

    end: end_of_training.EndOfTraining
    progress: progress.TrainingProgress
    fit: CheckpointFit
    others: Sequence[tf.estimator.SessionRunHook]
    numerics: numerics.NumericsListener | None
    trained: trained_records.TrainedRecords | None = None


def hooks_of(run: ChiefRun | FollowerRun, plugins: LoadedPlugins) -> TrainingHooks:
    """Builds the hooks of a task that trains."""
    config, task, steps = run.config, run.task, run.config.profiled_steps
    end = end_of_training.EndOfTraining(config, task, run.stop, run.watchdog, run.state)
    advice = numerics.for_training(config.mixed_precision, end.loop_size, task)
    return TrainingHooks(
        end, progress.TrainingProgress(
            config, num_synchronous(config, task), plugins.train_examples, end.loop_size,
            _is_asynchronous(config, task)),
        CheckpointFit(config),
        [*([progress.StepProfiler(config.model_dir, *steps)] if steps else ()),
         progress.ModelSize(), step_samples.StepSamples(task, end.loop_size),
         *([table_memory.TableMemory(task)] if task.is_chief else []),
         *([advice] if advice else ()), *progress.hooks_of(config, task)],
        numerics.NumericsListener(config.model_dir, end.loop_size, is_fatal=plugins.script is None)
        if config.check_numerics else None, _records_hook(run))


def _records_hook(run: ChiefRun | FollowerRun) -> trained_records.TrainedRecords | None:
    if run.service is None:
        return None
    return (trained_records.TrainedRecords() if isinstance(run, ChiefRun) else
            trained_records.TrainedRecords(
                functools.partial(run.state.report_trained, run.task.index)))


def num_synchronous(config: TrainerConfig, task: TaskConfig) -> int:
    """Returns how many trainers make one global step together."""
    return task.num_trainers if task.is_all_reduce else config.sync_replicas or 1


def _is_asynchronous(config: TrainerConfig, task: TaskConfig) -> bool:
    return task.num_trainers > 1 and "ps" in task.cluster and not config.sync_replicas


def evaluation_log(run: TaskRun, plugins: LoadedPlugins,
                   is_made_elsewhere: Callable[[], bool] = lambda: False) -> EvaluationLog:
    """Builds the log of a task's evaluations, each of which may be stopped after any batch.

    `is_made_elsewhere` returns whether another task evaluates and exports in place of this one. A
    chief alone detects an evaluator by itself.
    """
    def on_batch() -> None:
        run.watchdog.tick()
        run.stop.check()

    model_dir, task = run.config.model_dir, run.task
    evaluates = run.plan.is_evaluated and task.role != "worker"
    unfinished = exporters.unfinished(model_dir) if evaluates else ()
    if task.is_local and task.name != "local" and not task.has_evaluator:
        is_made_elsewhere = evaluator_heartbeat.Presence(model_dir).poll
    return EvaluationLog(on_batch, unfinished, is_made_elsewhere, plugins.eval_sets)


def build(plan: Plan, plugins: LoadedPlugins, strategies: Strategies,
          evaluations: EvaluationLog, hooks: TrainingHooks | None,
          request_end: exporters.RequestEnd | None = None,
          service: DataService | None = None) -> Experiment:
    """Builds the experiment of this task.

    `hooks` is None in a task that does not train. `request_end` ends the job, in a task that may
    stop training early. `service` hands out the training set; None: the input_fn has shares.
    """
    config, script = plan.config, plugins.script
    during = exporters.during_training(config, plugins, evaluations)
    enders: list[tf.estimator.Exporter] = []
    if request_end and config.stop_at:
        enders.append(target.StopAt(config, request_end, plan.task.name))
    if request_end and config.is_until_no_improvement:
        enders.append(no_improvement.NoImprovement(
            config, no_improvement.length_of(plugins), evaluations, request_end, plan.task.name))
    if request_end and config.early_stopping_metric:
        enders.append(exporters.EarlyStopping(config, request_end, plan.task.name))
    during += [exporters.WithSets(each, evaluations) for each in enders]
    # The Estimator's own defaults: 100 batches, 120 s before the first evaluation, 600 s between.
    eval_spec = tf.estimator.EvalSpec(
        plugins.input_fn, config.eval_steps or None, script.eval_name if script else None,
        hooks=[evaluations.progress, *(script.eval_hooks if script else ())],
        exporters=during, start_delay_secs=0, throttle_secs=config.eval_throttle_secs)
    return Experiment(builder.for_training(plan, plugins, strategies),
                      _train_spec(plan, plugins, hooks, service), eval_spec)


def train(run: TaskRun, experiment: Experiment, hooks: TrainingHooks,
          least_steps: Callable[[], int] = lambda: 0) -> None:
    """Trains, and in some roles evaluates meanwhile, until `hooks.end` ends it.

    `least_steps` returns how many steps there are at least between two checkpoints.

    Raises Interrupted if this task was requested to stop before, or a ps was gone at the end.
    """
    run.stop.check()
    plan, task, clock = run.plan, run.task, run.config.checkpoints
    is_apart = task.is_all_reduce and not task.is_chief
    try:
        with (hooks.fit.explained(), saving_patches.saving_with(
                  hooks.numerics, clock.every_secs if clock.every_steps else None,
                  _last_listener(run, hooks),
                  least_steps),
              saving_patches.saving_apart() if is_apart else contextlib.nullcontext()):
            if task.is_local and (task.has_evaluator or not plan.is_evaluated):
                # `train_and_evaluate` takes a lone chief beside an evaluator for a run on its own,
                # and would evaluate in process too.
                experiment.train()
            elif _is_chief_of_another_name(plan):
                _train_as_chief(experiment, task)
            else:
                # The distribute coordinator reads TF_CONFIG.
                with environment.tf_config(task.strategy_tf_config()):
                    tf.estimator.train_and_evaluate(*experiment)
    except tf.errors.OpError as error:
        if end_of_training.is_of_another_trainer(error):
            run.watchdog.wait_for_end()
        lost = end_of_training.lost_ps(error)
        if lost:
            # A ps that fails reports the reason before it is gone.
            run.stop.check()
            raise errors.Interrupted("lost", f"{lost} was gone when training ended",
                                     task.name) from error
        raise


def _last_listener(run: TaskRun, hooks: TrainingHooks) -> (
        tf.estimator.CheckpointSaverListener | None):
    """Returns the listener that is called after all others.

    The Estimator calls no listener of a TrainSpec in an all-reduce, and so this one measures.
    """
    if run.task.name == "local":
        return end_of_training.EndAfterEvaluation(run.stop)
    return progress.SavingListener(hooks.progress, False) if run.config.is_collective else None


def _is_chief_of_another_name(plan: Plan) -> bool:
    """Returns whether `train_and_evaluate` would give this chief the work of another role.

    TensorFlow trains without listeners in a `worker`, which may be this chief's name, and evaluates
    in a `master`.
    """
    task = plan.task
    if task.role != "chief" or "ps" not in task.cluster or plan.config.train_distribute != "none":
        return False
    job = task.server_place(has_strategy=False).job
    evaluates = task.head_evaluates and plan.is_evaluated and not task.has_evaluator
    return job != "chief" and not (job == "master" and evaluates)


def _train_as_chief(experiment: Experiment, task: TaskConfig) -> None:
    """Trains as `train_and_evaluate` does in the chief of a ps job."""
    config, place = experiment.estimator.config, task.server_place(has_strategy=False)
    # The server must have a name: without a reference it would be collected, and stop.
    server = tf.distribute.Server(
        config.cluster_spec, job_name=place.job, task_index=place.number, protocol=config.protocol,
        config=tf.compat.v1.ConfigProto(gpu_options=config.session_config.gpu_options))
    logging.debug("serves at %s", server.target)
    experiment.train()


def _train_spec(plan: Plan, plugins: LoadedPlugins, hooks: TrainingHooks | None,
                service: DataService | None) -> tf.estimator.TrainSpec:
    config, task = plan.config, plan.task
    if hooks is None:
        return tf.estimator.TrainSpec(input_fn=plugins.input_fn, max_steps=config.max_steps)
    evaluates = plan.is_evaluated and (task.is_local or task.head_evaluates)
    script = plugins.script
    scripts_hooks, scripts_listeners = (
        (script.train_hooks, script.saving_listeners) if script else ((), ()))
    # Beside other tasks of an all-reduce the Estimator calls no listener.
    is_called = not config.is_collective or task.name == "local"
    # Without a saver a listener is an error.
    own = [progress.SavingListener(hooks.progress, evaluates)] if not script or script.saves else []
    if scripts_listeners and not is_called:
        logging.warning("saving listeners are not called in a cluster that trains with"
                        " %s, as with the Estimator's own", config.train_distribute)
    input_fn = (functools.partial(plugins.input_fn, service=service) if service
                else plugins.input_fn)
    return tf.estimator.TrainSpec(
        input_fn=input_fn, max_steps=config.max_steps,
        hooks=[session_runs.HookGroup([*([hooks.trained] if hooks.trained else ()), hooks.end,
                                      hooks.progress, hooks.fit, *hooks.others]),
               *scripts_hooks],
        saving_listeners=[*own, *scripts_listeners] if is_called else [])


@random_state.kept()
def preflight(plan: Plan, plugins: LoadedPlugins, evaluation: KeptEvaluation | None) -> None:
    """Builds the evaluation's and the export's graphs once, and writes to model_dir once.

    `evaluation` is None where nothing is evaluated, and for a script, whose functions only the
    Estimator calls. Raises ConfigError for a metric that does not exist, and for a model_dir that
    cannot be written; and whatever the user's functions raise.
    """
    if evaluation:
        names, config = evaluation.build(), plan.config
        if ("best" in config.exporters or config.is_until_no_improvement) and config.best_metric:
            check_metric("best_metric", config.best_metric, names)
        if config.trial_metric:
            check_metric("trial_metric", config.trial_metric, names)
        if config.early_stopping_metric:
            check_metric("early_stopping_metric", config.early_stopping_metric, names)
        target.check_target(config.stop_at, names)
    if plan.config.exporters != ("none",):
        with environment.no_cluster():
            run_config = tf.estimator.RunConfig()
        with tf.Graph().as_default():
            tf.compat.v1.train.create_global_step()
            assert plugins.receiver_fn is not None
            plugins.model_fn(plugins.receiver_fn().features, None, tf.estimator.ModeKeys.PREDICT,
                             plugins.params, run_config)
    if not plan.task.is_chief:
        # The chief has written its lease.
        _check_writable(plan.config.model_dir, plan.task.name)


def _check_writable(model_dir: str, task: str) -> None:
    path = posixpath.join(model_dir, f".{task.replace(':', '-')}.probe")
    try:
        # The file is not empty, since some file systems cannot rename an empty one.
        shared_files.write_text(path, "may be removed\n")
        tf.io.gfile.remove(path)
    except (tf.errors.OpError, OSError) as error:
        raise unwritable(model_dir, task, error) from error


def unwritable(model_dir: str, task: str, error: Exception) -> errors.ConfigError:
    """Returns the error of a task that cannot write model_dir, made of what the attempt raised."""
    return errors.ConfigError(
        errors.Problem("model_dir", model_dir,
                       f"which cannot be written: {errors.first_line(error)}",
                       f"a directory that {task} may write"))
