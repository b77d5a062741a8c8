"""The fork server is a process that imports TensorFlow once, and forks into each task.

The import takes over 2 s of CPU, and memory, in every process that does it. The server forks
before TensorFlow's first op, when no threads exist but those of OpenBLAS, which knows how to be
forked. It never runs an op itself, so no lock of TensorFlow's can be held in a fork.

A task is a child of the process that asked for it, not of the server: the server forks twice, the
process in between ends, and Linux hands the task to the nearest ancestor that adopts orphans. So
the asking process waits for a task, signals it and takes it along when it dies, as it does with
any other child of its own.
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
# A task of any role needs them; they are imported by name, for they are above this package.
_PRELOADED = ("estimator_trainer.cli", "estimator_trainer.roles.run",
              "estimator_trainer.evaluation.offline")
_POLL_SECS = 0.05


class Request(NamedTuple):
    """A task that a fork server is asked to start.

    Attributes:
      name: Short name of the process, for lists of processes; Linux shows 15 bytes.
      args: Words that follow `python -m estimator_trainer`.
      environment: The whole environment of the process.
      folder: The directory that the process runs in.
    """

    name: str
    args: tuple[str, ...]
    environment: dict[str, str]
    folder: str


class ForkServer:
    """A fork server, in a process of its own, which ends with this one.

    Attributes:
      pid: The server's process id.
    """

    def __init__(self, variables: Mapping[str, str], shown: Sequence[str] = (),
                 preloaded: Sequence[str] = ()):
        """Starts the server; it can be asked at once, and answers when it has imported TensorFlow.

        Args:
          variables: Environment of the server; each of its forks gets its own.
          shown: Words that lists of processes show with those of the server and of its forks.
          preloaded: Modules to import beside those of this project.

        Raises:
          OSError: if this system does not let a process adopt orphans.
        """
        adopt_orphans()
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno()), ",".join(preloaded),
                 *shown],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True,
                env=dict(variables))
        self.pid = self._process.pid
        self._connection = connection_lib.Connection(ours.detach())

    def start(self, request: Request, stdout: int, stderr: int,
              events: int | None = None) -> ForkedProcess:
        """Starts a task, in a session of its own.

        Args:
          request: The task.
          stdout: The file descriptor that the task writes to; this process keeps its own.
          stderr: Another file descriptor, or the same.
          events: The pipe that the task tells its events to, or None; see task_events.py.

        Raises:
          OSError, EOFError: if the server is gone.
        """
        descriptors = [stdout, stderr, *([] if events is None else [events])]
        self._connection.send((request, len(descriptors)))
        for descriptor in descriptors:
            reduction.send_handle(self._connection, descriptor, self.pid)
        if not self._connection.poll(deadlines.FORK_IMPORT_SECS):
            self.close()
            raise TimeoutError(
                f"no answer of the fork server in {deadlines.FORK_IMPORT_SECS:.0f} s")
        return ForkedProcess(self._connection.recv())

    def close(self) -> None:
        """Ends the server; its forks stay."""
        self._connection.close()
        self._process.kill()
        self._process.wait()


class ForkedProcess:
    """A process that a fork server started, with some methods of subprocess.Popen.

    Attributes:
      pid: The process id.
      returncode: The exit code; negative for a signal, None until the end was seen.
    """

    def __init__(self, pid: int):
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Returns the return code, or None while the process runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Sends a signal, if the end was not seen yet."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def wait(self, timeout: float | None = None) -> int:
        """Waits for the end, at most `timeout` seconds; returns the return code.

        Raises:
          subprocess.TimeoutExpired: if the process did not end in time.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            time.sleep(_POLL_SECS)
        return code


def _serve(connection: connection_lib.Connection, preloaded: Sequence[str]) -> None:
    """Answers requests until there is nobody left who could make one."""
    asking = os.getppid()
    # Each task reports by itself what cannot be imported.
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
        if os.fork() == 0:
            between = os.getpid()
            if os.fork():
                os._exit(0)
            while os.getppid() == between:
                time.sleep(0.001)
            connection.send(os.getpid())
            connection.close()
            _become(request, descriptors, asking)
        os.wait()
        for descriptor in descriptors:
            os.close(descriptor)


def _become(request: Request, descriptors: Sequence[int], asking: int) -> NoReturn:
    """Makes this process, a fork of the server, the program that was asked for."""
    os.setsid()
    die_with_parent(asking)
    set_name(request.name)
    stdout, stderr, *events = descriptors
    for number, output in ((1, stdout), (2, stderr)):
        os.dup2(output, number)
        os.close(output)
    environment.replace(environment.with_events_pipe(request.environment, events[0])
                        if events else request.environment)
    if "numpy.random" in sys.modules:
        # Its generator was seeded by the import: all forks would draw the same numbers.
        sys.modules["numpy.random"].seed()
    os.chdir(request.folder)
    sys.path[0] = request.folder
    sys.argv[1:] = request.args
    runpy.run_module(_PROGRAM, run_name="__main__", alter_sys=True)
    sys.exit()


_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36
# It is loaded here, for in a fork, a thread that is not there may hold the lock that this takes.
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def is_there() -> bool:
    """Returns whether this system has prctl."""
    return _LIBC is not None


def die_with_parent(parent: int) -> None:
    """Has the kernel kill this process when its parent ends, or at once if that happened before.

    Args:
      parent: The pid of the process that is expected to be the parent.
    """
    if _LIBC:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def adopt_orphans() -> None:
    """Makes this process the parent of any descendant whose own parent ends.

    Raises:
      OSError: if this system does not let it.
    """
    if not _LIBC or _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def set_name(name: str) -> None:
    """Sets the short name of this process that `top` and `ps -o comm` show, of 15 bytes."""
    if _LIBC:
        _LIBC.prctl(_PR_SET_NAME, ctypes.create_string_buffer(name.encode()), 0, 0, 0)


if __name__ == "__main__":
    _serve(connection_lib.Connection(int(sys.argv[1])), list(filter(None, sys.argv[2].split(","))))
