"""Measures how long a start takes (commands, first steps, late workers) and a run's memory.

    python -m benchmarks.start [--repeats=5] [--only=first_step]

commands     `--help` and `check`, beside a Python that imports absl.flags alone
first_step   from README's first command to its first step, beside the scripts of
             suite/peers/plain.py, of which the first trains the same model with tf.estimator
phases       from the command to each of several lines of the log
cluster      from the start of the last task to its own first step
memory       peak memory of a whole run on the digits; benchmarks.suite has larger runs
scripts      the first step and the peak memory of whole scripts, plain and with `run`: the model of
             26 tables of benchmarks.sparse, and two models of benchmarks.kinds

The rows of a table run in turn, so that a slower minute of the machine hits all of them, and only
ratios inside one table count. Processes are real, and so are the ports of the loopback interface.
The tables of commands and of first steps have the processor's seconds (user and system) beside
those of the clock: other programs on the machine change the first by far less.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Iterable

import psutil

from benchmarks import repetitions
from benchmarks.kinds import __main__ as kinds
from benchmarks.sparse import measurement, rows as sparse_rows
from benchmarks.sparse.peers import work
from estimator_trainer.cluster import peers
from tests.support import jobs

_LIMIT_SECS = 120.0
_STEP = re.compile(r"step \d+/")
_PHASES = {"plug-ins loaded, graphs tried": re.compile(r"params: "),
           "session begun": re.compile("training from step"), "first step": _STEP}
# Ten evaluations and a page, which the peers do not make, are not part of a start.
_TRAINER = [sys.executable, "-m", "estimator_trainer", "--noreport", "--num_evaluations=0"]
_PLAIN = [sys.executable, "-m", "benchmarks.suite.peers.plain"]
_COMMANDS = {"import absl.flags": [sys.executable, "-c", "import absl.flags"],
             "python -c pass": [sys.executable, "-c", "pass"],
             "--help": [*_TRAINER[:3], "--help"], "check": [*_TRAINER[:3], "check"]}
_PLAIN_STEP = re.compile(r"loss = \S+, step = \d+")
# The scripts by name, with the steps of a run whose memory is measured.
_SCRIPTS = {"26 tables": 500, "resnet": 100, "transformer": 100}
_RECORDS, _ENDLESS = 20_000, 10**7
# The commands take tenths of a second, so their medians cost little.
_LEAST_COMMANDS = 10


def main() -> None:
    """Runs all tables."""
    tables: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
        "commands": _commands, "first_step": _first_step, "phases": _phases, "cluster": _cluster,
        "memory": _memory, "scripts": _scripts}
    parser = argparse.ArgumentParser("python -m benchmarks.start",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=sorted(tables), action="append")
    parser.add_argument("--steps", type=int, default=1000, help="of the runs of `memory`")
    parser.add_argument("--scripts", nargs="+", choices=_SCRIPTS, default=list(_SCRIPTS))
    parser.add_argument("--json", type=pathlib.Path, default=pathlib.Path("start.json"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options.folder = pathlib.Path(folder)
        os.environ["TMPDIR"] = folder  # The rows' processes make their folders there.
        for package in ("estimator_trainer", "input_fns", "model_fns"):
            compileall.compile_dir(jobs.REPO / package, quiet=1)  # An installation does so.
        # This run writes the digits to the folder, which is no part of a start.
        _secs_until(_STEP, [*_PLAIN, "step", "cnn", "digits", _digits(options)])
        results = {name: tables[name](options) for name in options.only or tables}
    options.json.write_text(json.dumps(results, indent=2))


def _commands(options: argparse.Namespace) -> dict[str, Any]:
    def measure(row: str) -> tuple[float, float]:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(_COMMANDS[row], env=jobs.environment(), stdout=subprocess.DEVNULL,
                       check=True)
        secs, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, secs)

    return _show_both("commands", ".3f", _COMMANDS, max(options.repeats, _LEAST_COMMANDS), measure)


def _first_step(options: argparse.Namespace) -> dict[str, Any]:
    first_screen = [*_TRAINER[:3], f"--param=data_dir={options.folder}", "--log_every_steps=1"]
    rows = {"plain Estimator script": [*_PLAIN, "job", "cnn", "digits", _digits(options), "1000"],
            "script without an Estimator": [*_PLAIN, "step", "cnn", "digits", _digits(options)],
            "estimator-trainer": first_screen}

    return _show_both("first step", ".2f", rows, options.repeats,
                      lambda row: _secs_until(_STEP, rows[row]))


def _phases(options: argparse.Namespace) -> dict[str, Any]:
    rows: dict[str, list[float]] = {name: [] for name in _PHASES}
    for _ in range(options.repeats):
        secs = _secs_of_lines(list(_PHASES.values()), [
            *_TRAINER, f"--param=data_dir={options.folder}", "--log_every_steps=1"])
        for numbers, (_, each) in zip(rows.values(), secs):
            numbers.append(each)
    return _show("from the command until", "s", ".2f", repetitions.Repetitions(rows))


def _cluster(options: argparse.Namespace) -> dict[str, Any]:
    rows = {"asynchronous worker": ({"chief": 1, "worker": 1, "ps": 1}, []),
            "worker of an all-reduce": ({"chief": 1, "worker": 1},
                                        ["--train_distribute=multi_worker_mirrored"])}

    def measure(row: str) -> float:
        counts, flags = rows[row]
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            return _secs_of_last_task(pathlib.Path(folder), jobs.cluster(**counts), [
                *flags, f"--param=data_dir={options.folder}", f"--model_dir={folder}/model",
                "--train_steps=1000000", "--log_every_steps=1", "--exporters=none"])

    return _show("start of the last task to its first step", "s", ".2f",
                 repetitions.measured(rows, options.repeats, measure))


def _memory(options: argparse.Namespace) -> dict[str, Any]:
    rows = {"plain Estimator script": [*_PLAIN, "job", "cnn", "digits", _digits(options),
                                       str(options.steps)],
            "estimator-trainer": [*_TRAINER, f"--param=data_dir={options.folder}",
                                  f"--train_steps={options.steps}"]}
    return _show("memory", "MiB", ",.0f", repetitions.measured(
        rows, options.repeats, lambda row: _peak_mib(rows[row])))


def _scripts(options: argparse.Namespace) -> dict[str, Any]:
    runners = {"plain": _PLAIN_STEP, "ours": _STEP}
    tables = {}
    if "26 tables" in options.scripts:
        measurement.make_data(_sparse_work(options, 0, options.folder), _RECORDS)
    for name in options.scripts:
        def first(runner: str, name: str = name) -> tuple[float, float]:
            # The plain Estimator writes a line after its first step in any case.
            flags = ["--log_every_steps=1"] if runner == "ours" else []
            return _secs_until(runners[runner], _script(options, name, runner, _ENDLESS, flags))

        def peak(runner: str, name: str = name) -> float:
            return _peak_mib(_script(options, name, runner, _SCRIPTS[name], []))

        tables[name] = {
            **_show_both(f"first step of {name}", ".2f", runners, options.repeats, first),
            "memory": _show(f"memory of {name}", "MiB", ",.0f", repetitions.measured(
                runners, options.repeats, peak))}
    return tables


def _script(options: argparse.Namespace, name: str, runner: str, steps: int,
            flags: list[str]) -> list[str]:
    """Returns the command of a script, "plain" or "ours", with flags of this program."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=options.folder))
    if name == "26 tables":
        return sparse_rows.ROWS[runner].command(
            _sparse_work(options, steps, folder), options.folder, flags)
    return kinds.KINDS[name].command(runner, folder, flags, steps)


def _sparse_work(options: argparse.Namespace, steps: int, folder: pathlib.Path) -> work.Work:
    return work.Work(options.folder, columns=26, dimension=16, batch=512, steps=steps,
                     model_dir=folder)


def _digits(options: argparse.Namespace) -> str:
    return json.dumps({"data_dir": str(options.folder)})


def _secs_until(line: re.Pattern[str], command: list[str]) -> tuple[float, float]:
    [secs] = _secs_of_lines([line], command)
    return secs


def _secs_of_lines(lines: list[re.Pattern[str]],
                   command: list[str]) -> list[tuple[float, float]]:
    """Starts a command, and kills it after the last of some lines, which come in this order.

    Returns:
      The processor's seconds and those of the clock until each line.
    """
    wanted, secs, shown = list(lines), [], []
    start = time.perf_counter()
    with subprocess.Popen(command, env=_quiet(), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        for text in process.stdout:
            shown.append(text)
            if wanted[0].search(text):
                wall, times = time.perf_counter() - start, psutil.Process(process.pid).cpu_times()
                secs.append((times.user + times.system, wall))
                wanted.pop(0)
            if not wanted:
                break
        process.kill()
    if wanted:
        sys.exit(f"{' '.join(command)} failed:\n{''.join(shown)[-3000:]}")
    return secs


def _secs_of_last_task(folder: pathlib.Path, hosts: dict[str, list[str]],
                       args: list[str]) -> float:
    """Starts a cluster, its worker last; returns the seconds from then to the worker's first step.

    By then the other tasks wait for the worker or, if asynchronous, have begun to train.
    """
    tasks = []

    def start(role: str) -> jobs.Task:
        tf_config = json.dumps({"cluster": hosts, "task": {"type": role, "index": 0}})
        tasks.append(jobs.start(folder, f"{role}:0", args, tf_config, is_forked=False))
        return tasks[-1]

    try:
        for role in hosts.keys() - {"worker"}:
            start(role)
        if "ps" in hosts:
            _wait(tasks, lambda: any(_STEP.search(task.log) for task in tasks))
        else:
            _wait(tasks, lambda: peers.state(hosts["chief"][0]) == "up")
        began = time.perf_counter()
        worker = start("worker")
        _wait(tasks, lambda: bool(_STEP.search(worker.log)))
        return time.perf_counter() - began
    finally:
        for task in tasks:
            jobs.kill(task)


def _wait(tasks: list[jobs.Task], condition: Callable[[], bool]) -> None:
    deadline = time.perf_counter() + _LIMIT_SECS
    while not condition():
        ended = [task for task in tasks if task.code is not None]
        if ended or time.perf_counter() > deadline:
            sys.exit("\n".join(task.log[-3000:] for task in ended or tasks))
        time.sleep(0.02)


def _peak_mib(command: list[str]) -> float:
    """Returns the peak resident memory, in MiB, of a command's process or a child of it."""
    with tempfile.TemporaryFile() as shown, subprocess.Popen(
            command, env=_quiet(), stdout=shown, stderr=shown) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            shown.seek(0)
            sys.exit(f"{' '.join(command)} failed:\n{shown.read().decode()[-3000:]}")
    return usage.ru_maxrss / 1024


def _quiet() -> dict[str, str]:
    return jobs.environment(TF_CPP_MIN_LOG_LEVEL="3", PYTHONUNBUFFERED="1")


def _show_both(title: str, form: str, rows: Iterable[str], repeats: int,
               measure: Callable[[str], tuple[float, float]]) -> dict[str, Any]:
    """Prints a table of the processor's seconds, and one of the clock's; returns their numbers."""
    rows = list(rows)
    pairs: dict[str, list[tuple[float, float]]] = {row: [] for row in rows}
    for _ in range(repeats):
        for row in rows:
            pairs[row].append(measure(row))
    return {kind: _show(f"{title}, {kind}", "s", form, repetitions.Repetitions(
        {row: [pair[i] for pair in pairs[row]] for row in rows}))
        for i, kind in enumerate(("processor", "clock"))}


def _show(title: str, unit: str, form: str, found: repetitions.Repetitions) -> dict[str, Any]:
    """Prints a table; returns its numbers."""
    print(f"\n| {title} | {unit} | min-max | to the first | min-max |\n|---|---|---|---|---|")
    for row in found.values:
        print(f"| {row} | {found.median(row):{form}} | {found.span(row, form)} |"
              f" {found.ratio(row)} |", flush=True)
    return {"unit": unit, "rows": found.values}


if __name__ == "__main__":
    main()
