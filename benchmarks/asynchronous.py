"""How fast chief, worker and ps train asynchronously, beside a hand-written loop of TensorFlow 1.

    python benchmarks/asynchronous.py [--work=/tmp/benchmarks] [--repeats=3] [--only=cnn]

The same networks, batches and Fashion-MNIST records as in suite.py, which makes the records in
--work; three processes of each, pinned to the same two cores. Timed are global steps between two
lines of the chief's log, after the warm-up, as they arrive here; the loss is the mean of the lines
after that. The two take turns, --repeats times.
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

import repetitions

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests")]

import jobs  # noqa: E402  pylint: disable=wrong-import-position

# By case: batch, flags of this project, global steps before those that are timed, and those.
CASES = {"cnn": (64, ["--model_fn=cnn", "--param=learning_rate=0.01"], 2000, 3000),
         "sigmoid": (100, ["--model_fn=mlp", "--param=optimizer=adam",
                           "--param=learning_rate=0.001"], 4000, 12000)}
_LOSS_STEPS = 1000
# The loss of a single batch, a few times over, and of steps whose order is chance.
_LOSS_TOLERANCE = 0.3
_LINE = re.compile(r"step (\d+)/\S+  loss (\S+)")
_LIMIT_SECS = 300.0


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/benchmarks"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=sorted(CASES))
    options = parser.parse_args()
    print("| work | hand-written loop, steps/s | this project, steps/s | ratio | min-max |"
          " losses |\n|---|---|---|---|---|---|")
    for case in [options.only] if options.only else CASES:
        losses: dict[str, list[float]] = {"loop": [], "trainer": []}

        def measure(row: str) -> float:
            steps_per_sec, loss = _measure(row, case, options.work)
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


def _measure(row: str, case: str, work: pathlib.Path) -> tuple[float, float]:
    """Returns global steps a second, and the mean loss of the lines after those timed."""
    batch_size, model, warm_up, timed = CASES[case]
    last = warm_up + timed + _LOSS_STEPS
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        command = [sys.executable, HERE / "peers" / "ps_loop.py", f"--case={case}",
                   f"--records={work}/records", f"--npz={work}/train.npz",
                   f"--train_steps={last}"] if row == "loop" else [
            sys.executable, "-m", "estimator_trainer", *model, "--input_fn=tfrecord",
            f"--param=train_files={work}/records/train-*",
            f"--param=eval_files={work}/records/test-*", f"--param=batch_size={batch_size}",
            f"--model_dir={folder}/model", "--exporters=none", "--eval_steps=1",
            "--save_checkpoints_steps=1000000", f"--train_steps={last}"]
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
    """Returns step, time of arrival and loss of each line of the chief, to its end."""
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
