"""The history of a model_dir: the chief writes into its record when a run begins and ends."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any, Mapping

from absl import logging
import tensorflow as tf

from estimator_trainer import __version__
from estimator_trainer import errors
from estimator_trainer import redaction
from estimator_trainer import versions
from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import checkpoints
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.plugins import fingerprints
from estimator_trainer.plugins.plugin import Plugin
from estimator_trainer.record import record_file
from estimator_trainer.record import run_record
from estimator_trainer.record.earlier_run import EarlierRun
from estimator_trainer.record.run_record import PluginEntry
from estimator_trainer.record.run_record import Run
from estimator_trainer.record.run_record import RunRecord
from estimator_trainer.result import Result
from estimator_trainer.settings.trainer_config import TrainerConfig

# Every run finds them out anew, from what it is given.
_DERIVED = frozenset(("global_batch_size", "train_examples"))
_NOT_SETTINGS = frozenset(("param", "params_file", "model_dir", "allow_changed", "force"))


def begin(plan: Plan, parts: LoadedPlugins, earlier: EarlierRun) -> None:
    """Writes what is about to train: plug-ins, params, settings, data, versions, and this run.

    A run that trains nothing adds itself alone: the rest tells what wrote the checkpoints.
    """
    # A script resumes what it wrote without a record, for only it knows its model_dir.
    before = plan.recorded.record if plan.recorded else (
        plan.script and record_file.read(plan.config.model_dir)) or RunRecord()
    run: Run = {
        "began": _now(), "from_step": checkpoints.latest_step(plan.config.model_dir),
        "command": redaction.masked_words(plan.command), "task": plan.task.name,
        "cluster": {role: len(hosts) for role, hosts in plan.task.cluster.items()},
        "changes": [*map(str, plan.changes), *earlier.edited],
        "was_finished": earlier.is_finished, "note": earlier.note}
    is_kept = earlier.is_finished and before.plugins
    now = before if is_kept else dataclasses.replace(_record(plan, parts), runs=before.runs)
    record_file.write(plan.config.model_dir, now.with_run(run))


def end(plan: Plan, ended: Result) -> None:
    """Writes how the run has ended; a failure to do so is only logged."""
    try:
        record = record_file.read(plan.config.model_dir)
        if record and record.runs:
            record_file.write(plan.config.model_dir, record.with_end(
                _now(), ended.status, int(ended.step), ended.reason))
    except (tf.errors.OpError, OSError, errors.ConfigError) as error:
        logging.warning("cannot write how the run ended into %s: %s", run_record.NAME,
                        errors.first_line(error))


def _record(plan: Plan, parts: LoadedPlugins) -> RunRecord:
    params, given = _params(plan, parts)
    kept, unrecorded = run_record.split_params(params)
    settings, hidden = _settings(plan.config)
    found = versions.installed()
    used = (plan.script.plugin,) if plan.script else plan.plugins
    return RunRecord(
        plugins={plugin.kind: _plugin(plugin, parts.sources.get(plugin.kind, {}))
                 for plugin in used},
        params=kept, given=sorted(given), files=run_record.whole_paths(kept),
        unrecorded={**unrecorded, **hidden},
        settings=settings, data=dict(parts.data),
        versions={"estimator_trainer": __version__, **found._asdict()})


def _params(plan: Plan, parts: LoadedPlugins) -> tuple[dict[str, Any], set[str]]:
    """Returns the params but those that flags stand for, and the keys that the user has set."""
    if plan.params is None:
        return dict(parts.params) if isinstance(parts.params, Mapping) else {}, set()
    given = (plan.params.given | plan.params.recorded_given) - plan.params.of_flags
    left_out = plan.params.of_flags | (_DERIVED - given)
    return {key: parts.params[key] for key in plan.params.values if key not in left_out}, set(given)


def _settings(config: TrainerConfig) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns the settings that are no defaults, and what stands for those with a secret."""
    settings = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)
                if field.name not in _NOT_SETTINGS and getattr(config, field.name) != field.default}
    flags, hidden = run_record.split_flags(config.plugin_flag)
    kept, others = run_record.split_params({**settings, "plugin_flag": flags})
    if not flags:
        del kept["plugin_flag"]
    return kept, {**others, "plugin_flag": hidden} if hidden else others


def _plugin(plugin: Plugin, sources: Mapping[str, str]) -> PluginEntry:
    entry: PluginEntry = {
        "name": plugin.name, "path": plugin.path, "function": plugin.function,
        "is_file": plugin.is_file, "is_object": plugin.thing is not None,
        "sha256": fingerprints.sha256(plugin.path), "sources": dict(sources)}
    commit = fingerprints.git_commit(plugin.path) if plugin.path else None
    return {**entry, "git": commit} if commit else entry


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
