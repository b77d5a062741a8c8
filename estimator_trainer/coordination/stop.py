"""The Stop of a process: the request to end it, and the signals that make one."""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import os
import signal
import socket
import sys
import threading
import time
from typing import Any, Callable, Iterator
import weakref

from absl import logging

from estimator_trainer import deadlines, errors, logs, result


@dataclasses.dataclass(frozen=True)
class Request:
    """A request to end training.

    Attributes:
      status: How the job should end: "done", "stopped" (to be continued), "failed" or "lost"; or
        "stopping", where the chief is going to write how.
      reason: "early_stopping", "SIGTERM", or the failure.
    """

    status: result.Status
    reason: str
    by: str

    def __str__(self) -> str:
        """Returns the task and the reason, which may begin with the task already."""
        return self.reason if self.reason.startswith(f"{self.by} ") else f"{self.by}: {self.reason}"


# One for each graph of training; a hook of the user has no other way to it.
_STOPS: weakref.WeakKeyDictionary[Any, Stop] = weakref.WeakKeyDictionary()


def of(graph: Any) -> Stop:
    """Returns the Stop that ends the training of `graph`."""
    return _STOPS[graph]


class Stop:
    """Holds the first request to end this process; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self.request: Request | None = None

    @property
    def is_to_be_continued(self) -> bool:
        """Whether this process was requested to end, and should be started again."""
        return self.request is not None and self.request.status in ("stopped", "failed", "lost")

    @property
    def is_done(self) -> bool:
        """Whether training that ends now is complete."""
        return self.request is None or self.request.status == "done"

    def attach_to(self, graph: Any) -> None:
        _STOPS[graph] = self

    def request_end(self, status: result.Status, reason: str, by: str) -> None:
        """Makes this process end at the next step boundary; later requests change nothing."""
        with self._lock:
            if self.request is None:
                self.request = Request(status, reason, by)
                self._event.set()

    def wait(self, secs: float) -> bool:
        """Waits for `secs`, or until there is a request; returns whether there is one."""
        return self._event.wait(secs)

    def sleep(self, secs: float) -> None:
        """Sleeps for `secs`, or until the first request."""
        if self.request is None:
            self._event.wait(secs)
        else:
            time.sleep(secs)

    def check_failure(self) -> None:
        """Raises Interrupted if the job has failed, and must not save its result."""
        if self.request is not None and self.request.status in ("failed", "lost"):
            self.check()

    def check(self) -> None:
        """Raises Interrupted if the job has to end now, before it is done."""
        request = self.request
        if request and request.status not in ("done", "stopping"):
            raise errors.Interrupted(request.status, request.reason, request.by)


@contextlib.contextmanager
def calling_after(secs: float | None, function: Callable[[], None]) -> Iterator[None]:
    """Calls `function` in another thread, `secs` from now, within the context; None: never."""
    timer = None if secs is None else threading.Timer(max(0.0, secs), function)
    if timer:
        timer.daemon = True
        timer.start()
    try:
        yield
    finally:
        if timer:
            timer.cancel()


_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextlib.contextmanager
def stopping_on_signals(stop: Stop, task: str, last_step: Callable[[], int]) -> Iterator[None]:
    """Makes SIGTERM and SIGINT requests to `stop`, within the context.

    Python runs a signal's handler in the main thread, between two of its instructions, and never
    while TensorFlow hangs. Therefore a thread reads the wakeup descriptor, to which the interpreter
    writes at once.

    Args:
      last_step: Returns the step of the last checkpoint, for the line after a second signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    before = {number: signal.signal(number, _ignore) for number in _SIGNALS}
    before_fd = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_read_signals, args=(ours, stop, task, last_step), name="signals",
                     daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before_fd)
        for number, handler in before.items():
            signal.signal(number, handler)
        theirs.close()


def reclaim_sigterm() -> None:
    """Takes SIGTERM back from TensorFlow, if `stopping_on_signals` had it before.

    The runtime of `MultiWorkerMirroredStrategy` sets a handler for notices of preemption, which
    nothing in an Estimator uses.
    """
    if signal.getsignal(signal.SIGTERM) is _ignore:
        signal.signal(signal.SIGTERM, _ignore)


@contextlib.contextmanager
def killed_after(secs: float | None) -> Iterator[None]:
    """Makes the kernel kill this process if the context takes longer than `secs`; None: never.

    Some calls of TensorFlow hold Python's lock while they wait for other tasks, so that no handler
    and no Python thread runs. The stacks are printed a second before.
    """
    if secs is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    faulthandler.dump_traceback_later(max(1.0, secs - 1), file=sys.stderr.fileno())
    before = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, secs)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        faulthandler.cancel_dump_traceback_later()


def _ignore(*_: Any) -> None:
    """Leaves the signal to the thread that reads the wakeup descriptor."""


def _read_signals(ours: socket.socket, stop: Stop, task: str, last_step: Callable[[], int]) -> None:
    has_stopped = False
    while number := ours.recv(1):
        if number[0] not in _SIGNALS:
            continue
        name = signal.Signals(number[0]).name
        if has_stopped:
            # A disk, or the reader of the log, may hang.
            printer = threading.Thread(target=_print_last, args=(task, name, last_step),
                                       name="last line", daemon=True)
            printer.start()
            printer.join(deadlines.SECOND_SIGNAL_SECS)
            os._exit(result.EXIT_CODES["stopped"])
        has_stopped = True
        logging.warning("%s: stops at the next step; once more ends it at once", name)
        stop.request_end("stopped", name, task)
    ours.close()


def _print_last(task: str, name: str, last_step: Callable[[], int]) -> None:
    logging.warning("%s again: ends at once", name)
    step = last_step()
    logs.silence_other_threads()
    result.print_last_line(result.Result(task, "stopped", step, name))
