"""The table of commands: what each does, the flags it takes, and the function that runs it."""

import dataclasses
import re
from typing import Any

from estimator_trainer.errors import Problem, refuse, Setting
from estimator_trainer.settings.host_lists import HostLists
from estimator_trainer.settings.job_config import JobConfig, LAUNCH, MANIFEST, THE_JOB
from estimator_trainer.settings.setting import out_of_range, put_home_in_paths, setting
from estimator_trainer.settings.trainer_config import RankConfig, TrainerConfig

_OUTPUT = "Output, for `check`, `list` and `show`"
_AVERAGE = "Checkpoints to average"
_REST = "The server"
_MODEL_NAME = re.compile(r"[\w.-]+")
_SHELL = "Completion, for the shell's script"


@dataclasses.dataclass(frozen=True)
class OutputConfig:
    """The settings of what `check`, `list` and `show` print."""

    json: bool = setting(_OUTPUT, False, "Print JSON, for machines.")
    probe: bool = setting(
        _OUTPUT, False, "For `check`: try peers, model_dir, GPUs and data too, in seconds.")
    watch: bool = setting(
        _OUTPUT, False, "For `evaluate`: evaluate each new checkpoint until training has ended.")


@dataclasses.dataclass(frozen=True)
class AverageConfig:
    """The checkpoints that `average` takes."""

    last: int = setting(_AVERAGE, 5, "For `average`: number of the newest checkpoints.", minimum=2)
    best: int = setting(
        _AVERAGE, 0, "For `average`: the checkpoints with the best evaluations by --best_metric, as"
        " many as this, instead of the newest; 0 = the newest.", minimum=0)

    def __post_init__(self) -> None:
        refuse(out_of_range(self))


@dataclasses.dataclass(frozen=True)
class PageConfig:
    """The settings of `report`, the page of a run or of several."""

    model_dir: tuple[str, ...] = setting(
        "The page", (), "Directory of a training, or a folder of many; DIR alone stands for"
        " --model_dir=DIR. Repeatable: several trainings are compared.", is_path=True)
    output: str = setting(
        "The page", "", "File to write. Default: MODEL_DIR/report.html; for several trainings"
        " comparison.html in the current directory; for a folder of trainings FOLDER/runs.html.",
        is_path=True)
    serve: bool = setting("The page", False, "Serve the page on 127.0.0.1, where it shows what is"
                          " new while the job runs.")
    port: int = setting("The page", 0, "With --serve: the port; 0 = any free one.", minimum=0)

    def __post_init__(self) -> None:
        put_home_in_paths(self)
        refuse(out_of_range(self))


@dataclasses.dataclass(frozen=True)
class ServeConfig:
    """The settings of `serve`, which answers over REST on this machine."""

    model_dir: str = setting(_REST, "", "Directory of a training, whose newest export is served.",
                             is_path=True)
    export_dir: str = setting(_REST, "", "The export to serve, in place of --model_dir.",
                              is_path=True)
    model_name: str = setting(_REST, "default", "NAME in /v1/models/NAME:predict.")
    port: int = setting(_REST, 8501, "The port; 0 = any free one.", minimum=0)

    def __post_init__(self) -> None:
        put_home_in_paths(self)
        both = self.model_dir and self.export_dir
        refuse([*out_of_range(self), *([Problem(
            "export_dir", self.export_dir, beside=Setting("model_dir", self.model_dir),
            expected="one of them")] if both else [Problem(
                "model_dir", why="and export_dir is missing: there is nothing to serve",
                example=Setting("model_dir", "/tmp/digits"))] if not (
                    self.model_dir or self.export_dir) else []),
                *([] if _MODEL_NAME.fullmatch(self.model_name) else [Problem(
                    "model_name", self.model_name, expected="letters, digits, `_`, `-` and `.`",
                    example=Setting("model_name", "digits"))])])


@dataclasses.dataclass(frozen=True)
class CompletionConfig:
    """The settings with which the script of a shell requests what a word may become."""

    line: str = setting(_SHELL, "", "The command line up to the cursor: prints what its last word"
                        " may become, one a line. The script of the shell sets it.")
    word: str = setting(_SHELL, "", "With --line: the part of the last word to replace.")


@dataclasses.dataclass(frozen=True)
class ProjectConfig:
    """The settings of `init`, which writes a project."""

    data: str = setting(
        "The project", "", "Your data, which the project fits: a table (CSV, Parquet, JSON lines,"
        " Feather), a folder of tables, or a folder with a folder of images for each class."
        " Default: an example with its data.", is_path=True)
    label: str = setting("The project", "", "The column of the table that the model learns.")
    param: tuple[str, ...] = setting(
        "The project", (), "A param of the input_fn, KEY=VALUE, as for `train`. Repeatable.")

    def __post_init__(self) -> None:
        put_home_in_paths(self)


_RANKS = dataclasses.fields(RankConfig)
_TRAINER = tuple(field for field in dataclasses.fields(TrainerConfig) if field not in _RANKS)
_HOSTS = dataclasses.fields(HostLists)
# A script decides by itself what to train, on what data, where, and what to export.
_SCRIPT_GROUPS = ("Training", "Devices", "Checkpoints and logs", "Ending", "Evaluation")
_SCRIPT_DECIDES = ("train_epochs", "epochs_of", "global_batch_size", "warm_start_from",
                   "warm_start_vars", "warm_start_rename", "warm_start_missing", "freeze",
                   "eval_set", "eval_every_steps", "num_evaluations", "checkpoint")
_SCRIPT = tuple(
    field for field in _TRAINER if field.name in ("tf1", "tf1_op_seeds") or
    field.metadata["group"] in _SCRIPT_GROUPS and field.name not in _SCRIPT_DECIDES) + _RANKS
_JSON, _PROBE, _WATCH = dataclasses.fields(OutputConfig)
# The other flags of a task are accepted too, so that one command line serves several commands.
_OF_MODEL = ("model_fn", "input_fn", "eval_input_fn", "param", "params_file", "plugin_flag",
             "model_dir", "tf1", "tf1_op_seeds", "allow_changed", "global_batch_size", "checkpoint",
             "best_metric", "best_mode", "seed", "intra_op_threads", "inter_op_threads", "device",
             "soft_placement", "log_device_placement", "mixed_precision", "xla", "verbose")
_EVALUATION = ("eval_set", "eval_steps", "eval_distribute", "num_replicas", "eval_throttle_secs",
               "max_secs")
_PREDICTION = ("data", "output", "share", "all", "with_inputs", "export_dir", "forward_key")
_EXPORT = ("serving_input", "serving_input_fn", "forward_key")


def _of_trainer(*names: str) -> tuple[dataclasses.Field[Any], ...]:
    return tuple(field for field in _TRAINER if field.name in names)


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
    "evaluate": Command("Evaluate checkpoints in this process, one JSON line each.", "evaluate",
                        (_WATCH, *_of_trainer(*_OF_MODEL, *_EVALUATION))),
    "predict": Command(
        "Predict new data (--data), or else the input_fn's evaluation data, with a checkpoint or"
        " an export (--export_dir): a JSON line or a row of a table for each instance.", "predict",
        _of_trainer(*_OF_MODEL, *_PREDICTION)),
    "average": Command(
        "Write the mean of the last or best checkpoints, and evaluate it beside the newest one:"
        " average --last=5", "average", (*dataclasses.fields(AverageConfig), *_of_trainer(
            *(name for name in (*_OF_MODEL, *_EVALUATION) if name != "checkpoint")))),
    "export": Command("Export a SavedModel from a checkpoint.", "export",
                      _of_trainer(*_OF_MODEL, *_EXPORT)),
    "serve": Command(
        "Answer over the REST interface of TensorFlow Serving on 127.0.0.1, to try an export.",
        "serve", dataclasses.fields(ServeConfig), settings=ServeConfig),
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
        "show", (_JSON, *_of_trainer("model_dir"))),
    "report": Command(
        "Write a page that shows a run, several beside each other, or a table of many: report DIR"
        " [DIR ...]", "report", dataclasses.fields(PageConfig), "DIR [DIR ...] [--flag=value ...]",
        PageConfig),
    "check": Command(
        "Say what `train` would run, and every problem found. --json for machines, --probe to look"
        " at peers, model_dir, GPUs and data too.", "check",
        (_JSON, _PROBE, *_TRAINER, *_RANKS, *_HOSTS)),
    "init": Command(
        "Write a model_fn, an input_fn and a test to begin with, for your data: init DIR"
        " --data=FILE --label=COLUMN", "init", dataclasses.fields(ProjectConfig),
        "DIR [--data=FILE --label=COLUMN]", ProjectConfig),
    "list": Command("List the plug-ins with the params to set first; of those that are named, such"
                    " as canned or csv, all params: list NAME", "list_plugins", (_JSON,),
                    "[--flag=value ...] [NAME ...]"),
    "completion": Command(
        "Print the script with which a shell completes commands, flags, plug-ins and params at TAB:"
        " source <(estimator-trainer completion bash), in ~/.bashrc or ~/.zshrc", "complete",
        dataclasses.fields(CompletionConfig), "bash|zsh", CompletionConfig),
}

# The flags of every task, of what some commands do, and of lists of hosts.
TASK_FIELDS = (*dataclasses.fields(TrainerConfig), *dataclasses.fields(OutputConfig),
               *dataclasses.fields(AverageConfig), *_HOSTS)


def fields_of(word: str) -> tuple[dataclasses.Field[Any], ...]:
    """Returns the fields whose flags a command line may have that begins with `word`."""
    has_own = word in COMMANDS and COMMANDS[word].is_first
    return COMMANDS[word].parsed if has_own else TASK_FIELDS


EXAMPLE = "estimator-trainer --model_fn=cnn --input_fn=digits --model_dir=/tmp/digits"
