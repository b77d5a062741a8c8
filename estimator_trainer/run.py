"""The run, top to bottom: plan -> parts -> experiment -> train_and_evaluate -> result."""

from __future__ import annotations

from absl import logging
import tensorflow as tf

from estimator_trainer import environment
from estimator_trainer import estimator
from estimator_trainer import evaluator
from estimator_trainer import exporters
from estimator_trainer import lifecycle
from estimator_trainer import parts as parts_lib
from estimator_trainer import presence
from estimator_trainer import progress
from estimator_trainer import server
from estimator_trainer import specs
from estimator_trainer import strategy
from estimator_trainer.config import TrainerConfig
from estimator_trainer.ending import Announcer
from estimator_trainer.ending import Watch
from estimator_trainer.estimator import Experiment
from estimator_trainer.parts import Parts
from estimator_trainer.plan import Plan
from estimator_trainer.result import Result
from estimator_trainer.task_config import TaskConfig


def train_and_evaluate(plan: Plan) -> Result:
    """Runs this task of the job to its end.

    Raises:
      TrainerError: for what one sentence explains; anything else came out of user code.
    """
    config, task = plan.config, plan.task
    environment.write_tf_config(task.tf_config(head=_head(config, task)))
    if task.is_chief:
        return _as_chief(plan)
    watch = Watch(config.model_dir, config.max_steps)
    if task.role == "ps":
        _announce(plan)
        return lifecycle.follow(task, server.serve(task, watch))
    if task.role == "evaluator":
        return _as_evaluator(plan, watch)
    return _as_worker(plan, watch)


def _as_chief(plan: Plan) -> Result:
    """Trains, alone or with others, and sees to the last evaluation; tells how it ended."""
    config, task = plan.config, plan.task
    announcer = Announcer(config.model_dir, is_heard=task.name != "local")
    try:
        strategies = strategy.for_training(config, task)
        parts = parts_lib.load(plan)
        record = exporters.EvaluationRecord()
        trained = progress.for_training(config, task)
        experiment = _experiment(plan, parts, strategies, record, [trained, announcer])
        _announce(plan, parts)
        _train(experiment, task)
        step, reason = lifecycle.reached(config)
        announcer.announce("done", step, reason)
        if not presence.evaluator_finishes(config, task, step):
            single = estimator.for_one_process(config, parts.model_fn, parts.params)
            final = exporters.at_the_end(config, parts.receiver_fn, record)
            lifecycle.finish(experiment, single, record, final)
        return lifecycle.report(config, task, record, step)
    except Exception as error:
        announcer.announce("failed", lifecycle.reached(config)[0], type(error).__name__)
        raise


def _as_worker(plan: Plan, watch: Watch) -> Result:
    config, task = plan.config, plan.task
    ending = watch.ending()
    if ending:
        return lifecycle.follow(task, ending)
    strategies = strategy.for_training(config, task)
    parts = parts_lib.load(plan)
    record = exporters.EvaluationRecord()
    trained = progress.for_training(config, task)
    experiment = _experiment(plan, parts, strategies, record, [trained])
    _announce(plan, parts)
    _train(experiment, task)
    return lifecycle.report(config, task, record, trained.step)


def _as_evaluator(plan: Plan, watch: Watch) -> Result:
    config, task = plan.config, plan.task
    strategies = strategy.for_training(config, task)
    parts = parts_lib.load(plan)
    record = exporters.EvaluationRecord()
    experiment = _experiment(plan, parts, strategies, record, [])
    final = exporters.at_the_end(config, parts.receiver_fn, record)
    _announce(plan, parts)
    with presence.beating(config.model_dir, record):
        ending = evaluator.run(experiment, record, final, watch)
        lifecycle.follow(task, ending)
    return lifecycle.report(config, task, record, ending.step)


def _experiment(plan: Plan, parts: Parts, strategies: strategy.Strategies,
                record: exporters.EvaluationRecord,
                hooks: list[tf.estimator.SessionRunHook]) -> Experiment:
    config, task = plan.config, plan.task
    during = exporters.during_training(config, parts.receiver_fn, record)
    return Experiment(
        estimator.for_training(config, parts.model_fn, parts.params, strategies),
        specs.train_spec(config, task, parts.input_fn, hooks),
        specs.eval_spec(config, parts.input_fn, record, during))


def _train(experiment: Experiment, task: TaskConfig) -> None:
    if task.is_local and task.has_evaluator:
        # A lone chief beside an evaluator: `train_and_evaluate` takes it for a run on its own
        # and would evaluate in process too.
        spec = experiment.train_spec
        experiment.estimator.train(spec.input_fn, hooks=spec.hooks, max_steps=spec.max_steps)
    else:
        tf.estimator.train_and_evaluate(*experiment)


def _head(config: TrainerConfig, task: TaskConfig) -> str:
    """Returns what the Estimator is to call the chief: its `master` evaluates in process."""
    evaluates = task.head_evaluates and not task.has_evaluator
    return "master" if evaluates and config.train_distribute == "none" else "chief"


def _announce(plan: Plan, parts: Parts | None = None) -> None:
    task, config = plan.task, plan.config
    for note in task.notes:
        logging.info("%s", note)
    cluster = ", ".join(f"{len(hosts)} {role}" for role, hosts in task.cluster.items())
    logging.info("model_fn=%s input_fn=%s train_distribute=%s model_dir=%s cluster: %s",
                 config.model_fn, config.input_fn, config.train_distribute, config.model_dir,
                 cluster or "none, all in this process")
    if parts:
        logging.info("params: %s", " ".join(f"{k}={v!r}" for k, v in sorted(parts.params.items())))
