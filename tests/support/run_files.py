"""The JSON files of a model_dir, as a training leaves them, made by the program without a training.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import pathlib
from typing import Any, Iterator

import numpy as np

from estimator_trainer import result
from estimator_trainer.coordination.checkpoints import Best
from estimator_trainer.evaluation.classification import Classification
from estimator_trainer.evaluation.regression import Regression
from estimator_trainer.record import run_record
from estimator_trainer.record.run_record import RunRecord
from estimator_trainer.result import Result

Place = tuple[str | int, ...]
HISTORY = "history.jsonl"
# As many as the history has lines, and the record has parts.
_MOST_PLACES = 12
_AT = 1_700_000_000.0
_METRICS = {"accuracy": 0.5, "loss": 2.0, "auc": None}
_LINES = (
    {"kind": "start", "pid": 7},
    {"kind": "model", "parameters": 9, "layers": [
        {"name": "dense", "parameters": 9, "shapes": {"kernel": [2, 4], "bias": [1]}}]},
    {"kind": "trains", "step": 0},
    {"kind": "serves"},
    {"kind": "train", "step": 10, "loss": 2.5, "examples_per_sec": 100.0, "steps_per_sec": 10.0,
     "input_wait": 0.1, "paused_secs": 0.5, "memory_mb": 500.0},
    {"kind": "evaluation", "step": 10, "examples": 3, "secs": 0.1, "metrics": _METRICS,
     "memory_mb": 500.0},
    {"kind": "end", "status": "done", "step": 10, "reason": "train_steps", "exit_code": 0},
    {"kind": "exit", "by": "launch", "began": _AT, "code": 0})


def contents() -> dict[str, Any]:
    """Returns what each file of a classification holds, by name; of the history, its lines."""
    judge = Classification(("no", "yes"))
    for label, predicted in ((0, 0), (1, 0), (1, 1)):
        judge.add(label, predicted, np.eye(2)[predicted], {"x": np.float32(0.5), "y": b"text"})
    ended = Result("local", "done", 10, "train_steps", {"global_step": 10, **_METRICS, "auc": 0.5},
                   ("export/final/1",))
    return {
        "best.json": dataclasses.asdict(Best("loss", 2.0, 10, "export/best/1")),
        "result.json": json.loads(result.to_json(ended)),
        "evaluation.json": {**judge.content(), "step": 10, "evaluated": 3},
        "record.json": json.loads(run_record.to_json(_record())),
        HISTORY: [{"task": "local", "time": _AT + i, **line} for i, line in enumerate(_LINES)]}


def of_regression() -> dict[str, Any]:
    """Returns what `evaluation.json` holds of a regression."""
    judge = Regression()
    for label, predicted in ((1.0, 1.5), (2.0, 2.0), (3.0, float("nan"))):
        judge.add(label, predicted, {"x": np.float32(0.5)})
    return {**judge.content(), "step": 10, "evaluated": 3}


def write(folder: pathlib.Path, name: str, content: Any) -> None:
    """Writes a file into a folder; a history has a line for each item of a list."""
    is_lines = name == HISTORY and isinstance(content, list)
    text = "".join(f"{json.dumps(each)}\n" for each in content) if is_lines else json.dumps(content)
    (folder / name).write_text(text, encoding="utf-8")


def places(content: Any, before: Place = ()) -> Iterator[Place]:
    """Yields the place of each value of a JSON content, the whole first; of a list, some."""
    yield before
    if isinstance(content, (dict, list)):
        found = content.items() if isinstance(content, dict) else enumerate(content)
        for name, each in itertools.islice(found, _MOST_PLACES):
            yield from places(each, (*before, name))


def changed(content: Any, place: Place, value: Any) -> Any:
    """Returns the content with another value at a place."""
    if not place:
        return value
    content = json.loads(json.dumps(content))
    within = content
    for name in place[:-1]:
        within = within[name]
    within[place[-1]] = value
    return content


def without(content: Any, place: Place) -> Any:
    """Returns the content without the entry at a place."""
    content = json.loads(json.dumps(content))
    within = content
    for name in place[:-1]:
        within = within[name]
    del within[place[-1]]
    return content


def _record() -> RunRecord:
    return RunRecord(
        plugins={"model_fn": {
            "name": "linear", "path": "/w/linear.py", "function": "model_fn", "is_file": False,
            "is_object": False, "sha256": "0" * 64, "sources": {"linear.py": "0" * 64},
            "git": {"commit": "0" * 40, "is_changed": False}}},
        params={"scale": 2.0, "units": [1, 2]}, given=["scale"], files={"data": "/w/a.csv"},
        unrecorded={"api_key": "****"}, settings={"train_steps": 10, "exporters": ["best"]},
        data={"features": {"x": {"dtype": "float32", "shape": [2]}}, "class_names": ["no", "yes"]},
        versions={"python": "3.13", "tensorflow": "2.21", "mode": None},
        runs=[{"began": "2026-01-01T00:00:00Z", "from_step": 0, "command": ["train"],
               "task": "local", "cluster": {"worker": 2}, "changes": ["scale is 2, and was 1"],
               "was_finished": False, "note": "", "ended": "2026-01-01T00:01:00Z",
               "status": "done", "step": 10, "reason": "train_steps"}])
