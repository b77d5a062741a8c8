"""Loaded plug-ins: imported and adapted, they are ready for an Estimator."""

import dataclasses
import functools
import inspect
import pathlib
import types
from typing import Any, Callable, Mapping

from absl import logging
import tensorflow as tf

from estimator_trainer.checks.plan import Plan
from estimator_trainer.errors import ConfigError, first_line, near_match, Problem, Setting
from estimator_trainer.estimator import (evaluation_sets, input_fn_adapter, model_class,
                                         model_fn_adapter, model_shape, random_state, serving_input,
                                         user_estimator)
from estimator_trainer.estimator.strategy import Strategies
from estimator_trainer.input import not_finite as not_finite_lib
from estimator_trainer.plugins import fingerprints, importing, loader, source_files
from estimator_trainer.plugins.params import class_names, FILES
from estimator_trainer.record import changes, record_file


@dataclasses.dataclass(frozen=True)
class ScriptObjects:
    """The objects of a script's Estimator, TrainSpec and EvalSpec, beside functions.

    Attributes:
      saving_listeners: What the chief calls when it saves a checkpoint.
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
        # A RunConfig without these fields, of which a flag decides one, saves.
        return any(self.run_config.get(name, True) for name in user_estimator.CLOCKS) or any(
            isinstance(hook, tf.estimator.CheckpointSaverHook) for hook in self.train_hooks)


@dataclasses.dataclass(frozen=True)
class LoadedPlugins:
    """The functions of a user, adapted, and what is known of them and of their data.

    Attributes:
      params: The params of both functions.
      receiver_fn: The serving_input_receiver_fn; None for a script, whose exporters have theirs.
      session_config: The ConfigProto that the model_fn's module defines, or None.
      train_examples: Number of examples in one epoch, or 0 if unknown.
      estimator: The Estimator that the model_fn plug-in or the script made, taken apart, or None.
      script: None for plug-ins.
      data: The record's part on the data (record/record_file.py).
      sources: The sha256 of the plug-ins' sources, by kind and path.
      edited: The paths of those sources that are not what wrote the checkpoints, by kind.
      features: Spec of the features to predict, or of each by name; None unless to predict.
      starts_over: Whether the input_fn declares that its Python functions yield the same data
        in every evaluation.
      class_names: Names of the classes in their order, if the data or the params have them.
      key_column: The key that --forward_key names, if it is a column that is no feature; or "".
      rows_to_predict: The function of the input_fn's module that reads the data to predict as they
        came, or None.
      compared_columns: The function of that module that returns the columns of the evaluation
        beside those of the training, or None.
      instance_problem: The function of that module that returns what is wrong with the values of an
        instance that came as JSON or as a dict, or None.
      eval_sets: The further sets of evaluation data.
    """

    model_fn: model_fn_adapter.ModelFn
    input_fn: input_fn_adapter.InputFn
    params: dict[str, Any]
    receiver_fn: serving_input.ReceiverFn | None
    session_config: tf.compat.v1.ConfigProto | None
    train_examples: int = 0
    estimator: user_estimator.UserEstimator | None = None
    script: ScriptObjects | None = None
    data: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    sources: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)
    edited: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    features: Any = None
    starts_over: bool = False
    class_names: tuple[str, ...] = ()
    key_column: str = ""
    rows_to_predict: Callable[..., Any] | None = None
    compared_columns: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    instance_problem: Callable[[Mapping[str, Any]], str] | None = None
    eval_sets: tuple[evaluation_sets.LoadedSet, ...] = ()


def load(plan: Plan) -> LoadedPlugins:
    """Imports the plan's plug-ins and describes their data; or adapts a script's objects.

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
        _check(plan, f"input_fn {plan.data.name!r}" if plan.data else "", spec)
        evaluation_sets.check(loaded.eval_sets, spec.features, loaded.params,
                              functools.partial(_check, plan))
        key = _key_column(plan, module, spec.features, loaded.params)
        _check_end(plan, loaded.input_fn, loaded.params)
    data = record_file.described(spec.features, spec.labels, loaded.data)
    edited = changes.log_changes(
        plan.recorded, plan.changes, plan.config.allow_changed, data, loaded.sources)
    changes.log_trainers(plan.recorded, plan.task, *_shared_batch(plan))
    receiver_fn = _receiver_fn(plan, module, spec, loaded.params, key)
    return dataclasses.replace(loaded, receiver_fn=receiver_fn, data=data, edited=edited)


def _shared_batch(plan: Plan) -> tuple[int, str]:
    """Returns the examples that all trainers share in a step, 0 if unknown, and what says so."""
    if plan.config.global_batch_size:
        flag = Setting("global_batch_size", plan.config.global_batch_size)
        return plan.config.global_batch_size, str(flag)
    data = plan.train_data or plan.data
    key = data.global_batch_param if data else ""
    size = plan.params.values.get(key) if plan.params and key else 0
    return (size, f"{key}={size}") if isinstance(size, int) else (0, "")


def load_for_prediction(plan: Plan, features: Any = None) -> LoadedPlugins:
    """Imports the plan's plug-ins for `predict`.

    `features` are their specs, from an export; without one, those of the record or of the data.

    Raises:
      ConfigError: if a plug-in or its data cannot be used.
    """
    recorded = plan.recorded.record.data if plan.recorded else None
    loaded, module = _adapted(dataclasses.replace(plan, eval_sets=()), recorded)
    changes.log_changes(
        plan.recorded, plan.changes, plan.config.allow_changed, {}, loaded.sources)
    if features is None and plan.config.is_data_json:
        features = record_file.features_of(plan.recorded)
    if features is None:
        params = loaded.params
        if plan.config.is_data_json and FILES in params:
            # The input_fn's own data have the features that the model takes.
            params = type(params)({**params, FILES: ""})
        mode = tf.estimator.ModeKeys.PREDICT
        features = input_fn_adapter.describe(loaded.input_fn, params, mode).features
    key = _key_column(plan, module, features, loaded.params)
    return dataclasses.replace(loaded, features=features, key_column=key,
                               rows_to_predict=getattr(module, "rows_to_predict", None),
                               instance_problem=_judge(module, loaded.params))


def instance_problem(plan: Plan, features: Mapping[str, Any]
                     ) -> Callable[[Mapping[str, Any]], str] | None:
    """Returns the function of the same name in the input_fn's module, for an export's `features`.

    Returns None unless the export takes what the model was trained on. A module without such a
    function is not imported: an export predicts without its plug-ins.
    """
    trained_on = record_file.features_of(plan.recorded)
    if plan.data is None or plan.serving or not isinstance(trained_on, dict) or any(
            features.get(name) != spec for name, spec in trained_on.items()):
        return None
    try:
        names = source_files.bound_names(source_files.parsed(pathlib.Path(plan.data.path)))
        if "instance_problem" not in names or "serving_input_receiver_fn" in names:
            return None
        assert plan.params is not None
        return _judge(loader.load(plan.data)[1], plan.params.values)
    except (ConfigError, OSError, SyntaxError, SystemExit):
        return None


def _judge(module: Any, params: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], str] | None:
    """Returns `instance_problem` of a module, which may take the params too, or None."""
    function: Callable[..., str] | None = getattr(module, "instance_problem", None)
    if function is None or "params" not in inspect.signature(function).parameters:
        return function
    return functools.partial(function, params=params)


def identifiers(params: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the features that tell instances apart, which predictions have beside the answer."""
    return tuple(map(str, params.get("identifiers") or ()))


def beside(params: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the columns of the data that are no features: label, identifiers, dropped ones."""
    names = [params.get("label"), *identifiers(params), *(params.get("drop") or ())]
    return tuple(name for name in names if isinstance(name, str) and name)


def _adapted(plan: Plan, known: Mapping[str, Any] | None = None
             ) -> tuple[LoadedPlugins, types.ModuleType]:
    """Imports the plan's plug-ins; returns them adapted, and the module of the input_fn.

    `known` is what only the data and the flags know; None reads the data.
    """
    assert plan.model is not None and plan.data is not None and plan.params is not None
    changes.log_imports(plan.recorded, plan.plugins)
    is_alike = plan.task.is_all_reduce and not plan.config.seed
    with (random_state.alike_in_all_tasks(plan.config.model_dir) if is_alike else
          random_state.seeded(plan.config.seed)):
        with importing.parsed_flags(plan.config.plugin_flag):
            model_thing, model_module = loader.load(plan.model, model_shape.is_other)
            input_function, module = loader.load(plan.data)
            train_function, _ = loader.load(plan.train_data) if plan.train_data else (None, None)
        known = _data_params(plan) if known is None else known
        # TPUEstimator adds this param, for code that was written for it.
        batch_size = plan.config.global_batch_size
        params = plan.params.with_data(known, {"batch_size": batch_size} if batch_size else {})
        model = model_shape.model_of(model_thing, plan, params)
        sets = evaluation_sets.load(plan, model, known)
    model_fn = model_fn_adapter.adapt(model.function, plan.config, plan.task)
    own = model_shape.input_fn_for(model, input_function, plan)
    own_of_training = train_function and model_shape.input_fn_for(model, train_function, plan)
    input_fn = input_fn_adapter.adapt(own, plan, own_of_training)
    sources = {plugin.kind: fingerprints.of_plugin(
        plugin, loader.load(plugin, lambda thing: True)[1]) for plugin in plan.plugins}
    is_without_input = isinstance(model_thing, type) and model_class.is_without_input(model_thing)
    return LoadedPlugins(
        model_fn, input_fn, params, None, getattr(model_module, "session_config", None),
        0 if is_without_input else known.get("train_examples", 0),
        model.estimator, data=known, sources=sources,
        starts_over=bool(getattr(module, "STARTS_OVER", False)),
        compared_columns=None if plan.train_data else getattr(module, "compared_columns", None),
        class_names=class_names({**known, **params}), eval_sets=sets), module


def data_problem(plan: Plan) -> str:
    """Returns a sentence of the input_fn's module on file and record that cannot be read, or ""."""
    if plan.data is None or plan.params is None:
        return ""
    params = plan.params.with_data(_data_params(plan))
    found = (module.data_problem(params) for module in _data_modules(plan)
             if hasattr(module, "data_problem"))
    return next((str(problem) for problem in found if problem), "")


def not_finite(plan: Plan) -> str:
    """Returns where the training data have a number that is NaN or infinite, or "".

    The input_fn's module may know file and record; otherwise the batches of training are searched.
    """
    if plan.data is None or plan.params is None:
        return ""
    module = _data_modules(plan)[-1]
    try:
        if hasattr(module, "not_finite"):
            return str(module.not_finite(plan.params.with_data(_data_params(plan))))
        loaded, _ = _adapted(plan)
        return not_finite_lib.found(loaded.input_fn, loaded.params)
    except Exception as error:  # pylint: disable=broad-except
        # The error that ended training is the one to report.
        logging.info("the training data were not searched for NaN: %s", first_line(error))
        return ""


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


def _receiver_fn(plan: Plan, module: types.ModuleType, spec: input_fn_adapter.DataSpec,
                 params: dict[str, Any], key: str) -> serving_input.ReceiverFn:
    """Returns the user's serving_input_receiver_fn, or one that is derived from the data."""
    own, name = getattr(module, "serving_input_receiver_fn", None), "serving_input_receiver_fn"
    if plan.serving:
        own, name = loader.load(plan.serving)[0], plan.serving.name
    kinds = plan.config.serving_input
    if own is None:
        parse = getattr(module, "features_of_lines", None)
        return serving_input.receiver_fn(
            spec.features, kinds, is_needed="none" not in plan.config.exporters, key=key,
            parse_lines=parse and functools.partial(parse, params=params))
    if kinds != "raw":
        raise ConfigError(Problem(
            "serving_input", kinds, f"and {module.__name__}.{name} decides what exports take",
            example=Setting("serving_input", "raw")))
    return serving_input.adapt(own, name, params)


def _check_end(plan: Plan, input_fn: input_fn_adapter.InputFn, params: dict[str, Any]) -> None:
    """Raises ConfigError if only the input could end training, and the input has no end."""
    config, training = plan.config, plan.train_data or plan.data
    has_epochs = bool(config.train_epochs)
    is_ended = not has_epochs and (
        config.max_steps or config.early_stopping_metric or config.stop_at or config.max_secs or
        config.is_until_no_improvement)
    if training is None or not plan.task.is_trainer or is_ended:
        return
    if not input_fn_adapter.describe(input_fn, params, tf.estimator.ModeKeys.TRAIN).is_infinite:
        return
    raise ConfigError(Problem(
        "train_epochs" if has_epochs else "train_steps", config.train_epochs,
        "the end of the input, " * (not has_epochs) +
        f"and input_fn {training.name!r} yields a dataset without end in mode 'train'",
        example=Setting("train_steps", 1000) if has_epochs else Setting("train_epochs", 10),
        advice="Leave out .repeat(), or set epochs or steps."))


def _check(plan: Plan, name: str, spec: input_fn_adapter.DataSpec) -> None:
    eval_steps = plan.config.eval_steps
    if spec.is_infinite and not eval_steps:
        raise ConfigError(
            f"{name} yields a dataset without end in mode 'eval', and"
            f" eval_steps is 0 (from {Setting('eval_steps')}), the whole set: evaluation would"
            " never end. Leave out .repeat() in that mode, or set a number. For example:"
            f" {Setting('eval_steps', 100)}")
    if 0 < eval_steps < spec.batches:
        logging.warning("evaluation%s covers %d of %d batches: eval_steps is %d (from %s); 0 is the"
                        " whole set", f" of {name}" * name.startswith("eval_set"), eval_steps,
                        spec.batches, eval_steps, Setting("eval_steps"))


def is_key_feature(plan: Plan, features: Any) -> bool:
    """Returns whether --forward_key names a feature; identifiers are read beside the features."""
    assert plan.params is not None
    key, others = plan.config.forward_key, identifiers(plan.params.values)
    return bool(key) and isinstance(features, dict) and key in features and key not in others


def is_key_demanded(plan: Plan) -> bool:
    """Returns whether the user of this run has set --forward_key, and not only an earlier run."""
    return plan.recorded is None or "forward_key" in plan.recorded.user_set


def stored_rows(rows_to_predict: Callable[..., Any], params: Mapping[str, Any], key: str) -> Any:
    """Returns the data to predict as they came, with the column `key` if the function takes it."""
    takes_key = key and "key" in loader.arguments(rows_to_predict)
    return rows_to_predict(params, key=key) if takes_key else rows_to_predict(params)


def _key_column(plan: Plan, module: types.ModuleType, features: Any,
                params: Mapping[str, Any]) -> str:
    """Returns the key that --forward_key names, if it is a column that is no feature, or "".

    Raises:
      ConfigError: if the data have no such column, and the user of this run demands it.
    """
    assert plan.data is not None
    key, names = plan.config.forward_key, sorted(features) if isinstance(features, dict) else []
    if not key or is_key_feature(plan, features):
        return ""
    rows_to_predict = getattr(module, "rows_to_predict", None)
    if plan.config.is_data_json:
        return key  # The first instance shows whether it is there.
    stored = stored_rows(rows_to_predict, params, key) if rows_to_predict else None
    if stored and key in stored.names:
        return key
    columns = tuple(getattr(stored, "columns", ()) or getattr(stored, "names", ()))
    if columns and plan.config.data and not is_key_demanded(plan):
        logging.info("the data to predict have no %s, the key of the training; the position is the"
                     " key", key)
        return ""
    names = sorted({*names, *columns})
    raise ConfigError(Problem(
        "forward_key", key, f"which is no feature of input_fn {plan.data.name!r}"
        + ", and no column of its data" * bool(columns),
        f"one of {', '.join(names) or '(its features have no names)'}",
        advice=near_match(key, names)))
