"""Folders of runs that differ, made without a training: their records, histories and results."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import time
from typing import Any, Mapping

from estimator_trainer import result
from estimator_trainer.record import run_record
from estimator_trainer.record.run_record import RunRecord
from estimator_trainer.result import Result

BEGAN = 1_795_000_000.0


@dataclasses.dataclass(frozen=True)
class Run:
    """A run to write; `status` "running" has no end, and its last line is of now."""

    accuracy: tuple[float, ...] = (0.5, 0.8)
    learning_rate: float = 0.1
    status: str = "done"
    reason: str = "train_steps"
    tasks: tuple[str, ...] = ("local",)
    settings: Mapping[str, Any] = dataclasses.field(default_factory=lambda: {"train_steps": 200})
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def write(folder: pathlib.Path, run: Run = Run()) -> pathlib.Path:
    """Writes the files of a run, and returns its folder."""
    folder.mkdir(parents=True)
    is_running = run.status == "running"
    began = time.time() - 100 if is_running else BEGAN
    lines = [line for task in run.tasks for line in _lines(run, task, began)]
    lines.sort(key=lambda line: line["time"])
    (folder / "history.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (folder / "record.json").write_text(run_record.to_json(_record(run, folder)))
    if not is_running:
        steps = 100 * len(run.accuracy)
        metrics = {"accuracy": run.accuracy[-1], "loss": 1 - run.accuracy[-1],
                   "global_step": steps} if steps else {}
        (folder / "result.json").write_text(result.to_json(Result(
            run.tasks[0], run.status, steps, run.reason, metrics)))
    return folder


def _lines(run: Run, task: str, began: float) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [{"kind": "start", "pid": 7, "time": began}]
    if task == run.tasks[0]:
        lines.append({"kind": "model", "parameters": 650, "layers": [], "time": began + 1})
    for i, accuracy in enumerate(run.accuracy):
        step, at = 100 * (i + 1), began + 40 * (i + 1)
        lines.append({"kind": "train", "step": step, "loss": 1 - accuracy, "time": at,
                      "examples_per_sec": 1000.0 * (i + 1), "steps_per_sec": 10.0,
                      "input_wait": 0.25, "paused_secs": 0.5, "memory_mb": 500.0})
        if task == run.tasks[0]:
            lines.append({"kind": "evaluation", "step": step, "examples": 200, "time": at + 1,
                          "metrics": {"accuracy": accuracy, "loss": 1 - accuracy,
                                      "label/mean": 0.5}})
    if run.status != "running":
        lines.append({"kind": "end", "status": run.status, "step": 100 * len(run.accuracy),
                      "reason": run.reason, "exit_code": 0 if run.status == "done" else 1,
                      "time": began + 40 * len(run.accuracy) + 10})
    return [{"task": task, **line} for line in lines]


def _record(run: Run, folder: pathlib.Path) -> RunRecord:
    cluster: dict[str, int] = {}
    for task in run.tasks:
        role = task.partition(":")[0]
        if role != "local":
            cluster[role] = cluster.get(role, 0) + 1
    return RunRecord(
        plugins={"model_fn": {"name": "linear", "path": "/w/linear.py", "sha256": "0" * 64,
                              "git": {"commit": "a" * 40, "is_changed": False}}},
        params={"learning_rate": run.learning_rate, "units": [1, 2], **run.params},
        given=["learning_rate", *run.params], settings=dict(run.settings),
        data={"features": {"x": {"dtype": "float32", "shape": [2]}}},
        versions={"python": "3.13", "tensorflow": "2.21"},
        runs=[{"began": "2026-11-18T00:00:00Z", "from_step": 0, "cluster": cluster,
               "command": ["estimator-trainer", f"--model_dir={folder}",
                           f"--param=learning_rate={run.learning_rate}"]}])
