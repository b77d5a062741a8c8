"""The runs in `record.json`, which the chief writes when a run begins and ends."""

from __future__ import annotations

import dataclasses
import datetime
import os.path
import subprocess
from typing import Any, Mapping

from absl import logging
import tensorflow as tf

from estimator_trainer import __version__, deadlines, errors, redaction, versions
from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import checkpoints
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.plugins import source_files
from estimator_trainer.plugins.plugin import Plugin
from estimator_trainer.record import record_file, run_record
from estimator_trainer.result import Result
from estimator_trainer.settings.length import STOP_AT
from estimator_trainer.settings.trainer_config import TrainerConfig

# Settings that every run derives from its data.
_DERIVED = frozenset(("global_batch_size", "train_examples"))
_NOT_SETTINGS = frozenset(("param", "params_file", "model_dir", "allow_changed", "force"))


def begin(plan: Plan, plugins: LoadedPlugins, earlier: EarlierRun) -> None:
    """Writes the record of plug-ins, params, settings, data and versions, and adds this run.

    A run that trains nothing only adds itself, because the rest belongs to the checkpoints.
    """
    # The plan of a script has no record, because only the script sets its model_dir.
    before = plan.recorded.record if plan.recorded else (
        plan.script and record_file.read(plan.config.model_dir)) or run_record.RunRecord()
    run: run_record.Run = {
        "began": _now(), "from_step": checkpoints.latest_step(plan.config.model_dir),
        "command": redaction.masked_words(plan.command), "task": plan.task.name,
        "cluster": {role: len(hosts) for role, hosts in plan.task.cluster.items()},
        "changes": [*map(str, plan.changes), *earlier.edited],
        "was_finished": earlier.is_finished, "note": earlier.note}
    is_kept = earlier.is_finished and before.plugins
    now = before if is_kept else dataclasses.replace(_record(plan, plugins), runs=before.runs)
    record_file.write(plan.config.model_dir, now.with_run(run))


def end(plan: Plan, ended: Result) -> None:
    """Writes how the run has ended; a failure is only logged."""
    try:
        record = record_file.read(plan.config.model_dir)
        if record and record.runs:
            record_file.write(plan.config.model_dir, record.with_end(
                _now(), ended.status, int(ended.step), ended.reason))
    except (tf.errors.OpError, OSError, errors.ConfigError) as error:
        logging.warning("cannot write how the run ended into %s: %s", run_record.NAME,
                        errors.first_line(error))


def _record(plan: Plan, plugins: LoadedPlugins) -> run_record.RunRecord:
    params, user_set = _params(plan, plugins)
    kept, unrecorded = run_record.split_params(params)
    settings, hidden = _settings(dataclasses.replace(
        plan.config, eval_set=tuple(map(run_record.eval_set_text, plan.eval_sets))))
    used = (plan.script.plugin,) if plan.script else plan.plugins
    return run_record.RunRecord(
        plugins={plugin.kind: _plugin(plugin, plugins.sources.get(plugin.kind, {}))
                 for plugin in used},
        params=kept, given=sorted(user_set), files=run_record.whole_paths(kept),
        unrecorded={**unrecorded, **hidden}, settings=settings, data=dict(plugins.data),
        versions={"estimator_trainer": __version__, **versions.installed()._asdict()})


def _params(plan: Plan, plugins: LoadedPlugins) -> tuple[dict[str, Any], frozenset[str]]:
    """Returns the params but those that flags stand for, and the keys that the user has set."""
    if plan.params is None:
        return dict(plugins.params) if isinstance(plugins.params, Mapping) else {}, frozenset()
    user_set = (plan.params.user_set | plan.params.recorded_user_set) - plan.params.of_flags
    left_out = plan.params.of_flags | (_DERIVED - user_set)
    return {key: plugins.params[key] for key in plan.params.values if key not in left_out}, user_set


def _settings(config: TrainerConfig) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns the settings that are no defaults, and what stands for those with a secret."""
    settings = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)
                if field.name not in _NOT_SETTINGS and getattr(config, field.name) != field.default}
    flags, hidden = run_record.split_flags(config.plugin_flag)
    kept, others = run_record.split_params({**settings, "plugin_flag": flags})
    if not flags:
        del kept["plugin_flag"]
    return kept, {**others, "plugin_flag": hidden} if hidden else others


def _plugin(plugin: Plugin, sources: Mapping[str, str]) -> run_record.PluginEntry:
    entry: run_record.PluginEntry = {
        "name": plugin.name, "path": plugin.path, "function": plugin.function,
        "is_file": plugin.is_file, "is_object": plugin.thing is not None,
        "sha256": source_files.sha256(plugin.path), "sources": dict(sources)}
    commit = _git_commit(plugin.path) if plugin.path else None
    return {**entry, "git": commit} if commit else entry


def _git_commit(path: str) -> run_record.Commit | None:
    """Returns the commit of the repository that a file is in; None if it is in none."""
    folder = os.path.dirname(path)
    commit = _git(folder, "rev-parse", "HEAD")
    # A virtual environment within a repository is not part of it.
    if not commit or _git(folder, "check-ignore", "-q", path) is not None:
        return None
    return {"commit": commit, "is_changed": bool(_git(folder, "status", "--porcelain", "--", "."))}


def _git(folder: str, *words: str) -> str | None:
    """Returns what git prints; None if it fails, or is not there."""
    try:
        ran = subprocess.run(["git", "-C", folder or ".", *words], capture_output=True, text=True,
                             check=False, timeout=deadlines.CHECK_SECS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout.strip() if ran.returncode == 0 else None


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclasses.dataclass(frozen=True)
class EarlierRun:
    """The earlier run of a model_dir.

    Attributes:
      is_finished: Whether it had trained to the last step, so that this run trains nothing.
      edited: One text for each plug-in whose source has changed since the checkpoint.
      note: The note in the result; "" for none.
      is_other: Whether this run differs from the earlier one.
    """

    is_finished: bool = False
    edited: tuple[str, ...] = ()
    note: str = ""
    is_other: bool = False

    def add_to(self, ended: Result) -> Result:
        """Returns the result with the note, and logs all notes among the last lines."""
        if ended.note:
            logging.info("%s", ended.note)
        if self.note:
            logging.log(logging.WARNING if self.is_other else logging.INFO, "%s", self.note)
        return dataclasses.replace(ended, was_finished=self.is_finished,
                                   note=" ".join(filter(None, [ended.note, self.note])))


def earlier(plan: Plan, plugins: LoadedPlugins, finished: str) -> EarlierRun:
    """Compares this run with the record, which `begin` is going to change.

    `finished` is why the earlier run had ended training; "" if this one trains.
    """
    edited = tuple(f"{kind} changed ({', '.join(paths)})" for kind, paths in plugins.edited.items())
    edited += _edited_script(plan)
    folder, step = plan.config.model_dir, checkpoints.latest_step(plan.config.model_dir)
    if not finished:
        note = (f"Training went on from step {step}, but not with what wrote its checkpoint:"
                f" {'; '.join(edited)}.") if edited else ""
        return EarlierRun(False, edited, note, bool(edited))
    note = (f"Nothing was trained: an earlier run had reached step {step} of train_steps"
            f" {plan.config.max_steps} in {folder}, and the metrics are of its checkpoint.")
    if finished == STOP_AT:
        note = (f"Nothing was trained: an earlier run had reached {plan.config.stop_at} in"
                f" {folder}, and the metrics are of its checkpoint, of step {step}.")
    elif plan.config.is_until_no_improvement:
        note = (f"Nothing was trained: an earlier run had ended in {folder}, and the metrics are of"
                f" its best checkpoint, of step {step}.")
    changes = [*edited, *map(str, plan.changes)]
    if changes:
        note += (f" Since then {'; '.join(changes)}. To train with this: another model_dir, a"
                 f" larger train_steps, or remove {folder}.")
    return EarlierRun(True, edited, note, bool(changes))


def as_recorded(model_dir: str) -> EarlierRun:
    """Returns what the chief has recorded of the earlier run, for a task beside it."""
    # The task beside the chief has done its work, and does not fail for the record.
    record = record_file.read_if_whole(model_dir)
    if not record or not record.runs:
        return EarlierRun()
    run = record.runs[-1]
    return EarlierRun(run.get("was_finished", False), note=run.get("note", ""))


def _edited_script(plan: Plan) -> tuple[str, ...]:
    """Returns a text if the script is not the one that is recorded."""
    record = record_file.read(plan.config.model_dir) if plan.script else None
    before = record and record.plugins.get("script", {}).get("sha256")
    if plan.script is None or before in (None, "", source_files.sha256(plan.script.path)):
        return ()
    return (f"the script changed ({plan.script.name})",)
