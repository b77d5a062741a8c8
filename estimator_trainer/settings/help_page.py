"""Writes what --help prints: the commands on one screen, or the flags of one command."""

import dataclasses
import textwrap
from typing import Any, Iterable

from estimator_trainer.settings.command_table import Command, COMMANDS, EXAMPLE

GROUPS = {
    "Train": {
        "init": "write a model_fn, an input_fn and a test to begin with",
        "check": "say what `train` would run, and every problem found",
        "train": "train and evaluate; the default",
        "run": "run a script that makes its own Estimator"},
    "Use a model": {
        "evaluate": "evaluate its checkpoints",
        "average": "write the mean of its last or best checkpoints, and evaluate it",
        "predict": "predict new data, with a checkpoint or an export",
        "export": "export a SavedModel",
        "serve": "answer over REST, to try an export"},
    "Train in several processes": {
        "launch": "run a whole cluster on this machine",
        "manifest": "write the job for Kubernetes, Vertex AI, AI Platform or Slurm",
        "tf-config": "print TF_CONFIG for lists of hosts"},
    "Look at, and type less": {
        "show": "say what a model_dir holds",
        "report": "write a page of a run, of several, or a table of many",
        "list": "list the plug-ins with their params",
        "completion": "complete commands, flags, plug-ins and params at TAB"}}
_OF_TRAINING = ("model_fn", "input_fn", "param", "model_dir", "train_steps", "train_epochs",
                "train_distribute", "save_checkpoints_steps", "exporters", "best_metric")
# The flags that the help of a command shows first, with their texts.
_USED = {"train": _OF_TRAINING, "check": ("json", "probe", *_OF_TRAINING),
         "evaluate": ("model_dir", "checkpoint", "param", "watch"),
         "predict": ("model_dir", "data", "output", "checkpoint", "export_dir"),
         "average": ("model_dir", "last", "best", "best_metric", "best_mode"),
         "export": ("model_dir", "checkpoint", "serving_input"),
         "run": ("tf1", "train_distribute", "train_steps", "save_checkpoints_steps"),
         "launch": ("chief", "worker", "ps", "evaluator", "data_worker"),
         "manifest": ("platform", "image", "chief", "worker", "ps", "evaluator", "data_worker",
                      "gpus")}
_WIDTH = 84
# A longer page has the names alone of the flags that are used less.
_MOST_FLAGS = 24
_FLAGFILE = "  --flagfile=FILE  reads more flags from a file, one a line."


def of_program() -> str:
    """Returns the page of the whole program, which fits on a screen."""
    lines = ["Train and evaluate a tf.estimator model from a model_fn and an input_fn.", "",
             "usage: estimator-trainer [command] [--flag=value ...]"]
    for group, commands in GROUPS.items():
        lines += ["", f"{group}:", *(f"  {name:12}{text}" for name, text in commands.items())]
    return "\n".join([*lines, "", "estimator-trainer COMMAND --help shows the flags of a command."
                      " For example:", f"  {EXAMPLE}"])


def of_command(name: str, is_full: bool = False) -> str:
    """Returns the page of one command: the flags that are used most, then all others by groups.

    Args:
      is_full: Whether a long page has the texts of all flags too, not of those used most alone.
    """
    command = COMMANDS[name]
    lines = [*textwrap.wrap(command.help, 92), "",
             f"usage: estimator-trainer {name} {command.usage}"]
    if command.is_job:
        lines += ["", "FLAGS are those of every task: estimator-trainer train --help lists them."]
    is_short = len(command.flags) > _MOST_FLAGS and not is_full
    end = ["  --helpfull       shows what each of these flags does."] if is_short else []
    return "\n".join([*lines, *_flags(command, _USED.get(name, ()), is_short), "", _FLAGFILE, *end])


def _flags(command: Command, used_most: Iterable[str], is_short: bool) -> list[str]:
    """Returns the lines of the flags, each group below its heading."""
    by_name = {field.name: field for field in command.flags}
    used = [by_name.pop(name) for name in used_most if name in by_name]
    groups: dict[str, list[dataclasses.Field[Any]]] = {"Used most": used} if used else {}
    for field in by_name.values():
        groups.setdefault(field.metadata["group"], []).append(field)
    return [line for group, fields in groups.items() for line in ("", f"{group}:", *(
        _names(fields) if is_short and fields is not used else _group(fields)))]


def _names(fields: Iterable[dataclasses.Field[Any]]) -> Iterable[str]:
    text = " ".join(f"--{field.name}" for field in fields)
    return textwrap.wrap(text, 92, initial_indent="  ", subsequent_indent="  ",
                         break_on_hyphens=False)


def _group(fields: Iterable[dataclasses.Field[Any]]) -> Iterable[str]:
    for field in fields:
        text, default = field.metadata["help"], field.default
        if choices := field.metadata["choices"]:
            text += f" One of: {', '.join(filter(None, choices))}."
        if default not in ("", False, ()):
            text += f" (default: {','.join(default) if isinstance(default, tuple) else default})"
        yield f"  --{field.name}"
        yield from (f"        {line}" for line in textwrap.wrap(text, _WIDTH))
