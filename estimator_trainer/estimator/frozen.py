"""Frozen variables, which no optimizer of a model_fn trains (`--freeze`).

An optimizer does not get their gradients, so they have no slots, and neither weight decay nor
momentum moves them.
"""

import functools
import re
from typing import Any, ContextManager, Iterable, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer.errors import ConfigError, Problem
from estimator_trainer.graph import graph_state, operations
from estimator_trainer.input import batches
from estimator_trainer.patches import training_patches
from estimator_trainer.settings import conflicts
from estimator_trainer.settings.trainer_config import TrainerConfig

# The types of the operations that change a variable.
_WRITES = re.compile(r"(Assign|Scatter|Apply|SparseApply|Resource(Sparse)?Apply|ResourceScatter)")


def kept(freeze: str) -> ContextManager[None]:
    """Keeps the variables that `freeze` matches out of every optimizer, within a `with` statement.

    An evaluation needs it too, because a model_fn may make its optimizer in each mode. The graph
    state lists the variables of optimizers, which a warm start leaves out.
    """
    patterns = conflicts.split(freeze)
    base_calls: list[None] = []

    def apply(own_apply: functools.partial[Any], is_base: bool, grads_and_vars: Any, *args: Any,
              **kwargs: Any) -> Any:
        pairs = list(grads_and_vars)
        left = [(gradient, variable) for gradient, variable in pairs
                if not _is_frozen(operations.saved_name(variable), patterns)]
        if pairs and not left:
            # All variables of this optimizer are frozen, but the step counts.
            [optimizer] = own_apply.args
            passed = (*args, *kwargs.values(), getattr(optimizer, "iterations", None))
            steps = [each for each in passed if hasattr(each, "assign_add")]
            return tf.group(*(step.assign_add(1) for step in steps))
        before, calls = _saved_names(tf.compat.v1.global_variables()), len(base_calls)
        applied = own_apply(left, *args, **kwargs)
        if is_base:
            base_calls.append(None)
        # A wrapper calls another optimizer; its own variables are the model's: moving averages.
        if is_base or len(base_calls) == calls:
            for name in _saved_names(tf.compat.v1.global_variables()) - before:
                graph_state.OPTIMIZER_VARIABLES.add(name)
        return applied

    return training_patches.applying_gradients_with(apply)


def _saved_names(variables: Iterable[Any]) -> set[str]:
    return set(map(operations.saved_name, variables))


@batches.as_it_is  # With a strategy autograph would rewrite it, and hide its log.
def check(config: TrainerConfig, train_op: Any, is_chief: bool) -> None:
    """Checks that a training step leaves the frozen variables as they are; the chief logs them.

    Raises:
      ConfigError: if a pattern matches no trainable variable, if nothing is left to train, or if
        the model_fn changes a frozen variable without an optimizer.
    """
    patterns = conflicts.split(config.freeze)
    if not patterns:
        return
    names = _saved_names(tf.compat.v1.trainable_variables())
    for pattern in patterns:
        if not any(conflicts.matches(pattern, name) for name in names):
            raise ConfigError(Problem(
                "freeze", config.freeze, f"and {pattern!r} matches no trainable variable of"
                f" model_fn {config.model_fn!r}", advice=operations.near(pattern, names)))
    found = {name for name in names if _is_frozen(name, patterns)}
    if found == names:
        raise ConfigError(Problem(
            "freeze", config.freeze, f"which leaves nothing of model_fn {config.model_fn!r} to"
            " train", "a part of its variables",
            advice=f"The variables: {operations.some(names)}."))
    outside = operations.outside(train_op.graph)
    changed = found & _saved_names(
        operations.variable_of(op, outside) for op in operations.up_to(train_op)
        if op.inputs and _WRITES.match(op.type))
    if changed:
        raise ConfigError(Problem(
            "freeze", config.freeze, f"and model_fn {config.model_fn!r} changes"
            f" {operations.some(changed)} by itself, not by an optimizer",
            "a model_fn that leaves these as they are, or another pattern"))
    if is_chief:
        logging.log_first_n(logging.INFO, "frozen: %d of %d trainable variables (%s)", 1,
                            len(found), len(names), operations.some(found))


def _is_frozen(name: str, patterns: Sequence[str]) -> bool:
    return any(conflicts.matches(pattern, name) for pattern in patterns)
