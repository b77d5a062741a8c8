"""Runs the commands, each in the function that `settings/command_table.py` names.

Each takes the command line and the environment, and returns the exit code. What one command alone
needs is imported in its function, so a start waits for nothing else.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Callable

from estimator_trainer import environment, errors, redaction, result, starter, storage
from estimator_trainer.checks import model_dir_name, run_plan
from estimator_trainer.checks.plan import Findings, Invocation, Plan
from estimator_trainer.environment import Environment
from estimator_trainer.plugins import importing, script_file
from estimator_trainer.plugins.script_file import Script
from estimator_trainer.record import recorded_run
from estimator_trainer.settings import host_lists
from estimator_trainer.settings.command_line import CommandLine
from estimator_trainer.settings.trainer_config import TrainerConfig


def train(line: CommandLine, variables: Environment) -> int:
    """Trains in the role of this process."""
    variables = _with_hosts(line, variables)
    plan = run_plan.ready(run_plan.for_training(line.config, variables, _asked(line, variables)))
    return _run_with_tensorflow(line.command, plan)


def use_model(line: CommandLine, variables: Environment) -> int:
    """Evaluates a model, predicts with it or exports it, in this process."""
    plan = run_plan.ready(run_plan.for_one_process(
        line.config, variables, _asked(line, variables)))
    return _run_with_tensorflow(line.command, plan)


def run_script(line: CommandLine, variables: Environment) -> int:
    """Runs a script, whose Estimator trains in the role of this process."""
    script = script_file.find(line.script, line.arguments)
    plan = dataclasses.replace(run_plan.for_script(line.config, variables, script),
                               command=("estimator-trainer", *line.words))
    run_plan.refuse(plan)
    import_tensorflow(plan)
    from estimator_trainer.script import run
    return run.run(plan, line.given)


def launch(line: CommandLine, variables: Environment) -> int:
    """Runs every task of a job on this machine."""
    from estimator_trainer.launcher import launch as launch_lib
    return launch_lib.run(line.job, line.config, line.flags, variables, _script(line), line.given)


def manifest(line: CommandLine, variables: Environment) -> int:
    """Writes the job for a scheduler."""
    from estimator_trainer.manifest import manifest as manifest_lib
    _print(manifest_lib.write(line.job, line.config, line.flags, _script(line)))
    return 0


def tf_config(line: CommandLine, variables: Environment) -> int:
    """Prints TF_CONFIG for lists of hosts."""
    assert line.hosts is not None
    print(host_lists.describe(line.hosts))
    return 0


def show(line: CommandLine, variables: Environment) -> int:
    """Prints what a model_dir holds."""
    plan = run_plan.for_model_dir(line.config, variables)
    run_plan.refuse(plan)
    import_tensorflow(plan)
    from estimator_trainer.reports import show as show_lib
    from estimator_trainer.roles import access
    access.check(plan.config, plan.versions.tensorflow)
    _print(show_lib.show(plan.config.model_dir, line.as_json))
    return 0


def report(line: CommandLine, variables: Environment) -> int:
    """Writes the page of a run or of several, or serves it until Ctrl-C."""
    config, page = line.config, line.page
    plan = run_plan.for_model_dir(config, variables)
    run_plan.refuse(plan)
    import_tensorflow(plan)
    from estimator_trainer.reports import page as page_lib, server
    from estimator_trainer.roles import access
    for folder in page.model_dir:
        access.check(dataclasses.replace(config, model_dir=folder), plan.versions.tensorflow)
    if page.serve:
        server.serve(page.model_dir, page.port)
    else:
        print(page_lib.write(page.model_dir, page.output))
    return 0


def check(line: CommandLine, variables: Environment) -> int:
    """Prints what `train` would run, and every problem found; returns 2 if there is one."""
    from estimator_trainer.checks import machine_check, printout
    variables = _with_hosts(line, variables)
    plan = run_plan.for_training(line.config, variables, Invocation(line.given))
    found = machine_check.examine(plan, variables, line.is_probing)
    if line.is_probing:
        found += _probe(plan, found)
    _print(printout.describe(plan, found, line.as_json))
    return 2 if plan.problems or found.problems else 0


def init(line: CommandLine, variables: Environment) -> int:
    """Writes a model, its data and a test, to begin with."""
    print(starter.write(line.folder))
    return 0


def list_plugins(line: CommandLine, variables: Environment) -> int:
    """Prints the plug-ins and their params."""
    from estimator_trainer.checks import printout
    _print(printout.list_plugins(line.as_json))
    return 0


def _print(text: str) -> None:
    """Prints a text that files and users have a part in."""
    print(redaction.for_terminal(text))


def _with_hosts(line: CommandLine, variables: Environment) -> Environment:
    """Returns the environment with the TF_CONFIG that lists of hosts stand for."""
    if line.hosts is None:
        return variables
    return dataclasses.replace(variables, tf_config=line.hosts.of_this_task(variables.tf_config))


def _script(line: CommandLine) -> Script | None:
    return script_file.find(line.script, line.arguments) if line.script else None


def _asked(line: CommandLine, variables: Environment) -> Invocation:
    words = ("estimator-trainer", *line.words)
    return Invocation(line.given, read=reader(line.config, variables), command=words)


def reader(config: TrainerConfig, variables: Environment) -> recorded_run.Read:
    """Returns the function that reads files of model_dir, for the record.

    Only TensorFlow reads a remote one, and is imported for that before plug-ins are looked for.
    """
    folder = config.model_dir or config.export_dir or variables.aip_model_dir
    if not storage.scheme(folder) or run_plan.storage_problems(config):
        return recorded_run.read_local
    plan = run_plan.for_training(config, variables)
    import_tensorflow(plan)
    from estimator_trainer.coordination import shared_files
    from estimator_trainer.roles import access
    access.check(plan.config, plan.versions.tensorflow)
    return shared_files.read_text


def import_tensorflow(plan: Plan) -> None:
    """Imports TensorFlow as the plan's settings ask for it.

    It takes seconds; --help, check and mistakes do not wait for it.
    """
    # absl's logging takes 10 ms, and `check` logs nothing.
    from estimator_trainer import logs, tensorflow_import
    config = plan.config
    logs.configure(plan.task.name, config.verbose)
    environment.set_threads(config.intra_op_threads, config.inter_op_threads)
    if config.xla:
        environment.compile_on_cpus()
    tensorflow_import.load(config.verbose, config.tf1)
    params = plan.params.values.values() if plan.params else ()
    paths = [*config.paths.values(), *(value for value in params if isinstance(value, str))]
    if plan.versions.mode == "native" and storage.needs_plugin(paths):
        storage.load()


def _probe(plan: Plan, found: Findings) -> Findings:
    if plan.problems or found.problems:
        return Findings(warnings=["--probe did not try model_dir and the data, which take what is"
                                  " broken here. Solve the problems below, then check again."])
    import_tensorflow(plan)
    from estimator_trainer.checks import probe
    from estimator_trainer.roles import access
    try:
        access.check(plan.config, plan.versions.tensorflow)
    except errors.ConfigError as error:
        return Findings(problems=str(error).splitlines())
    return probe.examine(plan)


def _run_with_tensorflow(command: str, plan: Plan) -> int:
    import_tensorflow(plan)
    from estimator_trainer.estimator import frozen, strategy
    from estimator_trainer.evaluation import offline
    from estimator_trainer.prediction import predict
    from estimator_trainer.roles import access, run
    strategy.split_cpu(plan.config)
    step: Callable[[Plan], Any] = {"train": run.train_and_evaluate, "evaluate": offline.evaluate,
                                   "predict": predict.predict, "export": offline.export}[command]
    try:
        strategy.check(plan.config, plan.task)
        access.check(plan.config, plan.versions.tensorflow)
        with frozen.kept(plan.config):
            ended = step(plan)
    except Exception as error:  # pylint: disable=broad-except
        return _failed(command, plan, error)
    if command == "train":
        if plan.task.is_local and model_dir_name.is_one(plan.config.model_dir):
            from absl import logging
            logging.info("%s", model_dir_name.notice(plan.config.model_dir))
        result.print_last_line(ended)
        return int(ended.exit_code)
    if command == "evaluate":
        print("\n".join(json.dumps(metrics) for metrics in ended))
    if command == "export":
        print(ended)
    return 0


def _failed(command: str, plan: Plan, error: Exception) -> int:
    """Reports a failure: one sentence where the error is one, else the traceback."""
    if command != "train":
        # Training explains an error when it tells the other tasks of it.
        from estimator_trainer.roles import outcome
        error = outcome.explained(error, plan)
    code = getattr(error, "exit_code", 1)
    if hasattr(error, "exit_code"):
        errors.show(error)
        reason = result.CONFIGURATION if code == 2 else "error"
    else:
        importing.print_traceback(error)
        reason = f"{type(error).__name__}: {errors.first_line(error)}"
    if command == "train":
        from estimator_trainer.coordination import checkpoints
        step = checkpoints.latest_step(plan.config.model_dir)
        result.print_last_line(result.Result(plan.task.name, "failed", step, reason))
    return code
