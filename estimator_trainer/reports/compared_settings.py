"""The settings of several runs that differ: plug-ins, params, flags, data, versions, commands."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Mapping, Sequence

from estimator_trainer.record import run_record
from estimator_trainer.record.run_record import RunRecord
from estimator_trainer.settings.trainer_config import TrainerConfig

_MOST_CHARACTERS = 200
_CONTEXT = 40
_DEFAULTS = {field.name: field.default for field in dataclasses.fields(TrainerConfig)}
# The directories of two runs always differ.
_OF_PLACE = ("model_dir", "job_dir", "job-dir")

Row = tuple[str, list[Any]]


def rows(records: Sequence[RunRecord | None]) -> list[Row]:
    """Returns (name, value of each run) of what differs; "-" where a run does not have it."""
    found = [_settings(record) if record else {} for record in records]
    keys = list(dict.fromkeys(key for each in found for key in each))
    different = []
    for key in keys:
        values = [each.get(key, _absent(key, record)) for each, record in zip(found, records)]
        if len(set(map(_key, values))) > 1:
            different.append((key, shown(values)))
    return different


def shown(values: Sequence[Any]) -> list[Any]:
    """Returns values as texts, long enough for different values to have different texts."""
    for digits in (4, 6, 8, 12, 17):
        texts = [None if value is None else _text(value, digits) for value in values]
        if len(set(texts)) == len(set(map(_key, values))):
            break
    return _cut(texts)


def only_of(position: int, different: Sequence[Row]) -> list[tuple[str, str]]:
    """Returns the settings (name, value) of one run that no other run has."""
    return [(name, values[position]) for name, values in different if values[position] is not None
            and values.count(values[position]) == 1]


def parted(different: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Returns the settings that differ among the runs that have them, and those of some runs only.

    Runs of two plug-ins have dozens of the latter.
    """
    real = [row for row in different if len({*row[1]} - {None}) > 1]
    return real, [row for row in different if row not in real]


def _settings(record: RunRecord) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind, entry in record.plugins.items():
        found[kind] = entry.get("name")
        if commit := entry.get("git"):
            changed = " with changes" if commit["is_changed"] else ""
            found[f"git commit of {kind}"] = commit["commit"][:12] + changed
        if sha := entry.get("sha256"):
            found[f"source of {kind} (sha256)"] = sha[:12]
    found |= {f"param {name}": value for name, value in
              {**record.params, **record.unrecorded}.items()}
    found |= {f"--{name}": value for name, value in record.settings.items()
              if name not in record.plugins}
    found |= _flat("data", record.data)
    found |= {f"version of {name}": value for name, value in record.versions.items()}
    last = record.runs[-1] if record.runs else None
    cluster = last.get("cluster", {}) if last else {}
    found["tasks"] = ", ".join(f"{count} {role}" for role, count in cluster.items()) or (
        "one process")
    if last:
        found["command"] = run_record.command_line(_without_place(last["command"]))
    return found


def _flat(name: str, value: Any) -> dict[str, Any]:
    """Returns the entries of nested objects by their places: "data.features.x.dtype"."""
    if not isinstance(value, Mapping) or not value:
        return {name: value}
    return {place: each for key, inner in value.items()
            for place, each in _flat(f"{name}.{key}", inner).items()}


def _without_place(words: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for i, word in enumerate(words):
        is_value = i > 0 and "=" not in words[i - 1] and _is_place(words[i - 1])
        if not _is_place(word) and not is_value:
            kept.append(word)
    return kept


def _is_place(word: str) -> bool:
    """Returns whether a word of a command is the flag, or the keyword, of the directory."""
    return word.partition("=")[0].lstrip("-") in _OF_PLACE and word[:1] == "-" or (
        word.startswith("model_dir="))


def _absent(key: str, record: RunRecord | None) -> Any:
    """Returns what stands for a setting that a run does not have: a flag has a default."""
    name = key.removeprefix("--")
    if record is None or name == key or name not in _DEFAULTS:
        return None
    default = _DEFAULTS[name]
    value = ",".join(default) if isinstance(default, tuple) else default
    return f"{_text(value, 4)} (default)"


def _key(value: Any) -> str:
    """Returns a text that equal values have in common: 1 and 1.0 are equal."""
    is_whole = isinstance(value, float) and value.is_integer()
    return json.dumps(int(value) if is_whole else value, sort_keys=True)


def _text(value: Any, digits: int) -> str:
    if isinstance(value, str):
        return value or '""'
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, list) and all(isinstance(each, (str, int, float)) for each in value):
        return ", ".join(_text(each, digits) for each in value)
    return json.dumps(value)


def _cut(texts: Sequence[str | None]) -> list[str | None]:
    """Returns long texts cut; cut to the place where they differ, if their beginnings are equal."""
    cut = [text if text is None or len(text) <= _MOST_CHARACTERS else
           f"{text[:_MOST_CHARACTERS]} ..." for text in texts]
    if len(set(cut)) == len(set(texts)):
        return cut
    known = [text for text in texts if text is not None]
    most = max(map(len, known))
    at = next((i for i in range(most) if len({text[i:i + 1] for text in known}) > 1), 0)
    start = max(0, at - _CONTEXT)
    return [None if text is None else
            f"{'... ' * bool(start)}{text[start:start + _MOST_CHARACTERS]}"
            f"{' ...' * (len(text) > start + _MOST_CHARACTERS)}" for text in texts]
