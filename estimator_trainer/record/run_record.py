"""The record of a model_dir, `model_dir/record.json`: the run that wrote it, without secrets."""

from __future__ import annotations

import dataclasses
import json
import os.path
import re
import shlex
from typing import Any, Mapping, Sequence, TypedDict

from estimator_trainer import errors, redaction, schema, storage
from estimator_trainer.plugins.eval_sets import EvalSet

NAME = "record.json"
_FORMAT = 1
# The file of a job that is preempted again and again stays small.
_RUNS_KEPT = 100
# Params of these names hold paths, also where the path is one word.
_OF_FILES = re.compile(r"(.*_)?(file|dir|path|folder)s?")


class Commit(TypedDict):
    """A git commit, and whether the folder of the plug-in differs from it."""

    commit: str
    is_changed: bool


class PluginEntry(TypedDict, total=False):
    """The facts about a plug-in, or a script; see RunRecord."""

    name: str
    path: schema.Path
    function: str
    is_file: bool
    is_object: bool
    sha256: str
    sources: dict[str, str] | None
    git: Commit


class _RunBegin(TypedDict):
    """The facts about each run."""

    began: str
    from_step: int
    command: list[str]


class Run(_RunBegin, total=False):
    """The facts about a run; its end is not there while the run goes on, or if it was killed."""

    task: str
    cluster: dict[str, int]
    changes: list[str]
    was_finished: bool
    note: str
    ended: str
    status: str
    step: int
    reason: str


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """The run that wrote the checkpoints of a model_dir.

    Attributes:
      plugins: What is known of each plug-in, or of the script, by kind ("model_fn"): its name,
        path, function, the sha256 of its sources by path, and the git commit of its folder.
      params: The params as merged with the data, but those that flags stand for.
      given: The keys of the params that the user set.
      files: The params that name local files by relative paths, as whole paths, by key.
      unrecorded: Params, and the flags of plug-ins, whose values are secret, or no JSON: what
        stands for them, by key.
      settings: The settings that were not at their defaults, by name.
      data: What is known of the data: `features`, `labels`, and the facts of `data_params`.
      versions: Versions of Python and the packages, by name.
      runs: One dict for each run, oldest first: when it began, its command and tasks, what it
        changed, and how it ended.
      step: The global step of an export, in the copy of the record that lies in it; else 0.
    """

    plugins: dict[str, PluginEntry] = dataclasses.field(default_factory=dict)
    params: dict[str, Any] = dataclasses.field(default_factory=dict)
    given: list[str] = dataclasses.field(default_factory=list)
    files: dict[str, Any] = dataclasses.field(default_factory=dict)
    unrecorded: dict[str, str] = dataclasses.field(default_factory=dict)
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    data: dict[str, Any] = dataclasses.field(default_factory=dict)
    versions: dict[str, Any] = dataclasses.field(default_factory=dict)
    runs: list[Run] = dataclasses.field(default_factory=list)
    step: int = 0

    @property
    def found_files(self) -> dict[str, Any]:
        """The params in `files` whose files are all still there, as whole paths, by key."""
        return {key: value for key, value in self.files.items() if all(
            map(storage.is_found, _paths(value)))}

    def with_run(self, run: Run) -> RunRecord:
        """Returns the record with one more run."""
        return dataclasses.replace(self, runs=[*self.runs, run][-_RUNS_KEPT:])

    def with_end(self, ended: str, status: str, step: int, reason: str) -> RunRecord:
        """Returns the record in which the last run has ended so; `ended` is the time."""
        last: Run = {**self.runs[-1], "ended": ended, "status": status, "step": step,
                     "reason": reason}
        return dataclasses.replace(self, runs=[*self.runs[:-1], last])


def describe(run: Run) -> str:
    """Returns a line on when and where a run began, and how it ended."""
    tasks = ", ".join(f"{count} {role}" for role, count in run.get("cluster", {}).items())
    end = (f"{run['status']} at step {run['step']} ({run['reason']}), {run['ended']}"
           if {"ended", "status", "step", "reason"} <= run.keys() else
           "no end was recorded: it runs, or was killed")
    return f"{run['began']} from step {run['from_step']}{', ' * bool(tasks)}{tasks}: {end}"


def command_line(words: Sequence[str]) -> str:
    """Returns the words of a recorded command as typed: a line of the shell, or a call of Python.

    A task of `launch` recorded flags twice in earlier versions; each is shown once.
    """
    if words and words[0].startswith("estimator_trainer."):
        return f"{words[0]}({', '.join(words[1:])})"
    seen: set[str] = set()
    shown = []
    for i, word in enumerate(words):
        is_flag = word.startswith("--") and "=" in word and "--" not in words[:i]
        if not is_flag or word not in seen:
            shown.append(word)
        seen.add(word)
    return shlex.join(shown)


def to_json(record: RunRecord) -> str:
    """Returns the text of `record.json`."""
    return json.dumps({"format": _FORMAT, **dataclasses.asdict(record)}, indent=2) + "\n"


def from_json(text: str, path: str) -> RunRecord:
    """Returns the record that `to_json` wrote to a file; raises ConfigError for anything else."""
    try:
        return schema.parsed(RunRecord, text)
    except schema.SchemaError as error:
        raise damaged(path, error) from error


def damaged(path: str, error: schema.SchemaError) -> errors.ConfigError:
    """Returns the error for a record that does not fit its schema."""
    return errors.ConfigError(
        f"{path} is damaged: {errors.first_line(error)}. Restore the file, or remove it and pass"
        f" the plug-ins and params of the training, such as {errors.Setting('model_fn', 'cnn')}.")


def split_params(params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns the params that a record can hold, and what stands for the others, by key."""
    kept, others = {}, {}
    for key, value in params.items():
        if not _is_json(value):
            others[key] = repr(redaction.masked(key, value))[:200]
        elif (shown := redaction.masked(key, value)) != value:
            others[key] = shown if isinstance(shown, str) else json.dumps(shown)
        else:
            kept[key] = value
    return kept, others


def split_flags(words: tuple[str, ...]) -> tuple[list[str], str]:
    """Returns the flags of plug-ins that a record can hold, and what stands for the others."""
    kept = [word for word in words if not redaction.secrets_of([word])]
    others = [word for word in words if word not in kept]
    return kept, " ".join(redaction.masked("plugin_flag", others))


def whole_paths(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the params that name local files by relative paths, as whole paths, by key.

    A later command then finds the files from any working directory.
    """
    return {key: _made_whole(value) for key, value in params.items()
            if (paths := _paths(value)) and not all(map(os.path.isabs, paths)) and
            all(_names_file(key, path) for path in paths)}


def eval_set_text(each: EvalSet) -> str:
    """Returns a set as in --eval_set, whose files are found from any working directory."""
    plugin = each.plugin and dataclasses.replace(
        each.plugin, name=f"{each.plugin.path}:{each.plugin.function}" if each.plugin.is_file else
        each.plugin.name)
    return str(dataclasses.replace(each, plugin=plugin, values={
        **each.values, **whole_paths(each.values)}))


def is_same_param(record: RunRecord, key: str, value: Any) -> bool:
    """Returns whether a recorded param has this value, or names the same files."""
    before = record.params[key]
    whole = record.found_files.get(key)
    return bool(plain(before if whole is None else whole) == plain(
        value if whole is None or not _paths(value) else _made_whole(value)))


def _paths(value: Any) -> list[str]:
    """Returns what may be paths: the parts of a text with commas, or of a list of texts."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        return []
    return [part for text in texts for part in storage.parts_of(text)]


def _made_whole(value: Any) -> Any:
    if not isinstance(value, str):
        return [_made_whole(each) for each in value]
    return ",".join(os.path.abspath(part) for part in _paths(value))


def _names_file(key: str, path: str) -> bool:
    """Returns whether a text is the path, or a pattern of paths, of files that are there.

    A word such as "test" may be the name of a split, although a folder of that name is there.
    """
    is_meant = "/" in path or _OF_FILES.fullmatch(key) or "." in path and os.path.isfile(path)
    return bool(is_meant and not storage.scheme(path) and storage.is_found(path))


def _is_json(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value)) == plain(value))
    except (TypeError, ValueError):
        return False


def plain(value: Any) -> Any:
    """Returns a value with lists in place of tuples, as JSON has it."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return value
