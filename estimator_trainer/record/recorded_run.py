"""The plug-ins, params and settings that a command takes from the record of an earlier run."""

import dataclasses
import os.path
import pathlib
import posixpath
from typing import Any, Callable, Mapping, Sequence

from estimator_trainer import schema, storage
from estimator_trainer.errors import ConfigError, Problem, Setting, worded
from estimator_trainer.plugins import loader, source_files
from estimator_trainer.plugins.params import Recorded
from estimator_trainer.plugins.plugin import KINDS, Plugin
from estimator_trainer.record import run_record
from estimator_trainer.settings.trainer_config import RankConfig, TrainerConfig

# Returns the text of a file; None if there is none.
Read = Callable[[str], "str | None"]
# TensorFlow writes this file, which names the latest checkpoint.
_CHECKPOINT = "checkpoint"
# A model_dir has one of these files once there is something to evaluate, or soon will be.
SIGNS = (run_record.NAME, _CHECKPOINT)
# An export keeps files of other programs here.
EXTRA = "assets.extra"
# Settings of one command alone, and those that the record has in a form of its own.
_OF_ONE_COMMAND = frozenset((
    *KINDS, "param", "params_file", "model_dir", "allow_changed", "force", "checkpoint",
    "export_dir", "data", "output", "share", "with_inputs", "all", "report", "column_importance",
    "track", "verbose", "log_device_placement", "profile_steps", "warm_start_from",
    "warm_start_vars", "warm_start_rename", "warm_start_missing", "device", "max_secs",
    *(field.name for field in dataclasses.fields(RankConfig))))
# These settings belong to the model; the others only say how to train.
MODEL_SETTINGS = frozenset((
    "mixed_precision", "tf1", "plugin_flag", "serving_input", "forward_key", "global_batch_size"))
# `evaluate` repeats the evaluation of training.
_EVALUATION_SETTINGS = {"eval_set", "eval_steps", "eval_distribute", "num_replicas", "seed",
                        "freeze"}
# A setting of a group replaces the others of the group.
_GROUPS = (
    {"train_steps", "train_epochs", "epochs_of", "train_until"},
    {"save_checkpoints_steps", "save_checkpoints_secs", "eval_every_steps", "num_evaluations"},
    {"serving_input", "serving_input_fn"}, {"input_fn", "train_input_fn", "eval_input_fn"})


@dataclasses.dataclass(frozen=True)
class RecordedRun:
    """The record of an earlier run, and how this run relates to it.

    Attributes:
      user_set: The names of the settings that the user of this run has set.
      is_resumed: Whether this run trains on from a checkpoint of the earlier one.
    """

    folder: str
    record: run_record.RunRecord
    user_set: frozenset[str]
    is_resumed: bool

    @property
    def path(self) -> str:
        """The path of the record."""
        return posixpath.join(self.folder, run_record.NAME)

    def settings(self, config: TrainerConfig) -> TrainerConfig:
        """Returns the settings, with the recorded ones where the user has set none.

        Raises:
          ConfigError: if the two do not go together, or a script wrote the checkpoints.
        """
        user_set = self.user_set.union(*(group for group in _GROUPS if group & self.user_set))
        if "script" in self.record.plugins and "model_fn" not in user_set:
            raise ConfigError(Problem(
                "model_dir", self.folder,
                f"and the script {self.record.plugins['script'].get('name')!r} wrote it",
                "that script: estimator-trainer run SCRIPT, or a plug-in of the same model:"
                f" {Setting('model_fn', 'NAME')}"))
        taken_names = MODEL_SETTINGS | _EVALUATION_SETTINGS
        if self.record.settings.get("eval_distribute") not in ("mirrored", "central_storage"):
            # Only training had these replicas.
            taken_names -= {"num_replicas"}
        wanted = {name: value for name, value in self.record.settings.items()
                  if name not in _OF_ONE_COMMAND and (self.is_resumed or name in taken_names)}
        wanted |= {kind: name_of(self.record.plugins[kind])
                   for kind in KINDS if kind in self.record.plugins}
        if self.record.plugins.keys() & {"train_input_fn", "eval_input_fn"}:
            wanted.setdefault("input_fn", config.input_fn)
        self._check_objects(user_set)
        known = {field.name for field in dataclasses.fields(TrainerConfig)}
        taken = {name: self._setting(name, value) for name, value in wanted.items()
                 if name in known and name not in user_set}
        try:
            return dataclasses.replace(config, **taken)
        except ConfigError as error:
            raise ConfigError(*map(self.sourced, error.problems)) from error

    def _setting(self, name: str, value: Any) -> Any:
        try:
            return schema.field_value(TrainerConfig, name, value)
        except schema.SchemaError as error:
            raise run_record.damaged(self.path, error.within(name).within("settings")) from error

    def _check_objects(self, user_set: frozenset[str]) -> None:
        for kind, entry in self.record.plugins.items():
            name = str(entry.get("name"))
            if entry.get("is_object") and kind not in user_set and not loader.is_kept(name):
                function = entry.get("function")
                raise ConfigError(Problem(
                    kind, name, "an object of a Python program that this process does not have",
                    "it from you", worded(f"--{kind}=./FILE.py:{function}", f"{kind}={function}"),
                    self.path))

    def params(self, used: Sequence[Plugin]) -> Recorded:
        """Returns the recorded params, without those that only a replaced plug-in took.

        A param that a plug-in did not have when the record was written has its `older_params`.
        """
        same = [plugin for plugin in used if self.is_same(plugin)]
        kept = {key for plugin in same for key in plugin.default_params or {}}
        older = {key: value for plugin in same for key, value in plugin.older_params.items()}
        values = {**older, **self.record.params, **self.record.found_files}
        return Recorded({key: value for key, value in values.items()
                         if key in kept or len(same) == len(used)}, self.record.given, self.path)

    def sourced(self, problem: Problem | str) -> Problem | str:
        """Returns a problem, with the record as source of settings that the user did not set."""
        if isinstance(problem, str):
            return problem
        source = self.path if self._has(problem.setting) else problem.source
        beside = problem.beside
        if beside and self._has(beside.name):
            beside = dataclasses.replace(beside, file=self.path)
        return dataclasses.replace(problem, source=source, beside=beside)

    def _has(self, name: str) -> bool:
        return name not in self.user_set and (
            name in self.record.settings or name in self.record.plugins)

    def is_same(self, plugin: Plugin) -> bool:
        """Returns whether the record names this plug-in, in whichever place."""
        entry = self.record.plugins.get(plugin.kind)
        if entry is None or plugin.function != entry.get("function"):
            return False
        if not plugin.is_file:
            return plugin.name.partition(":")[0] == str(entry.get("name")).partition(":")[0]
        return plugin.path == entry.get("path") or (
            source_files.sha256(plugin.path) == entry.get("sha256"))


def find(config: TrainerConfig, user_set: frozenset[str] | None, is_training: bool,
         read: Read) -> RecordedRun | None:
    """Returns what an earlier run has left in model_dir or with an export, or None.

    Where no checkpoint is, training starts from scratch, whatever was recorded.

    `user_set` are names of settings; None: those not at their defaults. `read` reads a file.

    Raises:
      ConfigError: if a record is damaged.
    """
    if user_set is None:
        user_set = frozenset(field.name for field in dataclasses.fields(config)
                             if getattr(config, field.name) != field.default)
    for folder in [config.model_dir] if is_training else _folders(config):
        path = posixpath.join(folder, run_record.NAME)
        text = read(path)
        is_left = not is_training or read(posixpath.join(folder, _CHECKPOINT)) is not None
        if text is not None and is_left:
            return RecordedRun(folder, run_record.from_json(text, path), user_set, is_training)
    return None


def read_local(path: str) -> str | None:
    """Reads a local file; None if it is not there or remote, a ConfigError if unreadable."""
    if storage.scheme(path):
        return None
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(Problem(
            "model_dir", posixpath.dirname(path), f"and its file {path} cannot be read:"
            f" {error.strerror}", "a directory that this user may read")) from error


def _folders(config: TrainerConfig) -> list[str]:
    """Returns where the record of a model may lie: an export has its own."""
    export = config.export_dir.rstrip("/")
    # An export is MODEL_DIR/export/NAME/TIMESTAMP.
    above = posixpath.normpath(posixpath.join(export, "../../..")) if "://" not in export else (
        export.rsplit("/", 3)[0])
    folders = [posixpath.join(export, EXTRA), above] if export else []
    return [folder for folder in (*folders, config.model_dir) if folder]


def name_of(entry: Mapping[str, Any]) -> str:
    """Returns the name by which a recorded plug-in is found again.

    A file is found by its whole path, from any folder; where it is no longer there, by the name
    that the user typed.
    """
    name, path = str(entry.get("name", "")), str(entry.get("path", ""))
    is_there = entry.get("is_file") and os.path.isfile(path)
    return f"{path}:{entry['function']}" if is_there else name
