"""The section on what ran: plug-ins, params, settings, data, versions, layers, commands."""

import posixpath
from typing import Any, Mapping, Sequence

from estimator_trainer.record import run_record
from estimator_trainer.reports import markup
from estimator_trainer.reports.run_files import RunFiles

_MOST_CHARACTERS = 300


def section(run: RunFiles) -> markup.Markup:
    """Returns the section "What ran"."""
    record = run.record
    if record is None:
        return markup.section("What ran", markup.note(
            f"What wrote this directory is not known: {no_record(run.model_dir, run.damaged)}."))
    rows: list[tuple[str, str]] = [
        (kind, markup.code(describe_plugin(entry))) for kind, entry in record.plugins.items()]
    params = {**record.params, **record.unrecorded}
    others = {key: value for key, value in params.items() if key not in record.given}
    settings = {name: value for name, value in record.settings.items()
                if name not in record.plugins}
    rows += [("params that you set", _pairs({
        key: value for key, value in params.items() if key in record.given})),
             ("settings that are no defaults", _pairs(settings, "--")),
             ("data", _pairs(record.data)),
             ("versions", ", ".join(f"{name} {version}" for name, version in
                                    record.versions.items() if version))]
    return markup.section(
        "What ran", markup.table([], rows), _layers(run),
        markup.details("all other params", _pairs(others) if others else ""),
        markup.details("runs and their commands", _runs(record), is_open=True))


def no_record(model_dir: str, damaged: Sequence[str]) -> str:
    """Returns a clause on a missing record; `damaged` are the sentences about damaged files."""
    path = posixpath.join(model_dir, run_record.NAME)
    is_damaged = any(each.startswith(f"{path} is damaged") for each in damaged)
    return f"there is no {run_record.NAME}{' that is whole' * is_damaged}"


def describe_plugin(entry: Mapping[str, Any]) -> str:
    """Returns name, path and commit of a plug-in."""
    commit = entry.get("git")
    at = f" (git {commit['commit'][:12]}{', changed' * commit['is_changed']})" if commit else ""
    return f"{entry.get('name')}  {entry.get('path') or ''}{at}"


def _pairs(values: Mapping[str, Any], prefix: str = "") -> markup.Markup:
    if not values:
        return markup.Markup("none")
    shown = []
    for name, value in sorted(values.items()):
        whole = markup.formatted(value)
        cut = whole if len(whole) <= _MOST_CHARACTERS else f"{whole[:_MOST_CHARACTERS]} ..."
        shown.append(f"<code>{markup.text(f'{prefix}{name}={cut}')}</code>")
    return markup.Markup(" &nbsp; ".join(shown))


def _layers(run: RunFiles) -> markup.Markup:
    models = run.of_kind("model")
    if not models:
        return markup.Markup("")
    model = models[-1]
    rows = [(layer["name"], ", ".join(f"{name} {shape}" for name, shape in
                                      layer["shapes"].items()), layer["parameters"])
            for layer in model["layers"]]
    return markup.details(
        f"{len(rows)} layer{'s' * (len(rows) != 1)}, {model['parameters']:,} parameters",
        markup.table(["layer", "variables", "parameters"], rows), is_open=len(rows) <= 12)


def _runs(record: run_record.RunRecord) -> markup.Markup:
    parts: list[str] = []
    for run in record.runs:
        parts.append(markup.note(run_record.describe(run)))
        parts.append(
            f'<div class="command"><pre>{markup.text(run_record.command_line(run["command"]))}'
            '</pre><button type="button" data-copies aria-live="polite">Copy</button></div>')
        parts += [markup.note(change) for change in run.get("changes", ())]
    return markup.Markup("".join(parts))
