"""The plan of a run holds all that is known, and every problem found, before TensorFlow.

`check` prints it; every other command runs it, or stops on its problems.
"""

from __future__ import annotations

import dataclasses
import os.path
import posixpath
import tempfile
from typing import Any, Callable, Sequence, TypeVar

from estimator_trainer import errors
from estimator_trainer import storage
from estimator_trainer import versions
from estimator_trainer.cluster import ports
from estimator_trainer.cluster import task_config
from estimator_trainer.cluster import topology
from estimator_trainer.environment import Environment
from estimator_trainer.plan import input_plugins
from estimator_trainer.plan import params
from estimator_trainer.plan import plugins
from estimator_trainer.plan import prediction_data
from estimator_trainer.plan.script_file import Script
from estimator_trainer.settings.trainer_config import TrainerConfig

T = TypeVar("T")
_LOCAL = task_config.parse(None)


@dataclasses.dataclass(frozen=True)
class Plan:
    """The plan of what would run.

    Attributes:
      config: The settings, model_dir resolved.
      task: The place of this process in the job.
      model: The model_fn plug-in, or None if it was not found.
      data: The input_fn plug-in, of evaluation and prediction where training has its own; or None.
      params: The merged params, or None.
      problems: One sentence for each problem; the run can start only without any.
      versions: The installed TensorFlow, Estimator, Keras and Python.
      train_data: The input_fn plug-in of training, or None if it is that of `data`.
      serving: The plug-in of --serving_input_fn, or None.
      script: The script that runs in the place of plug-ins, or None.
      given: What the script gives in their place (estimator/given_experiment.py); None before.
    """

    config: TrainerConfig
    task: task_config.TaskConfig
    model: plugins.Plugin | None
    data: plugins.Plugin | None
    params: params.Params | None
    problems: tuple[str, ...]
    versions: versions.Versions
    train_data: plugins.Plugin | None = None
    serving: plugins.Plugin | None = None
    script: Script | None = None
    given: Any = None

    @property
    def is_evaluated(self) -> bool:
        """Whether the job evaluates; a script that calls `Estimator.train` does so by itself."""
        return self.given is None or self.given.eval_spec is not None

    @property
    def plugins(self) -> tuple[plugins.Plugin, ...]:
        """All plug-ins that were found."""
        found = (self.model, self.data, self.train_data, self.serving)
        return tuple(plugin for plugin in found if plugin)


def for_training(config: TrainerConfig, environment: Environment) -> Plan:
    """Plans `train` in the role that TF_CONFIG gives."""
    problems = versions.problems(versions.installed(), environment.legacy_keras)
    task = _collect(problems, lambda: task_config.parse(
        environment.tf_config, environment.cluster_spec))
    if task is not None:
        problems += topology.problems(task, config.train_distribute, config.eval_distribute,
                                      config.sync_replicas)
        problems += ports.problems(task)
        config = _with_model_dir(config, environment, task)
        if not config.model_dir and not task.is_local:
            problems.append(
                "model_dir is missing (no --model_dir), and every task of a cluster must share"
                " one. For example: --model_dir=gs://bucket/job or --model_dir=/shared/job")
    problems += _storage_problems(config)
    return _with_plugins(config, task or _LOCAL, problems)


def for_script(config: TrainerConfig, environment: Environment, script: Script) -> Plan:
    """Plans the run of a script in the role that TF_CONFIG gives.

    What only the script knows, such as its strategy, is looked at when it begins to train.
    """
    problems = versions.problems(versions.installed(), environment.legacy_keras)
    task = _collect(problems, lambda: task_config.parse(
        environment.tf_config, environment.cluster_spec))
    if task is not None:
        problems += ports.problems(task)
    problems += _storage_problems(config)
    return Plan(config, task or _LOCAL, None, None, None, tuple(problems), versions.installed(),
                script=script)


def for_one_process(config: TrainerConfig, environment: Environment) -> Plan:
    """Plans `evaluate`, `predict` or `export`, which ignore the cluster."""
    problems = versions.problems(versions.installed(), environment.legacy_keras)
    config = _with_model_dir(config, environment, _LOCAL)
    if not config.model_dir and not config.export_dir:
        problems.append("model_dir is missing (no --model_dir); expected the directory of a"
                        " trained model. For example: --model_dir=/tmp/digits")
    problems += _storage_problems(config)
    return _with_plugins(config, _LOCAL, problems, is_training=False)


def for_job(config: TrainerConfig, tasks: Sequence[task_config.TaskConfig],
            script: Script | None = None) -> Plan:
    """Plans `train`, or the run of a script, in all tasks of a job that other machines will run.

    Ports, versions and variables of this machine do not count; the plug-ins are those here.
    """
    if script is not None:
        return Plan(config, tasks[0], None, None, None, (), versions.installed(), script=script)
    problems = list(dict.fromkeys(problem for task in tasks for problem in topology.problems(
        task, config.train_distribute, config.eval_distribute, config.sync_replicas)))
    if not config.model_dir:
        problems.append(
            "model_dir is missing (no --model_dir after `--`), and what a task writes into its"
            " own container is lost. For example: -- --model_dir=gs://bucket/job")
    return _with_plugins(config, tasks[0], problems)


def ready(plan: Plan) -> Plan:
    """Returns the plan, with a model_dir, if it can run.

    Raises:
      ConfigError: with all the plan's problems, one a line.
    """
    refuse(plan)
    if plan.config.model_dir:
        return plan
    folder = tempfile.mkdtemp(prefix="estimator_trainer-")
    return dataclasses.replace(plan, config=dataclasses.replace(plan.config, model_dir=folder))


def refuse(plan: Plan) -> None:
    """Raises ConfigError with all the plan's problems, one a line, if there are any."""
    if plan.problems:
        raise errors.ConfigError("\n".join(plan.problems))


def _with_plugins(config: TrainerConfig, task: task_config.TaskConfig, problems: list[str],
                  is_training: bool = True) -> Plan:
    if config.model_dir and os.path.isfile(config.model_dir):
        problems.append(f"model_dir is {config.model_dir!r} (from --model_dir), which is a file;"
                        " expected a directory, existing or not.")
    model = _collect(problems, lambda: plugins.find("model_fn", config.model_fn))
    data = _collect(problems, lambda: input_plugins.find(config, is_training))
    if data is None:
        return Plan(config, task, model, None, None, tuple(problems), versions.installed())
    problems += prediction_data.problems(config, data.evaluation)
    merged = None
    if model is not None:
        merged = _collect(problems, lambda: params.merge(
            model, data.evaluation, config.param, config.params_file,
            _of_flags(config, data.training or data.evaluation),
            [plugin for plugin in (data.training, data.serving) if plugin]))
    return Plan(config, task, model, data.evaluation, merged, tuple(problems),
                versions.installed(), train_data=data.training, serving=data.serving)


def _storage_problems(config: TrainerConfig) -> list[str]:
    tensorflow, plugin = versions.installed().tensorflow, storage.plugin_version()
    found = (storage.problem(name, path, tensorflow, plugin)
             for name, path in config.paths.items())
    return [problem for problem in found if problem]


def _of_flags(config: TrainerConfig, data: plugins.Plugin) -> list[params.Given]:
    """Returns the params of the input_fn that flags stand for."""
    flags = {"epochs": ("train_epochs", config.train_epochs),
             "batch_size": ("global_batch_size", config.global_batch_size)}
    given = [params.Given(key, value, f"--{flag}", f"--{flag}=0 --param {key}=")
             for key, (flag, value) in flags.items()
             if value and key in (data.default_params or {})]
    return given + prediction_data.params_of(config, data)


def _with_model_dir(config: TrainerConfig, environment: Environment,
                    task: task_config.TaskConfig) -> TrainerConfig:
    """Resolves model_dir; every trial of a tuning job gets a directory of its own."""
    folder = config.model_dir or environment.aip_model_dir
    if folder and task.trial:
        folder = posixpath.join(folder, task.trial)
    return dataclasses.replace(config, model_dir=folder)


def _collect(problems: list[str], step: Callable[[], T]) -> T | None:
    try:
        return step()
    except errors.ConfigError as error:
        problems.append(str(error))
        return None
