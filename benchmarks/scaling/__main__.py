"""Measures how training scales over 1, 2 and 4 processes, each held to one core.

    python -m benchmarks.scaling --idx=/usr/share/datasets/fashion-mnist [--work=/tmp/benchmarks]
        [--only=cnn,curves] [--repeats=3] [--secs=3] [-- FLAGS OF THE TRAINER]

A job is compared with one process on one core, and with as many independent processes, which are
the limit. Trainers share cores if there are fewer cores than trainers: on 2 cores, 4 trainers are
two on each core. The jobs of a network are measured in turn, --repeats times, while the others are
paused; a ratio is computed within one repetition. The parts of --only are:

  cnn      the tutorial's network at batch 64 and 256 per trainer, on Fashion-MNIST
  curves   loss curves of mathematically equal modes
  mlp      networks of several sizes, for benchmarks.paper: step and computing time
  backup   steps that wait for some of four randomly late workers
  disk     seconds to write checkpoints by size, to read a record, and of single steps

The results go to scaling.json in --work; parts that are not measured stay in that file.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
from typing import Any, Callable, Iterator

from benchmarks import fashion_mnist, machine
from benchmarks.scaling import curves, networks, pinned_job, speed, table
from benchmarks.scaling.pinned_job import Job
from tests.support import jobs

PARTS = ("cnn", "curves", "mlp", "backup", "disk")
TRAINERS = (1, 2, 4)
# Factor by which a trainer that waits for no other makes more steps between two lines of its log.
_ALONE = 5
_LATE_SECS = 0.1
_LATE_WORKERS = 4
_LATE_MEASURED = 5
_SINGLE_STEPS_SECS = 10


def main() -> None:
    """Measures the parts of --only, prints the tables and writes the JSON."""
    parser = argparse.ArgumentParser("python -m benchmarks.scaling",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--idx", required=True, help="folder of the set as IDX files")
    parser.add_argument("--work", default="/tmp/benchmarks")
    parser.add_argument("--only", default="cnn,curves", help=f"some of {','.join(PARTS)}")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--secs", type=float, default=3.0, help="of each measurement")
    parser.add_argument("flags", nargs="*", help="more flags of the trainer, after --")
    options = parser.parse_args()
    # Without an exit, paused jobs would stay paused for ever.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    work = pathlib.Path(options.work)
    path = work / "scaling.json"
    results: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    results.update(_about(options.flags))
    data = [*fashion_mnist.flags(fashion_mnist.records(options.idx, work)), *options.flags]
    parts: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
        "cnn": lambda: _sweep(networks.CNN, data, options.repeats, options.secs),
        "curves": lambda: curves.measure(data),
        "mlp": lambda: _sweep(networks.MLP, data, options.repeats, options.secs),
        "backup": lambda: _backup(data, options.secs),
        "disk": lambda: _disk(data, work),
    }
    for part in options.only.split(","):
        results[part] = []
        for row in parts[part]():
            results[part].append(row)
            path.write_text(table.as_json(results))
    print(table.text(results), flush=True)


def _about(flags: list[str]) -> dict[str, Any]:
    return {"date": datetime.date.today().isoformat(),
            "machine": f"{len(os.sched_getaffinity(0))} cores, {machine.cpu_name()}",
            "versions": {"python": platform.python_version(),
                         "tensorflow": importlib.metadata.version("tensorflow")},
            "flags": flags}


def _sweep(cases: dict[str, networks.Network], data: list[str], repeats: int,
           secs: float) -> Iterator[dict[str, Any]]:
    """Measures all modes of each network in turn, `repeats` times over."""
    for case, network in cases.items():
        jobs = [_job(network, mode, trainers, data) for mode, trainers in _runs()]
        with contextlib.ExitStack() as stack:
            kept = {job: stack.enter_context(speed.warm(job)) for job in jobs
                    if speed.can_stand_still(job)}
            for repeat in range(repeats):
                for job in jobs:
                    with (contextlib.nullcontext(kept[job]) if job in kept
                          else speed.warm(job)) as warm:
                        yield {"case": case, "repeat": repeat, "variables": network.variables,
                               "variable_bytes": network.variable_bytes,
                               **_measured(case, job, warm, secs)}


def _runs() -> list[tuple[str, int]]:
    return [(mode, trainers) for trainers in TRAINERS for mode in pinned_job.MODES
            if mode != ("local" if trainers > 1 else "independent")]


def _job(network: networks.Network, mode: str, trainers: int, data: list[str]) -> Job:
    is_alone = mode in ("local", "independent") or (mode == "all_reduce" and trainers == 1)
    line_steps = network.line_steps * (_ALONE if is_alone else 1)
    return Job(mode, trainers, network.batch_size,
               (*network.flags, f"--log_every_steps={line_steps}", *data))


def _measured(case: str, job: Job, warm: speed.WarmJob, secs: float) -> dict[str, Any]:
    found = warm.measure(secs)
    examples_per_sec = found.steps_per_sec * job.step_examples
    print(f"{case:9} {job.mode:12} {job.trainers} {found.steps_per_sec:9.4g} steps/s"
          f" {examples_per_sec:10,.0f} examples/s {found.foreign_cores:6.2f} cores busy elsewhere",
          flush=True)
    return {"mode": job.mode, "trainers": job.trainers,
            "cores": min(job.trainers, len(os.sched_getaffinity(0))),
            "batch_size": job.batch_size, "examples_per_sec": examples_per_sec,
            **dataclasses.asdict(found)}


def _backup(data: list[str], secs: float) -> Iterator[dict[str, Any]]:
    """Measures steps that take 2, 3 and 4 gradients of four workers, late at random."""
    for late_secs, gradients in ((0.0, 4), (_LATE_SECS, 4), (_LATE_SECS, 3), (_LATE_SECS, 2)):
        # A waiting worker holds a thread, and on one core it would have only one.
        job = Job("sync_ps", _LATE_WORKERS, networks.MLP_BATCH, (
            networks.PROBE, f"--param=late_secs={late_secs}", f"--sync_replicas={gradients}",
            "--inter_op_threads=8", "--log_every_steps=10", *data,
            f"--param=batch_size={gradients * networks.MLP_BATCH}"))
        with speed.warm(job) as warm:
            steps_per_sec = warm.measure(_LATE_MEASURED * secs).steps_per_sec
        print(f"backup    late by {late_secs} s, {gradients} of {_LATE_WORKERS}:"
              f" {steps_per_sec:.4g} steps/s", flush=True)
        yield {"late_secs": late_secs, "workers": _LATE_WORKERS, "gradients": gradients,
               "step_secs": 1.0 / steps_per_sec}


def _disk(data: list[str], work: pathlib.Path) -> Iterator[dict[str, Any]]:
    """Measures checkpoints, records, and single steps of one process on one core."""
    ran = subprocess.run([sys.executable, "-m", "benchmarks.scaling.disk_costs",
                          f"--records={work}/records", f"--folder={work}"], check=True,
                         stdout=subprocess.PIPE, text=True,
                         env=jobs.environment(TF_CPP_MIN_LOG_LEVEL="3"))
    network = networks.CNN["cnn64"]
    job = Job("local", 1, network.batch_size, (*network.flags, "--log_every_steps=1", *data))
    with pinned_job.running(job) as [task]:
        step_secs = speed.step_secs(task, _SINGLE_STEPS_SECS)
    yield {**json.loads(ran.stdout.splitlines()[-1]), "step_secs": step_secs}


if __name__ == "__main__":
    main()
