"""The run, top to bottom: plan -> parts -> experiment -> train_and_evaluate -> result."""

from __future__ import annotations

from contextlib import nullcontext

from absl import logging
import tensorflow as tf

from estimator_trainer import environment
from estimator_trainer import estimator
from estimator_trainer import exporters
from estimator_trainer import lifecycle
from estimator_trainer import parts as parts_lib
from estimator_trainer import presence
from estimator_trainer import progress
from estimator_trainer import specs
from estimator_trainer import strategy
from estimator_trainer.config import TrainerConfig
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
    is_evaluator = task.role == "evaluator"
    environment.write_tf_config(task.tf_config(head=_head(config, task)))
    strategies = strategy.for_training(config, task)
    parts = parts_lib.load(plan)

    record = exporters.EvaluationRecord()
    during = exporters.during_training(config, parts.receiver_fn, record)
    final = exporters.at_the_end(config, parts.receiver_fn, record)
    trained = progress.for_training(config, task)
    experiment = Experiment(
        estimator.for_training(config, parts.model_fn, parts.params, strategies),
        specs.train_spec(config, task, parts.input_fn, trained),
        specs.eval_spec(config, task, parts.input_fn, record,
                        during + final if is_evaluator else during))

    _announce(plan, parts)
    with presence.beating(config.model_dir, record) if is_evaluator else nullcontext():
        _train_and_evaluate(experiment, task)
    if task.is_chief and not lifecycle.is_covered_by_evaluator(config, task):
        single = estimator.for_one_process(config, parts.model_fn, parts.params)
        lifecycle.finish(experiment, single, record, final)
    return lifecycle.report(config, task, record, trained.step)


def _head(config: TrainerConfig, task: TaskConfig) -> str:
    """Returns what the Estimator is to call the chief: its `master` evaluates in process."""
    evaluates = task.head_evaluates and not task.has_evaluator
    return "master" if evaluates and config.train_distribute == "none" else "chief"


def _train_and_evaluate(experiment: Experiment, task: TaskConfig) -> None:
    if task.is_local and task.has_evaluator:
        # A lone chief beside an evaluator: `train_and_evaluate` takes it for a run on its own
        # and would evaluate in process too.
        spec = experiment.train_spec
        experiment.estimator.train(spec.input_fn, hooks=spec.hooks, max_steps=spec.max_steps)
    else:
        tf.estimator.train_and_evaluate(*experiment)


def _announce(plan: Plan, parts: Parts) -> None:
    task, config = plan.task, plan.config
    for note in task.notes:
        logging.info("%s", note)
    cluster = ", ".join(f"{len(hosts)} {role}" for role, hosts in task.cluster.items())
    logging.info("model_fn=%s input_fn=%s train_distribute=%s model_dir=%s cluster: %s",
                 config.model_fn, config.input_fn, config.train_distribute, config.model_dir,
                 cluster or "none, all in this process")
    logging.info("params: %s", " ".join(f"{k}={v!r}" for k, v in sorted(parts.params.items())))
