"""Runs the peers in turn, each in its own process."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any, Callable, Iterable, NamedTuple

from benchmarks.suite import agreement, environments

CASES = ("cnn", "sigmoid")


class Peer(NamedTuple):
    """A program that does the work.

    Attributes:
      module: The name of its module in benchmarks/suite/peers.
      environment: The kind of its environment, a key of `environments.PACKAGES`.
      variables: Environment variables in addition to those of all peers.
    """

    module: str
    environment: str
    variables: dict[str, str] = {}


_KERAS2 = {"TF_USE_LEGACY_KERAS": "1"}
PEERS = {
    "trainer": Peer("trainer", "estimator"),
    "estimator_script": Peer("estimator_script", "estimator", _KERAS2),
    "estimator_tuned": Peer("estimator_tuned", "estimator", _KERAS2),
    "session_loop": Peer("session_loop", "estimator", _KERAS2),
    "keras2_fit": Peer("keras_fit", "estimator", _KERAS2),
    "keras3_fit": Peer("keras_fit", "keras3"),
    "keras3_fit_50": Peer("keras_fit", "keras3", {"STEPS_PER_EXECUTION": "50"}),
    "torch_loop": Peer("torch_loop", "torch"),
    "lightning_fit": Peer("lightning_fit", "torch"),
    "raw_loop": Peer("raw_loop", "estimator", _KERAS2),
}


def measured(peers: Iterable[str], repeats: int,
             run_peer: Callable[[str], dict[str, Any]]) -> agreement.Runs:
    """Runs the peers in turn, `repeats` times over; returns their reports.

    Exits with 1 after the first repetition in which their work differs.
    """
    runs: agreement.Runs = {peer: [] for peer in peers}
    for _ in range(repeats):
        for peer, reports in runs.items():
            reports.append(run_peer(peer))
        if problem := agreement.problem(runs):
            sys.exit(problem)
    return runs


def run(peer: str, python: pathlib.Path, case: str, work: pathlib.Path,
        steps: int) -> dict[str, Any]:
    """Runs a peer once; returns its report. Exits with the end of its output if it fails."""
    ran = subprocess.run(
        [python, "-m", f"benchmarks.suite.peers.{PEERS[peer].module}", "--case", case,
         "--steps", str(steps), "--records", work / "records", "--npz", work / "train.npz"],
        env=environments.variables(**PEERS[peer].variables), capture_output=True, text=True,
        check=False)
    if ran.returncode:
        sys.exit(f"{peer} failed:\n{ran.stderr[-3000:]}")
    result: dict[str, Any] = json.loads(ran.stdout.strip().splitlines()[-1])
    print(f"{case:8} {peer:18} {result['examples_per_sec']:12,.0f} examples/s", flush=True)
    return result
