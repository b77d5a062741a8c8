"""Runs a published program once, as its user would, and returns the outcome."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
from typing import Any

import benchmarks
from benchmarks.published import cause, checkout
from benchmarks.published.program import Program

_DRIVERS = benchmarks.REPO / "benchmarks" / "published" / "drivers"
# A program with tiny data that takes longer is stuck.
_LIMIT_SECS = 400
_LAST_LINE = re.compile(r"^role=local status=done step=(\d+) ", re.MULTILINE)
_EXPORTED = "SavedModel written to: "
_EVALUATED = re.compile(r"Saving dict for global step \d+: (.+)$", re.MULTILINE)
# Metrics that are shown rather than a loss, if a program measures them.
_METRICS = ("accuracy", "acc", "auc", "f1", "ndcg", "pearson")


def run(program: Program, python: str, folders: dict[str, pathlib.Path]) -> dict[str, Any]:
    """Runs the program's commands with the `python`.

    Args:
      program: The program to run.
      python: The interpreter whose TensorFlow runs it.
      folders: "checkouts", "data" and "work".

    Returns:
      "does", a list of trains, evaluates, exports; "step"; "metric", such as "auc = 0.5"; and
      "cause", one line, or "" if all commands succeeded.
    """
    work = folders["work"] / re.sub(r"\W+", "_", program.name)
    shutil.rmtree(work, ignore_errors=True)
    root = checkout.copy(program, folders["checkouts"], work, folders["data"])
    (work / "out").mkdir()
    output, failure = "", ""
    if program.prepare:
        subprocess.run(program.prepare.replace("python ", f"{python} ", 1), shell=True,
                       check=True, capture_output=True, cwd=root / program.folder)
    for command in program.commands:
        ran = _ran(program, [python, "-m", "estimator_trainer",
                             *_arguments(command, work / "out", folders["data"])], root, folders)
        output += ran.stdout
        if ran.returncode:
            failure = cause.of(ran.stdout) or f"exit code {ran.returncode}"
            break
    (work / "output.log").write_text(output)
    return _outcome(output, work, failure)


def _arguments(command: str, out: pathlib.Path, data: pathlib.Path) -> list[str]:
    for name, folder in (("DATA", data), ("OUT", out), ("DRIVERS", _DRIVERS)):
        command = re.sub(rf"\b{name}\b", str(folder), command)
    words = shlex.split(command)
    # Estimator logs its metrics only at this level.
    return [words[0], "--verbose", *words[1:]]


def _ran(program: Program, command: list[str], root: pathlib.Path,
         folders: dict[str, pathlib.Path]) -> subprocess.CompletedProcess[str]:
    beside = [checkout.folder(folders["checkouts"], source) for source in program.beside]
    path = [benchmarks.REPO, root / (program.import_root or program.folder), root.parent, *beside]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)),
                   "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2",
                   "TFDS_DATA_DIR": str(folders["data"] / "tensorflow_datasets")}
    environment.pop("TF_CONFIG", None)
    try:
        return subprocess.run(command, cwd=root / program.folder, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                              timeout=_LIMIT_SECS, check=False)
    except subprocess.TimeoutExpired as stuck:
        output = (stuck.stdout or b"").decode(errors="replace")
        return subprocess.CompletedProcess(
            command, 124, f"{output}\nTimeoutError: not done within {_LIMIT_SECS} s\n")


def _outcome(output: str, work: pathlib.Path, failure: str) -> dict[str, Any]:
    steps = [int(step) for step in _LAST_LINE.findall(output)]
    metric = _metric(output, work)
    does = {"trains": bool(steps and max(steps)), "evaluates": bool(metric),
            "exports": _EXPORTED in output}
    if not failure and not does["trains"]:
        failure = "it ended well, without a training step"
    return {"does": [verb for verb, done in does.items() if done],
            "step": max(steps, default=0), "metric": metric, "cause": failure}


def _metric(output: str, work: pathlib.Path) -> str:
    found: dict[str, Any] = {}
    for line in _EVALUATED.findall(output):
        found.update(item.split(" = ", 1) for item in line.split(", ") if " = " in item)
    for result in work.rglob("result.json"):
        found.update(json.loads(result.read_text())["metrics"])
    found.pop("global_step", None)
    preferred = [name for word in _METRICS for name in found if word in name.lower()
                 and "loss" not in name]
    for name in [*preferred, *found]:
        return f"{name} = {float(found[name]):.3g}"
    return ""
