"""Lets the kernel kill a process that is out of memory, by a separate control group."""

from __future__ import annotations

import contextlib
import os
import pathlib
from typing import Iterator

from benchmarks.chaos.skipped import Skipped

_NAME = f"estimator-trainer-chaos-{os.getpid()}"
# Control groups of version 1 and 2: their folder, and the file of the limit.
_GROUPS = ((pathlib.Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
           (pathlib.Path("/sys/fs/cgroup"), "memory.max"))
_LIMIT = 1 << 20


@contextlib.contextmanager
def limit() -> Iterator[None]:
    """Makes the control group, for the duration of the context.

    Raises:
      Skipped: This process may not make one.
    """
    folder, _ = _group()
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise Skipped(f"no control group can be made here: {error}") from error
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


def exhaust(pid: int) -> None:
    """Makes the next allocation of a process exceed the limit."""
    folder, name = _group()
    (folder / "cgroup.procs").write_text(str(pid), encoding="utf-8")
    (folder / name).write_text(str(_LIMIT), encoding="utf-8")


def _group() -> tuple[pathlib.Path, str]:
    for folder, name in _GROUPS:
        if (folder / "cgroup.procs").exists():
            return folder / _NAME, name
    raise Skipped("there are no control groups of memory in /sys/fs/cgroup")
