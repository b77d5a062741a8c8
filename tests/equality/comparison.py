"""The differences between a plain run and one of ours, in words."""

from __future__ import annotations

import pathlib
from typing import Any, Iterator

import numpy as np

from tests.equality import model_dir
from tests.equality.shapes import Ran, Shape

_TOLERANCE = dict(rtol=1e-5, atol=1e-6)


def differences(plain: Ran, ours: Ran, shape: Shape, is_plugin: bool = False) -> list[str]:
    """Returns what differs, a line each; none if the two runs mean the same.

    Args:
      plain: The run of the plain Estimator.
      ours: The run of this program.
      shape: The shape of both.
      is_plugin: Whether ours had the functions as plug-ins, so that no script tells anything.
    """
    found = [f"exit codes: plain {plain.codes}, ours {ours.codes}"] * (
        plain.is_good != ours.is_good)
    if not is_plugin:
        found += _reports(plain, ours, shape)
    models = plain.folder / "model", ours.folder / "model"
    if shape.compares_values:
        found += _values("variable", *map(model_dir.variables, models))
        found += _different("checkpoints", *map(model_dir.checkpoints, models))
        found += _events("events", *map(model_dir.events, models))
        found += _evaluations(*models, shape)
    else:
        found += _only_steps(*models)
    if not is_plugin:
        found += _exports(*models, shape)
    return found


def _reports(plain: Ran, ours: Ran, shape: Shape) -> Iterator[str]:
    """Yields differences of the tasks' calls and values; in a cluster of the chief and trainers."""
    for task, expected in sorted(plain.seen.items()):
        if task.startswith("ps") or not (
                shape.compares_values or task.startswith(("chief", "master"))):
            continue
        own = ours.seen.get(task, {"calls": [], "record": {}, "raised": None})
        if shape.compares_values:
            yield from _different(f"{task} calls", expected["calls"], own["calls"])
        else:
            yield from _different(f"{task} kinds of calls", _kinds(expected), _kinds(own))
        # The script of a worker or evaluator ends with the training, where plain goes on.
        ends_early = own["raised"] == "SystemExit" and not task.startswith(("chief", "master"))
        if not ends_early:
            yield from _different(f"{task} raised", expected["raised"], own["raised"])
        for name, value in expected["record"].items():
            if shape.compares_values and (name in own["record"] or not ends_early):
                yield from _different(f"{task} {name}", value, own["record"].get(name))
        yield from [f"{task} keeps {name}, plain does not" for name in own["record"]
                    if name not in expected["record"]]


def _kinds(expected: dict[str, Any]) -> list[str]:
    """Returns the calls by name alone: at which step a call comes is a matter of time."""
    return sorted({" ".join(word for word in call[:2] if isinstance(word, str))
                   for call in expected["calls"]})


def _only_steps(plain: pathlib.Path, ours: pathlib.Path) -> Iterator[str]:
    """Yields what differs where the trainers' updates come in any order."""
    a, b = model_dir.variables(plain), model_dir.variables(ours)
    yield from _different("names of variables", sorted(a), sorted(b))
    # A Keras model's variable of the step has another name.
    steps = model_dir.last_step(plain), model_dir.last_step(ours)
    if steps[0] > steps[1] + 2:
        yield "global step: plain {}, ours {}".format(*steps)


def _evaluations(plain: pathlib.Path, ours: pathlib.Path, shape: Shape) -> Iterator[str]:
    a, b = model_dir.evaluations(plain), model_dir.evaluations(ours)
    if "evaluator" in shape.cluster:
        # Which checkpoints an evaluator finds before the last is a matter of time.
        a, b = ({folder: {tag: pairs[-1:] for tag, pairs in tags.items()}
                 for folder, tags in each.items()} for each in (a, b))
    for folder, tags in a.items():
        if folder not in b:
            yield f"{folder}: ours has no such evaluation"
        else:
            yield from _events(folder, tags, b[folder])
    if not shape.is_cluster:
        yield from [f"{folder}: plain has no such evaluation" for folder in b if folder not in a]


def _exports(plain: pathlib.Path, ours: pathlib.Path, shape: Shape) -> Iterator[str]:
    a, b = model_dir.exports(plain), model_dir.exports(ours)
    for folder in sorted(a.keys() | b.keys()):
        if folder in a or not shape.is_cluster:
            yield from _different(f"exports in {folder}", a.get(folder), b.get(folder))


def _values(what: str, plain: dict[str, np.ndarray],
            ours: dict[str, np.ndarray]) -> Iterator[str]:
    yield from _different(f"names of {what}s", sorted(plain), sorted(ours))
    for name in plain.keys() & ours.keys():
        if not _is_same_array(plain[name], ours[name]):
            yield f"{what} {name}: plain {_short(plain[name])}, ours {_short(ours[name])}"


def _events(what: str, plain: dict[str, list], ours: dict[str, list]) -> Iterator[str]:
    """Yields the tags whose steps or values differ; a tag of ours alone is no harm."""
    for tag, pairs in plain.items():
        yield from _different(f"{what} {tag}", [list(pair) for pair in pairs],
                              [list(pair) for pair in ours.get(tag, [])])


def _different(what: str, plain: Any, ours: Any) -> list[str]:
    return [] if _is_same(plain, ours) else [
        f"{what}: plain {_short(plain)}, ours {_short(ours)}"]


def _is_same(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_is_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_is_same, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(b, (int, float)) and isinstance(a, (int, float)) and bool(
            np.isclose(a, b, equal_nan=True, **_TOLERANCE))
    return bool(a == b)


def _is_same_array(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind == "f":
        return bool(np.allclose(a, b, equal_nan=True, **_TOLERANCE))
    return bool(np.array_equal(a, b))


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 400 else f"{text[:300]} ... {text[-100:]}"
