"""The Stop of a process holds the request to end it, if there is one, and why."""

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
from estimator_trainer.result import Status


@dataclasses.dataclass(frozen=True)
class Request:
    """A request to end training.

    Attributes:
      status: How the job is to end: "done", "stopped" (to be continued), "failed" or "lost"; or
        "stopping", where the chief knows how and is going to say it.
      reason: "early_stopping", "SIGTERM", or what failed.
      by: The task that asks.
    """

    status: Status
    reason: str
    by: str

    def __str__(self) -> str:
        """Returns who asks, and why; a reason that begins with the task says who."""
        return self.reason if self.reason.startswith(f"{self.by} ") else f"{self.by}: {self.reason}"


# Each graph of training has one; a hook of the user's has no other way to it.
_STOPS: weakref.WeakKeyDictionary[Any, Stop] = weakref.WeakKeyDictionary()


def of(graph: Any) -> Stop:
    """Returns the Stop that ends the training of `graph`."""
    return _STOPS[graph]


class Stop:
    """Holds the first request to end this process; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._request: Request | None = None

    @property
    def request(self) -> Request | None:
        """The first request, or None."""
        return self._request

    @property
    def is_to_be_continued(self) -> bool:
        """Whether this process was asked to end, and is to be started again."""
        return self._request is not None and self._request.status in ("stopped", "failed", "lost")

    @property
    def is_done(self) -> bool:
        """Whether training that ends now is complete, and is not to be continued."""
        return self._request is None or self._request.status == "done"

    def ends(self, graph: Any) -> None:
        """Makes this the Stop of `graph`."""
        _STOPS[graph] = self

    def request_end(self, status: Status, reason: str, by: str) -> None:
        """Asks this process to end at the next step boundary; later requests change nothing."""
        with self._lock:
            if self._request is None:
                self._request = Request(status, reason, by)
                self._event.set()

    def wait(self, secs: float) -> bool:
        """Waits for `secs`, or until there is a request; returns whether there is one."""
        return self._event.wait(secs)

    def sleep(self, secs: float) -> None:
        """Sleeps for `secs`; the first request, if it comes meanwhile, ends the sleep."""
        if self._request is None:
            self._event.wait(secs)
        else:
            time.sleep(secs)

    def check_failure(self) -> None:
        """Raises Interrupted if the job has failed, since its result must not be saved."""
        if self._request is not None and self._request.status in ("failed", "lost"):
            self.check()

    def check(self) -> None:
        """Raises Interrupted if the job is to end now, before it is done."""
        request = self._request
        if request is not None and request.status not in ("done", "stopping"):
            raise errors.Interrupted(request.status, request.reason, request.by)


_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextlib.contextmanager
def asking(stop: Stop, task: str, last_step: Callable[[], int]) -> Iterator[None]:
    """Asks `stop` to stop when a signal comes, within the context.

    Python runs a signal's handler in the main thread only, between two instructions of its own:
    not while TensorFlow hangs. So a thread reads what the interpreter writes at once to the wakeup
    descriptor.

    Args:
      stop: Gets the request, with the signal's name as the reason.
      task: The name of this task.
      last_step: Returns the step of the last checkpoint, for the last line after a second signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    before = {number: signal.signal(number, _ignore) for number in _SIGNALS}
    before_fd = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(ours, stop, task, last_step), name="signals",
                     daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before_fd)
        for number, handler in before.items():
            signal.signal(number, handler)
        theirs.close()


def listen_again() -> None:
    """Takes SIGTERM back from TensorFlow, if `asking` had it before.

    The runtime of `MultiWorkerMirroredStrategy` sets a handler of its own, for a notice of
    preemption, which nothing in an Estimator heeds.
    """
    if signal.getsignal(signal.SIGTERM) is _ignore:
        signal.signal(signal.SIGTERM, _ignore)


@contextlib.contextmanager
def killed_after(secs: float | None) -> Iterator[None]:
    """Lets the kernel kill this process if what is done within the context takes longer.

    Some calls of TensorFlow wait for other tasks and hold Python's lock meanwhile, so that no
    handler and no thread of Python runs. The stacks are printed a second before. None sets no
    limit.
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
    """Does nothing, since the thread that reads the wakeup descriptor does the work."""


def _listen(ours: socket.socket, stop: Stop, task: str, last_step: Callable[[], int]) -> None:
    has_stopped = False
    while number := ours.recv(1):
        if number[0] not in _SIGNALS:
            continue
        name = signal.Signals(number[0]).name
        if has_stopped:
            # A disk, or the reader of the log, may hang.
            last_words = threading.Thread(target=_say_last, args=(task, name, last_step),
                                          name="last line", daemon=True)
            last_words.start()
            last_words.join(deadlines.LAST_WORDS_SECS)
            os._exit(result.EXIT_CODES["stopped"])
        has_stopped = True
        logging.warning("%s: stops at the next step; once more ends it at once", name)
        stop.request_end("stopped", name, task)
    ours.close()


def _say_last(task: str, name: str, last_step: Callable[[], int]) -> None:
    logging.warning("%s again: ends at once", name)
    step = last_step()
    logs.silence_other_threads()
    result.print_last_line(result.Result(task, "stopped", step, name))
