"""The fork server, a process that imports TensorFlow once, and forks into each task.

The import costs over 2 s of CPU, and memory, in every process. The server forks before TensorFlow's
first op, when the only other threads are those of OpenBLAS and of Arrow's jemalloc, which support
forks. The server never runs an op, so that no lock of TensorFlow can be held in a fork.

A task is a child of the requesting process, not of the server: the server forks twice, the process
in between ends, and Linux makes the nearest ancestor that adopts orphans the task's parent. The
requesting process therefore waits for a task, signals it and ends it like any other child.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
from multiprocessing import connection as connection_lib, reduction
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
from typing import Mapping, NamedTuple, NoReturn, Sequence
import warnings

from estimator_trainer import deadlines, environment, tensorflow_import

_PROGRAM = "estimator_trainer"
# Modules that a task of any role needs; by name, because they are above this package.
_PRELOADED = ("estimator_trainer.cli", "estimator_trainer.roles.run",
              "estimator_trainer.evaluation.offline")
_POLL_SECS = 0.05
_PR_SET_PDEATHSIG, _PR_SET_NAME, _PR_SET_CHILD_SUBREAPER = 1, 15, 36
# Loaded before a fork, in which a thread that no longer exists may hold the loader's lock.
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class Request(NamedTuple):
    """A task for a fork server to start, with its whole environment and its working directory."""

    name: str
    args: tuple[str, ...]  # After `python -m estimator_trainer`.
    environment: dict[str, str]
    folder: str


class ForkServer:
    """A fork server in a process that ends with this one."""

    def __init__(self, variables: Mapping[str, str], shown: Sequence[str] = (),
                 preloaded: Sequence[str] = ()):
        """Starts the server, which answers requests once it has imported TensorFlow.

        Lists of processes show the words `shown` after the command of the server and of its forks.
        Raises OSError if a process cannot adopt orphans on this system.
        """
        if not _LIBC or _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno()), ",".join(preloaded), *shown],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True,
                env=dict(variables))
        self.pid = self._process.pid
        self._connection = connection_lib.Connection(ours.detach())

    def start(self, request: Request, stdout: int, stderr: int,
              events: int | None = None) -> ForkedProcess:
        """Starts a task in a new session; OSError or EOFError if the server is gone."""
        descriptors = [stdout, stderr, *([] if events is None else [events])]
        self._connection.send((request, len(descriptors)))
        for descriptor in descriptors:
            reduction.send_handle(self._connection, descriptor, self.pid)
        if not self._connection.poll(deadlines.FORK_IMPORT_SECS):
            self.close()
            raise TimeoutError("no answer from the fork server in"
                               f" {deadlines.FORK_IMPORT_SECS:.0f} s")
        return ForkedProcess(self._connection.recv())

    def close(self) -> None:
        """Ends the server, but not its forks."""
        self._connection.close()
        self._process.kill()
        self._process.wait()


class ForkedProcess:
    """A process from a fork server, with some methods of subprocess.Popen."""

    def __init__(self, pid: int):
        self.pid = pid
        # Negative for a signal, and None before `poll` found the end.
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Updates and returns `returncode`; None while the process runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Sends a signal, if the process still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def wait(self, timeout: float | None = None) -> int:
        """Waits for the end, or raises subprocess.TimeoutExpired; returns the return code."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            time.sleep(_POLL_SECS)
        return code


def _serve(connection: connection_lib.Connection, preloaded: Sequence[str]) -> None:
    """Answers requests until the requesting process has ended."""
    requester = os.getppid()
    # Each task reports failed imports by itself.
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensorflow_import.load(is_verbose=False)
        for module in [*_PRELOADED, *preloaded]:
            importlib.import_module(module)
    while True:
        try:
            request, num_descriptors = connection.recv()
        except EOFError:
            return
        descriptors = [reduction.recv_handle(connection) for _ in range(num_descriptors)]
        if _fork() == 0:
            between = os.getpid()
            if _fork():
                os._exit(0)
            while os.getppid() == between:
                time.sleep(0.001)
            connection.send(os.getpid())
            connection.close()
            _become(request, descriptors, requester)
        os.wait()
        for descriptor in descriptors:
            os.close(descriptor)


def _fork() -> int:
    """Forks without Python's warning of other threads: those here support it, as said above."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _become(request: Request, descriptors: Sequence[int], requester: int) -> NoReturn:
    """Runs the requested program in this process, a fork of the server."""
    os.setsid()
    die_with_parent(requester)
    if _LIBC:
        # `top` and `ps -o comm` show 15 bytes.
        _LIBC.prctl(_PR_SET_NAME, ctypes.create_string_buffer(request.name.encode()), 0, 0, 0)
    stdout, stderr, *events = descriptors
    for number, output in ((1, stdout), (2, stderr)):
        os.dup2(output, number)
        os.close(output)
    environment.replace(environment.with_events_pipe(request.environment, events[0])
                        if events else request.environment)
    if "numpy.random" in sys.modules:
        # The import seeded the generator: all forks would draw the same numbers.
        sys.modules["numpy.random"].seed()
    os.chdir(request.folder)
    sys.path[0] = request.folder
    sys.argv[1:] = request.args
    runpy.run_module(_PROGRAM, run_name="__main__", alter_sys=True)
    sys.exit()


def die_with_parent(parent: int) -> None:
    """Makes the kernel kill this process when its parent (a pid) ends, or has ended already."""
    if _LIBC:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


if __name__ == "__main__":
    _serve(connection_lib.Connection(int(sys.argv[1])), list(filter(None, sys.argv[2].split(","))))
