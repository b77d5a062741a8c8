"""The command line: the only flags, made of the fields of the three kinds of settings."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from typing import Any, Callable, Sequence

from absl import flags

from estimator_trainer import errors
from estimator_trainer.settings.host_lists import HostLists
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

COMMANDS = {
    "train": "Train and evaluate in the role that TF_CONFIG gives; the default.",
    "evaluate": "Evaluate checkpoints in this process, one JSON line each.",
    "predict": "Predict the input_fn's data in mode `infer`, one JSON line an instance.",
    "export": "Export a SavedModel from a checkpoint.",
    "launch": "Run a whole cluster on this machine: launch --worker=2 --ps=1 -- FLAGS",
    "manifest": "Write the job for a scheduler: manifest --platform=tfjob --worker=2 -- FLAGS",
    "tf-config": "Print TF_CONFIG for lists of hosts: tf-config --ps_hosts=A --worker_hosts=B,C",
    "check": "Say what `train` would run, and every problem found. --json for machines, --probe to"
             " look at peers, model_dir, GPUs and data too.",
    "list": "List the plug-ins with their params.",
}
_JOB_COMMANDS = ("launch", "manifest")
# Those with flags of their own, which follow them.
_FIRST = (*_JOB_COMMANDS, "tf-config")
_EXAMPLE = "estimator-trainer --model_fn=cnn --input_fn=digits --model_dir=/tmp/digits"


@dataclasses.dataclass(frozen=True)
class CommandLine:
    """A command line as understood.

    Attributes:
      command: One of COMMANDS.
      config: The settings of the run; for `launch` and `manifest`, of every task's.
      as_json: Whether --json was given.
      is_probing: Whether --probe was given.
      job: The tasks of `launch` and `manifest`; else the default.
      flags: The words after `--`, for every task.
      hosts: The lists of hosts of `tf-config`.
    """

    command: str
    config: TrainerConfig
    as_json: bool = False
    is_probing: bool = False
    job: JobConfig = JobConfig()
    flags: tuple[str, ...] = ()
    hosts: HostLists | None = None


def parse(argv: Sequence[str]) -> CommandLine:
    """Parses a command line.

    Raises:
      ConfigError: for an unknown command or flag, or a value out of its range.
    """
    if argv and argv[0] in _JOB_COMMANDS:
        return _parse_job(argv[0], list(argv[1:]))
    if argv and argv[0] == "tf-config":
        return _parse_hosts(list(argv[1:]))
    words, settings = _trainer_parsed(argv)
    command = words[0] if words else "train"
    if command not in COMMANDS or command in _FIRST or len(words) > 1:
        got = words[1] if command in COMMANDS and len(words) > 1 else command
        first = " first of all" if got in _FIRST else ""
        raise errors.ConfigError(
            f"command is {got!r} (from the command line); expected one of"
            f" {', '.join(COMMANDS)}{first}, and flags as --name=value."
            f"{errors.near_match(got, COMMANDS)} For example: {_EXAMPLE}")
    as_json, is_probing = settings.pop("json"), settings.pop("probe")
    return CommandLine(command, _config(settings), as_json, is_probing)


def _parse_job(command: str, argv: list[str]) -> CommandLine:
    """Parses what follows `launch` or `manifest`: the job's flags, `--`, every task's flags."""
    cut = argv.index("--") if "--" in argv else len(argv)
    words, settings = _parsed(argv[:cut], _job_flags())
    task_flags = argv[cut + 1:]
    rest, values = _trainer_parsed(task_flags)
    if words or rest not in ([], ["train"]):
        raise errors.ConfigError(
            f"{command} got {(words or rest)[0]!r} (from the command line); expected the job's"
            " flags, `--`, and the flags of every task, which all train. For example:"
            f" estimator-trainer {command} --worker=2 --ps=1 -- --model_dir=/tmp/digits")
    values.pop("json"), values.pop("probe")
    return CommandLine(command, _config(values), job=JobConfig(**settings),
                       flags=tuple(word for word in task_flags if word != "train"))


def _parse_hosts(argv: list[str]) -> CommandLine:
    words, values = _parsed(argv, _flag_values(HostLists))
    if words:
        raise errors.ConfigError(
            f"tf-config got {words[0]!r} (from the command line); expected its flags alone. For"
            " example: estimator-trainer tf-config --ps_hosts=a:2222 --worker_hosts=b:2222")
    for name in ("ps_hosts", "worker_hosts"):
        values[name] = tuple(values[name])
    return CommandLine("tf-config", TrainerConfig(), hosts=HostLists(**values))


def _parsed(argv: Sequence[str], values: flags.FlagValues) -> tuple[list[str], dict[str, Any]]:
    """Returns the words that are no flags, and the flags' values."""
    try:
        words = values(["estimator-trainer", *_with_underscores(argv, values)])[1:]
    except flags.Error as error:
        raise errors.ConfigError(_flag_problem(error, values)) from error
    return words, values.flag_values_dict()


def _trainer_parsed(argv: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Returns the words that are no flags, and the values of every task's flags."""
    values = _trainer_flags()
    words, settings = _parsed(argv, values)
    if settings["train_epochs"] and not values["train_steps"].present:
        settings["train_steps"] = 0
    return words, settings


def _config(settings: dict[str, Any]) -> TrainerConfig:
    job_dir = settings.pop("job_dir")
    settings["param"] = tuple(settings["param"])
    settings["exporters"] = tuple(settings["exporters"])
    settings["model_dir"] = settings["model_dir"] or job_dir
    return TrainerConfig(**settings)


def help_text() -> str:
    """Returns what --help prints: commands, then the flags by group."""
    lines = ["Train and evaluate a tf.estimator model from a model_fn and an input_fn.", "",
             "usage: estimator-trainer [command] [--flag=value ...]", "", "Commands:"]
    for name, text in COMMANDS.items():
        first, *more = textwrap.wrap(text, 84)
        lines += [f"  {name:10}{first}", *(f"  {'':10}{line}" for line in more)]
    group = ""
    for field in [field for config in (TrainerConfig, JobConfig, HostLists)
                  for field in dataclasses.fields(config)]:
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


def _trainer_flags() -> flags.FlagValues:
    values = _flag_values(TrainerConfig)
    flags.DEFINE_string("job_dir", "", "The platforms' name of --model_dir.", flag_values=values)
    flags.DEFINE_boolean("json", False, "For `check` and `list`: JSON.", flag_values=values)
    flags.DEFINE_boolean("probe", False, "For `check`: look further.", flag_values=values)
    return values


def _job_flags() -> flags.FlagValues:
    return _flag_values(JobConfig)


def _flag_values(config: type) -> flags.FlagValues:
    """Defines the flags on a FlagValues of our own, so that none of a plug-in's collide."""
    values = flags.FlagValues()
    for field in dataclasses.fields(config):
        define = _define(field)
        default = list(field.default) if isinstance(field.default, tuple) else field.default
        define(field.name, default, field.metadata["help"], flag_values=values)
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
        if "max_restarts" in values and error.flagname in _trainer_flags():
            near = f" The flags of every task go after `--`: -- --{error.flagname}=..."
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
