"""Runs the commands, each in the function that `settings/command_table.py` names.

Each returns the exit code. A module that only one command needs is imported in its function,
because every start waits for the imports at the top.
"""

import dataclasses
import functools
import json
from typing import Callable

from estimator_trainer import errors, redaction, result, start, starter
from estimator_trainer.checks import run_plan
from estimator_trainer.checks.plan import Findings, Invocation, Plan
from estimator_trainer.cluster import share
from estimator_trainer.environment import Environment, take_command
from estimator_trainer.plugins import importing, source_files
from estimator_trainer.record import recorded_run
from estimator_trainer.settings import host_lists, job_config
from estimator_trainer.settings.command_line import CommandLine
from estimator_trainer.starter import project


def train(line: CommandLine, variables: Environment) -> int:
    """Trains in the role of this process."""
    plan = _planned(run_plan.for_training, line, _with_hosts(line, variables))
    try:
        ended = start.train(plan)
    except Exception as error:  # pylint: disable=broad-except
        code = _show(error)
        from estimator_trainer.coordination import checkpoints
        reason = f"{type(error).__name__}: {errors.first_line(error)}"
        if hasattr(error, "exit_code"):
            reason = result.CONFIGURATION if code == errors.ConfigError.exit_code else "error"
        result.print_last_line(result.Result(
            plan.task.name, "failed", checkpoints.latest_step(plan.config.model_dir), reason))
        return code
    result.print_last_line(ended)
    return ended.exit_code


def evaluate(line: CommandLine, variables: Environment) -> int:
    """Evaluates checkpoints in this process, and prints a line of JSON for each."""
    def watch(plan: Plan) -> int:
        from estimator_trainer.roles import watch as watch_lib
        return watch_lib.evaluate(plan)

    def answer(plan: Plan) -> str:
        from estimator_trainer.evaluation import offline
        return "\n".join(json.dumps(metrics) for metrics in offline.evaluate(plan))

    if line.is_watching:
        start.wait_for_model(line.config, variables)
    return _use_model(line, variables, watch if line.is_watching else answer)


def average(line: CommandLine, variables: Environment) -> int:
    """Writes the mean of checkpoints; prints a line of JSON: its metrics, and the newest one's."""
    def answer(plan: Plan) -> str:
        from estimator_trainer.evaluation import average as average_lib
        return json.dumps(average_lib.evaluate(plan, line.averaged))
    recorded = recorded_run.find(line.config, line.user_set, False, recorded_run.read_local)
    if recorded and "script" in recorded.record.plugins and "model_fn" not in line.user_set:
        # The script alone has the model, by which the mean can be evaluated.
        start.read_model_dirs(line.config, variables)
        from estimator_trainer.evaluation import average as average_lib
        print(json.dumps(average_lib.write(line.config, line.averaged)))
        return 0
    return _use_model(line, variables, answer)


def predict(line: CommandLine, variables: Environment) -> int:
    """Predicts in this process: all the data, or this process's share of files."""
    def answer(plan: Plan) -> str:
        from estimator_trainer.prediction import part_files, predict as predict_lib
        if plan.config.is_output_folder:
            return part_files.write(plan, share.of(plan.config.share, variables))
        predict_lib.predict(plan)
        return ""
    return _use_model(line, variables, answer)


def export(line: CommandLine, variables: Environment) -> int:
    """Exports a SavedModel, and prints its path."""
    def answer(plan: Plan) -> str:
        from estimator_trainer.evaluation import offline
        return offline.export(plan)
    return _use_model(line, variables, answer)


def serve(line: CommandLine, variables: Environment) -> int:
    """Answers over REST until Ctrl-C or SIGTERM."""
    settings = line.serving
    assert settings is not None
    start.read_model_dirs(line.config, variables, [settings.model_dir or settings.export_dir])
    from estimator_trainer.prediction import rest_server
    rest_server.serve(settings)
    return 0


def run_script(line: CommandLine, variables: Environment) -> int:
    """Runs a script, whose Estimator trains in the role of this process."""
    script = source_files.find_script(line.script, line.arguments)
    plan = _planned(functools.partial(run_plan.for_script, script), line, variables)
    with start.computing(plan):
        from estimator_trainer.script import run
        return run.run(plan, line.user_set)


def launch(line: CommandLine, variables: Environment) -> int:
    """Runs every task of a job on this machine."""
    if line.flags[:1] == (job_config.PREDICT,):
        from estimator_trainer.launcher import prediction
        return prediction.run(line.job, line.config, line.flags, variables, line.user_set)
    from estimator_trainer.launcher import launch as launch_lib
    return launch_lib.run(line.job, line.config, line.flags, variables, _script(line),
                          line.user_set, ("estimator-trainer", *line.words))


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
    [model_dir] = start.read_model_dirs(line.config, variables)
    from estimator_trainer.reports import show as show_lib
    _print(show_lib.show(model_dir, line.as_json))
    return 0


def report(line: CommandLine, variables: Environment) -> int:
    """Writes the page of a run or of several, or serves it until Ctrl-C."""
    page = line.page
    start.read_model_dirs(line.config, variables, page.model_dir)
    from estimator_trainer.reports import report_command
    if page.serve:
        report_command.serve(page.model_dir, page.port)
    else:
        print(report_command.write(page.model_dir, page.output))
    return 0


def check(line: CommandLine, variables: Environment) -> int:
    """Prints what `train` would run, and every problem found; returns 2 if there is one."""
    from estimator_trainer.checks import machine_check, printout
    variables = _with_hosts(line, variables)
    plan = run_plan.for_training(line.config, variables,
                                 Invocation(line.user_set, notes=line.sentences))
    found = machine_check.examine(plan, variables, line.is_probing)
    found += _probe(plan, found) if line.is_probing else _look(plan)
    _print(printout.describe(plan, found, line.as_json))
    return 2 if plan.problems or found.problems else 0


def init(line: CommandLine, variables: Environment) -> int:
    """Writes a model, its data and a test, to begin with; they fit the data, if it has any."""
    settings = line.project
    _print(starter.write(line.folder) if not settings.data else starter.write_for(
        project.Request(line.folder, settings.data, settings.label, settings.param)))
    return 0


def list_plugins(line: CommandLine, variables: Environment) -> int:
    """Prints the plug-ins and the params to set first, or all params of those that are named."""
    from estimator_trainer.checks import plugin_list
    _print(plugin_list.described(line.plugins, line.as_json))
    return 0


def complete(line: CommandLine, variables: Environment) -> int:
    """Prints the script of a shell, or for that script what the last word may become."""
    from estimator_trainer import completion
    request = line.completion
    print(completion.SCRIPTS[line.shell].strip() if line.shell else
          "\n".join(completion.candidates(request.line, request.word)))
    return 0


def _planned(make: start.MakePlan, line: CommandLine, variables: Environment) -> Plan:
    typed = take_command() or ("estimator-trainer", *line.words)
    invocation = Invocation(line.user_set, command=typed, notes=line.sentences)
    return start.planned(make, line.config, variables, invocation)


def _use_model(line: CommandLine, variables: Environment,
               answer: Callable[[Plan], str | int]) -> int:
    """Prints what a trained model answers in this process; returns the exit code.

    An answer that is printed already is the exit code alone.
    """
    plan = _planned(run_plan.for_one_process, line, variables)
    try:
        with start.using_model(plan):
            text = answer(plan)
    except Exception as error:  # pylint: disable=broad-except
        return _show(error)
    if isinstance(text, int):
        return text
    if text:
        print(text)
    return 0


def _show(error: Exception) -> int:
    """Prints why a command failed, in one sentence or a traceback; returns the exit code."""
    if hasattr(error, "exit_code"):
        errors.show(error)
        return int(error.exit_code)
    importing.print_traceback(error)
    return 1


def _look(plan: Plan) -> Findings:
    from estimator_trainer.checks import data_check
    return data_check.examine(plan, is_quick=True)


def _probe(plan: Plan, found: Findings) -> Findings:
    if plan.problems or found.problems:
        return _look(plan) + Findings(
            warnings=["--probe did not try model_dir and the data, which take what is broken here."
                      " Solve the problems below, then check again."])
    try:
        start.prepare(plan)
    except errors.ConfigError as error:
        return Findings(problems=list(error.problems))
    from estimator_trainer.checks import probe
    return probe.examine(plan)


def _print(text: str) -> None:
    """Prints a text with parts from files and users."""
    print(redaction.for_terminal(text))


def _with_hosts(line: CommandLine, variables: Environment) -> Environment:
    """Returns the environment with the TF_CONFIG that lists of hosts stand for."""
    if line.hosts is None:
        return variables
    return dataclasses.replace(variables, tf_config=line.hosts.of_this_task(variables.tf_config))


def _script(line: CommandLine) -> source_files.Script | None:
    return source_files.find_script(line.script, line.arguments) if line.script else None
