"""The shapes of a job, and how a program runs in each: plainly, by `run`, and as plug-ins."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import time
from typing import Callable, Mapping

from tests.equality import plain_process
from tests.equality.program import Program
from tests.support import jobs

_FOLDER = pathlib.Path(__file__).parent
SCRIPT = _FOLDER / "program_script.py"
PLUGIN = _FOLDER / "plugin.py"
TIMEOUT_SECS = 140.0


@dataclasses.dataclass(frozen=True)
class Shape:
    """A shape of a job.

    Attributes:
      cluster: Number of tasks by type; empty for one process without TF_CONFIG.
      flags: The flags by which plug-ins take this shape.
      compares_values: Whether values are the same in any two runs; the updates of two
        asynchronous trainers come in any order.
    """

    cluster: Mapping[str, int]
    flags: tuple[str, ...] = ()
    compares_values: bool = True

    @property
    def is_cluster(self) -> bool:
        """Whether there are several tasks."""
        return bool(self.cluster)


SHAPES = {
    "one": Shape({}),
    "mirrored": Shape({}, ("--train_distribute=mirrored", "--num_replicas=2")),
    "ps": Shape({"chief": 1, "ps": 1}),
    "ps_worker": Shape({"chief": 1, "worker": 1, "ps": 1}, compares_values=False),
    "multi_worker": Shape({"chief": 1, "worker": 1},
                          ("--train_distribute=multi_worker_mirrored",)),
    "workers": Shape({"worker": 2}, ("--train_distribute=multi_worker_mirrored",)),
    "master": Shape({"master": 1, "ps": 1}),
    "evaluator": Shape({"chief": 1, "evaluator": 1}),
}


@dataclasses.dataclass(frozen=True)
class Ran:
    """A run that has ended.

    Attributes:
      folder: Holds the folder `model` and one JSON file for each task; see job.py.
      codes: The exit code of each task but the ps, by name; None where it was killed.
      logs: The end of what each task printed.
    """

    folder: pathlib.Path
    codes: dict[str, int | None]
    logs: dict[str, str]

    @property
    def is_good(self) -> bool:
        """Whether every task ended with 0."""
        return not any(self.codes.values()) and None not in self.codes.values()

    @property
    def seen(self) -> dict[str, dict]:
        """Values that each task kept, by its name."""
        return {path.stem: json.loads(path.read_text()) for path in self.folder.glob("*.json")}


def plain(name: str, shape: str, folder: pathlib.Path) -> Ran:
    """Runs a program with the plain Estimator."""
    folder.mkdir()
    hosts = jobs.cluster(**SHAPES[shape].cluster)
    tasks = {}
    for task, tf_config in _tasks(hosts).items():
        variables = jobs.environment(**tf_config)
        tasks[task] = plain_process.start(
            SCRIPT, [name, shape, str(folder)], variables, folder / f"{task}.log")
    try:
        _wait(lambda: all(not process.is_alive() for task, process in tasks.items()
                          if not task.startswith("ps")))
        codes = {task: process.exitcode for task, process in tasks.items()
                 if not task.startswith("ps")}
    finally:
        for process in tasks.values():
            process.kill()
            process.join()
    return _ran(folder, codes)


def by_run(name: str, shape: str, folder: pathlib.Path) -> Ran:
    """Runs a program by `estimator-trainer run`."""
    folder.mkdir()
    return _ours(["run", "--noreport", str(SCRIPT), "--", name, shape, str(folder)], shape, folder)


def as_plugin(name: str, program: Program, shape: str, folder: pathlib.Path) -> Ran:
    """Runs the functions of a program as plug-ins of the command line."""
    folder.mkdir()
    settings = program.settings
    flags = [f"--model_fn={PLUGIN}", f"--train_input_fn={PLUGIN}:train_input_fn",
             f"--eval_input_fn={PLUGIN}:eval_input_fn", f"--model_dir={folder}/model",
             f"--train_steps={program.max_steps or 0}", f"--seed={settings['tf_random_seed'] or 0}",
             f"--save_checkpoints_steps={settings['save_checkpoints_steps']}",
             f"--save_summary_steps={settings['save_summary_steps']}", "--exporters=none",
             "--noreport", *SHAPES[shape].flags, *program.flags]
    return _ours(flags, shape, folder, EQUALITY_PROGRAM=name)


def _ours(args: list[str], shape: str, folder: pathlib.Path, **variables: str) -> Ran:
    hosts = jobs.cluster(**SHAPES[shape].cluster)
    tasks = {}
    try:
        for task, tf_config in _tasks(hosts).items():
            tasks[task] = jobs.start(folder, task, args, **_words(tf_config), **variables)
        _wait(lambda: all(task.code is not None for task in tasks.values()))
        codes = {name: task.code for name, task in tasks.items()}
    finally:
        for task in tasks.values():
            jobs.kill(task)
    return _ran(folder, codes)


def _words(variables: dict[str, str]) -> dict[str, str]:
    return {"tf_config": variables.get("TF_CONFIG", "")}


def _tasks(hosts: dict[str, list[str]]) -> dict[str, dict[str, str]]:
    """Returns the variables of each task, by the task's name."""
    if not hosts:
        return {"local-0": {}}
    return {f"{role}-{i}": {"TF_CONFIG": json.dumps(
                {"cluster": hosts, "task": {"type": role, "index": i}})}
            for role, addresses in hosts.items() for i in range(len(addresses))}


def _wait(is_done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + float(os.environ.get("EQUALITY_SECS", TIMEOUT_SECS))
    while not is_done() and time.monotonic() < deadline:
        time.sleep(0.05)


def _ran(folder: pathlib.Path, codes: dict[str, int | None]) -> Ran:
    logs = {path.stem: path.read_text(errors="replace")[-3000:]
            for path in sorted(folder.glob("*.log"))}
    return Ran(folder, codes, logs)
