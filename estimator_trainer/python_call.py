"""A call of a Python program: its settings, its plan, and a process left as it was."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
from typing import Any, Callable, Iterator, Mapping

from estimator_trainer import commands, environment, logs, redaction
from estimator_trainer.checks import run_plan
from estimator_trainer.checks.plan import Invocation, Plan
from estimator_trainer.errors import ConfigError, Interrupted, TrainerError
from estimator_trainer.plugins import importing, loader
from estimator_trainer.result import Result
from estimator_trainer.settings import keyword_settings
from estimator_trainer.settings.trainer_config import TrainerConfig

_PLUGINS = ("model_fn", "input_fn", "train_input_fn", "eval_input_fn", "serving_input_fn")


@contextlib.contextmanager
def call(model_fn: Any, input_fn: Any, model_dir: str | os.PathLike[str],
         settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the settings that a call gives, and leaves the process as it was afterwards."""
    given = {"model_fn": model_fn, "input_fn": input_fn, "model_dir": os.fspath(model_dir)}
    given = {**{name: value for name, value in given.items() if value not in (None, "")},
             **settings}
    for kind in _PLUGINS:
        if kind in given and not isinstance(given[kind], str):
            given[kind] = loader.keep(given[kind])
    importing.forget_edited()
    with logs.as_before(), environment.same_cluster_after():
        try:
            yield given
        except TrainerError as error:
            # A Python program gives keywords, not flags.
            error.args = tuple(re.sub(r"\(from --(\w+)\)", r"(from \1=)", str(each))
                               for each in error.args)
            raise


def plan_of(make: Callable[..., Plan], command: str, given: Mapping[str, Any],
            params: Mapping[str, Any] | None,
            variables: environment.Environment | None = None) -> Plan:
    """Plans a call, imports TensorFlow, and looks whether the storage is there."""
    config, variables = keyword_settings.config_of(given), variables or environment.read()
    if config.tf1:
        raise ConfigError("tf1 is True (from tf1=), which would change TensorFlow for this whole"
                          " process; expected the command line for it, or in this program:"
                          " import estimator_trainer.compat.tf1")
    words = (f"estimator_trainer.{command}",
             *(f"{name}={redaction.masked(name, value)!r}"
               for name, value in {**given, **(params or {})}.items()))
    plan = run_plan.ready(make(config, variables, Invocation(
        frozenset(given), params or {}, commands.reader(config, variables), words)))
    prepare(plan)
    return plan


def prepare(plan: Plan) -> None:
    """Imports TensorFlow for a plan, and looks whether its storage is there.

    Raises:
      ConfigError: for each problem of the plan, and of its storage.
    """
    run_plan.refuse(plan)
    commands.import_tensorflow(plan)
    from estimator_trainer.estimator import strategy
    from estimator_trainer.roles import access
    _split_cpu(strategy.split_cpu, plan)
    strategy.check(plan.config, plan.task)
    access.check(plan.config, plan.versions.tensorflow)


def _split_cpu(split: Callable[[TrainerConfig], None], plan: Plan) -> None:
    try:
        split(plan.config)
    except RuntimeError as error:
        raise ConfigError(
            f"num_replicas is {plan.config.num_replicas} (from --num_replicas), and TensorFlow has"
            " begun to compute in this process with one CPU; expected the first call of the"
            " process to say so. For example: restart the notebook's kernel") from error


def variables_of(tf_config: Mapping[str, Any] | str | None) -> environment.Environment:
    """Returns the environment of this process, with another TF_CONFIG where one is given."""
    variables = environment.read()
    if tf_config is None:
        return variables
    text = tf_config if isinstance(tf_config, str) else json.dumps(tf_config)
    return dataclasses.replace(variables, tf_config=text, cluster_spec="")


@contextlib.contextmanager
def explained(plan: Plan) -> Iterator[None]:
    """Raises one sentence in place of an error that is not the code's fault."""
    from estimator_trainer.roles import outcome
    try:
        yield
    except Exception as error:
        outcome.raise_explained(error, outcome.explained(error, plan))


def result_of_job(model_dir: str, code: int) -> Result:
    """Returns how a job ended whose launcher returned `code`."""
    commands.import_tensorflow(run_plan.for_model_dir(
        keyword_settings.config_of({"model_dir": model_dir}), environment.read()))
    from estimator_trainer.coordination import checkpoints
    from estimator_trainer.evaluation import event_files
    ended = checkpoints.read_result(model_dir)
    if code in (130, 142, 143):
        raise Interrupted("lost" if code == 142 else "stopped", f"exit {code}", "launch")
    if code:
        raise TrainerError(f"the job failed with exit {code}"
                           + (f": {ended.reason}" if ended else "; its log says why"))
    if ended is None:
        raise TrainerError(f"the job ended with exit 0, and {model_dir} has no result.json that is"
                           " whole; its log says how it ended")
    return dataclasses.replace(ended, history=tuple(event_files.read(model_dir)))
