"""The shape of a model plug-in: a model_fn, or an object that has one.

Such an object is an Estimator, canned or not; a compiled Keras model; or a function, or class, that
returns one of these or a model_fn when it is called with the settings and the params. The import
shows which: a model_fn takes `features`, and a function that returns a model does not.
"""

from concurrent import futures
import copy
import dataclasses
import inspect
from typing import Any, Callable, Mapping

from absl import logging
import tensorflow as tf

from estimator_trainer import environment, errors
from estimator_trainer.checks.plan import Plan
from estimator_trainer.estimator import keras_model, user_estimator
from estimator_trainer.patches import cluster_patches
from estimator_trainer.plugins import loader
from estimator_trainer.plugins.params import CLASS_NAMES, class_names, PluginParams

# TensorFlow 1's class is the base of all Estimators.
_Estimator = tf.compat.v1.estimator.Estimator


@dataclasses.dataclass(frozen=True)
class Model:
    """A model_fn, or a class in its place, and the user's Estimator that it is from, or None."""

    function: Callable[..., Any]
    estimator: user_estimator.UserEstimator | None = None


def is_other(thing: Any) -> bool:
    """Returns whether what a plug-in's name stands for has another shape than a model_fn."""
    return isinstance(thing, _Estimator) or keras_model.is_model(thing) or (
        inspect.isroutine(thing) and not _is_model_fn(thing))


def input_fn_for(model: Model, function: Callable[..., Any], plan: Plan) -> Callable[..., Any]:
    """Returns an input_fn that gets the params of the user's Estimator, and those the user set."""
    estimator, user_set = model.estimator, plan.params.user_set if plan.params else frozenset()
    if estimator is None:
        return function
    own = estimator.params if isinstance(estimator.params, Mapping) else {}

    def input_fn(**passed: Any) -> Any:
        params = passed["params"]
        known = estimator.input_params(passed["mode"], PluginParams({**params, **own}))
        kept = {key: params[key] for key in user_set}
        return loader.call(function, {**passed, "params": PluginParams({**known, **kept})})

    # The adapter passes what the signature names.
    takes = dict.fromkeys([*loader.arguments(function), "mode", "params"])
    setattr(input_fn, "__signature__", inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in takes]))
    return input_fn


def model_of(thing: Any, plan: Plan, params: dict[str, Any]) -> Model:
    """Returns the model of a plug-in whose name stands for `thing`.

    Raises:
      ConfigError: if the user's function returns nothing that can be trained.
    """
    if not is_other(thing):
        return Model(thing)
    # Keras numbers the layers of a thread: in a thread of its own, each run of a notebook gives a
    # model the same names.
    with futures.ThreadPoolExecutor(1) as executor:
        return executor.submit(_model_of_another_shape, thing, plan, params).result()


def _model_of_another_shape(thing: Any, plan: Plan, params: dict[str, Any]) -> Model:
    name = plan.config.model_fn
    if callable(thing) and (inspect.isroutine(thing) or isinstance(thing, type)):
        thing = _called(thing, plan, params)
        if inspect.isroutine(thing) and _is_model_fn(thing):
            return Model(thing)
    if keras_model.is_model(thing) and not isinstance(thing, type):
        names = class_names(params) if _names_classes(plan) else ()
        return Model(keras_model.model_fn_of(thing, name, names))
    if not isinstance(thing, _Estimator):
        raise errors.ConfigError(
            errors.Problem("model_fn", name,
                           "which takes no `features`, so it was called, and returned an"
                           f" object of type {type(thing).__name__}",
                           "a tf.estimator.Estimator, a compiled tf.keras.Model or a model_fn",
                           "return tf.estimator.Estimator(model_fn, config=config, params=params)"))
    estimator = user_estimator.take_apart(thing)
    if estimator.config.train_distribute:
        logging.warning("the strategy in the RunConfig of model_fn %s is not used; %s chooses one",
                        name, errors.Setting("train_distribute"))
    return Model(_function(estimator, plan), estimator)


def _names_classes(plan: Plan) -> bool:
    """Returns whether the plug-in declares that its Keras model takes the names of classes."""
    return plan.model is not None and CLASS_NAMES in (plan.model.default_params or {})


def _is_model_fn(function: Callable[..., Any]) -> bool:
    return "features" in loader.arguments(function)


def _called(function: Callable[..., Any], plan: Plan, params: dict[str, Any]) -> Any:
    """Calls a function that returns a model; an argument may be a param by its name."""
    with environment.no_cluster():
        run_config = tf.estimator.RunConfig(**user_estimator.fields_of(plan.config))
    run_config = user_estimator.of_platform(run_config, plan.task)
    known = {**params, "config": run_config, "run_config": run_config, "params": params,
             "hparams": params, "model_dir": plan.config.model_dir}
    missing = [p.name for p in inspect.signature(function).parameters.values()
               if p.name not in known and p.default is p.empty
               and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    if missing:
        raise errors.ConfigError(
            f"model_fn {plan.config.model_fn!r} takes {', '.join(missing)}, of which nothing is"
            " known, and no argument called features, so it is called to return a model; expected"
            " for a model_fn, as tf.estimator.Estimator does, the names features, labels, mode,"
            " params, config; for a function that returns a model, some of config, run_config,"
            " model_dir, params, hparams, or names of params. For example: def model_fn(features,"
            f" labels, mode), or {errors.Param(missing[0], errors.Words('VALUE'))}")
    # Nothing that the function makes may start a server of the cluster.
    with (cluster_patches.configs_in_any_cluster(lambda: plan.task, user_estimator.of_platform),
          cluster_patches.strategies_reading(lambda: "")):
        return loader.call(function, known)


def _function(estimator: user_estimator.UserEstimator, plan: Plan) -> Callable[..., Any]:
    """Returns the model_fn of a user's Estimator, with the params that the user has set."""
    user_set = plan.params.user_set if plan.params else ()

    def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any],
                 config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        own = copy.deepcopy(estimator.params)
        for key in user_set:
            user_estimator.add_param(own, key, params[key])
        return estimator.model_fn(features, labels, mode, own, config)

    return model_fn
