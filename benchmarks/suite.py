"""How fast this project trains, beside its peers on the same work and machine.

    python benchmarks/suite.py --idx=/usr/share/datasets/fashion-mnist [--work=/tmp/benchmarks]

Makes an environment for each kind of peer below --work, once; runs the peers in turn, --repeats
times, so that a slower minute of the machine hits all of them; writes results.json, results.md
(the tables, printed too) and results.png there. Only ratios inside one run count, and there are
none where peers did not do the same: then it says what differs and exits with 1.
--only=sigmoid and --peers=a,b make it short; the first peer is what the others are compared to.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import pathlib
import subprocess
import sys
from typing import Any, Callable, Iterable
import venv

import agreement
import numpy as np
import scaling_table
import suite_table

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parent
_KERAS2 = {"TF_USE_LEGACY_KERAS": "1"}
# By peer: its script, the kind of its environment, more variables.
PEERS: dict[str, tuple[str, str, dict[str, str]]] = {
    "trainer": ("trainer.py", "estimator", {}),
    "estimator_script": ("estimator_script.py", "estimator", _KERAS2),
    "estimator_tuned": ("estimator_tuned.py", "estimator", _KERAS2),
    "session_loop": ("session_loop.py", "estimator", _KERAS2),
    "keras2_fit": ("keras_fit.py", "estimator", _KERAS2),
    "keras3_fit": ("keras_fit.py", "keras3", {}),
    "keras3_fit_50": ("keras_fit.py", "keras3", {"STEPS_PER_EXECUTION": "50"}),
    "torch_loop": ("torch_loop.py", "torch", {}),
    "lightning_fit": ("lightning_fit.py", "torch", {}),
    "raw_loop": ("raw_loop.py", "estimator", _KERAS2),
}
PACKAGES = {"estimator": [str(REPO)], "keras3": ["tensorflow"], "torch": ["torch", "lightning"],
            "plot": ["matplotlib"]}
CASES = ("cnn", "sigmoid")
# The steps of keras_fit.py between two reports, the most of all peers.
_STEPS_UNIT = 200
_VERSIONS = """
import importlib.metadata, json, platform
names = {"tensorflow", "tf_keras", "keras", "tensorflow-estimator", "torch", "lightning"}
found = {d.name: d.version for d in importlib.metadata.distributions() if d.name in names}
print(json.dumps({"Python": platform.python_version(), **dict(sorted(found.items()))}))
"""
# Each would give one library other threads than the rest, or another backend.
_CLEARED = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS",
            "TF_NUM_INTEROP_THREADS", "KERAS_BACKEND", "TF_CONFIG", "TF_USE_LEGACY_KERAS")


def main() -> None:
    """Runs the suite."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--idx", required=True, help="folder of the set as IDX files")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/benchmarks"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=2000, help="that are timed")
    parser.add_argument("--only", choices=CASES)
    parser.add_argument("--peers", default=",".join(PEERS))
    options = parser.parse_args()
    if options.steps < _STEPS_UNIT or options.steps % _STEPS_UNIT:
        parser.error(f"--steps is {options.steps}; expected a multiple of {_STEPS_UNIT}")
    peers = options.peers.split(",")
    if unknown := [peer for peer in peers if peer not in PEERS]:
        parser.error(f"--peers has {unknown[0]!r}; expected some of {', '.join(PEERS)}")
    options.work.mkdir(parents=True, exist_ok=True)
    kinds = ["estimator", *(PEERS[peer][1] for peer in peers), "plot"]
    pythons = {kind: _environment(options.work, kind) for kind in dict.fromkeys(kinds)}
    _make_data(pathlib.Path(options.idx), options.work, pythons["estimator"])
    cases = {}
    for case in [options.only] if options.only else CASES:
        cases[case] = measured(peers, options.repeats, lambda peer: _run(
            peer, pythons[PEERS[peer][1]], case, options.work, options.steps))
    results = {**_origin(pythons), "repeats": options.repeats, "steps": options.steps,
               "cases": cases}
    _write(results, options.work, pythons["plot"])


def measured(peers: Iterable[str], repeats: int,
             run: Callable[[str], dict[str, Any]]) -> agreement.Runs:
    """Runs the peers in turn, `repeats` times over; returns what they reported.

    Exits with 1, after the first repetition where they differ in what they did.
    """
    runs: agreement.Runs = {peer: [] for peer in peers}
    for _ in range(repeats):
        for peer, reports in runs.items():
            reports.append(run(peer))
        if problem := agreement.problem(runs):
            sys.exit(problem)
    return runs


def _environment(work: pathlib.Path, kind: str) -> pathlib.Path:
    folder = work / "environments" / kind
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"makes the environment {kind}", flush=True)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES[kind]], check=True)
    return python


def _make_data(idx: pathlib.Path, work: pathlib.Path, python: pathlib.Path) -> None:
    """Puts Fashion-MNIST below `work`: its training set as an .npz, and both as TFRecords."""
    if not (work / "train.npz").exists():
        with gzip.open(idx / "train-images-idx3-ubyte.gz") as file:
            images = np.frombuffer(file.read()[16:], np.uint8).reshape(-1, 28, 28)
        with gzip.open(idx / "train-labels-idx1-ubyte.gz") as file:
            labels = np.frombuffer(file.read()[8:], np.uint8)
        np.savez(work / "train.npz", images=images, labels=labels)
    if not (work / "records").exists():
        subprocess.run([python, "-m", "input_fns.convert", f"--idx={idx}",
                        f"--output={work / 'records'}", "--shards=8"], check=True, cwd=REPO)


def _run(peer: str, python: pathlib.Path, case: str, work: pathlib.Path,
         steps: int) -> dict[str, Any]:
    script, _, variables = PEERS[peer]
    kept = {name: value for name, value in os.environ.items() if name not in _CLEARED}
    ran = subprocess.run(
        [python, HERE / "peers" / script, "--case", case, "--steps", str(steps),
         "--records", work / "records", "--npz", work / "train.npz"],
        env={**kept, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1",
             "PYTHONPATH": str(REPO), **variables},
        capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{peer} failed:\n{ran.stderr[-3000:]}")
    result: dict[str, Any] = json.loads(ran.stdout.strip().splitlines()[-1])
    print(f"{case:8} {peer:18} {result['examples_per_sec']:12,.0f} examples/s", flush=True)
    return result


def _origin(pythons: dict[str, pathlib.Path]) -> dict[str, Any]:
    """Returns what the numbers depend on."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--tags"], cwd=REPO,
                            capture_output=True, text=True, check=False).stdout.strip()
    return {"date": datetime.date.today().isoformat(), "commit": commit or "of no commit",
            "machine": scaling_table.cpu_name(), "cores": len(os.sched_getaffinity(0)),
            "versions": {kind: json.loads(subprocess.check_output([python, "-c", _VERSIONS]))
                         for kind, python in pythons.items() if kind != "plot"}}


def _write(results: dict[str, Any], work: pathlib.Path, python: pathlib.Path) -> None:
    text = suite_table.text(results)
    print(f"\n{text}")
    (work / "results.md").write_text(text)
    (work / "results.json").write_text(json.dumps(results, indent=2))
    subprocess.run([python, HERE / "suite_drawing.py", work / "results.json",
                    work / "results.png"], check=True)


if __name__ == "__main__":
    main()
