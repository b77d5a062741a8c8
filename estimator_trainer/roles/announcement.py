"""The announcement is the lines of a task's log that say what it is about to do."""

from __future__ import annotations

from typing import Any

from absl import logging

from estimator_trainer import redaction
from estimator_trainer.checks.plan import Plan
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins


def log(plan: Plan, parts: LoadedPlugins | None = None) -> None:
    """Logs the plug-ins, the cluster and, where the plug-ins are loaded, the params."""
    task, config = plan.task, plan.config
    for note in (*task.notes, *plan.notes):
        logging.info("%s", note)
    cluster = ", ".join(f"{len(hosts)} {role}" for role, hosts in task.cluster.items())
    program = (f"script={plan.script.name}" if plan.script else
               " ".join(f"{plugin.kind}={plugin.name}" for plugin in plan.plugins))
    logging.info("%s train_distribute=%s model_dir=%s cluster: %s", program,
                 config.train_distribute, config.model_dir, cluster or "none, all in this process")
    if parts and not parts.script:
        logging.info("params: %s", _changed(plan, parts.params) or "all at their defaults")


def _changed(plan: Plan, params: dict[str, Any]) -> str:
    """Returns the params that are not at their defaults."""
    defaults = {key: value for plugin in plan.plugins for key, value in (
        plugin.default_params or {}).items()}
    return " ".join(f"{key}={redaction.masked(key, value)!r}"
                    for key, value in sorted(params.items())
                    if key not in defaults or defaults[key] != value)
