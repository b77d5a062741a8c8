"""Loaded plug-ins: imported and adapted, they are ready for an Estimator."""

from __future__ import annotations

import dataclasses
import types
from typing import Any, Mapping
import zlib

from absl import logging
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.checks.plan import Plan
from estimator_trainer.errors import Problem, Setting
from estimator_trainer.estimator import (input_fn_adapter, model_class, model_fn_adapter,
                                         model_shape, random_state, serving_input, user_estimator)
from estimator_trainer.estimator.strategy import Strategies
from estimator_trainer.estimator.user_estimator import UserEstimator
from estimator_trainer.plugins import fingerprints, importing, loader
from estimator_trainer.plugins.params import FILES
from estimator_trainer.record import changes, record_file
from estimator_trainer.settings.trainer_config import TrainerConfig


@dataclasses.dataclass(frozen=True)
class ScriptObjects:
    """The objects of a script's Estimator, TrainSpec and EvalSpec, beside functions.

    Attributes:
      strategies: The strategies of training and evaluation.
      train_hooks: The hooks of training.
      saving_listeners: What the chief calls when it saves a checkpoint.
      eval_hooks: The hooks of each evaluation.
      eval_name: The name of the evaluation set, or None.
      exporters: The exporters of the EvalSpec.
      run_config: The arguments of RunConfig that no flag decides.
      is_alone: Whether this process is the whole job.
    """

    strategies: Strategies
    train_hooks: tuple[Any, ...] = ()
    saving_listeners: tuple[Any, ...] = ()
    eval_hooks: tuple[Any, ...] = ()
    eval_name: str | None = None
    exporters: tuple[Any, ...] = ()
    run_config: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    is_alone: bool = False

    @property
    def saves(self) -> bool:
        """Whether training saves checkpoints, by its RunConfig or by a hook."""
        return not user_estimator.never_saves(self.run_config) or any(
            isinstance(hook, tf.estimator.CheckpointSaverHook) for hook in self.train_hooks)


@dataclasses.dataclass(frozen=True)
class LoadedPlugins:
    """The parts of which an Experiment is built.

    Attributes:
      model_fn: The user's model_fn, adapted.
      input_fn: The user's input_fn, adapted.
      params: The params of both.
      receiver_fn: The serving_input_receiver_fn; None for a script, whose exporters have theirs.
      session_config: The ConfigProto that the model_fn's module defines so, or None.
      train_examples: Number of examples in one epoch, or 0 if unknown.
      given: The Estimator that the model_fn plug-in or the script made, taken apart, or None.
      script: What a script gives beside functions; None for plug-ins.
      data: The record's part on the data (record/record_file.py).
      sources: The sha256 of the plug-ins' sources, by kind and path.
      edited: The paths of those sources that are not what wrote the checkpoints, by kind.
      features: Spec of the features to predict, or of each by name; None unless to predict.
      class_names: Names of the classes in their order, if the data or the params have them.
    """

    model_fn: model_fn_adapter.ModelFn
    input_fn: input_fn_adapter.InputFn
    params: dict[str, Any]
    receiver_fn: serving_input.ReceiverFn | None
    session_config: tf.compat.v1.ConfigProto | None
    train_examples: int = 0
    given: UserEstimator | None = None
    script: ScriptObjects | None = None
    data: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    sources: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)
    edited: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    features: Any = None
    class_names: tuple[str, ...] = ()


def load(plan: Plan) -> LoadedPlugins:
    """Imports the plan's plug-ins and looks at the data they yield; or adapts what a script gives.

    Raises:
      ConfigError: if a plug-in or its data cannot be used.
    """
    if plan.script_run is not None:
        of_script = plan.script_run.load(plan)
        assert isinstance(of_script, LoadedPlugins)
        return of_script
    loaded, module = _adapted(plan)
    with random_state.kept():
        spec = input_fn_adapter.describe(loaded.input_fn, loaded.params)
        _check(plan, spec)
        _check_end(plan, loaded.input_fn, loaded.params)
    data = record_file.described(spec.features, spec.labels, loaded.data)
    edited = _changed_sources(plan, data, loaded.sources)
    return dataclasses.replace(
        loaded, receiver_fn=_receiver_fn(plan, module, spec, loaded.params), data=data,
        edited=edited)


def load_for_prediction(plan: Plan, features: Any = None) -> LoadedPlugins:
    """Imports the plan's plug-ins, and looks at the data to predict alone.

    Args:
      plan: The plan of `predict`.
      features: The features' specs where an export tells them; else the record does, or the data.

    Raises:
      ConfigError: if a plug-in or its data cannot be used.
    """
    recorded = plan.recorded.record.data if plan.recorded else None
    loaded, _ = _adapted(plan, recorded)
    _changed_sources(plan, {}, loaded.sources)
    if features is None and plan.config.is_data_json:
        features = record_file.features_of(plan.recorded)
    if features is None:
        params = loaded.params
        if plan.config.is_data_json:
            # The input_fn's own data have the features that the model takes.
            params = type(params)({**params, **({FILES: ""} if FILES in params else {})})
        features = input_fn_adapter.describe(
            loaded.input_fn, params, tf.estimator.ModeKeys.PREDICT).features
    _check_forward_key(plan, features)
    return dataclasses.replace(loaded, features=features)


def class_names(params: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the names of the classes in their order, if params tell more than their numbers."""
    names = tuple(map(str, params.get("class_names") or params.get("label_vocabulary") or ()))
    return () if names == tuple(map(str, range(len(names)))) else names


def _adapted(plan: Plan, known: Mapping[str, Any] | None = None
             ) -> tuple[LoadedPlugins, types.ModuleType]:
    """Imports the plan's plug-ins; returns them adapted, and the module of the input_fn.

    Args:
      plan: The plan.
      known: What only the data and the flags know; None: it is found out.
    """
    assert plan.model is not None and plan.data is not None and plan.params is not None
    changes.log_imports(plan.recorded, plan.plugins)
    # The user's functions draw the same random numbers in each trainer of an all-reduce.
    seed = plan.config.seed or (
        zlib.crc32(plan.config.model_dir.encode()) if plan.task.is_all_reduce else 0)
    with random_state.seeded(seed):
        with importing.parsed_flags(plan.config.plugin_flag):
            model_thing, model_module = loader.load(plan.model, model_shape.is_other)
            input_function, module = loader.load(plan.data)
            train_function, _ = loader.load(plan.train_data) if plan.train_data else (None, None)
        known = _data_params(plan) if known is None else known
        params = plan.params.with_data(known, _of_tpu_estimator(plan.config))
        model = model_shape.model_of(model_thing, plan, params)
    model_fn = model_fn_adapter.adapt(model.function, plan.config, plan.task)
    own = model_shape.input_fn_for(model, input_function, plan)
    own_of_training = train_function and model_shape.input_fn_for(model, train_function, plan)
    input_fn = input_fn_adapter.adapt(own, plan, own_of_training)
    sources = {plugin.kind: fingerprints.of_plugin(
        plugin, loader.load(plugin, lambda thing: True)[1]) for plugin in plan.plugins}
    feeds_itself = isinstance(model_thing, type) and model_class.feeds_itself(model_thing)
    return LoadedPlugins(
        model_fn, input_fn, params, None, getattr(model_module, "session_config", None),
        0 if feeds_itself else known.get("train_examples", 0),
        model.given, data=known, sources=sources,
        class_names=class_names({**known, **params})), module


def data_problem(plan: Plan) -> str:
    """Asks the input_fn's module what is wrong with the data, after reading them failed.

    Returns:
      One sentence that names file and record, or "".
    """
    if plan.data is None or plan.params is None:
        return ""
    params = plan.params.with_data(_data_params(plan))
    found = (module.data_problem(params) for module in _data_modules(plan)
             if hasattr(module, "data_problem"))
    return next((str(problem) for problem in found if problem), "")


def _data_modules(plan: Plan) -> list[types.ModuleType]:
    """Returns the modules of the input_fns; training's is the last."""
    used = [plugin for plugin in (plan.data, plan.train_data) if plugin]
    return list(dict.fromkeys(loader.load(plugin)[1] for plugin in used))


def _data_params(plan: Plan) -> dict[str, Any]:
    """Returns what only the data and the flags know."""
    assert plan.params is not None
    values = plan.params.values
    known = {"global_batch_size": plan.config.global_batch_size or values.get("batch_size", 0)}
    for module in _data_modules(plan):
        known |= module.data_params(values) if hasattr(module, "data_params") else {}
    return {**changes.kept(plan.recorded, plan.changes), **known}


def _changed_sources(plan: Plan, data: Mapping[str, Any], sources: Mapping[str, Mapping[str, str]]
                     ) -> dict[str, tuple[str, ...]]:
    """Logs what differs from the run before; returns the changed sources."""
    return changes.log_changes(
        plan.recorded, plan.changes, plan.config.allow_changed, data, sources)


def _receiver_fn(plan: Plan, module: types.ModuleType, spec: input_fn_adapter.DataSpec,
                 params: dict[str, Any]) -> serving_input.ReceiverFn:
    """Returns the user's serving_input_receiver_fn, or one that is derived from the data."""
    own, name = getattr(module, "serving_input_receiver_fn", None), "serving_input_receiver_fn"
    if plan.serving:
        own, name = loader.load(plan.serving)[0], plan.serving.name
    if own is None:
        return serving_input.receiver_fn(spec.features, plan.config.serving_input,
                                         is_needed="none" not in plan.config.exporters)
    return serving_input.adapt(own, name, params)


def _of_tpu_estimator(config: TrainerConfig) -> dict[str, Any]:
    """Returns the param that TPUEstimator adds, for code that was written for it."""
    return {"batch_size": config.global_batch_size} if config.global_batch_size else {}


def _check_end(plan: Plan, input_fn: input_fn_adapter.InputFn, params: dict[str, Any]) -> None:
    """Raises ConfigError if only the input could end training, and the input has no end."""
    config, training = plan.config, plan.train_data or plan.data
    is_ended = config.max_steps or (config.early_stopping_metric and not config.train_epochs)
    if training is None or not plan.task.is_trainer or is_ended and not config.train_epochs:
        return
    if not input_fn_adapter.describe(input_fn, params, tf.estimator.ModeKeys.TRAIN).is_infinite:
        return
    has_epochs = bool(config.train_epochs)
    raise errors.ConfigError(Problem(
        "train_epochs" if has_epochs else "train_steps", config.train_epochs,
        "the end of the input, " * (not has_epochs) +
        f"and input_fn {training.name!r} yields a dataset without end in mode 'train'",
        example=Setting("train_steps", 1000) if has_epochs else Setting("train_epochs", 10),
        advice="Leave out .repeat(), or set epochs or steps."))


def _check(plan: Plan, spec: input_fn_adapter.DataSpec) -> None:
    assert plan.data is not None
    if spec.is_infinite and not plan.config.eval_steps:
        raise errors.ConfigError(
            f"input_fn {plan.data.name!r} yields a dataset without end in mode 'eval', and"
            f" eval_steps is 0 (from {Setting('eval_steps')}), the whole set: evaluation would"
            " never end. Leave out .repeat() in that mode, or set a number. For example:"
            f" {Setting('eval_steps', 100)}")
    if 0 < plan.config.eval_steps < spec.batches:
        logging.warning("evaluation covers %d of %d batches: eval_steps is %d (from --eval_steps);"
                        " 0 is the whole set", plan.config.eval_steps, spec.batches,
                        plan.config.eval_steps)
    _check_forward_key(plan, spec.features)


def _check_forward_key(plan: Plan, features: Any) -> None:
    assert plan.data is not None
    names = sorted(features) if isinstance(features, dict) else []
    if plan.config.forward_key and plan.config.forward_key not in names:
        raise errors.ConfigError(Problem(
            "forward_key", plan.config.forward_key,
            f"which is no feature of input_fn {plan.data.name!r}",
            f"one of {', '.join(names) or '(its features have no names)'}",
            advice=errors.near_match(plan.config.forward_key, names)))
