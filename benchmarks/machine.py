"""Names the processor that figures are taken on, and the commit that they are taken of."""

from __future__ import annotations

import pathlib
import subprocess

import benchmarks


def cpu_name() -> str:
    """Returns the processor's name, as Linux spells it."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines
                 if line.startswith("model name")), "unknown processor")


def commit() -> str:
    """Returns the name of this repository's commit; it ends in "-dirty" if files are changed."""
    described = subprocess.run(["git", "describe", "--always", "--dirty", "--tags"],
                               cwd=benchmarks.REPO, capture_output=True, text=True, check=False)
    return described.stdout.strip() or "of no commit"
