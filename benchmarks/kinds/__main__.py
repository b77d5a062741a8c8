"""Compares the steps/s of kinds of Estimator programs, run by plain Estimator and by this project.

    python -m benchmarks.kinds [--kinds=hook,tables] [--pairs=15] [--work=/tmp/benchmarks]
        [--append] [--awake] [-- FLAGS OF THIS PROJECT]
    python -m benchmarks.kinds --markdown

scripts/ has the programs: `python -m SCRIPT` is the plain Estimator, `run SCRIPT` this project.
Both are started once; then each has the machine in turn while the other is stopped (SIGSTOP), so
that the two halves of a pair are seconds apart: a virtual machine's speed changes within a minute.
A turn is --warm_up seconds, and --secs seconds that count, between the lines of the log nearest to
them. Which of the two is first alternates, and a ratio is computed inside a pair.

The runs are kept in kinds.json in --work. A new measurement of a kind replaces its runs; --append
adds to them, so that a long measurement can be made in parts. --markdown prints the table of the
file, and measures nothing. --quick tries the program out; its figures mean nothing.

--awake keeps each core busy with a process of the idle class, which runs only where nothing else
does. A virtual machine's core that has halted wakes up late, and a program that waits for its input
then depends on how often its cores halt.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from typing import Any, Iterator, Sequence

from benchmarks import followed_tasks, machine, repetitions
from benchmarks.scaling import table as scaling_table
from benchmarks.sparse import measurement
from benchmarks.suite import environments

_LIMIT_SECS = 120
_STEPS = 10**7  # More than a run makes.
# The lines of the plain Estimator, and of this project.
_LINES = {"plain": re.compile(r"loss = (?P<loss>[^\s,]+), step = (?P<step>\d+)"),
          "ours": re.compile(r"  step (?P<step>\d+)/\S+  loss (?P<loss>\S+)")}
_SCRIPTS = "benchmarks.kinds.scripts"


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of program.

    Attributes:
      label: Its name in the table.
      script: The name of its module in scripts/.
      flags: Flags of the script.
      line_steps: Steps from one line of the log to the next.
      counts: Number of tasks of each role; empty for one process.
    """

    label: str
    script: str
    flags: tuple[str, ...] = ()
    line_steps: int = 100
    counts: dict[str, int] = dataclasses.field(default_factory=dict)

    def command(self, runner: str, folder: pathlib.Path, flags: Sequence[str],
                steps: int = _STEPS) -> list[str]:
        """Returns the command of a task: `runner` is "plain" or "ours", with flags of its own."""
        script = f"{_SCRIPTS}.{self.script}"
        own = [*self.flags, f"--model_dir={folder}", f"--steps={steps}",
               f"--line_steps={self.line_steps}"]
        if runner == "plain":
            return [sys.executable, "-m", script, *own]
        return [sys.executable, "-m", "estimator_trainer", "run", *flags, script, "--", *own]


KINDS = {
    "hook": Kind("a hook in the TrainSpec", "mlp", ("--way=hook",)),
    "model_class": Kind("a class with training hooks", "mlp", ("--way=model_class",)),
    "early_stopping": Kind("`stop_if_no_decrease_hook`", "mlp", ("--way=early_stopping",)),
    "sync_replicas": Kind("`SyncReplicasOptimizer`: chief, worker, ps", "mlp",
                          ("--way=sync_replicas",), counts={"chief": 1, "worker": 1, "ps": 1}),
    "accumulate_steps": Kind("gradients of four batches added up", "mlp",
                             ("--way=accumulate_steps",)),
    "tables": Kind("vocabulary columns and a static table", "tables"),
    "resnet": Kind("ResNet-20, batch norm, images in the summaries", "resnet", line_steps=10),
    "transformer": Kind("a transformer like BERT", "transformer", line_steps=20),
    "lstm": Kind("an LSTM with padded batches", "lstm", line_steps=20),
    "csv": Kind("canned `DNNClassifier`, `make_csv_dataset`", "csv_columns"),
}


def main() -> None:
    """Measures, and prints the table."""
    options = _options()
    # Without an exit, the tasks of a run would go on for ever.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    path = options.work / "kinds.json"
    if not options.markdown:
        _measure(options, path)
    elif not path.exists():
        sys.exit(f"there is no {path}; measure first, without --markdown")
    print(text(json.loads(path.read_text())), flush=True)


def _options() -> argparse.Namespace:
    def kinds(names: str) -> list[str]:
        for name in names.split(","):
            if name not in KINDS:
                raise argparse.ArgumentTypeError(
                    f"{name!r} is no kind; expected some of {', '.join(KINDS)}")
        return names.split(",")

    parser = argparse.ArgumentParser("python -m benchmarks.kinds",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", type=kinds, default=list(KINDS))
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--awake", action="store_true", help="keeps idle cores from halting")
    parser.add_argument("--warm_up", type=float, default=0.5, help="seconds before the timed")
    parser.add_argument("--secs", type=float, default=2.0, help="seconds that are timed")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/benchmarks"))
    parser.add_argument("--append", action="store_true", help="keeps earlier runs of the kinds")
    parser.add_argument("--markdown", action="store_true", help="prints the table of kinds.json")
    parser.add_argument("--quick", action="store_true", help="times a second, once")
    parser.add_argument("flags", nargs="*", help="more flags of this project, after --")
    options = parser.parse_args()
    if options.quick:
        options.pairs, options.warm_up, options.secs = 1, 0.2, 1.0
    return options


def _measure(options: argparse.Namespace, path: pathlib.Path) -> None:
    """Measures all kinds; the file has each pair as soon as it is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"runs": []}
    results |= {"date": datetime.date.today().isoformat(),
                "machine": f"{len(os.sched_getaffinity(0))} cores, {machine.cpu_name()}",
                "versions": environments.versions(pathlib.Path(sys.executable))}
    if not options.append:
        results["runs"] = [run for run in results["runs"] if run["kind"] not in options.kinds]
    for name in options.kinds:
        for run in _pairs(name, options):
            results["runs"].append(run)
            path.write_text(scaling_table.as_json(results))


def _pairs(name: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Measures a kind; yields the speeds of each pair."""
    with contextlib.ExitStack() as stack:
        if options.awake:
            stack.enter_context(_awake_cores())
        programs = {runner: stack.enter_context(_started(KINDS[name], runner, options.flags))
                    for runner in ("ours", "plain")}
        for pair in range(options.pairs):
            speeds = {runner: _steps_per_sec(programs[runner], options)
                      for runner in (("plain", "ours") if pair % 2 else ("ours", "plain"))}
            print(f"{name:16} plain {speeds['plain']:8.1f}  ours {speeds['ours']:8.1f} steps/s "
                  f" {speeds['ours'] / speeds['plain']:.2f}x", flush=True)
            yield {"kind": name, "commit": machine.commit(), "flags": options.flags,
                   "awake": options.awake, **speeds}


@contextlib.contextmanager
def _awake_cores() -> Iterator[None]:
    """Keeps all cores from halting, with processes that run only where nothing else does."""
    spin = ("import os; os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n"
            "while True: pass")
    spinners = [subprocess.Popen([sys.executable, "-c", spin]) for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for each in spinners:
            each.kill()
            each.wait()


@contextlib.contextmanager
def _started(kind: Kind, runner: str, flags: Sequence[str]
             ) -> Iterator[list[followed_tasks.Follower]]:
    """Starts a program, and stops it once it trains; yields its logs, the chief's first."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        command = kind.command(runner, folder / "model", flags)
        with measurement.running(folder, kind.counts, command) as tasks:
            followers = [followed_tasks.Follower(task, _LINES[runner]) for task in tasks]
            # The first line may come before the graph is prepared, and the others train.
            followed_tasks.read_until(followers, lambda: len(followers[0].steps) >= 2, _LIMIT_SECS)
            followed_tasks.send(followers, signal.SIGSTOP)
            yield followers
            for each in followers:
                each.close()


def _steps_per_sec(followers: list[followed_tasks.Follower], options: argparse.Namespace) -> float:
    """Lets a program go on until its steps are timed, and returns their number a second."""
    lines, known = followers[0], len(followers[0].steps)  # The chief's, with global steps.
    followed_tasks.send(followers, signal.SIGCONT)
    # The time of the first line may be from before the stop.
    followed_tasks.read_until(followers, lambda: len(lines.steps) > known + 1, _LIMIT_SECS)
    start = _line_after(followers, lines.at_secs[-1] + options.warm_up)
    end = _line_after(followers, lines.at_secs[start] + options.secs)
    followed_tasks.send(followers, signal.SIGSTOP)
    return ((lines.steps[end] - lines.steps[start])
            / (lines.at_secs[end] - lines.at_secs[start]))


def _line_after(followers: list[followed_tasks.Follower], at_secs: float) -> int:
    """Reads until the chief has a line at this time or later, and returns the line's index."""
    lines = followers[0]
    followed_tasks.read_until(followers, lambda: lines.at_secs[-1] >= at_secs, _LIMIT_SECS)
    return len(lines.steps) - 1


def text(results: dict[str, Any]) -> str:
    """Returns the table: for each kind the medians, and the median ratio with its span."""
    rows = ["| kind of program | plain Estimator, steps/s | this project, steps/s | ratio |",
            "|---|---|---|---|"]
    counts = set()
    for name, kind in KINDS.items():
        runs = [run for run in results["runs"] if run["kind"] == name]
        if not runs:
            continue
        counts.add(len(runs))
        speeds = repetitions.Repetitions({
            runner: [run[runner] for run in runs] for runner in ("plain", "ours")})
        ratios = speeds.ratios("ours")
        rows.append(f"| {kind.label} | {speeds.median('plain'):,.1f} | {speeds.median('ours'):,.1f}"
                    f" | {statistics.median(ratios):.2f}x"
                    f" ({min(ratios):.2f}-{max(ratios):.2f}) |")
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    commits = ", ".join(dict.fromkeys(run["commit"] for run in results["runs"]))
    flags = dict.fromkeys(" ".join(run["flags"]) for run in results["runs"] if run["flags"])
    awake = [run["kind"] for run in results["runs"] if run.get("awake")]
    pairs = "-".join(map(str, sorted({min(counts, default=0), max(counts, default=0)})))
    return "\n".join([
        *rows, "",
        f"{results['date']}, estimator_trainer {commits}, {results['machine']}; {versions}. Medians"
        f" of pairs in turn ({pairs} of each kind), with the lowest and the highest ratio in"
        " brackets.", *(f"This project's flags: {each}." for each in flags),
        *(f"Cores kept awake: {each}." for each in dict.fromkeys(awake))])


if __name__ == "__main__":
    main()
