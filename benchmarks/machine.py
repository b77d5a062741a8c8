"""The processor and the commit that figures are taken of, and the memory of a process."""

from __future__ import annotations

import pathlib
import subprocess

import benchmarks


def cpu_name() -> str:
    """Returns the processor's name, as Linux spells it."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines
                 if line.startswith("model name")), "unknown processor")


def peak_bytes(pid: int) -> int:
    """Returns the most memory that a process has had (VmHWM), on Linux; 0 if it has ended."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    kilobytes = status.partition("VmHWM:")[2].split()
    return 1024 * int(kilobytes[0]) if kilobytes else 0


def commit() -> str:
    """Returns the name of this repository's commit; it ends in "-dirty" if files are changed."""
    described = subprocess.run(["git", "describe", "--always", "--dirty", "--tags"],
                               cwd=benchmarks.REPO, capture_output=True, text=True, check=False)
    return described.stdout.strip() or "of no commit"
