"""Further sets of evaluation data, loaded: each has an input_fn that an Estimator takes."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Mapping, Sequence

import tensorflow as tf

from estimator_trainer.checks.plan import Plan
from estimator_trainer.errors import ConfigError, Problem
from estimator_trainer.estimator import input_fn_adapter, model_shape
from estimator_trainer.plugins import loader, param_defaults
from estimator_trainer.plugins.eval_sets import EvalSet
from estimator_trainer.plugins.params import PluginParams
from estimator_trainer.record import run_record


@dataclasses.dataclass(frozen=True)
class LoadedSet:
    """A named set of evaluation data.

    Attributes:
      steps: The batches that an evaluation takes; None: all.
      hooks, exporters: Those of a script's EvalSpec.
      starts_over: Whether the input_fn's Python functions yield the same in every evaluation.
      text: The set as the record has it; "" for a script's.
    """

    name: str
    input_fn: input_fn_adapter.InputFn
    steps: int | None
    hooks: tuple[Any, ...] = ()
    exporters: tuple[Any, ...] = ()
    starts_over: bool = False
    text: str = ""


def load(plan: Plan, model: model_shape.Model, known: Mapping[str, Any]) -> tuple[LoadedSet, ...]:
    """Imports and adapts the input_fns of the plan's sets; `known` is what only the data know."""
    return tuple(_loaded(each, plan, model, known) for each in plan.eval_sets)


def _loaded(each: EvalSet, plan: Plan, model: model_shape.Model,
            known: Mapping[str, Any]) -> LoadedSet:
    assert plan.data is not None and plan.params is not None
    plugin = each.plugin or plan.data
    # The user has set the values of the set, which an Estimator's own params do not replace.
    params = dataclasses.replace(
        plan.params, user_set=plan.params.user_set | each.values.keys())
    plan = dataclasses.replace(plan, data=plugin, train_data=None, params=params)
    function, module = loader.load(plugin)
    adapted = input_fn_adapter.adapt(model_shape.input_fn_for(model, function, plan), plan)
    own = {key: known.get(key, value) for key, value in each.defaults.items()}
    values = {key: param_defaults.resolved(value) for key, value in {**own, **each.values}.items()}

    def input_fn(mode: str, params: dict[str, Any], config: Any = None,
                 input_context: tf.distribute.InputContext | None = None,
                 is_marked: bool = True) -> Any:
        return adapted(mode, PluginParams({**params, **values}), config, input_context, is_marked)

    return LoadedSet(each.name, input_fn, plan.config.eval_steps or None,
                     starts_over=bool(getattr(module, "STARTS_OVER", False)),
                     text=run_record.eval_set_text(each))


def check(sets: Sequence[LoadedSet], features: Any, params: dict[str, Any],
          check_end: Callable[[str, input_fn_adapter.DataSpec], None]) -> None:
    """Raises ConfigError if a set has no end, or lacks `features` of the main evaluation."""
    for each in sets:
        spec = input_fn_adapter.describe(each.input_fn, params)
        check_end(f"eval_set {each.name!r}", spec)
        names = set(features) if isinstance(features, dict) else set()
        found = set(spec.features) if isinstance(spec.features, dict) else set()
        if missing := sorted(names - found):
            raise ConfigError(Problem(
                "eval_set", each.text, f"whose examples have no {', '.join(map(str, missing))},"
                " which the model takes", "the features of the main evaluation"))
