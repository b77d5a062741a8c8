"""The experiment has the Estimator, TrainSpec and EvalSpec of a task; with it come its hooks."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Callable, NamedTuple, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer import environment, errors
from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import evaluator_heartbeat
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.coordination.watchdog import Watchdog
from estimator_trainer.estimator import builder
from estimator_trainer.estimator.checkpoint_fit import CheckpointFit
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.estimator.strategy import Strategies
from estimator_trainer.evaluation import exporters
from estimator_trainer.evaluation.evaluation_log import EvaluationLog
from estimator_trainer.patches import saving_patches
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import end_of_training, numerics as numerics_lib, progress
from estimator_trainer.training.end_of_training import EndOfTraining
from estimator_trainer.training.numerics import Bfloat16Advice, NumericsListener
from estimator_trainer.training.progress import ModelSize, StepProfiler, TrainingProgress


class Experiment(NamedTuple):
    """The arguments of `tf.estimator.train_and_evaluate`."""

    estimator: tf.estimator.Estimator
    train_spec: tf.estimator.TrainSpec
    eval_spec: tf.estimator.EvalSpec


@dataclasses.dataclass(frozen=True)
class TrainingHooks:
    """The hooks of a task that trains.

    Attributes:
      end: The hook that ends training, and knows why.
      progress: The hook that reports steps, loss and speed.
      fit: The hook that compares the model with the checkpoint that training resumes from.
      profiler: The hook that profiles some steps; None if the user wants no profile.
      size: The hook that counts the model's layers and parameters.
      advice: The hook that may advise bfloat16; None where it could not.
      numerics: What looks at the variables before each checkpoint; None if the user wants none.
      events: The hooks that write the events of this worker, if it is to have its own.
    """

    end: EndOfTraining
    progress: TrainingProgress
    fit: CheckpointFit
    profiler: StepProfiler | None
    size: ModelSize
    advice: Bfloat16Advice | None
    numerics: NumericsListener | None
    events: Sequence[tf.estimator.SessionRunHook] = ()

    @property
    def in_order(self) -> list[tf.estimator.SessionRunHook]:
        """All hooks, in the order in which the Estimator is to call them."""
        hooks = [self.end, self.progress, self.fit, self.profiler, self.size,
                 self.advice, *self.events]
        return [hook for hook in hooks if hook is not None]


def hooks_of(plan: Plan, parts: LoadedPlugins, end: EndOfTraining) -> TrainingHooks:
    """Builds the hooks of a task that trains, around the one that ends its training."""
    config, steps = plan.config, plan.config.profiled_steps
    return TrainingHooks(
        end, progress.for_training(config, plan.task, parts.train_examples, end.loop_size),
        CheckpointFit(config), StepProfiler(config.model_dir, *steps) if steps else None,
        ModelSize(), numerics_lib.for_training(config, end.loop_size, plan.task),
        NumericsListener(config.model_dir, end.loop_size, is_fatal=parts.script is None)
        if config.check_numerics else None,
        progress.hooks_of(config, plan.task))


def record_of(plan: Plan, stop: Stop, watchdog: Watchdog,
              is_made_elsewhere: Callable[[], bool] = lambda: False) -> EvaluationLog:
    """Builds the record of a task's evaluations, which may be asked to stop after each batch.

    Args:
      plan: The plan of this task.
      stop: The request to stop.
      watchdog: Hears of each batch.
      is_made_elsewhere: Tells whether another task evaluates and exports what this one should. A
        chief alone looks for an evaluator by itself.
    """
    evaluates = plan.is_evaluated and plan.task.role != "worker"

    def on_batch() -> None:
        watchdog.tick()
        stop.check()

    model_dir, task = plan.config.model_dir, plan.task
    unfinished = exporters.unfinished(model_dir) if evaluates else ()
    if task.is_local and task.name != "local" and not task.has_evaluator:
        is_made_elsewhere = evaluator_heartbeat.Presence(model_dir).poll
    return EvaluationLog(on_batch, unfinished, is_made_elsewhere)


def build(plan: Plan, parts: LoadedPlugins, strategies: Strategies, record: EvaluationLog,
          hooks: TrainingHooks | None,
          stopping: Sequence[tf.estimator.Exporter] = ()) -> Experiment:
    """Builds the experiment of this task.

    Args:
      plan: The plan of this task.
      parts: The user's functions, adapted.
      strategies: The strategies of training and evaluation.
      record: The record of evaluations.
      hooks: The hooks of training; None in a task that does not train.
      stopping: The exporter that stops training early, if this task is to have it.
    """
    config = plan.config
    during = exporters.during_training(config, parts, record)
    return Experiment(
        builder.for_training(plan, parts, strategies),
        _train_spec(plan, parts, hooks),
        _eval_spec(config, parts, record, [*during, *stopping]))


def train(experiment: Experiment, hooks: TrainingHooks, plan: Plan, stop: Stop,
          watchdog: Watchdog) -> None:
    """Trains, and in some roles evaluates meanwhile, until `hooks.end` ends it.

    Raises:
      Interrupted: if this task was asked to stop before, or a ps was gone at the end.
    """
    stop.check()
    spec, clock = experiment.train_spec, plan.config.checkpoints
    is_apart = plan.task.is_all_reduce and not plan.task.is_chief
    try:
        with (hooks.fit.explained(), saving_patches.saving_with(hooks.numerics),
              saving_patches.saving_apart() if is_apart else contextlib.nullcontext(),
              saving_patches.saving_by_time_too(clock.every_secs if clock.every_steps else None)):
            if plan.task.is_local and (plan.task.has_evaluator or not plan.is_evaluated):
                # `train_and_evaluate` takes a lone chief beside an evaluator for a run on its own,
                # and would evaluate in process too.
                experiment.estimator.train(spec.input_fn, hooks=spec.hooks,
                                           max_steps=spec.max_steps,
                                           saving_listeners=spec.saving_listeners)
            elif _is_chief_of_another_name(plan):
                _train_as_chief(experiment, plan.task)
            else:
                # The distribute coordinator reads TF_CONFIG.
                with environment.tf_config(plan.task.strategy_tf_config()):
                    tf.estimator.train_and_evaluate(*experiment)
    except tf.errors.OpError as error:
        if end_of_training.is_of_another_trainer(error):
            watchdog.wait_for_end()
        lost = end_of_training.lost_ps(error)
        if lost:
            # A ps that fails tells why before it is gone.
            stop.check()
            raise errors.Interrupted("lost", f"{lost} was gone when training ended",
                                     plan.task.name) from error
        raise


def _is_chief_of_another_name(plan: Plan) -> bool:
    """Returns whether `train_and_evaluate` would do in this chief what others are to do.

    It trains without listeners in a `worker`, which this chief may be, and evaluates in a `master`.
    """
    task = plan.task
    if task.role != "chief" or "ps" not in task.cluster or plan.config.train_distribute != "none":
        return False
    job = task.server_place(has_strategy=False).job
    evaluates = task.head_evaluates and plan.is_evaluated and not task.has_evaluator
    return job != "chief" and not (job == "master" and evaluates)


def _train_as_chief(experiment: Experiment, task: TaskConfig) -> None:
    """Trains as `train_and_evaluate` does in the chief of a ps job."""
    config, spec = experiment.estimator.config, experiment.train_spec
    place = task.server_place(has_strategy=False)
    # Without a name the server would be collected, and stop.
    server = tf.distribute.Server(
        config.cluster_spec, job_name=place.job, task_index=place.number, protocol=config.protocol,
        config=tf.compat.v1.ConfigProto(gpu_options=config.session_config.gpu_options))
    logging.debug("serves at %s", server.target)
    experiment.estimator.train(spec.input_fn, hooks=spec.hooks, max_steps=spec.max_steps,
                               saving_listeners=spec.saving_listeners)


def _train_spec(plan: Plan, parts: LoadedPlugins,
                hooks: TrainingHooks | None) -> tf.estimator.TrainSpec:
    """Builds the training spec: the steps and the hooks of this role."""
    config, task = plan.config, plan.task
    if hooks is None:
        return tf.estimator.TrainSpec(input_fn=parts.input_fn, max_steps=config.max_steps)
    listener = progress.SavingListener(
        hooks.progress,
        evaluates=plan.is_evaluated and (task.is_local or task.head_evaluates))
    train_hooks, given = ((parts.script.train_hooks, parts.script.saving_listeners)
                          if parts.script else ((), ()))
    # Beside other tasks of an all-reduce the Estimator calls no listener.
    is_called = not config.is_collective or task.name == "local"
    # Without a saver a listener is an error.
    own = [listener] if parts.script is None or parts.script.saves else []
    if given and not is_called:
        logging.warning("saving listeners are not called in a cluster that trains with"
                        " %s, as with the Estimator's own", config.train_distribute)
    return tf.estimator.TrainSpec(
        input_fn=parts.input_fn, max_steps=config.max_steps,
        hooks=[*hooks.in_order, *train_hooks],
        saving_listeners=[*own, *given] if is_called else [])


def _eval_spec(config: TrainerConfig, parts: LoadedPlugins, record: EvaluationLog,
               during: list[tf.estimator.Exporter]) -> tf.estimator.EvalSpec:
    """Builds the evaluation spec: the whole set by default, every checkpoint, no idle waiting.

    The Estimator's own defaults are 100 batches, 120 s before the first evaluation and 600 s
    between two.
    """
    given = parts.script
    return tf.estimator.EvalSpec(
        input_fn=parts.input_fn,
        steps=config.eval_steps or None,
        name=given.eval_name if given else None,
        hooks=[record.progress, *(given.eval_hooks if given else ())],
        exporters=during,
        start_delay_secs=0,
        throttle_secs=config.eval_throttle_secs)
