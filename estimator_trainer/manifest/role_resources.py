"""The resources of each role: CPUs, memory, GPUs, its machine or node, and its image.

    --resources=ps:memory_gib=16,cpus=4     for one role, or for `all`
    --resources=FILE.json                   {"ps": {"memory_gib": 16, "tolerations": [...]}}

The flags without a role (--cpus, --gpus) are the defaults, but not of TensorBoard.
"""

import dataclasses
import json
import pathlib
import re
from typing import Any, Iterator, Mapping, NamedTuple, Sequence

from estimator_trainer.errors import near_match, Problem, Setting
from estimator_trainer.settings.job_config import GPU_TYPES, JobConfig, MOST_GPUS, ROLES

TENSORBOARD, _ALL, _FILE = "tensorboard", "all", ".json"
_EXAMPLES = (Setting("resources", "ps:memory_gib=16,cpus=4"),
             Setting("resources", "ps:machine_type=n1-highmem-16"))
# A label, an image, a machine type, a partition; it cannot end a line of a script.
_TEXT = re.compile(r"[A-Za-z0-9][\w.:/@-]*")
_TAINT = re.compile(r"(?P<key>[\w./-]+)(=(?P<value>[\w.-]*))?:(?P<effect>\w+)")
_NAMES = (*ROLES, TENSORBOARD, _ALL)
_OF_TENSORBOARD = {"cpus": 1, "memory_gib": 4}
_LEAST = {"cpus": 1, "memory_gib": 1, "gpus": 0}
_MOST = {"cpus": 1 << 16, "memory_gib": 1 << 20, "gpus": MOST_GPUS}
_EFFECTS = ("NoExecute", "NoSchedule", "PreferNoSchedule")
_OPERATORS = ("Equal", "Exists")
_TOLERATION = {"key": str, "operator": str, "value": str, "effect": str, "tolerationSeconds": int}


@dataclasses.dataclass(frozen=True)
class Resources:
    """The resources of each task of a role; the fields are the keys of --resources.

    Attributes:
      gpu_type: Name of the accelerator on Google's platforms.
      node_selector: Labels of the nodes, by key.
      tolerations: Kubernetes' own objects.
      partition: Slurm's partition; "" for the job's.
    """

    cpus: int
    memory_gib: int
    gpus: int
    gpu_type: str
    machine_type: str
    image: str
    node_selector: Mapping[str, str] = dataclasses.field(default_factory=dict)
    tolerations: tuple[Mapping[str, Any], ...] = ()
    priority_class: str = ""
    partition: str = ""


KEYS = tuple(field.name for field in dataclasses.fields(Resources))


class _Entry(NamedTuple):
    """One key of one role, as the user wrote it."""

    text: str  # The value of --resources that has the entry.
    role: str
    key: str
    value: Any


def of_role(job: JobConfig, role: str) -> Resources:
    """Returns what each task of a role gets; `problems` has found none."""
    values: dict[str, Any] = {name: getattr(job, name) for name in KEYS if hasattr(job, name)}
    if role not in ("chief", "worker"):
        values["gpus"] = 0
    if role == TENSORBOARD:
        values |= _OF_TENSORBOARD
    entries = [entry for text in job.resources for entry in _entries(text)]
    for entry in sorted(entries, key=lambda entry: entry.role != _ALL):
        if entry.role in (_ALL, role):
            value, before = _value(entry.key, entry.value), values.get(entry.key)
            if before and isinstance(value, dict):
                value = before | value
            elif before and isinstance(value, tuple):
                value = before + value
            values[entry.key] = value
    return Resources(**values)


def of_roles(job: JobConfig) -> dict[str, Resources]:
    """Returns what each task gets, for each role that the job has."""
    return {role: of_role(job, role) for role in ROLES if getattr(job, role)}


def problems(job: JobConfig, keys: Sequence[str]) -> list[Problem]:
    """Returns a problem for each text or file of --resources that is wrong.

    Args:
      keys: The keys that the job's platform has.
    """
    found, example = [], _EXAMPLES["memory_gib" not in keys]
    for text in job.resources:
        try:
            for entry in _entries(text):
                _check(entry, job, keys)
        except _Wrong as wrong:
            why, expected, *advice = wrong.args
            found.append(Problem("resources", text, why, expected, example,
                                 advice="".join(advice)))
    return found


class _Wrong(Exception):
    """Has what is wrong with a text of --resources, what is expected, and advice if any."""


def _check(entry: _Entry, job: JobConfig, keys: Sequence[str]) -> None:
    """Raises _Wrong if an entry has an unknown role or key, or a value that is not valid."""
    text, role, key, value = entry
    if role not in _NAMES:
        raise _Wrong(f"in which {role!r} is not a role", *_one_of(role, _NAMES))
    if role != _ALL and not text.endswith(_FILE) and not getattr(job, role):
        count = True if role == TENSORBOARD else 1
        raise _Wrong(f"and the job has no {role}", f"a role of the job, or {Setting(role, count)}")
    if key not in keys:
        raise _Wrong(f"in which {key!r} is not a key that {job.platform} has", *_one_of(key, keys))
    try:
        _value(key, value)
    except ValueError as error:
        raise _Wrong(f"in which {key} of {role} is {value!r}", str(error)) from error


def _one_of(got: str, allowed: Sequence[str]) -> tuple[str, str]:
    return f"one of {', '.join(allowed)}", near_match(got, allowed)


def _entries(text: str) -> Iterator[_Entry]:
    """Yields the entries of a value of --resources, or raises _Wrong."""
    if text.endswith(_FILE):
        for role, values in _file(text).items():
            for key, value in values.items():
                yield _Entry(text, role, key, value)
        return
    role, colon, pairs = text.partition(":")
    for pair in pairs.split(","):
        key, equals, value = pair.partition("=")
        if not (role and colon and key and equals and value):
            raise _Wrong("", f"ROLE:key=value,key=value, or FILE{_FILE}")
        yield _Entry(text, role, key, value)


def _file(path: str) -> dict[str, dict[str, Any]]:
    try:
        content = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise _Wrong(f"which cannot be read ({why})", "a JSON file of this machine") from error
    if not isinstance(content, dict) or not all(
            isinstance(values, dict) for values in content.values()):
        raise _Wrong("in which not each role has an object", '{"ps": {"memory_gib": 16}}')
    return content


def _value(key: str, written: Any) -> Any:
    """Returns the value of a key as its field has it, or raises ValueError: what is expected."""
    is_flag = isinstance(written, str)
    if key in _LEAST:
        number = int(written) if is_flag and re.fullmatch(r"[0-9]{1,9}", written) else written
        if type(number) is not int or not _LEAST[key] <= number <= _MOST[key]:
            raise ValueError(f"a whole number from {_LEAST[key]} to {_MOST[key]}")
        return number
    if key == "node_selector":
        labels = dict([written.partition(":")[::2]]) if is_flag else written
        if not (isinstance(labels, dict) and labels and all(
                _is_text(text) for pair in labels.items() for text in pair)):
            raise ValueError('KEY:VALUE, or in a file {"KEY": "VALUE"}')
        return labels
    if key == "tolerations":
        return _tolerations(written)
    if not _is_text(written) or key == "gpu_type" and written not in GPU_TYPES:
        raise ValueError(f"one of {', '.join(GPU_TYPES)}" if key == "gpu_type" else
                         "a name without spaces")
    return written


def _is_text(written: Any) -> bool:
    return isinstance(written, str) and bool(_TEXT.fullmatch(written))


def _tolerations(written: Any) -> tuple[Mapping[str, Any], ...]:
    """Returns Kubernetes' tolerations, from a taint as `kubectl taint` has it, or from objects."""
    if isinstance(written, str) and (taint := _TAINT.fullmatch(written)):
        value = {"value": taint["value"]} if taint["value"] else {}
        written = [{"key": taint["key"], "operator": "Equal" if value else "Exists", **value,
                    "effect": taint["effect"]}]
    is_valid = isinstance(written, list) and all(
        isinstance(each, dict) and each and all(
            type(value) is _TOLERATION.get(name) for name, value in each.items()) and
        each.get("effect", "NoExecute") in _EFFECTS and
        each.get("operator", "Equal") in _OPERATORS for each in written)
    if not is_valid:
        raise ValueError("KEY=VALUE:EFFECT or KEY:EFFECT with the effect"
                         f" {', '.join(_EFFECTS)}, or in a file a list of Kubernetes' tolerations")
    return tuple(written)
