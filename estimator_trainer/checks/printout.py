"""Writes what `check` prints."""

import itertools
import json
from typing import Any

from estimator_trainer import redaction, versions
from estimator_trainer.checks.plan import Findings, Plan
from estimator_trainer.plugins.plugin import Plugin
from estimator_trainer.settings import length
from estimator_trainer.settings.trainer_config import TrainerConfig

_LONGEST_LINE = 100


def describe(plan: Plan, found: Findings, as_json: bool) -> str:
    """Returns a description of a plan and of the machine check's findings, as JSON or as text."""
    content = redaction.masked("", _content(plan, found))
    if as_json:
        return json.dumps(content, indent=2)
    problems, warnings = content.pop("problems"), content.pop("warnings")
    content |= content.pop("facts")
    width = max(17, 2 + max(map(len, content)))
    lines = [f"{name:{width}}{line}".rstrip() for key, value in content.items()
             for name, line in zip(itertools.chain([key], itertools.repeat("")), _lines(value))]
    lines += [f"WARNING  {warning}" for warning in warnings]
    lines += [f"PROBLEM  {problem}" for problem in problems]
    warned = f"{len(warnings)} warning{'s' * (len(warnings) > 1)}"
    end = f"{len(problems)} problem{'s' * (len(problems) > 1)}" if problems else "ready"
    return "\n".join([*lines, f"{end}, {warned}" if warnings else end])


def _content(plan: Plan, found: Findings) -> dict[str, Any]:
    task, config = plan.task, plan.config
    inputs = {"input_fn": plan.data}
    if plan.train_data:
        inputs = {"train_input_fn": plan.train_data, "eval_input_fn": plan.data}
    if plan.serving:
        inputs["serving_input_fn"] = plan.serving
    return {
        "task": task.name,
        "role": f"{task.role}:{task.index}" if not task.is_local else "local",
        "cluster": {role: list(hosts) for role, hosts in task.servers.items()},
        "world_size": task.num_trainers,
        "evaluator": (f"{task.num_evaluators} in the cluster" if task.num_evaluators > 1 else
                      "in the cluster" if task.has_evaluator else "none: the chief evaluates"),
        "shard": f"{task.input_pipeline_id + 1}/{task.num_input_pipelines}",
        "notes": [*task.notes, *plan.notes],
        "train_distribute": config.train_distribute, "eval_distribute": config.eval_distribute,
        "train_steps": config.train_steps, "length": _length(config),
        "model_fn": _plugin(plan.model),
        **{name: _plugin(plugin) for name, plugin in inputs.items()},
        **({"eval_sets": [*map(str, plan.eval_sets)],
            "best_metric": _metric(config.best_metric, config.best_mode),
            "early_stopping": _early_stopping(config)} if plan.eval_sets else {}),
        "params": dict(plan.params.values) if plan.params else {},
        "versions": str(plan.versions),
        "model_dir": config.model_dir or "(a new temporary directory)",
        "facts": found.facts,
        "warnings": [*versions.warnings(plan.versions), *found.warnings],
        "problems": [str(problem) for problem in (*plan.problems, *found.problems)],
    }


def _early_stopping(config: TrainerConfig) -> str:
    return _metric(config.early_stopping_metric, config.early_stopping_mode) if (
        config.early_stopping_metric) else "-"


def _metric(name: str, mode: str) -> str:
    return f"{name}, {'the lowest' if mode == 'min' else 'the highest'}"


def _length(config: TrainerConfig) -> str:
    """Returns what ends training, in words."""
    text = f"to step {config.train_steps}" if config.max_steps else "to the end of the input"
    if config.train_epochs:
        text = f"{config.train_epochs} passes over the training data"
    if config.is_until_no_improvement:
        text = length.described(config.best_metric, config.best_mode)
    target = f", or to the first evaluation with {config.stop_at}" if config.stop_at else ""
    return text + target + (f"; at most {config.max_secs} s in a run" if config.max_secs else "")


def _plugin(plugin: Plugin | None) -> str:
    return f"{plugin.name} ({plugin.path}:{plugin.function})" if plugin else "(not found)"


def _lines(value: Any) -> list[str]:
    """Returns a value in one line, or in one for each entry of a long list."""
    line = _line(value)
    is_long = isinstance(value, list) and len(value) > 1 and len(line) > _LONGEST_LINE
    return value if is_long else [line]


def _line(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{k}={','.join(map(str, v)) if isinstance(v, list) else v!r}"
                        for k, v in value.items()) or "-"
    if isinstance(value, list):
        return "; ".join(value) or "-"
    return str(value)
