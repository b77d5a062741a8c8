"""How fast this project trains, beside its peers on the same work and machine.

    python benchmarks/suite.py --idx=/usr/share/datasets/fashion-mnist [--work=/tmp/benchmarks]

Makes an environment for each peer below --work, once; runs the peers in turn, --repeats times, so
that a slower minute of the machine hits all of them; prints examples/s, and each peer's median
ratio to the first. Only ratios inside one run count. --only=sigmoid and --peers=a,b make it short.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
from typing import Any
import venv

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parent
# By peer: its script, the packages of its environment beside this project, more variables.
PEERS: dict[str, tuple[str, str, dict[str, str]]] = {
    "trainer": ("trainer.py", "estimator", {}),
    "estimator_script": ("estimator_script.py", "estimator", {}),
    "session_loop": ("session_loop.py", "estimator", {"TF_USE_LEGACY_KERAS": "1"}),
    "keras2_fit": ("keras_fit.py", "estimator", {"TF_USE_LEGACY_KERAS": "1"}),
    "keras3_fit": ("keras_fit.py", "keras3", {}),
    "torch_loop": ("torch_loop.py", "torch", {}),
    "lightning_fit": ("lightning_fit.py", "torch", {}),
    "raw_loop": ("raw_loop.py", "estimator", {"TF_USE_LEGACY_KERAS": "1"}),
}
PACKAGES = {"estimator": [str(REPO)], "keras3": ["tensorflow"], "torch": ["torch", "lightning"]}
_CASES = ("cnn", "sigmoid")


def main() -> None:
    """Runs the suite."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--idx", required=True)
    parser.add_argument("--work", default="/tmp/benchmarks")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--only", choices=_CASES)
    parser.add_argument("--peers", default=",".join(PEERS))
    options = parser.parse_args()
    work = pathlib.Path(options.work)
    peers = options.peers.split(",")
    pythons = {kind: _environment(work, kind) for kind in {PEERS[peer][1] for peer in peers}}
    data = _data(pathlib.Path(options.idx), work)
    _records(pythons["estimator"], options.idx, work)
    for case in [options.only] if options.only else _CASES:
        results: dict[str, list[dict[str, Any]]] = {peer: [] for peer in peers}
        for _ in range(options.repeats):
            for peer in peers:
                results[peer].append(_run(peer, pythons[PEERS[peer][1]], case, data, work,
                                          options.steps))
        _print_table(case, results)
        (work / f"{case}.json").write_text(json.dumps(results, indent=2))


def _environment(work: pathlib.Path, kind: str) -> pathlib.Path:
    folder = work / "environments" / kind
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"makes the environment {kind}", flush=True)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES[kind]], check=True)
    return python


def _data(idx: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    """Returns Fashion-MNIST's training set as an .npz."""
    path = work / "train.npz"
    if not path.exists():
        with gzip.open(idx / "train-images-idx3-ubyte.gz") as file:
            images = np.frombuffer(file.read()[16:], np.uint8).reshape(-1, 28, 28)
        with gzip.open(idx / "train-labels-idx1-ubyte.gz") as file:
            labels = np.frombuffer(file.read()[8:], np.uint8)
        np.savez(path, images=images, labels=labels)
    return path


def _records(python: pathlib.Path, idx: str, work: pathlib.Path) -> None:
    if not (work / "records").exists():
        subprocess.run([python, "-m", "input_fns.convert", f"--idx={idx}",
                        f"--output={work / 'records'}", "--shards=8"], check=True, cwd=REPO)


def _run(peer: str, python: pathlib.Path, case: str, data: pathlib.Path, work: pathlib.Path,
         steps: int) -> dict[str, Any]:
    script, _, variables = PEERS[peer]
    ran = subprocess.run(
        [python, HERE / "peers" / script, "--case", case, "--data", data, "--steps", str(steps)],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1",
             "RECORDS": str(work / "records"), "PYTHONPATH": str(REPO), **variables},
        capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{peer} failed:\n{ran.stderr[-3000:]}")
    result: dict[str, Any] = json.loads(ran.stdout.strip().splitlines()[-1])
    print(f"{case:8} {peer:18} {result['examples_per_sec']:12,.0f} examples/s", flush=True)
    return result


def _print_table(case: str, results: dict[str, list[dict[str, Any]]]) -> None:
    first = next(iter(results))
    print(f"\n| {case} | examples/s | {first} is faster by | min-max |\n|---|---|---|---|")
    for peer, runs in results.items():
        speeds = [run["examples_per_sec"] for run in runs]
        ratios = [own["examples_per_sec"] / speed for own, speed in zip(results[first], speeds)]
        print(f"| {peer} | {statistics.median(speeds):,.0f} | {statistics.median(ratios):.2f}x |"
              f" {min(ratios):.2f}-{max(ratios):.2f} |")
    print(flush=True)


if __name__ == "__main__":
    main()
