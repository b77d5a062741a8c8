"""The table of commands: what each does, the flags it takes, and the function that runs it."""

import dataclasses
import textwrap
from typing import Any, Iterable

from estimator_trainer.errors import refuse
from estimator_trainer.settings.host_lists import HostLists
from estimator_trainer.settings.job_config import JobConfig, LAUNCH, MANIFEST, THE_JOB
from estimator_trainer.settings.trainer_config import (out_of_range, put_home_in_paths, RankConfig,
                                                       setting, TrainerConfig)

_OUTPUT = "Output, for `check`, `list` and `show`"


@dataclasses.dataclass(frozen=True)
class OutputConfig:
    """The settings of what `check`, `list` and `show` print."""

    json: bool = setting(_OUTPUT, False, "Print JSON, for machines.")
    probe: bool = setting(
        _OUTPUT, False, "For `check`: try peers, model_dir, GPUs and data too, in seconds.")


@dataclasses.dataclass(frozen=True)
class PageConfig:
    """The settings of `report`, the page of a run or of several."""

    model_dir: tuple[str, ...] = setting(
        "The page", (), "Directory of a training. Repeatable: several trainings are compared.",
        is_path=True)
    output: str = setting(
        "The page", "", "File to write. Default: MODEL_DIR/report.html; for several trainings"
        " comparison.html in the current directory.", is_path=True)
    serve: bool = setting("The page", False, "Serve the page on 127.0.0.1, where it shows what is"
                          " new while the job runs.")
    port: int = setting("The page", 0, "With --serve: the port; 0 = any free one.", minimum=0)

    def __post_init__(self) -> None:
        put_home_in_paths(self)
        refuse(out_of_range(self))


@dataclasses.dataclass(frozen=True)
class NoConfig:
    """The settings of a command that takes no flags."""


_RANKS = dataclasses.fields(RankConfig)
_TRAINER = tuple(field for field in dataclasses.fields(TrainerConfig) if field not in _RANKS)
_HOSTS = dataclasses.fields(HostLists)
# A script decides by itself what to train, on what data, where, and what to export.
_SCRIPT_GROUPS = ("Training", "Devices", "Checkpoints and logs", "Ending", "Evaluation")
_SCRIPT_DECIDES = ("train_epochs", "epochs_of", "global_batch_size", "warm_start_from",
                   "warm_start_vars", "warm_start_rename", "warm_start_missing", "freeze",
                   "eval_every_steps", "num_evaluations", "checkpoint")
_SCRIPT = tuple(
    field for field in _TRAINER if field.name in ("tf1", "tf1_op_seeds") or
    field.metadata["group"] in _SCRIPT_GROUPS and field.name not in _SCRIPT_DECIDES) + _RANKS
_JSON, _PROBE = dataclasses.fields(OutputConfig)


def _of_job(*groups: str) -> tuple[dataclasses.Field[Any], ...]:
    return tuple(field for field in dataclasses.fields(JobConfig)
                 if field.metadata["group"] in groups)


@dataclasses.dataclass(frozen=True)
class Command:
    """One command, which comes before its flags unless they are those of a TrainerConfig."""

    help: str  # One sentence for the list of commands.
    run: str  # The function in `estimator_trainer/commands.py`.
    flags: tuple[dataclasses.Field[Any], ...] = _TRAINER
    usage: str = "[--flag=value ...]"  # The words after the command's name, for its help.
    settings: type = TrainerConfig  # The dataclass that the flags up to `--` make.
    is_script: bool = False  # A script follows the command, and its arguments follow `--`.

    @property
    def is_first(self) -> bool:
        """Whether the command has to be the first word, because its flags are its own."""
        return self.settings is not TrainerConfig or self.is_script

    @property
    def parsed(self) -> tuple[dataclasses.Field[Any], ...]:
        """The fields whose flags are parsed, where the command is the first word."""
        return self.flags if self.is_script else dataclasses.fields(self.settings)

    @property
    def is_job(self) -> bool:
        """Whether the flags of every task follow `--`."""
        return self.settings is JobConfig


COMMANDS = {
    "train": Command("Train and evaluate in the role that TF_CONFIG gives; the default.", "train",
                     (*_TRAINER, *_RANKS, *_HOSTS)),
    "evaluate": Command("Evaluate checkpoints in this process, one JSON line each.", "evaluate"),
    "predict": Command(
        "Predict new data (--data), or else the input_fn's evaluation data, with a checkpoint or"
        " an export (--export_dir): a JSON line or a row of a table for each instance.", "predict"),
    "export": Command("Export a SavedModel from a checkpoint.", "export"),
    "run": Command(
        "Run a script that makes its own Estimator, in the role that TF_CONFIG gives: run SCRIPT"
        " -- ITS ARGUMENTS", "run_script", _SCRIPT, "SCRIPT [--flag=value ...] -- ITS ARGUMENTS",
        is_script=True),
    "launch": Command(
        "Run a whole cluster on this machine: launch --worker=2 --ps=1 -- FLAGS", "launch",
        _of_job(THE_JOB, LAUNCH), "[--flag=value ...] -- FLAGS", JobConfig),
    "manifest": Command(
        "Write the job for a scheduler: manifest --image=NAME --worker=2 --ps=1 -- FLAGS",
        "manifest", _of_job(THE_JOB, MANIFEST), "[--flag=value ...] -- FLAGS",
        JobConfig),
    "tf-config": Command(
        "Print TF_CONFIG for lists of hosts: tf-config --ps_hosts=A --worker_hosts=B,C",
        "tf_config", _HOSTS, settings=HostLists),
    "show": Command(
        "Say what a model_dir holds: what wrote it, its runs, evaluations, checkpoints, exports.",
        "show", (_JSON, *(field for field in _TRAINER if field.name == "model_dir"))),
    "report": Command(
        "Write a page that shows a run, or several beside each other: report --model_dir=DIR",
        "report", dataclasses.fields(PageConfig), settings=PageConfig),
    "check": Command(
        "Say what `train` would run, and every problem found. --json for machines, --probe to look"
        " at peers, model_dir, GPUs and data too.", "check",
        (_JSON, _PROBE, *_TRAINER, *_RANKS, *_HOSTS)),
    "init": Command("Write a model_fn, an input_fn and a test to begin with: init DIR", "init", (),
                    "DIR", NoConfig),
    "list": Command("List the plug-ins with their params.", "list_plugins", (_JSON,)),
}

# The flags of every task, of its output, and of lists of hosts.
TASK_FIELDS = (*dataclasses.fields(TrainerConfig), *dataclasses.fields(OutputConfig), *_HOSTS)


def fields_of(word: str) -> tuple[dataclasses.Field[Any], ...]:
    """Returns the fields whose flags a command line may have that begins with `word`."""
    has_own = word in COMMANDS and COMMANDS[word].is_first
    return COMMANDS[word].parsed if has_own else TASK_FIELDS


EXAMPLE = "estimator-trainer --model_fn=cnn --input_fn=digits --model_dir=/tmp/digits"
_SETTINGS = (TrainerConfig, OutputConfig, JobConfig, HostLists)
_FLAGFILE = "  --flagfile=FILE  reads more flags from a file, one a line."


def help_page(name: str = "") -> str:
    """Returns the page of one command, or of the whole program if `name` is empty."""
    if name:
        command = COMMANDS[name]
        lines = [*textwrap.wrap(command.help, 92), "",
                 f"usage: estimator-trainer {name} {command.usage}"]
        if command.is_job:
            lines += ["", "FLAGS are those of every task: estimator-trainer train --help lists"
                      " them."]
        return "\n".join([*lines, *_flags(command.flags), "", _FLAGFILE])
    lines = ["Train and evaluate a tf.estimator model from a model_fn and an input_fn.", "",
             "usage: estimator-trainer [command] [--flag=value ...]", "", "Commands:"]
    for name, command in COMMANDS.items():
        first, *more = textwrap.wrap(command.help, 84)
        lines += [f"  {name:10}{first}", *(f"  {'':10}{line}" for line in more)]
    fields = {field.name: field for config in _SETTINGS for field in dataclasses.fields(config)}
    # The flags that a TrainerConfig inherits belong beside the lists of hosts.
    ranks = [fields.pop(field.name) for field in dataclasses.fields(RankConfig)]
    return "\n".join([*lines, *_flags([*fields.values(), *ranks]), "", _FLAGFILE, "",
                      "  estimator-trainer COMMAND --help shows one command.", "",
                      f"For example: {EXAMPLE}"])


def _flags(fields: Iterable[dataclasses.Field[Any]]) -> list[str]:
    """Returns the lines of the flags, each group below its heading."""
    lines: list[str] = []
    group = ""
    for field in fields:
        if field.metadata["group"] != group:
            group = field.metadata["group"]
            lines += ["", f"{group}:"]
        text, default = field.metadata["help"], field.default
        if choices := field.metadata["choices"]:
            text += f" One of: {', '.join(choices)}."
        if default not in ("", False, ()):
            text += f" (default: {','.join(default) if isinstance(default, tuple) else default})"
        lines += [f"  --{field.name}", *(f"        {line}" for line in textwrap.wrap(text, 84))]
    return lines
