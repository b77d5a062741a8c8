"""Cases whose model_dir is deleted, moved, read-only or full at a moment of the job.

Every process must end by itself, with a code and a last line of docs/job_ends.md, and without a
traceback. When the disk is repaired, the same command line must complete the job and keep every
promise.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Callable, Iterator

from benchmarks.chaos import job as job_lib, moments, promises, schedules
from benchmarks.chaos.skipped import Skipped
from tests.support import jobs

KINDS = ("deleted", "moved", "read-only", "0 MB free", "2 MB free")
# The program does not start on a disk with less than 100 MB free.
_DISK_MB = 160
_INSIDE = "--in_namespace"
# Peers notice missing files after the stall timeout, and then print stacks.
_LIMIT_SECS = 90.0


def enter_namespace() -> None:
    """Restarts this program with its own mounts, if this process may do so."""
    if _INSIDE in sys.argv or os.geteuid() != 0 or not shutil.which("unshare"):
        return
    os.execvp("unshare", ["unshare", "-m", sys.executable, "-m", "benchmarks.chaos",
                          *sys.argv[1:], _INSIDE])


def schedule(shape: str, steps: int = 150) -> schedules.Schedule:
    """Returns the job of a case, without a schedule's faults."""
    return schedules.Schedule(0, shape, shape != "local", ("latest", "final"), 2, steps, 30, ())


def run(shape: str, kind: str, moment: str, folder: pathlib.Path) -> list[str]:
    """Damages the model_dir of a job at a moment, repairs it, and runs the job again."""
    planned = schedule(shape)
    with _disk(folder, kind) as model_dir:
        damage = _Damage(model_dir, kind, moment)
        first = once(planned, folder / "first", model_dir, damage.turn)
        damage.repair()
        if first or not damage.is_done:
            return first or ["the fault of this case happens; its moment did not come"]
        # If an open event file is deleted, all later events are lost with it.
        return again(planned, folder / "again", model_dir, has_events=kind != "deleted")


class _Damage:
    """A fault of a model_dir.

    Attributes:
      is_done: Whether the moment came.
    """

    def __init__(self, model_dir: pathlib.Path, kind: str, moment: str):
        self.is_done = False
        self._model_dir = model_dir
        self._fault = schedules.Fault(kind, (), moment, {"step": 40, "save": 60}.get(moment, 0))
        self._aside = model_dir.with_name("aside")

    def turn(self, job: job_lib.Job) -> None:
        """Applies the damage when it is due."""
        seen = moments.Moments(job.model_dir, job.marks, job.trainer_logs, "final")
        is_due = self._model_dir.exists() and seen.has_come(self._fault)
        if not self.is_done and is_due:
            self.is_done = True
            self._damage()

    def repair(self) -> None:
        """Repairs the disk, with the files that are left."""
        if not self.is_done:
            return
        if self._fault.kind == "moved":
            shutil.rmtree(self._model_dir, ignore_errors=True)
            self._aside.rename(self._model_dir)
        elif self._fault.kind == "read-only":
            sh("umount", str(self._model_dir))
        elif self._fault.kind.endswith("free"):
            self._aside.unlink()

    def _damage(self) -> None:
        kind, path = self._fault.kind, str(self._model_dir)
        if kind == "deleted":
            shutil.rmtree(path, ignore_errors=True)
        elif kind == "moved":
            self._model_dir.rename(self._aside)
        elif kind == "read-only":
            sh("mount", "--bind", path, path)
            sh("mount", "-o", "remount,ro,bind", path)
        else:
            _fill(self._aside, int(kind.partition(" ")[0]) << 20)


@contextlib.contextmanager
def _disk(folder: pathlib.Path, kind: str) -> Iterator[pathlib.Path]:
    """Yields the model_dir of a case, on a small separate disk if the kind needs one."""
    disk = folder / "disk"
    disk.mkdir()
    if kind in ("deleted", "moved"):
        yield disk / "model"
        return
    if _INSIDE not in sys.argv:
        raise Skipped("only root may mount a disk; `unshare` must be there too")
    sh("mount", "-t", "tmpfs", "-o", f"size={_DISK_MB}m", "tmpfs", str(disk))
    try:
        yield disk / "model"
    finally:
        # The files on the disk are evidence.
        with contextlib.suppress(FileNotFoundError):
            shutil.copytree(disk / "model", folder / "model", dirs_exist_ok=True)
        sh("umount", str(disk))


def _fill(path: pathlib.Path, free: int) -> None:
    """Writes a file that leaves `free` bytes of its disk."""
    state = os.statvfs(path.parent)
    left = state.f_bavail * state.f_frsize - free
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while left > 0:
            left -= file.write(b"\0" * min(left, 1 << 20))


def once(planned: schedules.Schedule, root: pathlib.Path, model_dir: pathlib.Path,
         turn: Callable[[job_lib.Job], None]) -> list[str]:
    """Runs the job until all its processes have ended, and checks only the processes."""
    job = job_lib.Job(planned, root, model_dir=model_dir)
    try:
        job.start_all()
        hung = job.run_once(lambda: turn(job), _LIMIT_SECS)
    finally:
        job.close()
        jobs.release_ports()
    promises.history(job.processes, root)
    if hung:
        return [f"every process ends; after {_LIMIT_SECS:.0f} s {', '.join(hung)} ran"]
    codes = [f"a process ends with 0, 1, 2, 142 or 143; {process.task} ended with"
             f" {process.running.code}" for process in job.processes
             if process.running.code not in (0, 1, 2, 142, 143)]
    return codes + promises.of_processes(job.processes)


def again(planned: schedules.Schedule, root: pathlib.Path, model_dir: pathlib.Path,
          has_events: bool = True) -> list[str]:
    """Runs the job to its end, and checks its processes and files."""
    job = job_lib.Job(planned, root, model_dir=model_dir)
    try:
        job.start_all()
        hung = job.run(lambda: None, job_lib.LIMIT_SECS)
        ended = job.ended(hung)
    finally:
        job.close()
        jobs.release_ports()
    promises.history(job.processes, root)
    return ["started again, " + problem for problem in promises.broken(
        ended, is_order_checked=False, has_events=has_events)]


def sh(*words: str) -> None:
    """Runs a command; raises CalledProcessError if it fails."""
    subprocess.run(words, check=True, capture_output=True)
