"""How training scales over 1, 2 and 4 processes, each held to one core of this machine.

    python benchmarks/scaling.py --idx=/usr/share/datasets/fashion-mnist [--work=/tmp/benchmarks]
        [--only=cnn,curves] [--repeats=3] [--secs=3] [-- FLAGS OF THE TRAINER]

Against one process on one core, and against as many processes that have nothing to do with each
other, the limit. Where there are fewer cores than trainers they share them: on 2 cores, 4 trainers
are two a core. The jobs of a network are measured in turn, again and again, while the others
stand still; ratios are made inside one such repetition. What it measures:

  cnn      the tutorial's network at batch 64 and 256 a trainer, on Fashion-MNIST
  curves   that modes of the same mathematics have the same loss curve
  mlp      networks of several sizes, for benchmarks/paper_model.py: step and computing time
  backup   steps that wait for some of four randomly late workers
  disk     seconds to write checkpoints by size, to read a record, and of single steps

All of it goes to scaling.json in --work; the parts not measured stay in that file.
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
from typing import Any, Callable, Iterator, NamedTuple

import curves
import pinned_job
from pinned_job import Job
import scaling_table
import speed

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ("cnn", "curves", "mlp", "backup", "disk")
TRAINERS = (1, 2, 4)
_PROBE = f"--model_fn={HERE / 'probe_mlp.py'}"
_MLP_BATCH = 32
# By so much the lines of a trainer that waits for nobody may be further apart.
_ALONE = 5
_LATE_SECS = 0.1
_LATE_WORKERS = 4
_LATE_MEASURED = 5
_SINGLE_STEPS_SECS = 10


class Network(NamedTuple):
    """What is trained.

    Attributes:
      flags: That choose it.
      batch_size: Of a trainer.
      line_steps: Own steps of a trainer that waits for others between two lines of its log: a
        line ends a session run, so that there should be few.
      variables: Their number.
      variable_bytes: Of all of them.
    """

    flags: tuple[str, ...]
    batch_size: int
    line_steps: int
    variables: int
    variable_bytes: int


def _dense(layers: int, units: int, line_steps: int) -> Network:
    variable_bytes = 4 * (785 * units + (layers - 1) * (units + 1) * units + 10 * (units + 1))
    return Network((_PROBE, f"--param=hidden_layers={layers}", f"--param=hidden_units={units}"),
                   _MLP_BATCH, line_steps, 2 * layers + 2, variable_bytes)


_CNN_FLAGS = ("--model_fn=cnn", "--param=learning_rate=0.01")
CNN = {"cnn64": Network(_CNN_FLAGS, 64, 20, 6, 1_388_584),
       "cnn256": Network(_CNN_FLAGS, 256, 5, 6, 1_388_584)}
MLP = {"mlp128": _dense(1, 128, 50), "mlp4096": _dense(1, 4096, 5), "deep128": _dense(16, 128, 20)}


def main() -> None:
    """Measures what --only says, prints the tables and writes the JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--idx", required=True)
    parser.add_argument("--work", default="/tmp/benchmarks")
    parser.add_argument("--only", default="cnn,curves")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--secs", type=float, default=3.0)
    parser.add_argument("flags", nargs="*")
    options = parser.parse_args()
    # What stands still would do so for ever.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    work = pathlib.Path(options.work)
    path = work / "scaling.json"
    results: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    results.update(_about(options.flags))
    data = [*_records(options.idx, work), *options.flags]
    parts: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
        "cnn": lambda: _sweep(CNN, data, options.repeats, options.secs),
        "curves": lambda: curves.measure(data),
        "mlp": lambda: _sweep(MLP, data, options.repeats, options.secs),
        "backup": lambda: _backup(data, options.secs),
        "disk": lambda: _disk(data, work),
    }
    for part in options.only.split(","):
        results[part] = []
        for row in parts[part]():
            results[part].append(row)
            path.write_text(scaling_table.as_json(results))
    print(scaling_table.text(results), flush=True)


def _about(flags: list[str]) -> dict[str, Any]:
    return {"date": datetime.date.today().isoformat(),
            "machine": f"{len(os.sched_getaffinity(0))} cores, {scaling_table.cpu_name()}",
            "versions": {"python": platform.python_version(),
                         "tensorflow": importlib.metadata.version("tensorflow")},
            "flags": flags}


def _records(idx: str, work: pathlib.Path) -> list[str]:
    """Returns the flags that read Fashion-MNIST, which it converts once."""
    folder = work / "records"
    if not folder.exists():
        subprocess.run([sys.executable, "-m", "input_fns.convert", f"--idx={idx}",
                        f"--output={folder}", "--shards=8"], check=True, cwd=pinned_job.REPO)
    return ["--input_fn=tfrecord", f"--param=train_files={folder}/train-*",
            f"--param=eval_files={folder}/test-*"]


def _sweep(networks: dict[str, Network], data: list[str], repeats: int,
           secs: float) -> Iterator[dict[str, Any]]:
    """Measures every mode of every network, in turn, and repeats it."""
    for case, network in networks.items():
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


def _job(network: Network, mode: str, trainers: int, data: list[str]) -> Job:
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
    """Measures steps that take 2, 3 and 4 gradients of four workers, which wait at random."""
    for late_secs, gradients in ((0.0, 4), (_LATE_SECS, 4), (_LATE_SECS, 3), (_LATE_SECS, 2)):
        # The wait holds a thread, and one core has one.
        job = Job("sync_ps", _LATE_WORKERS, _MLP_BATCH, (
            _PROBE, f"--param=late_secs={late_secs}", f"--sync_replicas={gradients}",
            "--inter_op_threads=8", "--log_every_steps=10", *data,
            f"--param=batch_size={gradients * _MLP_BATCH}"))
        with speed.warm(job) as warm:
            steps_per_sec = warm.measure(_LATE_MEASURED * secs).steps_per_sec
        print(f"backup    late by {late_secs} s, {gradients} of {_LATE_WORKERS}:"
              f" {steps_per_sec:.4g} steps/s", flush=True)
        yield {"late_secs": late_secs, "workers": _LATE_WORKERS, "gradients": gradients,
               "step_secs": 1.0 / steps_per_sec}


def _disk(data: list[str], work: pathlib.Path) -> Iterator[dict[str, Any]]:
    """Measures checkpoints, records, and the times of single steps of one process on one core."""
    ran = subprocess.run([sys.executable, HERE / "disk_costs.py", f"--records={work}/records",
                          f"--folder={work}"], check=True, stdout=subprocess.PIPE, text=True,
                         env=pinned_job.jobs.environment(TF_CPP_MIN_LOG_LEVEL="3"))
    network = CNN["cnn64"]
    job = Job("local", 1, network.batch_size, (*network.flags, "--log_every_steps=1", *data))
    with pinned_job.running(job) as [task]:
        step_secs = speed.step_secs(task, _SINGLE_STEPS_SECS)
    yield {**json.loads(ran.stdout.splitlines()[-1]), "step_secs": step_secs}


if __name__ == "__main__":
    main()
