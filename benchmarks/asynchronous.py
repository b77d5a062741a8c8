"""Measures how fast chief, worker and ps train asynchronously, beside a hand-written loop.

    python -m benchmarks.asynchronous [--idx=FOLDER] [--work=/tmp/benchmarks] [--repeats=3]
        [--only=cnn]

The loop is TensorFlow 1's. Networks, batches and Fashion-MNIST records are those of
benchmarks.suite. Each side has three processes, pinned to the same two cores. After the warm-up,
global steps are timed between two lines of the chief's log, as the lines arrive here; the loss is
the mean of the lines after those. The two sides take turns, --repeats times. --idx is needed once,
until --work has the records.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from benchmarks import fashion_mnist, repetitions
from tests.support import jobs

# By case: batch, flags of this project, global steps of the warm-up, and global steps to time.
CASES = {"cnn": (64, ["--model_fn=cnn", "--param=learning_rate=0.01"], 2000, 3000),
         "sigmoid": (100, ["--model_fn=mlp", "--param=optimizer=adam",
                           "--param=learning_rate=0.001"], 4000, 12000)}
_LOSS_STEPS = 1000
# The losses are those of a few single batches, and the order of the steps is random.
_LOSS_TOLERANCE = 0.3
_LINE = re.compile(r"step (\d+)/\S+  loss (\S+)")
_LIMIT_SECS = 300.0


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser("python -m benchmarks.asynchronous",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--idx", help="folder of the set as IDX files")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/benchmarks"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=sorted(CASES))
    options = parser.parse_args()
    records = fashion_mnist.records(options.idx, options.work)
    print("| work | hand-written loop, steps/s | this project, steps/s | ratio | min-max |"
          " losses |\n|---|---|---|---|---|---|")
    for case in [options.only] if options.only else CASES:
        losses: dict[str, list[float]] = {"loop": [], "trainer": []}

        def measure(row: str) -> float:
            steps_per_sec, loss = _measure(row, case, records)
            losses[row].append(loss)
            return steps_per_sec

        speeds = repetitions.measured(losses, options.repeats, measure)
        means = {row: statistics.mean(values) for row, values in losses.items()}
        print(f"| {case} | {speeds.median('loop'):,.0f} | {speeds.median('trainer'):,.0f} |"
              f" {speeds.ratio('trainer')} | {means['loop']:.3f}, {means['trainer']:.3f} |",
              flush=True)
        if abs(means["trainer"] / means["loop"] - 1) > _LOSS_TOLERANCE:
            sys.exit(f"the losses of {case} differ by more than {_LOSS_TOLERANCE:.0%}: the two did"
                     " not do the same")


def _measure(row: str, case: str, records: pathlib.Path) -> tuple[float, float]:
    """Returns global steps a second, and the mean loss of the lines after those timed."""
    batch_size, model, warm_up, timed = CASES[case]
    last = warm_up + timed + _LOSS_STEPS
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        # The loop needs no --npz, but the command line of all peers asks for it.
        command = [sys.executable, "-m", "benchmarks.suite.peers.ps_loop", f"--case={case}",
                   f"--records={records}", "--npz=none",
                   f"--train_steps={last}"] if row == "loop" else [
            sys.executable, "-m", "estimator_trainer", *model, *fashion_mnist.flags(records),
            f"--param=batch_size={batch_size}", f"--model_dir={folder}/model", "--exporters=none",
            "--eval_steps=1", "--noreport", "--save_checkpoints_steps=1000000",
            f"--train_steps={last}"]
        hosts = jobs.cluster(chief=1, worker=1, ps=1)
        chief, *_ = [_start(stack, command, hosts, role) for role in ("chief", "worker", "ps")]
        lines = _lines(chief)
    times = [(step, at) for step, at, _ in lines if warm_up <= step <= warm_up + timed]
    (first, start), (end, stop) = times[0], times[-1]
    return ((end - first) / (stop - start),
            statistics.mean(loss for step, _, loss in lines if step > warm_up + timed))


def _start(stack: contextlib.ExitStack, command: list[Any], hosts: dict[str, list[str]],
           role: str) -> subprocess.Popen[str]:
    """Starts a task on two cores; it is killed when the stack closes."""
    tf_config = json.dumps({"cluster": hosts, "task": {"type": role, "index": 0}})
    output = subprocess.PIPE if role == "chief" else subprocess.DEVNULL
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
    process = subprocess.Popen(
        ["taskset", "-c", cores, *command], stdout=output, stderr=subprocess.STDOUT,
        text=True, env=jobs.environment(TF_CONFIG=tf_config, TF_CPP_MIN_LOG_LEVEL="3",
                                        TF_USE_LEGACY_KERAS="1"))
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


def _lines(chief: subprocess.Popen[str]) -> list[tuple[int, float, float]]:
    """Returns the step, time of arrival and loss of each line of the chief, until it ends."""
    found, log, deadline = [], [], time.monotonic() + _LIMIT_SECS
    for line in chief.stdout or ():
        log.append(line)
        if match := _LINE.search(line):
            found.append((int(match[1]), time.monotonic(), float(match[2])))
        if time.monotonic() > deadline:
            break
    if not found:
        sys.exit("".join(log[-40:]))
    return found


if __name__ == "__main__":
    main()
