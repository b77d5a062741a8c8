"""Makes the plan of a run from the settings and the environment, before TensorFlow is imported."""

import dataclasses
import os.path
from typing import Callable, Mapping, Sequence, TypeVar

from estimator_trainer import errors, machine, storage, versions
from estimator_trainer.checks import length_rule, machine_check, model_dir_name
from estimator_trainer.checks.plan import Invocation, Plan, ScriptRun
from estimator_trainer.cluster import ports, rank_source, task_config, topology
from estimator_trainer.environment import Environment
from estimator_trainer.plugins import eval_sets, loader, params, trackers
from estimator_trainer.plugins.plugin import Plugin
from estimator_trainer.plugins.source_files import Script
from estimator_trainer.record import changes as changes_lib, recorded_run
from estimator_trainer.settings.trainer_config import TrainerConfig

T = TypeVar("T")
Problems = list[errors.Problem | str]
_LOCAL = task_config.parse(None)


def for_training(config: TrainerConfig, environment: Environment,
                 invocation: Invocation = Invocation()) -> Plan:
    """Plans `train` in the role that TF_CONFIG gives."""
    problems = _version_problems(environment)
    task = _collect(problems, lambda: _task(config, environment))
    recorded = None
    if task is not None:
        config = _with_model_dir(config, environment, task.trial or environment.trial)
        config, recorded = _as_recorded(problems, config, invocation, is_training=True)
        problems += [*_task_problems(config, task), *_port_problems(task)]
        if not config.model_dir and not task.is_local:
            problems.append(errors.Problem(
                "model_dir", why="and every task of a cluster must share one",
                example=f"{errors.Setting('model_dir', 'gs://bucket/job')} or"
                f" {errors.Setting('model_dir', '/shared/job')}"))
    problems += [*storage_problems(config.paths), *replica_problems(config),
                 *model_dir_problems(config.model_dir), *filter(None, [model_dir_name.problem(
                     config.warm_start_from, setting="warm_start_from")]),
                 *_tracker_problems(config, task)]
    plan = _with_plugins(
        config, task or _LOCAL, problems, invocation, recorded,
        count_replicas(config, task or _LOCAL, environment.cuda_visible_devices))
    return length_rule.decided(plan, invocation.user_set)


def for_script(script: Script, config: TrainerConfig, environment: Environment,
               invocation: Invocation = Invocation()) -> Plan:
    """Plans the run of a script in the role that TF_CONFIG gives.

    Settings that only the script knows, such as its strategy, are checked when it begins to train.
    """
    problems = _version_problems(environment)
    task = _collect(problems, lambda: _task(config, environment))
    problems += [*(_port_problems(task) if task else ()), *storage_problems(config.paths),
                 *_tracker_problems(config, task)]
    return Plan(config, task or _LOCAL, tuple(problems), script=script, command=invocation.command)


def for_script_training(plan: Plan, config: TrainerConfig, task: task_config.TaskConfig,
                        script_run: ScriptRun, has_own_strategy: bool) -> Plan:
    """Plans a training that a script has begun, with the settings and the task that it made."""
    # The ports of an earlier training of this process are in use, by itself.
    problems = [*([] if task is plan.task else _port_problems(task)),
                *_task_problems(config, task, has_own_strategy), *replica_problems(config),
                *model_dir_problems(config.model_dir, "the script's Estimator")]
    return dataclasses.replace(plan, config=config, task=task, script_run=script_run,
                               problems=tuple(problems))


def for_one_process(config: TrainerConfig, environment: Environment,
                    invocation: Invocation = Invocation()) -> Plan:
    """Plans `evaluate`, `predict` or `export`, which ignore the cluster."""
    problems = _version_problems(environment)
    config = _with_model_dir(config, environment)
    problems += [*_without_model_dir(config.export_dir or config.model_dir),
                 *filter(None, [_file_problem(config.model_dir), model_dir_name.problem(
                     config.export_dir or config.model_dir,
                     setting="export_dir" if config.export_dir else "model_dir")]),
                 *storage_problems(config.paths)]
    config, recorded = _as_recorded(problems, config, invocation, is_training=False)
    return _with_plugins(config, _LOCAL, problems, invocation, recorded)


def for_model_dir(config: TrainerConfig, environment: Environment) -> Plan:
    """Plans a command that reads a model_dir and uses no plug-in."""
    config = _with_model_dir(config, environment)
    return Plan(config, _LOCAL, (
        *_version_problems(environment), *_without_model_dir(config.model_dir),
        *storage_problems(config.paths)))


def for_job(config: TrainerConfig, tasks: Sequence[task_config.TaskConfig],
            script: Script | None = None, num_gpus: int = 0) -> Plan:
    """Plans `train`, or the run of a script, in all tasks of a job on other machines.

    Each trainer has `num_gpus` there. The plug-ins are this machine's; its ports, versions and
    variables do not count.
    """
    problems: Problems = list(trackers.problems(config.track, is_caller=False))
    if script is not None:
        return Plan(config, tasks[0], tuple(problems), script=script)
    problems += dict.fromkeys(
        problem for task in tasks for problem in _task_problems(config, task))
    if not config.model_dir:
        problems.append(errors.Problem(
            "model_dir", why="and the files of a task in its own container are lost",
            example="-- --model_dir=gs://bucket/job", source="--model_dir after `--`"))
    problems += filter(None, [model_dir_name.problem(config.model_dir),
                              _file_problem(config.model_dir)])
    gpus = ",".join(map(str, range(num_gpus))) or machine.NO_GPU
    return _with_plugins(config, tasks[0], [*problems, *replica_problems(config)], Invocation(),
                         num_replicas=count_replicas(config, tasks[0], gpus))


def for_prediction_job(config: TrainerConfig, has_plugins: bool) -> Plan:
    """Plans `predict` in all tasks of a job on other machines.

    Without plug-ins of the user's, the record of the model has them, and only the tasks can read
    it.
    """
    problems: Problems = [*_without_model_dir(config.export_dir or config.model_dir), *filter(
        None, [model_dir_name.problem(config.model_dir), _file_problem(config.model_dir)])]
    if not has_plugins:
        return Plan(config, _LOCAL, tuple(problems))
    return _with_plugins(config, _LOCAL, problems, Invocation())


def ready(plan: Plan) -> Plan:
    """Returns a plan that can run, with a model_dir unless its script has one; see `refuse`."""
    refuse(plan)
    if plan.config.model_dir or plan.script:
        return plan
    folder = model_dir_name.make_scratch()
    return dataclasses.replace(plan, config=dataclasses.replace(plan.config, model_dir=folder))


def refuse(plan: Plan) -> None:
    """Raises ConfigError with all the plan's problems, one a line, if there are any."""
    errors.refuse(plan.problems)


def _task(config: TrainerConfig, environment: Environment) -> task_config.TaskConfig:
    """Returns the task of this process by TF_CONFIG, or else by Slurm or MPI."""
    if environment.tf_config.strip() or environment.cluster_spec.strip():
        return task_config.parse(environment.tf_config, environment.cluster_spec)
    counts = config.num_ps, config.num_evaluators, config.num_data_workers
    if not (environment.ranks or config.rank_hosts or any(counts)):
        return _LOCAL
    ranks = rank_source.ranks(environment.ranks, config.rank_hosts, config.first_port)
    if ranks is None:
        rank_source.refuse_roles(*counts)
        return dataclasses.replace(_LOCAL, notes=rank_source.notes(environment.ranks))
    task = task_config.parse(ranks.tf_config(*counts))
    return dataclasses.replace(task, source=ranks.launcher, ports_setting="first_port",
                               notes=(ranks.note, *task.notes))


def _with_plugins(config: TrainerConfig, task: task_config.TaskConfig, problems: Problems,
                  invocation: Invocation, recorded: recorded_run.RecordedRun | None = None,
                  num_replicas: int = 0) -> Plan:
    """Finds the plug-ins and their params; a plan without replicas trains nothing."""
    model = _collect(problems, lambda: loader.find("model_fn", config.model_fn))
    data = _collect(problems, lambda: loader.find_inputs(config, bool(num_replicas)))
    plan = Plan(config, task, (), model, data and data.evaluation, None, data and data.training,
                data and data.serving, recorded=recorded, command=invocation.command)
    problems += params.problems(config, data.evaluation) if data else []
    merged = None
    if model is not None and data is not None:
        of_program = (params.UserParam(key, value, errors.Param(key), is_typed=True)
                      for key, value in invocation.values.items())
        merged = _collect(problems, lambda: params.merge(
            plan.plugins, [*config.param, *of_program], config.params_file,
            _of_flags(plan, data.training or data.evaluation),
            recorded.params(plan.plugins) if recorded else params.Recorded({}, ())))
    changes, note = None, ""
    sets = _eval_sets(problems, config, data.evaluation, merged) if merged and data else ()
    if merged and data and num_replicas:
        merged, note, problem = share_batch(
            config.global_batch_size, data.training or data.evaluation, merged, num_replicas)
        problems += [problem] if problem else []
    if merged and (recorded or config.allow_changed):
        changes = _collect(problems, lambda: changes_lib.accepted(
            recorded, config, plan.plugins, merged))
    return dataclasses.replace(
        plan, params=merged, eval_sets=sets, changes=tuple(changes or ()),
        notes=(*invocation.notes, *filter(None, [note])),
        problems=tuple(map(recorded.sourced, problems) if recorded else problems))


def _eval_sets(problems: Problems, config: TrainerConfig, data: Plugin, merged: params.Params
               ) -> tuple[eval_sets.EvalSet, ...]:
    sets = _collect(problems, lambda: eval_sets.of_settings(config.eval_set, data, merged)) or ()
    problems += eval_sets.metric_problems(
        {"best_metric": config.best_metric, "trial_metric": config.trial_metric,
         "early_stopping_metric": config.early_stopping_metric},
        [each.name for each in sets])
    return sets


def _as_recorded(problems: Problems, config: TrainerConfig, invocation: Invocation,
                 is_training: bool) -> tuple[TrainerConfig, recorded_run.RecordedRun | None]:
    """Returns the settings, completed from the record of the earlier run, and that run."""
    recorded = _collect(problems, lambda: recorded_run.find(
        config, invocation.user_set, is_training, invocation.read))
    if recorded is None:
        return config, None
    return _collect(problems, lambda: recorded.settings(config)) or config, recorded


def _version_problems(environment: Environment) -> Problems:
    return [*versions.problems(versions.installed(), environment.legacy_keras)]


def _without_model_dir(folder: str) -> Problems:
    return [] if folder else [errors.Problem("model_dir",
                                             expected="the directory of a trained model",
                                             example=errors.Setting("model_dir", "/tmp/digits"))]


def _task_problems(config: TrainerConfig, task: task_config.TaskConfig,
                   has_own_strategy: bool = False) -> list[errors.Problem]:
    """Returns what is wrong with the settings of training in this task of a cluster."""
    return [*topology.problems(task, config.train_distribute, config.eval_distribute,
                               config.sync_replicas, is_script=has_own_strategy),
            *topology.events_problems(task, config.worker_events)]


def _tracker_problems(config: TrainerConfig, task: task_config.TaskConfig | None) -> Problems:
    """Returns what is wrong with the trackers, in the task that calls them."""
    return list(trackers.problems(config.track)) if task is None or task.is_chief else []


def _port_problems(task: task_config.TaskConfig) -> list[errors.Problem]:
    return ports.problems(task) if task.cluster else []


def model_dir_problems(folder: str, source: str = "") -> list[errors.Problem]:
    """Returns why a job cannot train in a directory; `source` named it, or else the setting."""
    found = (model_dir_name.problem(folder, source), machine_check.problem(folder, source),
             _file_problem(folder, source))
    return [problem for problem in found if problem]


def _file_problem(folder: str, source: str = "") -> errors.Problem | None:
    return errors.Problem("model_dir", folder, "which is a file", "a directory, existing or not",
                          source=source) if folder and os.path.isfile(folder) else None


def storage_problems(paths: Mapping[str, str]) -> list[errors.Problem]:
    """Returns a problem for each setting whose file system is missing."""
    tensorflow = versions.installed().tensorflow
    needs_plugin = storage.needs_plugin(paths.values())
    plugin = versions.of_package("tensorflow-io") if needs_plugin else None
    return [problem for name, path in paths.items()
            if (problem := storage.problem(name, path, tensorflow, plugin))]


def _of_flags(plan: Plan, data: Plugin) -> list[params.UserParam]:
    """Returns the params of the input_fn that flags stand for."""
    flags = {"epochs": ("train_epochs", plan.passes),
             "batch_size": ("global_batch_size", plan.config.global_batch_size)}
    found = [params.UserParam(key, value, errors.Setting(flag), (errors.Setting(flag, 0),))
             for key, (flag, value) in flags.items()
             if value and key in (data.default_params or {})]
    return found + params.params_of(plan.config, data)


def _with_model_dir(config: TrainerConfig, environment: Environment,
                    trial: str = "") -> TrainerConfig:
    """Returns the settings with the user's model_dir, or Vertex AI's; a trial has its own."""
    folder = config.model_dir or environment.aip_model_dir
    return dataclasses.replace(config, model_dir=model_dir_name.of_trial(
        folder, trial, environment.aip_model_dir))


def _collect(problems: Problems, step: Callable[[], T]) -> T | None:
    try:
        return step()
    except errors.ConfigError as error:
        problems += error.problems
        return None


_IN_ONE_PROCESS = ("mirrored", "central_storage")


def replica_problems(config: TrainerConfig) -> list[errors.Problem]:
    """Returns what is wrong with --num_replicas."""
    strategies = {config.train_distribute, config.eval_distribute}
    if config.num_replicas < 2 or strategies & set(_IN_ONE_PROCESS):
        return []
    return [errors.Problem(
        "num_replicas", config.num_replicas, f"and neither {errors.Setting('train_distribute')} nor"
        f" {errors.Setting('eval_distribute')} takes replicas in one process",
        " or ".join(_IN_ONE_PROCESS), errors.Setting("train_distribute", "mirrored"))]


def count_replicas(config: TrainerConfig, task: task_config.TaskConfig,
                   cuda_visible_devices: str | None) -> int:
    """Returns how many replicas make a step together.

    Every trainer of an all-reduce is assumed to have as many GPUs as this machine.
    """
    if config.sync_replicas:
        return config.sync_replicas
    if config.train_distribute not in (*_IN_ONE_PROCESS, "multi_worker_mirrored"):
        return 1
    here = len(machine.visible_gpus(cuda_visible_devices)) or 1
    if config.is_collective:
        return here * max(1, task.num_trainers)
    return config.num_replicas or here


def share_batch(global_batch_size: int, data: Plugin, params: params.Params, replicas: int
                ) -> tuple[params.Params, str, errors.Problem | None]:
    """Returns the params, a note on a default that was rounded up, and a problem of the user's."""
    key = data.global_batch_param
    if global_batch_size % replicas:
        return params, "", _problem("global_batch_size", global_batch_size, replicas,
                                    errors.Setting)
    size = params.values.get(key) if key else None
    if isinstance(size, int) and size < 1:
        return params, "", _problem(key, size, 1, errors.Param)
    if not isinstance(size, int) or size % replicas == 0:
        return params, "", None
    if key in params.user_set:
        return params, "", _problem(key, size, replicas, errors.Param)
    rounded = -(-size // replicas) * replicas
    return (dataclasses.replace(params, values={**params.values, key: rounded}),
            f"{key} is {rounded}, not {size}, so that the {replicas} replicas can share it", None)


def _problem(name: str, size: int, replicas: int,
             kind: type[errors.Setting] | type[errors.Param]) -> errors.Problem:
    expected = f"a multiple of the {replicas} replicas" if size > 0 else "1 or more"
    example = max(1, -(-size // replicas)) * replicas
    return errors.Problem(name, size, "the examples of one global step", expected,
                          kind(name, example), kind(name))
