"""The changes of a run against the run that wrote its model_dir.

A resumed training refuses a changed model or changed data; other changes are logged.
"""

import dataclasses
import hashlib
import re
from typing import Any, Iterable, Mapping, Sequence

from absl import logging

from estimator_trainer import errors, redaction
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.plugins.params import Params
from estimator_trainer.plugins.plugin import KINDS, Plugin
from estimator_trainer.record import run_record
from estimator_trainer.record.recorded_run import MODEL_SETTINGS, RecordedRun
from estimator_trainer.settings.trainer_config import TrainerConfig

# How fast, how long and in which order a model learns; where a data set lies.
_FREE = re.compile(
    r"(.*_)?(learning_rate|lr|batch_size|epochs|steps|seed|shuffle_buffer|dropout|momentum|decay"
    r"|decay_rate|decay_boundaries|label_smoothing|clip_norm|l[12]_strength|augment|histograms"
    r"|on_nan|data_dir)")
# These settings change neither the model nor its data.
_FREE_SETTINGS = frozenset((
    "freeze", "train_steps", "train_epochs", "train_until", "epochs_of", "global_batch_size",
    "train_distribute", "sync_replicas", "serving_input", "forward_key", "seed"))
# These facts are compared once the data have been read.
_DATA = ("features", "labels", "class_names")
# Version 1.0 recorded this for a function without source: the sha256 of "".
_OF_NO_SOURCE = hashlib.sha256(b"").hexdigest()


@dataclasses.dataclass(frozen=True)
class Change:
    """A param, setting, plug-in or fact of the data that differs from the recorded one.

    Training may go on with a change that `is_free`, without the user's consent.
    """

    name: str
    before: Any
    now: Any
    is_free: bool

    def __str__(self) -> str:
        now, before = (_shown(redaction.masked(self.name, value))
                       for value in (self.now, self.before))
        return f"{self.name} is {now}, and was {before}"


def accepted(recorded: RecordedRun | None, config: TrainerConfig, used: Sequence[Plugin],
             params: Params) -> list[Change]:
    """Returns the changes of plug-ins, settings and params, which this run may make.

    Raises:
      ConfigError: if training would go on with a change that nobody has allowed, if
        --allow_changed names nothing, or if a param cannot be had from the record.
    """
    _check_names(config.allow_changed, {
        *_DATA, *KINDS, *MODEL_SETTINGS, *params.values,
        *(recorded.record.params if recorded else ())})
    if recorded is None:
        return []
    _check_unrecorded(recorded, params)
    free = {key for plugin in used for key in plugin.free_params}
    found = [*_of_plugins(recorded, used), *_of_settings(recorded, config),
             *_of_params(recorded, params, free)]
    refuse(recorded, found, config.allow_changed)
    return found


def refuse(recorded: RecordedRun, changes: Iterable[Change], allowed: Iterable[str]) -> None:
    """Raises ConfigError if training would go on with a change that nobody has allowed."""
    refused = [change for change in changes if not change.is_free and change.name not in allowed]
    if recorded.is_resumed and refused:
        names = tuple(change.name for change in refused)
        raise errors.ConfigError(
            f"{'; '.join(map(str, refused))} when {recorded.path} was written: training would go on"
            f" with another model, or other data. Expected the value of before, another"
            f" {errors.Setting('model_dir')}, or your consent:"
            f" {errors.Setting('allow_changed', names)}")


def kept(recorded: RecordedRun | None, found: Iterable[Change]) -> dict[str, Any]:
    """Returns recorded facts that the data do not yield again, once others are params."""
    if recorded is None or any(not change.is_free for change in found):
        return {}
    return {name: recorded.record.data[name] for name in ("train_examples", "empty_fields")
            if name in recorded.record.data}


def log_imports(recorded: RecordedRun | None, plugins: Iterable[Plugin]) -> None:
    """Logs which files are about to run because a record names them."""
    for plugin in plugins if recorded else ():
        if recorded and plugin.is_file and plugin.kind not in recorded.user_set:
            logging.info("runs %s, for %s names it as --%s", plugin.path, recorded.path,
                         plugin.kind)


def log_changes(recorded: RecordedRun | None, found: Iterable[Change], allowed: Iterable[str],
                data: Mapping[str, Any], sources: Mapping[str, Mapping[str, str]]
                ) -> dict[str, tuple[str, ...]]:
    """Logs the differences from the earlier run; returns the changed sources, by kind of plug-in.

    Args:
      found: The changes of plug-ins, settings and params.
      data: The data of this run, as record_file.py describes them.
      sources: The sha256 of the plug-ins' sources, by kind and path.

    Raises:
      ConfigError: if training would go on with other data, and the user has not allowed that.
    """
    if recorded is None:
        return {}
    before = recorded.record.data
    of_data = [Change(name, before[name], data[name], is_free=False) for name in _DATA
               if name in before and name in data and before[name] != data[name]]
    logging.info("unset settings and params come from %s", recorded.path)
    for change in (*found, *of_data):
        logging.info("changed: %s", change)
    refuse(recorded, of_data, allowed)
    edited = {}
    for kind, files in sources.items():
        old = recorded.record.plugins.get(kind, {}).get("sources") or {}
        paths = tuple(path for path, sha256 in files.items()
                      if old.get(path, sha256) not in (sha256, _OF_NO_SOURCE))
        if paths:
            edited[kind] = paths
            logging.warning("the source of --%s is not what wrote the checkpoints: %s changed",
                            kind, ", ".join(paths))
    return edited


def log_trainers(recorded: RecordedRun | None, task: TaskConfig, batch: int, flag: str) -> None:
    """Logs what another number of trainers means for a step of an all-reduce that is resumed.

    `batch` is the number of examples that all trainers share in a step, by the setting or param
    `flag`; 0 if only the input_fn knows.
    """
    # Other tasks may read the record when the chief has added this run.
    if recorded is None or not recorded.is_resumed or not recorded.record.runs or (
            not task.is_chief):
        return
    cluster, now = recorded.record.runs[-1].get("cluster", {}), task.num_trainers
    before = max(1, cluster.get("chief", 0) + cluster.get("worker", 0))
    if before == now or "ps" in cluster or "ps" in task.cluster:
        return
    numbers = f"the number of trainers is {now}, and was {before}"
    if batch:
        logging.info("%s; a step has %d examples in all (%s)", numbers, batch, flag)
    else:
        logging.warning(
            "%s; if the input_fn makes a batch for each of them, a step has %s times as many"
            " examples now. It has N with any number by %s.", numbers, f"{now / before:.3g}",
            errors.Setting("global_batch_size", errors.Words("N")))


def _check_names(allowed: Iterable[str], known: set[str]) -> None:
    wrong = sorted(set(allowed) - known)
    if wrong:
        raise errors.ConfigError(errors.Problem(
            "allow_changed", wrong[0], "which is no param and nothing else that must not change",
            f"some of {', '.join(sorted(known))}", verb="has",
            advice=errors.near_match(wrong[0], known)))


def _check_unrecorded(recorded: RecordedRun, params: Params) -> None:
    """Raises ConfigError if the user has set in training what is not recorded, and does not now."""
    for key, shown in recorded.record.unrecorded.items():
        why = ("because its name or its URL tells of a secret" if redaction.MASK in shown else
               "because it is not JSON")
        if key == "plugin_flag" and key not in recorded.user_set:
            raise errors.ConfigError(
                f"the plug-in's flags {shown} were set in training, and {recorded.path} does not"
                f" hold their values, {why}; expected all flags of the plug-in's modules from you,"
                " after `--`. For example: -- --"
                + shown.replace(redaction.MASK, "VALUE").replace(" ", " --"))
        if key in recorded.record.given and key in params.values and key not in params.user_set:
            raise errors.ConfigError(
                f"param {key} was {shown} in training, and {recorded.path} does not hold its value,"
                f" {why}; expected it from you. For example:"
                f" {errors.Param(key, errors.Words('VALUE'))}, or a file that only you may"
                f" read: {errors.Setting('params_file', 'FILE')}")


def _of_plugins(recorded: RecordedRun, used: Sequence[Plugin]) -> list[Change]:
    before, now = recorded.record.plugins, {plugin.kind: plugin for plugin in used}
    # The earlier run called this plug-in to train alone.
    training = "input_fn" if "eval_input_fn" in before else "train_input_fn"
    found = []
    for kind in KINDS:
        entry, plugin = before.get(kind), now.get(kind)
        if recorded.is_same(plugin) if plugin else (
                entry is None or not recorded.is_resumed and kind in (training, "train_input_fn")):
            continue
        found.append(Change(kind, entry and entry.get("name"), plugin and plugin.name,
                            is_free=kind == "serving_input_fn"))
    return found


def _of_settings(recorded: RecordedRun, config: TrainerConfig) -> list[Change]:
    found = []
    for field in dataclasses.fields(TrainerConfig):
        if field.name in MODEL_SETTINGS | _FREE_SETTINGS and (
                recorded.is_resumed or field.name in MODEL_SETTINGS):
            before = recorded.record.settings.get(field.name, field.default)
            now = getattr(config, field.name)
            if field.name == "plugin_flag":
                # Secrets were not recorded, so they are not compared either.
                now = run_record.split_flags(now)[0]
            if run_record.plain(before) != run_record.plain(now):
                found.append(Change(field.name, before, now, field.name in _FREE_SETTINGS))
    return found


def _of_params(recorded: RecordedRun, params: Params, free: set[str]) -> list[Change]:
    before, now, found = recorded.record.params, params.values, []
    # The change of a training flag is listed as a setting.
    others = {*recorded.record.unrecorded, *params.of_flags}
    for key in sorted({*before, *params.user_set} - others):
        if redaction.is_secret(key) or key in before and key in now and (
                run_record.is_same_param(recorded.record, key, now[key])):
            continue
        is_free = key not in now or key in free or bool(_FREE.fullmatch(key))
        found.append(Change(key, before.get(key), now.get(key), is_free))
    return found


def _shown(value: Any) -> str:
    text = "not there" if value is None else repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
