"""The command line has the only flags, which are made of the fields of the settings."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Sequence

from absl import flags

from estimator_trainer import errors
from estimator_trainer.settings import conflicts
from estimator_trainer.settings import flag_files
from estimator_trainer.settings import flag_values
from estimator_trainer.settings import plugin_flag_words
from estimator_trainer.settings.command_table import COMMANDS
from estimator_trainer.settings.command_table import NoConfig
from estimator_trainer.settings.command_table import ReportConfig
from estimator_trainer.settings.help_page import EXAMPLE
from estimator_trainer.settings.host_lists import HostLists
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

_HOST_LISTS = frozenset(field.name for field in dataclasses.fields(HostLists))


@dataclasses.dataclass(frozen=True)
class CommandLine:
    """A command line as the program understands it.

    Attributes:
      command: One of COMMANDS.
      config: The settings of the run; for `launch` and `manifest`, those of every task.
      as_json: Whether --json was given.
      is_probing: Whether --probe was given.
      job: The job of `launch` and `manifest`; else the default.
      flags: The words after `--`, for every task; of a script they begin with `run`.
      hosts: The lists of hosts; None if there are none.
      script: The script that `run` runs, be it in the tasks of a job; else "".
      arguments: The script's arguments.
      given: The names of the settings that are on the line.
      folder: The folder that `init` writes to.
      words: The line itself, after the program's name.
    """

    command: str
    config: TrainerConfig
    as_json: bool = False
    is_probing: bool = False
    job: JobConfig = JobConfig()
    flags: tuple[str, ...] = ()
    hosts: HostLists | None = None
    script: str = ""
    arguments: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()
    folder: str = ""
    words: tuple[str, ...] = ()


def parse(argv: Sequence[str]) -> CommandLine:
    """Parses a command line.

    Raises:
      ConfigError: for an unknown command or flag, or a value out of its range.
    """
    first = COMMANDS.get(argv[0]) if argv else None
    if first and first.is_job:
        return _parse_job(argv[0], list(argv[1:]))
    if first and first.is_script:
        return _parse_script(list(argv[1:]))
    if first and first.settings is NoConfig:
        return _parse_init(list(argv[1:]))
    if first and first.is_first:
        return _parse_hosts(list(argv[1:]))
    words, settings, given = _trainer_parsed(argv)
    command = words[0] if words else "train"
    if command not in COMMANDS or COMMANDS[command].is_first or len(words) > 1:
        raise unknown(words[1] if command in COMMANDS and len(words) > 1 else command)
    as_json, is_probing = settings.pop("json"), settings.pop("probe")
    lists = {name: settings.pop(name) for name in _HOST_LISTS}
    hosts = _hosts(lists) if _HOST_LISTS & given else None
    if hosts and command not in ("train", "check"):
        raise errors.ConfigError(
            f"{min(_HOST_LISTS & given)} is set (from the command line), and `{command}` runs in"
            " no cluster; expected it with train, check or tf-config alone. For example:"
            f" {EXAMPLE}")
    return CommandLine(command, _config(command, settings), as_json, is_probing, hosts=hosts,
                       given=given - _HOST_LISTS, words=tuple(argv))


def unknown(got: str) -> errors.ConfigError:
    """Returns the error about a word that is no command, or stands in the wrong place."""
    is_first = got in COMMANDS and COMMANDS[got].is_first
    return errors.ConfigError(
        f"command is {got!r} (from the command line); expected one of"
        f" {', '.join(COMMANDS)}{' first of all' * is_first}, and flags as --name=value."
        f"{errors.near_match(got, COMMANDS)} For example: {EXAMPLE}")


def _parse_job(command: str, argv: list[str]) -> CommandLine:
    """Parses what follows `launch` or `manifest`: the job's flags, `--`, every task's flags."""
    argv, task_flags = _cut(argv)
    words, settings = _parsed(argv, flags_of(command))
    if task_flags[:1] == ["run"] and not words:
        return dataclasses.replace(_parse_script(task_flags[1:]), command=command,
                                   job=JobConfig(**settings), flags=tuple(task_flags))
    rest, values, given = _trainer_parsed(task_flags)
    if words or rest not in ([], ["train"]):
        raise errors.ConfigError(
            f"{command} got {(words or rest)[0]!r} (from the command line); expected the job's"
            " flags, `--`, and the flags of every task, which all train. For example:"
            f" estimator-trainer {command} --worker=2 --ps=1 -- --model_dir=/tmp/digits")
    if _HOST_LISTS & given:
        raise errors.ConfigError(
            f"{min(_HOST_LISTS & given)} is set (after `--`), and {command} makes the cluster by"
            f" itself; expected the number of tasks. For example: estimator-trainer {command}"
            " --worker=2 --ps=1 -- --model_dir=/tmp/digits")
    for name in ("json", "probe", *_HOST_LISTS):
        values.pop(name)
    task_flags, after = _cut(task_flags)
    # What a job adds to the flags of a task comes last, so nothing may follow a `--`.
    of_plugins = [f"--plugin_flag={word}" for word in plugin_flag_words.normal((), after)]
    return CommandLine(command, _config(command, values), job=JobConfig(**settings), flags=(
        *(word for word in task_flags if word != "train"), *of_plugins), given=given)


def _parse_script(argv: list[str]) -> CommandLine:
    """Parses what follows `run`: flags and a script, `--`, the script's arguments."""
    argv, arguments = _cut(argv)
    values = flags_of("run")
    words, settings = _parsed(argv, values)
    if len(words) != 1:
        raise errors.ConfigError(
            f"run got {' '.join(words) or 'no script'!r} (from the command line); expected one"
            " script, and its own arguments after `--`. For example: estimator-trainer run"
            " ./train.py -- --batch_size=64")
    if not values["train_steps"].present:
        settings["train_steps"] = 0
    config = TrainerConfig(model_fn=words[0], input_fn=words[0], exporters=("none",), **settings)
    return CommandLine("run", config, script=words[0], arguments=tuple(arguments),
                       given=frozenset(name for name in settings if values[name].present),
                       words=("run", *argv, "--", *arguments))


def _parse_hosts(argv: list[str]) -> CommandLine:
    words, values = _parsed(argv, flags_of("tf-config"))
    if words:
        raise errors.ConfigError(
            f"tf-config got {words[0]!r} (from the command line); expected its flags alone. For"
            " example: estimator-trainer tf-config --ps_hosts=a:2222 --worker_hosts=b:2222")
    return CommandLine("tf-config", TrainerConfig(), hosts=_hosts(values))


def _hosts(values: dict[str, Any]) -> HostLists:
    lists = {name: tuple(values[name]) for name in ("ps_hosts", "worker_hosts")}
    return HostLists(**{**values, **lists})


def _parse_init(argv: list[str]) -> CommandLine:
    words, _ = _parsed(argv, flags_of("init"))
    if len(words) != 1:
        raise errors.ConfigError(
            f"init got {' '.join(words) or 'no folder'!r} (from the command line); expected one"
            " folder to write to. For example: estimator-trainer init my_model")
    return CommandLine("init", TrainerConfig(), folder=words[0])


def _parsed(argv: Sequence[str], values: flags.FlagValues) -> tuple[list[str], dict[str, Any]]:
    """Returns the words that are no flags, and the flags' values."""
    try:
        words = values(["estimator-trainer", *flag_values.with_underscores(argv, values)])[1:]
    except flags.Error as error:
        raise errors.ConfigError(flag_files.unreadable(argv) or _flag_problem(
            error, values, argv)) from error
    return words, values.flag_values_dict()


def _trainer_parsed(argv: Sequence[str]) -> tuple[list[str], dict[str, Any], frozenset[str]]:
    """Returns the words that are no flags, every task's flags, and the names of those given.

    What follows `--` are flags of the plug-ins' modules.
    """
    values = _trainer_flags()
    argv, after = _cut(argv)
    words, settings = _parsed(argv, values)
    settings["plugin_flag"] = plugin_flag_words.normal(settings["plugin_flag"], after)
    if settings["train_epochs"] and not values["train_steps"].present:
        settings["train_steps"] = 0
    return words, settings, frozenset(name for name in values if values[name].present)


def _cut(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the words before the first `--`, and those after it."""
    words = list(argv)
    cut = words.index("--") if "--" in words else len(words)
    return words[:cut], words[cut + 1:]


def _config(command: str, settings: dict[str, Any]) -> TrainerConfig:
    job_dir = settings.pop("job_dir")
    for name in ("param", "exporters", "allow_changed"):
        settings[name] = tuple(settings[name])
    settings["model_dir"] = settings["model_dir"] or job_dir
    config = TrainerConfig(**settings)
    conflicts.refuse_prediction(command, config)
    return config


def flags_of(word: str) -> flags.FlagValues:
    """Returns the flags that a command line takes which begins with `word`."""
    if word not in COMMANDS or not COMMANDS[word].is_first:
        return _trainer_flags()
    return flag_values.of(COMMANDS[word].parsed)


def _trainer_flags() -> flags.FlagValues:
    values = flag_values.of([*dataclasses.fields(TrainerConfig), *dataclasses.fields(ReportConfig),
                             *dataclasses.fields(HostLists)])
    flags.DEFINE_string("job_dir", "", "The platforms' name of --model_dir.", flag_values=values)
    return values


def _flag_problem(error: flags.Error, values: flags.FlagValues, argv: Sequence[str]) -> str:
    if isinstance(error, flags.UnrecognizedFlagError):
        near = errors.near_match(error.flagname, values)
        near = near.replace("'", "'--", 1) if near else ""
        if "max_restarts" in values and error.flagname in _trainer_flags():
            near = f" The flags of every task go after `--`: -- --{error.flagname}=..."
        if "train_steps" in values and "model_fn" not in values:
            near = f" A script's own flags go after `--`: -- --{error.flagname}=..."
        source = flag_files.source_of(error.flagname, argv) or "the command line"
        return (f"flag --{error.flagname} (from {source}) is unknown; expected a flag that"
                f" `estimator-trainer --help` lists.{near}")
    match = re.match(r"flag --(\w+)=(.*?): ", str(error), re.DOTALL)
    if match and match.group(1) in values:
        name, got = match.groups()
        kind = {"bool": "true or false", "int": "an integer"}.get(
            values[name].flag_type(), "text")
        file = flag_files.source_of(name, argv)
        return (f"{name} is {got!r} (from --{name}{f' in {file}' if file else ''}); expected"
                f" {kind}. For example: --{name}={values[name].default}")
    return f"the flags cannot be read: {error}. For example: {EXAMPLE}"
