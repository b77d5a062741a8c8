"""How training scales over 1, 2 and 4 processes, each held to one core of this machine.

    python benchmarks/scaling.py --idx=/usr/share/datasets/fashion-mnist [--work=/tmp/benchmarks]
        [--only=cnn,curves] [--repeats=3] [--secs=5] [-- FLAGS OF THE TRAINER]

Against one process on one core, and against as many processes that have nothing to do with each
other, the limit. Repetitions are interleaved; ratios are made inside one. What it measures:

  cnn      the tutorial's network at batch 64 and 256 a trainer, on Fashion-MNIST
  curves   that modes of the same mathematics have the same loss curve
  mlp      networks of several sizes, for benchmarks/paper_model.py: step and computing time
  backup   steps that wait for some of four randomly late workers
  disk     seconds to write checkpoints by size, to read a record, and of single steps

All of it goes to scaling.json in --work; the parts not measured stay in that file.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
import subprocess
import sys
from typing import Any, Callable, Iterator

import curves
import pinned_job
from pinned_job import Job
import scaling_table

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ("cnn", "curves", "mlp", "backup", "disk")
TRAINERS = (1, 2, 4)
# By network: batch of a trainer, own steps between two lines of the log, variables, their bytes.
CNN = {"cnn64": (64, 20, 6, 1_388_584), "cnn256": (256, 5, 6, 1_388_584)}
_HIDDEN = {"mlp128": (1, 128, 100), "mlp1024": (1, 1024, 20), "mlp4096": (1, 4096, 5),
           "mlp16384": (1, 16384, 2), "deep128": (16, 128, 20)}
_MLP_BATCH = 32
MLP = {name: (_MLP_BATCH, lines, 2 * layers + 2,
              4 * (785 * units + (layers - 1) * (units + 1) * units + 10 * (units + 1)))
       for name, (layers, units, lines) in _HIDDEN.items()}
_PROBE = f"--model_fn={HERE / 'probe_mlp.py'}"
_LATE_SECS = 0.1
_LATE_WORKERS = 4
_SINGLE_STEPS_SECS = 10


def main() -> None:
    """Measures what --only says, prints the tables and writes the JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--idx", required=True)
    parser.add_argument("--work", default="/tmp/benchmarks")
    parser.add_argument("--only", default="cnn,curves")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--secs", type=float, default=5.0)
    parser.add_argument("flags", nargs="*")
    options = parser.parse_args()
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


def _sweep(cases: dict[str, tuple[int, int, int, int]], data: list[str], repeats: int,
           secs: float) -> Iterator[dict[str, Any]]:
    """Measures every mode of every case, in turn, and repeats it."""
    for repeat in range(repeats):
        for case, (batch_size, lines, variables, variable_bytes) in cases.items():
            for mode, trainers in _runs():
                job = Job(mode, trainers, batch_size,
                          (*_model(case), f"--log_every_steps={lines}", *data))
                speed = pinned_job.measure(job, secs)
                examples_per_sec = speed.steps_per_sec * job.step_examples
                print(f"{case:9} {mode:12} {trainers} {speed.steps_per_sec:9.4g} steps/s"
                      f" {examples_per_sec:10,.0f} examples/s {speed.foreign_cores:6.2f} cores"
                      " busy elsewhere", flush=True)
                yield {"case": case, "mode": mode, "trainers": trainers, "repeat": repeat,
                       "cores": min(trainers, len(os.sched_getaffinity(0))),
                       "batch_size": batch_size, "variables": variables,
                       "variable_bytes": variable_bytes, "examples_per_sec": examples_per_sec,
                       **dataclasses.asdict(speed)}


def _runs() -> list[tuple[str, int]]:
    return [(mode, trainers) for trainers in TRAINERS for mode in pinned_job.MODES
            if mode != ("local" if trainers > 1 else "independent")]


def _model(case: str) -> list[str]:
    if case in CNN:
        return ["--model_fn=cnn", "--param=learning_rate=0.01"]
    layers, units, _ = _HIDDEN[case]
    return [_PROBE, f"--param=hidden_layers={layers}", f"--param=hidden_units={units}"]


def _backup(data: list[str], secs: float) -> Iterator[dict[str, Any]]:
    """Measures steps that take 2, 3 and 4 gradients of four workers, which wait at random."""
    for late_secs, gradients in ((0.0, 4), (_LATE_SECS, 4), (_LATE_SECS, 3), (_LATE_SECS, 2)):
        # The wait holds a thread, and one core has one.
        job = Job("sync_ps", _LATE_WORKERS, _MLP_BATCH, (
            _PROBE, f"--param=late_secs={late_secs}", f"--sync_replicas={gradients}",
            "--inter_op_threads=8", "--log_every_steps=10", *data,
            f"--param=batch_size={gradients * _MLP_BATCH}"))
        steps_per_sec = pinned_job.measure(job, 4 * secs).steps_per_sec
        print(f"backup    late by {late_secs} s, {gradients} of {_LATE_WORKERS}:"
              f" {steps_per_sec:.4g} steps/s", flush=True)
        yield {"late_secs": late_secs, "workers": _LATE_WORKERS, "gradients": gradients,
               "step_secs": 1.0 / steps_per_sec}


def _disk(data: list[str], work: pathlib.Path) -> Iterator[dict[str, Any]]:
    """Measures checkpoints, records, and the times of single steps of one process on one core."""
    ran = subprocess.run([sys.executable, HERE / "disk_costs.py", f"--records={work}/records",
                          f"--folder={work}"], check=True, stdout=subprocess.PIPE, text=True)
    job = Job("local", 1, CNN["cnn64"][0], (*_model("cnn64"), "--log_every_steps=1", *data))
    with pinned_job.running(job) as [task]:
        step_secs = pinned_job.step_secs(task, _SINGLE_STEPS_SECS)
    yield {**json.loads(ran.stdout.splitlines()[-1]), "step_secs": step_secs}


if __name__ == "__main__":
    main()
