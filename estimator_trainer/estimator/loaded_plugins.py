"""Loaded plug-ins: imported and adapted, they are ready for an Estimator."""

from __future__ import annotations

import dataclasses
import types
from typing import Any

from absl import logging
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.estimator import input_fn_adapter
from estimator_trainer.estimator import model_fn_adapter
from estimator_trainer.estimator import model_shape
from estimator_trainer.estimator import plugin_flags
from estimator_trainer.estimator import serving_input
from estimator_trainer.estimator.given_estimator import GivenEstimator
from estimator_trainer.plan import plugins
from estimator_trainer.plan.params import Params
from estimator_trainer.plan.run_plan import Plan
from estimator_trainer.settings.trainer_config import TrainerConfig


@dataclasses.dataclass(frozen=True)
class LoadedPlugins:
    """The parts of which an Experiment is built.

    Attributes:
      model_fn: The user's model_fn, adapted.
      input_fn: The user's input_fn, adapted.
      params: The params of both.
      receiver_fn: The serving_input_receiver_fn.
      session_config: The ConfigProto that the model_fn's module defines so, or None.
      train_examples: Number of examples in one epoch, or 0 if the data does not tell.
      given: The parts of the Estimator that the model_fn plug-in made, or None.
    """

    model_fn: model_fn_adapter.ModelFn
    input_fn: input_fn_adapter.InputFn
    params: dict[str, Any]
    receiver_fn: serving_input.ReceiverFn
    session_config: tf.compat.v1.ConfigProto | None
    train_examples: int = 0
    given: GivenEstimator | None = None


def load(plan: Plan) -> LoadedPlugins:
    """Imports the plan's plug-ins and looks at the data they yield.

    Raises:
      ConfigError: if a plug-in or its data cannot be used.
    """
    assert plan.model is not None and plan.data is not None and plan.params is not None
    with model_shape.same_in_all_tasks(plan):
        with plugin_flags.parsed(plan.config.plugin_flag):
            model_thing, model_module = plugins.load(plan.model, model_shape.is_other)
            input_function, module = plugins.load(plan.data)
        known = _data_params(plan.params, module, plan.config)
        params = plan.params.with_data(known, _of_tpu_estimator(plan.config))
        model = model_shape.model_of(model_thing, plan, params)
    model_fn = model_fn_adapter.adapt(model.function, plan.config, plan.task)
    input_fn = input_fn_adapter.adapt(
        model_shape.input_fn_for(model, input_function, plan), plan)
    spec = input_fn_adapter.describe(input_fn, params)
    _check(plan, spec)
    _check_epochs(plan, input_fn, params)
    receiver_fn = getattr(module, "serving_input_receiver_fn", None)
    if receiver_fn is None:
        receiver_fn = serving_input.receiver_fn(spec.features, plan.config.serving_input)
    return LoadedPlugins(model_fn, input_fn, params, receiver_fn,
                         getattr(model_module, "session_config", None),
                         known.get("train_examples", 0), model.given)


def data_problem(plan: Plan) -> str:
    """Asks the input_fn's module what is wrong with the data, after reading them failed.

    Returns:
      One sentence that names file and record, or "".
    """
    if plan.data is None or plan.params is None:
        return ""
    _, module = plugins.load(plan.data)
    if not hasattr(module, "data_problem"):
        return ""
    return str(module.data_problem(
        plan.params.with_data(_data_params(plan.params, module, plan.config))))


def _data_params(params: Params, module: types.ModuleType,
                 config: TrainerConfig) -> dict[str, Any]:
    """Returns what only the data and the flags know."""
    batch_size = config.global_batch_size or params.values.get("batch_size", 0)
    known = module.data_params(params.values) if hasattr(module, "data_params") else {}
    return {"global_batch_size": batch_size, **known}


def _of_tpu_estimator(config: TrainerConfig) -> dict[str, Any]:
    """Returns the param that TPUEstimator adds, for code that was written for it."""
    return {"batch_size": config.global_batch_size} if config.global_batch_size else {}


def _check_epochs(plan: Plan, input_fn: input_fn_adapter.InputFn, params: dict[str, Any]) -> None:
    if plan.config.train_epochs and plan.task.is_trainer and input_fn_adapter.describe(
            input_fn, params, tf.estimator.ModeKeys.TRAIN).is_infinite:
        raise errors.ConfigError(
            f"train_epochs is {plan.config.train_epochs} (from --train_epochs), and input_fn"
            f" {plan.config.input_fn!r} yields a dataset without end in mode 'train'. Leave out"
            " .repeat(), or set steps. For example: --train_steps=1000")


def _check(plan: Plan, spec: input_fn_adapter.DataSpec) -> None:
    if spec.is_infinite and not plan.config.eval_steps:
        raise errors.ConfigError(
            f"input_fn {plan.config.input_fn!r} yields a dataset without end in mode 'eval', and"
            " eval_steps is 0 (from --eval_steps), the whole set: evaluation would never end."
            " Leave out .repeat() in that mode, or set a number. For example: --eval_steps=100")
    if 0 < plan.config.eval_steps < spec.batches:
        logging.warning("evaluation covers %d of %d batches: eval_steps is %d (from --eval_steps);"
                        " 0 is the whole set", plan.config.eval_steps, spec.batches,
                        plan.config.eval_steps)
    names = sorted(spec.features) if isinstance(spec.features, dict) else []
    if plan.config.forward_key and plan.config.forward_key not in names:
        raise errors.ConfigError(
            f"forward_key is {plan.config.forward_key!r} (from --forward_key), which is no"
            f" feature of input_fn {plan.config.input_fn!r}; expected one of"
            f" {', '.join(names) or '(its features have no names)'}."
            f"{errors.near_match(plan.config.forward_key, names)}")
