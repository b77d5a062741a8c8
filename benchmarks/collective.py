"""Measures two all-reduce trainers beside a hand-written graph, by size of the model.

    python -m benchmarks.collective [--idx=FOLDER] [--work=/tmp/benchmarks] [--repeats=3]
        [--only=cnn,13MB] [--secs=3]

Each trainer is held to one core by `taskset`, so it runs on Linux alone. The rows of a model take
turns, --repeats times, and ratios are to the hand-written graph, in a loop, inside one repetition.
--idx is needed once, until --work has the records.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys

from benchmarks import fashion_mnist, repetitions
from benchmarks.scaling import networks, pinned_job, speed
from tests.support import jobs

_BATCH = 64
_LIMIT_SECS = 240
# By name: sigmoid layers, units of each (0: the tutorial's network), and steps of a log line.
MODELS = {"cnn": (0, 0, 100), "13MB": (1, 4096, 50), "53MB": (2, 3200, 10), "80MB": (2, 4096, 10)}
# By row: whether this project trains, and the flags of it or of the hand-written graph.
_ROWS = {
    "hand-written, in a loop": (False, ()),
    "hand-written, single steps": (False, ("--single",)),
    "this project": (True, ()),
    "single steps": (True, ("--steps_per_loop=1",)),
    "one pack": (True, ("--all_reduce_pack_mb=1000",)),
    "bfloat16": (True, ("--all_reduce_dtype=bfloat16",)),
}


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser("python -m benchmarks.collective",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--idx", help="folder of the set as IDX files")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/benchmarks"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--secs", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--only", default=",".join(MODELS), help=f"some of {','.join(MODELS)}")
    options = parser.parse_args()
    records = fashion_mnist.records(options.idx, options.work)
    print("| model | two trainers | examples/s | to hand-written | min-max |\n"
          "|---|---|---|---|---|")
    for model in options.only.split(","):
        found = repetitions.measured(_ROWS, options.repeats, lambda row: _examples_per_sec(
            model, row, records, options.secs))
        for row in _ROWS:
            print(f"| {model} | {row} | {found.median(row):,.0f} | {found.ratio(row)} |",
                  flush=True)


def _examples_per_sec(model: str, row: str, records: pathlib.Path, secs: float) -> float:
    layers, units, line_steps = MODELS[model]
    is_own, flags = _ROWS[row]
    if not is_own:
        return 2 * _BATCH * _hand_written(
            [f"--layers={layers}", f"--units={units}", f"--batch_size={_BATCH}",
             f"--records={records}", f"--secs={secs}", *flags])
    network = ((networks.PROBE, f"--param=hidden_layers={layers}", f"--param=hidden_units={units}")
               if layers else networks.CNN["cnn64"].flags)
    job = pinned_job.Job("all_reduce", 2, _BATCH, (
        *network, f"--log_every_steps={line_steps}", *fashion_mnist.flags(records), *flags))
    with speed.warm(job) as warm:
        return warm.measure(secs).steps_per_sec * job.step_examples


def _hand_written(flags: list[str]) -> float:
    """Returns the steps a second of the hand-written graph in two processes."""
    hosts = jobs.cluster(worker=2)
    with contextlib.ExitStack() as stack:
        processes = []
        for index, core in enumerate(sorted(os.sched_getaffinity(0))[:2]):
            tf_config = json.dumps({"cluster": hosts, "task": {"type": "worker", "index": index}})
            processes.append(subprocess.Popen(
                ["taskset", "-c", str(core), sys.executable, "-m",
                 "benchmarks.suite.peers.collective_loop", *flags],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=jobs.environment(
                    TF_CONFIG=tf_config, TF_CPP_MIN_LOG_LEVEL="3", TF_USE_LEGACY_KERAS="1")))
            stack.callback(processes[-1].wait)
            stack.callback(processes[-1].kill)
        output, _ = processes[0].communicate(timeout=_LIMIT_SECS)
    lines = output.splitlines()
    if not lines:
        sys.exit("the hand-written graph ended without a result")
    return float(json.loads(lines[-1])["steps_per_sec"])


if __name__ == "__main__":
    main()
