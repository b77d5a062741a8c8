"""Parses the command line, whose flags are the fields of the settings."""

import dataclasses
from typing import Any, Sequence

from estimator_trainer import environment, redaction, storage
from estimator_trainer.errors import ConfigError, near_match, Problem, Setting, Words
from estimator_trainer.settings import conflicts, flag_parser
from estimator_trainer.settings.command_table import (AverageConfig, COMMANDS, CompletionConfig,
                                                      EXAMPLE, PageConfig, ProjectConfig,
                                                      ServeConfig)
from estimator_trainer.settings.host_lists import HostLists
from estimator_trainer.settings.job_config import JobConfig, PREDICT
from estimator_trainer.settings.trainer_config import RankConfig, TrainerConfig

_HOST_LISTS = frozenset(field.name for field in dataclasses.fields(HostLists))
_AVERAGED = frozenset(field.name for field in dataclasses.fields(AverageConfig))
_RANKS = frozenset(field.name for field in dataclasses.fields(RankConfig))
_LINE = "the command line"
_JOB = "--worker=2 --ps=1 -- --model_dir=/tmp/digits"


@dataclasses.dataclass(frozen=True)
class CommandLine:
    """A command line as the program understands it."""

    command: str
    config: TrainerConfig  # The settings of the run; for `launch` and `manifest`, of every task.
    as_json: bool = False
    is_probing: bool = False
    is_watching: bool = False
    job: JobConfig = JobConfig()
    flags: tuple[str, ...] = ()  # After `--`, for every task; for a script they begin with `run`.
    hosts: HostLists | None = None
    script: str = ""  # The script that `run` runs, in this process or in the tasks of a job.
    arguments: tuple[str, ...] = ()  # The script's.
    user_set: frozenset[str] = frozenset()  # The names of the settings on the line.
    folder: str = ""  # The folder that `init` writes to.
    project: ProjectConfig = ProjectConfig()  # The data that the files of `init` fit.
    page: PageConfig = PageConfig()
    serving: ServeConfig | None = None  # The export that `serve` serves.
    shell: str = ""  # The shell whose script `completion` prints.
    completion: CompletionConfig = CompletionConfig()
    averaged: AverageConfig = AverageConfig()
    plugins: tuple[str, ...] = ()  # The names of the plug-ins that `list` prints; (): all.
    words: tuple[str, ...] = ()  # The line after the program's name.
    sentences: tuple[str, ...] = ()  # Remarks on words that the program reads as others.


def parse(argv: Sequence[str]) -> CommandLine:
    """Parses a command line, or raises ConfigError."""
    first = COMMANDS.get(argv[0]) if argv else None
    if first and first.is_job:
        return _parse_job(argv[0], list(argv[1:]))
    if first and first.is_script:
        return _parse_script(list(argv[1:]))
    if first and first.is_first:
        return _OF_THEIR_OWN[first.settings](list(argv[1:]))
    words, settings, user_set, sentences = _trainer_parsed(argv)
    command = words[0] if words else "train"
    plugins = _listed(words, settings, user_set) if command == "list" else ()
    words = words[:1] if plugins else words
    if command not in COMMANDS or COMMANDS[command].is_first or len(words) > 1:
        wrong = words[1] if command in COMMANDS and len(words) > 1 else command
        raise unknown(wrong if wrong in COMMANDS else _shown(wrong, argv))
    as_json, is_probing, is_watching = map(settings.pop, ("json", "probe", "watch"))
    averaged = AverageConfig(**{name: settings.pop(name) for name in _AVERAGED})
    _refuse_averaged(command, averaged, _AVERAGED & user_set)
    lists = {name: settings.pop(name) for name in _HOST_LISTS}
    hosts = _hosts(lists) if _HOST_LISTS & user_set else None
    if hosts and command not in ("train", "check"):
        raise ConfigError(Problem(
            min(_HOST_LISTS & user_set), Words("set"), f"and `{command}` runs in no cluster",
            "it with train, check or tf-config alone", EXAMPLE))
    config = _config(command, settings)
    if is_watching:
        conflicts.refuse_watching(command, config.checkpoint)
    return CommandLine(command, config, as_json, is_probing, is_watching, hosts=hosts,
                       user_set=user_set - _HOST_LISTS - _AVERAGED, words=tuple(argv),
                       plugins=plugins, sentences=sentences, averaged=averaged)


def _refuse_averaged(command: str, averaged: AverageConfig, user_set: frozenset[str]) -> None:
    """Raises ConfigError if flags of `average` are set for another command, or both."""
    if not user_set:
        return
    name = min(user_set)
    value = getattr(averaged, name)
    if command != "average":
        raise ConfigError(Problem(
            name, value, f"which only `average` takes, and the command is `{command}`",
            example=f"estimator-trainer average --{name}={value}"))
    if len(user_set) > 1:
        raise ConfigError(Problem(name, value, beside=Setting("last", averaged.last),
                                  expected="one of them", example=Setting("last", averaged.last)))


def _listed(words: Sequence[str], settings: dict[str, Any],
            user_set: frozenset[str]) -> tuple[str, ...]:
    """Returns the names of the plug-ins to list: words, or values of their flags."""
    flags = [settings[kind] for kind in ("model_fn", "input_fn") if kind in user_set]
    return (*words[1:], *flags)


def unknown(got: str) -> ConfigError:
    """Returns the error about a word that is not a command, or is not the first word."""
    is_first = got in COMMANDS and COMMANDS[got].is_first
    return ConfigError(Problem(
        "command", got, source=_LINE, advice="" if is_first else near_match(got, COMMANDS),
        example=EXAMPLE,
        expected=f"one of {', '.join(COMMANDS)}{' as the first word' * is_first}, and flags as"
        " --name=value"))


def _stray_words(command: str, got: str, expected: str, example: str,
                 missing: str = "") -> ConfigError:
    return ConfigError(Problem(command, got or Words(f"no {missing}"), source=_LINE, verb="got",
                               expected=expected, example=f"estimator-trainer {example}"))


def _parse_job(command: str, argv: list[str]) -> CommandLine:
    """Parses what follows `launch` or `manifest`: the job's flags, `--`, every task's flags."""
    typed = (command, *argv)
    argv, task_flags = flag_parser.cut(argv)
    words, settings = flag_parser.parsed(argv, flag_parser.flags_of(command))
    if task_flags[:1] == ["run"] and not words:
        return dataclasses.replace(_parse_script(task_flags[1:]), command=command, words=typed,
                                   job=JobConfig(**settings), flags=tuple(task_flags))
    rest, values, user_set, _ = _trainer_parsed(task_flags)
    if words or rest not in ([], ["train"], [PREDICT]):
        raise _stray_words(command, _shown((words or rest)[0], [*argv, *task_flags]),
                           "the job's flags, `--`, and the flags of every task, which all train,"
                           " or all `predict`",
                           f"{command} {_JOB}")
    if clusters := (_HOST_LISTS | _RANKS) & user_set:
        raise ConfigError(Problem(
            min(clusters), Words("set"), f"and {command} makes the cluster by itself",
            "the number of tasks", f"estimator-trainer {command} {_JOB}", "the words after `--`"))
    for name in ("json", "probe", "watch", *_AVERAGED, *_HOST_LISTS):
        values.pop(name)
    task_flags, after = flag_parser.cut(task_flags)
    # A job appends flags to those of a task, so nothing may follow a `--`.
    of_plugins = [f"--plugin_flag={word}" for word in normal((), after)]
    does_predict = rest == [PREDICT]
    config = _config(PREDICT if does_predict else command, values)
    if does_predict and not config.is_output_folder:
        raise ConfigError(Problem("output", config.output, "and each task writes parts", "a folder",
                                  Setting("output", "predicted/")))
    return CommandLine(command, config, job=JobConfig(**settings), flags=(
        *rest[:does_predict], *(word for word in task_flags if word not in rest), *of_plugins),
                       user_set=user_set, words=typed)


def _shown(wrong: str, argv: Sequence[str]) -> str:
    """Returns a stray word with secrets masked: the name of a secret may precede the word."""
    before = argv[argv.index(wrong) - 1] if wrong in argv[1:] else ""
    is_of_secret = redaction.is_secret(before.rpartition("=")[2])
    return redaction.MASK if is_of_secret else redaction.masked_words([wrong])[0]


def _parse_script(argv: list[str]) -> CommandLine:
    """Parses what follows `run`: flags and a script, `--`, the script's arguments."""
    typed = ("run", *argv)
    argv, arguments = flag_parser.cut(argv)
    values = flag_parser.flags_of("run")
    words, settings = flag_parser.parsed(argv, values)
    if len(words) != 1:
        raise _stray_words("run", " ".join(_shown(word, argv) for word in words),
                           "one script, and its own arguments after `--`",
                           "run ./train.py -- --batch_size=64", "script")
    if not values["train_steps"].present:
        settings["train_steps"] = 0
    settings["rank_hosts"] = tuple(settings["rank_hosts"])
    config = TrainerConfig(model_fn=words[0], input_fn=words[0], exporters=("none",), **settings)
    return CommandLine("run", config, script=words[0], arguments=tuple(arguments),
                       user_set=frozenset(name for name in settings if values[name].present),
                       words=typed)


def _parse_hosts(argv: list[str]) -> CommandLine:
    words, values = flag_parser.parsed(argv, flag_parser.flags_of("tf-config"))
    if words:
        raise _stray_words("tf-config", words[0], "its flags alone",
                           "tf-config --ps_hosts=a:2222 --worker_hosts=b:2222")
    return CommandLine("tf-config", TrainerConfig(), hosts=_hosts(values))


def _hosts(values: dict[str, Any]) -> HostLists:
    lists = {name: tuple(value) for name, value in values.items() if name.endswith("_hosts")}
    return HostLists(**{**values, **lists})


def _parse_init(argv: list[str]) -> CommandLine:
    words, values = flag_parser.parsed(argv, flag_parser.flags_of("init"))
    if len(words) != 1:
        raise _stray_words("init", " ".join(words), "one folder to write to", "init my_model",
                           "folder")
    settings = ProjectConfig(**{**values, "param": tuple(values["param"])})
    if not settings.data and (settings.label or settings.param):
        raise ConfigError(Problem(
            "data", source="--data", why="and a label or a param is of the user's own data",
            example=f"estimator-trainer init {words[0]} --data=FILE.csv --label=COLUMN"))
    return CommandLine("init", TrainerConfig(), folder=storage.with_home(words[0]),
                       project=settings)


def _parse_report(argv: list[str]) -> CommandLine:
    words, values = flag_parser.parsed(argv, flag_parser.flags_of("report"))
    folders = (*words, *values["model_dir"])
    if not folders or not all(folders):
        raise _stray_words("report", "", "the directory of a training, of several, or a folder of"
                           " many", "report /tmp/digits", "directory")
    page = PageConfig(**{**values, "model_dir": folders})
    return CommandLine("report", TrainerConfig(model_dir=folders[0], output=page.output), page=page)


def _parse_serve(argv: list[str]) -> CommandLine:
    words, values = flag_parser.parsed(argv, flag_parser.flags_of("serve"))
    if words:
        raise _stray_words("serve", _shown(words[0], argv), "its flags alone",
                           "serve --model_dir=/tmp/digits")
    serving = ServeConfig(**values)
    config = TrainerConfig(model_dir=serving.model_dir, export_dir=serving.export_dir)
    return CommandLine("serve", config, serving=serving)


def _parse_completion(argv: list[str]) -> CommandLine:
    words, values = flag_parser.parsed(argv, flag_parser.flags_of("completion"))
    shell = " ".join(words)
    if shell not in ([""] if values["line"] else ["bash", "zsh"]):
        raise _stray_words("completion", shell, "bash or zsh", "completion bash", "shell")
    return CommandLine("completion", TrainerConfig(), shell=shell,
                       completion=CompletionConfig(**values))


# Commands with flags of their own.
_OF_THEIR_OWN = {ProjectConfig: _parse_init, HostLists: _parse_hosts, PageConfig: _parse_report,
                 CompletionConfig: _parse_completion, ServeConfig: _parse_serve}


def _trainer_parsed(argv: Sequence[str]) -> tuple[
        list[str], dict[str, Any], frozenset[str], tuple[str, ...]]:
    """Returns the words that are not flags, every task's flags, the names of those set, and notes.
    """
    values = flag_parser.flags_of()
    argv, after = flag_parser.cut(argv)
    sentences: tuple[str, ...] = ()
    if trial := environment.trial():
        argv, tuned = flag_parser.with_tuned(argv, values)
        shown = " ".join(f"--param {pair}" for pair in redaction.masked_words(tuned))
        if tuned:
            sentences = (f"trial {trial} of a tuning job: flags of the service are read as"
                         f" {shown}",)
    words, settings = flag_parser.parsed(argv, values)
    settings["plugin_flag"] = normal(settings["plugin_flag"], after)
    if settings["train_epochs"] and not values["train_steps"].present:
        settings["train_steps"] = 0
    user_set = {name for name in values if values[name].present}
    return words, settings, frozenset(user_set | {"plugin_flag"} if after else user_set), sentences


def _config(command: str, settings: dict[str, Any]) -> TrainerConfig:
    job_dir = settings.pop("job_dir")
    for name in ("param", "exporters", "allow_changed", "rank_hosts", "warm_start_rename",
                 "eval_set"):
        settings[name] = tuple(settings[name])
    settings["model_dir"] = settings["model_dir"] or job_dir
    config = TrainerConfig(**settings)
    conflicts.refuse_prediction(command, config.data, config.with_inputs, config.all, config.share)
    return config


def normal(values: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """Returns each flag as one word without dashes: `name=value`, or `name` of a boolean.

    Args:
      values: The values of --plugin_flag, with dashes or without.
      after: The words that follow `--`, such as "--hidden=3" or "--hidden", "3".
    """
    words = [word.lstrip("-") for word in values]
    value_may_follow = False
    for word in after:
        if word.startswith("-") and not _is_number(word):
            words.append(word.lstrip("-"))
            value_may_follow = "=" not in word
        elif value_may_follow:
            words[-1] += f"={word}"
            value_may_follow = False
        else:
            raise ConfigError(Problem(
                "argument", _shown_word(word, words), "which belongs to no flag",
                "flags of the plug-in's modules there", "-- --hidden_units=3",
                "the words after `--`"))
    return tuple(words)


def _shown_word(word: str, words: Sequence[str]) -> str:
    """Returns a word, maybe the rest of the last flag's value, with secrets masked."""
    is_of_secret = bool(words) and bool(redaction.secrets_of(words[-1:]))
    return redaction.MASK if is_of_secret else redaction.masked_words([word])[0]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
