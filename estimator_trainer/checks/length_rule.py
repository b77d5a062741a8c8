"""Decides the rule that ends a training, before its data are read."""

import dataclasses

from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster import topology
from estimator_trainer.errors import Problem, Setting
from estimator_trainer.settings.length import NO_IMPROVEMENT

# Settings that decide the length of a training, or how many evaluations it has.
_OF_LENGTH = frozenset((
    "train_steps", "train_epochs", "epochs_of", "early_stopping_metric", "early_stopping_mode",
    "early_stopping_steps", "num_evaluations"))


def decided(plan: Plan, user_set: frozenset[str] | None) -> Plan:
    """Returns the plan of a training with the rule that ends it.

    `user_set` are names of settings; None: those not at their defaults.
    """
    config = plan.config
    if config.is_until_no_improvement:
        problem = _problem(plan)
        if problem:
            return dataclasses.replace(plan, problems=(*plan.problems, problem))
        # Without a bound of the user, the rows decide it.
        has_bound = (config.train_steps != type(config).train_steps if user_set is None
                     else "train_steps" in user_set)
        is_taken = plan.recorded is not None and "train_until" not in plan.recorded.user_set
        # A record has the bound of its rule.
        return plan if has_bound or is_taken else _until_no_improvement(plan)
    data = plan.train_data or plan.data
    is_declared = data is not None and data.trains_until == NO_IMPROVEMENT
    # A record without the rule is that of a training with another one.
    is_free = is_declared and not config.train_until and plan.recorded is None
    if is_free and not _has_length(plan, user_set) and _problem(plan) is None:
        return _until_no_improvement(plan)
    return plan


def _until_no_improvement(plan: Plan) -> Plan:
    return dataclasses.replace(plan, config=dataclasses.replace(
        plan.config, train_until=NO_IMPROVEMENT, train_steps=0))


def _has_length(plan: Plan, user_set: frozenset[str] | None) -> bool:
    """Returns whether the user has decided how long to train."""
    config = plan.config
    if user_set is None:
        user_set = frozenset(name for name in _OF_LENGTH
                             if getattr(config, name) != getattr(type(config), name))
    has_epochs = bool(plan.params and "epochs" in plan.params.user_set and
                      plan.params.values["epochs"])
    return bool(_OF_LENGTH & user_set) or has_epochs


def _problem(plan: Plan) -> Problem | None:
    """Returns why a job cannot train until there is no improvement."""
    config = plan.config
    source = Setting("train_until", NO_IMPROVEMENT)
    if not plan.task.is_local or plan.task.name != "local":
        return Problem(
            "train_until", NO_IMPROVEMENT, f"and {plan.task.name} trains in a cluster",
            "a number of steps there", Setting("train_steps", 1000))
    if config.train_distribute not in topology.ONE_PROCESS:
        return Problem(
            "train_distribute", config.train_distribute, beside=source,
            why="which needs the evaluations of one process",
            expected=f"one of {', '.join(topology.ONE_PROCESS)}",
            example=Setting("train_distribute", "mirrored"))
    return None
