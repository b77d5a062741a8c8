"""Compares this project's speed with its peers', on the same work and machine.

    python -m benchmarks.suite --idx=/usr/share/datasets/fashion-mnist [--work=/tmp/benchmarks]

The suite makes an environment for each kind of peer below --work, once. It runs the peers in turn,
--repeats times, so that a slower minute of the machine hits all of them, and writes results.json,
results.md (the tables, printed too) and results.png there. Only ratios within one run count. If
the work of peers differs, there are none: the suite prints the difference and exits with 1.
--only=sigmoid and --peers=a,b make it short; the others are compared with the first peer.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import pathlib
import subprocess
from typing import Any

import numpy as np

from benchmarks import fashion_mnist, machine
from benchmarks.suite import environments, peer_runs, table

# keras_fit reports every 200 steps, less often than any other peer.
_STEPS_UNIT = 200


def main() -> None:
    """Runs the suite."""
    options = _options()
    peers = options.peers.split(",")
    options.work.mkdir(parents=True, exist_ok=True)
    kinds = ["estimator", *(peer_runs.PEERS[peer].environment for peer in peers), "plot"]
    pythons = {kind: environments.python(options.work, kind) for kind in dict.fromkeys(kinds)}
    _make_data(options.idx, options.work, pythons["estimator"])
    cases = {}
    for case in [options.only] if options.only else peer_runs.CASES:
        cases[case] = peer_runs.measured(peers, options.repeats, lambda peer: peer_runs.run(
            peer, pythons[peer_runs.PEERS[peer].environment], case, options.work, options.steps))
    results = {**_origin(pythons), "repeats": options.repeats, "steps": options.steps,
               "cases": cases}
    _write(results, options.work, pythons["plot"])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.suite",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--idx", required=True, help="folder of the set as IDX files")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/benchmarks"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=2000, help="that are timed")
    parser.add_argument("--only", choices=peer_runs.CASES)
    parser.add_argument("--peers", default=",".join(peer_runs.PEERS))
    options = parser.parse_args()
    if options.steps < _STEPS_UNIT or options.steps % _STEPS_UNIT:
        parser.error(f"--steps is {options.steps}; expected a multiple of {_STEPS_UNIT}")
    if unknown := [peer for peer in options.peers.split(",") if peer not in peer_runs.PEERS]:
        parser.error(f"--peers has {unknown[0]!r}; expected some of {', '.join(peer_runs.PEERS)}")
    return options


def _make_data(idx: str, work: pathlib.Path, python: pathlib.Path) -> None:
    """Puts Fashion-MNIST below `work`: its training set as an .npz, and both sets as TFRecords."""
    if not (work / "train.npz").exists():
        with gzip.open(pathlib.Path(idx, "train-images-idx3-ubyte.gz")) as file:
            images = np.frombuffer(file.read()[16:], np.uint8).reshape(-1, 28, 28)
        with gzip.open(pathlib.Path(idx, "train-labels-idx1-ubyte.gz")) as file:
            labels = np.frombuffer(file.read()[8:], np.uint8)
        np.savez(work / "train.npz", images=images, labels=labels)
    fashion_mnist.records(idx, work, str(python))


def _origin(pythons: dict[str, pathlib.Path]) -> dict[str, Any]:
    """Returns the conditions of the measurements."""
    return {"date": datetime.date.today().isoformat(), "commit": machine.commit(),
            "machine": machine.cpu_name(), "cores": len(os.sched_getaffinity(0)),
            "versions": {kind: environments.versions(python)
                         for kind, python in pythons.items() if kind != "plot"}}


def _write(results: dict[str, Any], work: pathlib.Path, python: pathlib.Path) -> None:
    text = table.text(results)
    print(f"\n{text}")
    (work / "results.md").write_text(text)
    (work / "results.json").write_text(json.dumps(results, indent=2))
    subprocess.run([python, "-m", "benchmarks.suite.drawing", work / "results.json",
                    work / "results.png"], check=True, env=environments.variables())


if __name__ == "__main__":
    main()
