"""The command line: the only flags, made of TrainerConfig's fields; and the exit code."""

from __future__ import annotations

import dataclasses
import json
import os.path
import re
import sys
import textwrap
import traceback
from typing import Any, Callable, Sequence

from absl import flags

from estimator_trainer import __version__
from estimator_trainer import check
from estimator_trainer import environment
from estimator_trainer import errors
from estimator_trainer import logs
from estimator_trainer import plan as plan_lib
from estimator_trainer import result
from estimator_trainer import versions
from estimator_trainer.config import TrainerConfig
from estimator_trainer.plan import Plan

COMMANDS = {
    "train": "Train and evaluate in the role that TF_CONFIG gives; the default.",
    "evaluate": "Evaluate checkpoints in this process, one JSON line each.",
    "predict": "Predict the input_fn's data in mode `infer`, one JSON line an instance.",
    "export": "Export a SavedModel from a checkpoint.",
    "check": "Say what `train` would run, and every problem found. --json for machines.",
    "list": "List the plug-ins with their params.",
}
_EXAMPLE = "estimator-trainer --model_fn=cnn --input_fn=digits --model_dir=/tmp/digits"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code (0 done, 1 failed, 2 configuration error)."""
    argv = list(sys.argv[1:] if argv is None else argv)
    try:
        if "--version" in argv:
            print(f"estimator_trainer {__version__}, {versions.installed()}")
            return 0
        if {"--help", "-h", "--helpfull", "help"} & set(argv):
            print(help_text())
            return 0
        command, config, as_json = parse(argv)
        return _run(command, config, as_json)
    except errors.TrainerError as error:
        print(f"estimator-trainer: {error}", file=sys.stderr)
        return error.exit_code


def parse(argv: Sequence[str]) -> tuple[str, TrainerConfig, bool]:
    """Parses a command line.

    Returns:
      The command, the settings, and whether --json was given.

    Raises:
      ConfigError: for an unknown command or flag, or a value out of its range.
    """
    values = _flag_values()
    try:
        words = values(["estimator-trainer", *_with_underscores(argv, values)])[1:]
    except flags.Error as error:
        raise errors.ConfigError(_flag_problem(error, values)) from error
    command = words[0] if words else "train"
    if command not in COMMANDS or len(words) > 1:
        got = command if command not in COMMANDS else words[1]
        raise errors.ConfigError(
            f"command is {got!r} (from the command line); expected one of"
            f" {', '.join(COMMANDS)}, and flags as --name=value."
            f"{errors.near_match(got, COMMANDS)} For example: {_EXAMPLE}")
    settings: dict[str, Any] = values.flag_values_dict()
    as_json, job_dir = settings.pop("json"), settings.pop("job_dir")
    settings["param"] = tuple(settings["param"])
    settings["exporters"] = tuple(settings["exporters"])
    settings["model_dir"] = settings["model_dir"] or job_dir
    return command, TrainerConfig(**settings), as_json


def help_text() -> str:
    """Returns what --help prints: commands, then the flags by group."""
    lines = ["Train and evaluate a tf.estimator model from a model_fn and an input_fn.", "",
             "usage: estimator-trainer [command] [--flag=value ...]", "", "Commands:"]
    lines += [f"  {name:10}{text}" for name, text in COMMANDS.items()]
    group = ""
    for field in dataclasses.fields(TrainerConfig):
        if field.metadata["group"] != group:
            group = field.metadata["group"]
            lines += ["", f"{group}:"]
        lines += _flag_help(field)
    lines += ["", "  --flagfile=FILE  reads more flags from a file, one a line.", "",
              f"For example: {_EXAMPLE}"]
    return "\n".join(lines)


def _flag_help(field: dataclasses.Field[Any]) -> list[str]:
    default = ",".join(field.default) if isinstance(field.default, tuple) else field.default
    choices = f" One of: {', '.join(field.metadata['choices'])}." if field.metadata[
        "choices"] else ""
    shown = f" (default: {default})" if default not in ("", False) else ""
    text = textwrap.wrap(f"{field.metadata['help']}{choices}{shown}", 84)
    return [f"  --{field.name}", *(f"        {line}" for line in text)]


def _flag_values() -> flags.FlagValues:
    """Defines the flags on a FlagValues of our own, so that none of a plug-in's collide."""
    values = flags.FlagValues()
    for field in dataclasses.fields(TrainerConfig):
        define = _define(field)
        default = list(field.default) if isinstance(field.default, tuple) else field.default
        define(field.name, default, field.metadata["help"], flag_values=values)
    flags.DEFINE_string("job_dir", "", "The platforms' name of --model_dir.", flag_values=values)
    flags.DEFINE_boolean("json", False, "For `check` and `list`: JSON.", flag_values=values)
    return values


def _define(field: dataclasses.Field[Any]) -> Callable[..., Any]:
    if field.name == "param":
        return flags.DEFINE_multi_string
    by_type: dict[type, Callable[..., Any]] = {
        bool: flags.DEFINE_boolean, int: flags.DEFINE_integer, str: flags.DEFINE_string,
        tuple: flags.DEFINE_list}
    return by_type[type(field.default)]


def _with_underscores(argv: Sequence[str], values: flags.FlagValues) -> list[str]:
    """Lets --job-dir, as the platforms write it, stand for --job_dir; so for every flag."""

    def fix(word: str) -> str:
        name, equals, value = word.partition("=")
        bare = "--" + name.lstrip("-").replace("-", "_")
        return bare + equals + value if bare[2:].removeprefix("no") in values or bare[
            2:] in values else word

    return [fix(word) if re.match(r"--\w", word) else word for word in argv]


def _flag_problem(error: flags.Error, values: flags.FlagValues) -> str:
    if isinstance(error, flags.UnrecognizedFlagError):
        near = errors.near_match(error.flagname, values)
        near = near.replace("'", "'--", 1) if near else ""
        return (f"flag --{error.flagname} (from the command line) is unknown; expected a flag that"
                f" `estimator-trainer --help` lists.{near}")
    match = re.match(r"flag --(\w+)=(.*?): ", str(error), re.DOTALL)
    if match and match.group(1) in values:
        name, got = match.groups()
        kind = {"bool": "true or false", "int": "an integer"}.get(
            values[name].flag_type(), "text")
        return (f"{name} is {got!r} (from --{name}); expected {kind}. For example:"
                f" --{name}={values[name].default}")
    return f"the flags cannot be read: {error}. For example: {_EXAMPLE}"


def _run(command: str, config: TrainerConfig, as_json: bool) -> int:
    variables = environment.read()
    if command == "list":
        print(check.list_plugins(as_json))
        return 0
    if command in ("train", "check"):
        plan = plan_lib.for_training(config, variables)
    else:
        plan = plan_lib.for_one_process(config, variables)
    if command == "check":
        print(check.describe(plan, as_json))
        return 2 if plan.problems else 0
    plan = plan_lib.ready(plan)
    logs.configure(plan.task.name, config.verbose)
    environment.set_threads(config.intra_op_threads, config.inter_op_threads)
    if not config.verbose:
        environment.quiet_native_logs()
    return _run_with_tensorflow(command, plan)


def _run_with_tensorflow(command: str, plan: Plan) -> int:
    # TensorFlow takes seconds to import; --help, check and mistakes do not wait for it. Before
    # anything else of it, compat gives it back its Estimator.
    with logs.without_native_noise(plan.config.verbose):
        from estimator_trainer import compat  # noqa: F401
        import tensorflow  # noqa: F401
    from estimator_trainer import offline
    from estimator_trainer import predict
    from estimator_trainer import run
    from estimator_trainer import strategy
    logs.silence_tensorflow()
    strategy.split_cpu(plan.config)
    step: Callable[[Plan], Any] = {"train": run.train_and_evaluate, "evaluate": offline.evaluate,
                                   "predict": predict.predict, "export": offline.export}[command]
    try:
        outcome = step(plan)
    except Exception as error:  # pylint: disable=broad-except
        return _failed(command, plan, error)
    if command == "train":
        result.print_last_line(outcome)
        return result.EXIT_CODES[outcome.status]
    if command == "evaluate":
        print("\n".join(json.dumps(metrics) for metrics in outcome))
    if command == "export":
        print(outcome)
    return 0


def _failed(command: str, plan: Plan, error: Exception) -> int:
    """Reports a failure: one sentence where the error is one, else the traceback."""
    code = getattr(error, "exit_code", 1)
    if hasattr(error, "exit_code"):
        print(f"estimator-trainer: {error}", file=sys.stderr)
        reason = "configuration" if code == 2 else "error"
    else:
        traceback.print_exception(error)
        reason = f"{type(error).__name__}: {str(error).partition(os.linesep)[0][:200]}"
    if command == "train":
        from estimator_trainer import checkpoints
        step = checkpoints.latest_step(plan.config.model_dir)
        result.print_last_line(result.Result(plan.task.name, "failed", step, reason))
    return code


if __name__ == "__main__":
    sys.exit(main())
