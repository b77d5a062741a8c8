"""The program: one command, and its exit code."""

from __future__ import annotations

import json
import os.path
import sys
import traceback
from typing import Any, Callable, Sequence

from estimator_trainer import __version__
from estimator_trainer import environment
from estimator_trainer import errors
from estimator_trainer import logs
from estimator_trainer import result
from estimator_trainer import storage
from estimator_trainer import storage_plugin
from estimator_trainer import tensorflow_import
from estimator_trainer import versions
from estimator_trainer.plan import run_plan
from estimator_trainer.plan.findings import Findings
from estimator_trainer.plan.run_plan import Plan
from estimator_trainer.settings import command_line
from estimator_trainer.settings import host_lists
from estimator_trainer.settings.command_line import CommandLine


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code (0 done, 1 failed, 2 configuration error)."""
    try:
        code = _answer(list(sys.argv[1:] if argv is None else argv))
    except Exception:
        if not storage_plugin.is_loaded():
            raise
        traceback.print_exc()
        code = 1
    if storage_plugin.is_loaded():
        storage_plugin.end_process(code)
    return code


def _answer(argv: list[str]) -> int:
    try:
        if "--version" in argv:
            print(f"estimator_trainer {__version__}, {versions.installed()}")
            return 0
        if {"--help", "-h", "--helpfull", "help"} & set(argv):
            print(command_line.help_text())
            return 0
        return _run(command_line.parse(argv))
    except errors.TrainerError as error:
        print(f"estimator-trainer: {error}", file=sys.stderr)
        return error.exit_code


def _run(line: CommandLine) -> int:
    # What one command alone needs is imported there: a start waits for nothing else.
    command, config, as_json = line.command, line.config, line.as_json
    variables = environment.read()
    if command == "list":
        from estimator_trainer.plan import report
        print(report.list_plugins(as_json))
        return 0
    if line.hosts:
        print(host_lists.describe(line.hosts))
        return 0
    if command == "launch":
        from estimator_trainer.jobs import launch
        return launch.run(line.job, line.config, line.flags, variables)
    if command == "manifest":
        from estimator_trainer.jobs import manifest
        print(manifest.write(line.job, line.config, line.flags))
        return 0
    if command in ("train", "check"):
        plan = run_plan.for_training(config, variables)
    else:
        plan = run_plan.for_one_process(config, variables)
    if command == "check":
        from estimator_trainer.plan import machine_check
        from estimator_trainer.plan import report
        found = machine_check.examine(plan, variables, line.is_probing)
        if line.is_probing:
            found += _probe(plan, found)
        print(report.describe(plan, found, as_json))
        return 2 if plan.problems or found.problems else 0
    return _run_with_tensorflow(command, run_plan.ready(plan))


def _import_tensorflow(plan: Plan) -> None:
    # It takes seconds; --help, check and mistakes do not wait for it.
    config = plan.config
    logs.configure(plan.task.name, config.verbose)
    environment.set_threads(config.intra_op_threads, config.inter_op_threads)
    if config.xla:
        environment.compile_on_cpus()
    if config.log_device_placement and not plan.task.is_local:
        # A session of its own process prints the ops' devices, a server logs them.
        environment.log_native_info()
    tensorflow_import.load(config.verbose)
    params = plan.params.values.values() if plan.params else ()
    paths = [*config.paths.values(), *(value for value in params if isinstance(value, str))]
    if plan.versions.mode == "native" and storage.needs_plugin(paths):
        storage_plugin.load()


def _probe(plan: Plan, found: Findings) -> Findings:
    if plan.problems or found.problems:
        return Findings(warnings=["--probe did not try model_dir and the data, which take what is"
                                  " broken here. Solve the problems below, then check again."])
    _import_tensorflow(plan)
    from estimator_trainer.roles import access
    from estimator_trainer.roles import probe
    try:
        access.check(plan.config, plan.versions.tensorflow)
    except errors.ConfigError as error:
        return Findings(problems=str(error).splitlines())
    return probe.examine(plan)


def _run_with_tensorflow(command: str, plan: Plan) -> int:
    _import_tensorflow(plan)
    from estimator_trainer.estimator import strategy
    from estimator_trainer.roles import access
    from estimator_trainer.roles import offline
    from estimator_trainer.roles import predict
    from estimator_trainer.roles import run
    strategy.split_cpu(plan.config)
    step: Callable[[Plan], Any] = {"train": run.train_and_evaluate, "evaluate": offline.evaluate,
                                   "predict": predict.predict, "export": offline.export}[command]
    try:
        access.check(plan.config, plan.versions.tensorflow)
        ended = step(plan)
    except Exception as error:  # pylint: disable=broad-except
        return _failed(command, plan, error)
    if command == "train":
        result.print_last_line(ended)
        return result.EXIT_CODES[ended.status]
    if command == "evaluate":
        print("\n".join(json.dumps(metrics) for metrics in ended))
    if command == "export":
        print(ended)
    return 0


def _failed(command: str, plan: Plan, error: Exception) -> int:
    """Reports a failure: one sentence where the error is one, else the traceback."""
    if command != "train":
        # Those of training were explained when the other tasks were told of them.
        from estimator_trainer.roles import outcome
        error = outcome.explained(error, plan)
    code = getattr(error, "exit_code", 1)
    if hasattr(error, "exit_code"):
        print(f"estimator-trainer: {error}", file=sys.stderr)
        reason = "configuration" if code == 2 else "error"
    else:
        traceback.print_exception(error)
        reason = f"{type(error).__name__}: {str(error).partition(os.linesep)[0][:200]}"
    if command == "train":
        from estimator_trainer.coordination import checkpoints
        step = checkpoints.latest_step(plan.config.model_dir)
        result.print_last_line(result.Result(plan.task.name, "failed", step, reason))
    return code


if __name__ == "__main__":
    sys.exit(main())
