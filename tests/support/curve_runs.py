"""Folders of runs with curves of any size, made without a training."""

from __future__ import annotations

import json
import math
import pathlib
from typing import Any, Sequence

START = 1_795_000_003.0
EXAMPLES, BATCH = 640, 64


def write(folder: pathlib.Path, tasks: Sequence[str] = ("local",), steps: int = 1000,
          points: int = 50, evaluations: int = 10, secs: float = 100.0, num_metrics: int = 1,
          ) -> pathlib.Path:
    """Writes a run of several tasks; a `worker:0` is dead from 40 to 60 % of the time.

    The loss of training falls from 2 to about 0 at the same speed; that of the first evaluation is
    50. Task number i makes 100 * (1 + i) examples/s.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = [line for i, task in enumerate(tasks) for line in _of_task(
        task, 100.0 * (1 + i), steps, points, secs)]
    evaluator = tasks[0] if len(tasks) == 1 else "evaluator:0"
    for i in range(evaluations + 1 if evaluations else 0):
        share = i / evaluations
        lines.append({"task": evaluator, "kind": "evaluation", "time": START + 1 + secs * share,
                      "step": round(steps * share), "examples": 9, "secs": 0.1, "metrics": {
                          "loss": 2.5 * math.exp(-4 * share) if i else 50.0,
                          "accuracy": 0.9 - 0.8 * math.exp(-4 * share),
                          **{f"metric_{k}": math.sin(9 * share + k)
                             for k in range(1, num_metrics)}}})
    lines.sort(key=lambda line: line["time"])
    (folder / "history.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (folder / "record.json").write_text(json.dumps({
        "format": 1, "data": {"train_examples": EXAMPLES, "global_batch_size": BATCH}}))
    return folder


def _of_task(task: str, speed: float, steps: int, points: int, secs: float) -> list[dict[str, Any]]:
    def line(kind: str, share: float, **values: Any) -> dict[str, Any]:
        return {"task": task, "kind": kind, "time": START + secs * share, **values}

    lines = [line("start", -0.03, pid=7), line("trains", 0.0, step=0)]
    is_dead = False
    for i in range(1, points + 1):
        share = i / points
        if task == "worker:0" and 0.4 < share < 0.6:
            is_dead = True
            continue
        if is_dead:
            lines.append(line("start", share - 0.5 / points, pid=8))
            is_dead = False
        lines.append(line("train", share, step=round(steps * share),
                          loss=2 * math.exp(-4 * share), examples_per_sec=speed, steps_per_sec=10.0,
                          input_wait=0.1, paused_secs=0.0, memory_mb=speed + i))
    return [*lines, line("end", 1.01, status="done", step=steps, reason="train_steps",
                         exit_code=0)]
