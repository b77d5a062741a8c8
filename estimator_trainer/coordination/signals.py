"""Signals ask the process to stop, SIGTERM and SIGINT; a second one ends it at once."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from typing import Any, Iterator

from absl import logging

from estimator_trainer import result
from estimator_trainer.coordination.stop import Stop

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextlib.contextmanager
def asking(stop: Stop, task: str) -> Iterator[None]:
    """Asks `stop` to stop when a signal comes, within the context.

    Python runs a signal's handler in the main thread only, between two instructions of its own:
    not while TensorFlow hangs. So a thread reads what the interpreter writes at once to the wakeup
    descriptor.

    Args:
      stop: Gets the request, with the signal's name as the reason.
      task: The name of this task.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    before = {number: signal.signal(number, _ignore) for number in _SIGNALS}
    before_fd = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(ours, stop, task), name="signals", daemon=True).start()
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


def _ignore(*_: Any) -> None:
    """Does nothing, since the thread that reads the wakeup descriptor does the work."""


def _listen(ours: socket.socket, stop: Stop, task: str) -> None:
    has_stopped = False
    while number := ours.recv(1):
        if number[0] not in _SIGNALS:
            continue
        name = signal.Signals(number[0]).name
        if has_stopped:
            logging.warning("%s again: ends at once", name)
            os._exit(result.EXIT_CODES["stopped"])
        has_stopped = True
        logging.warning("%s: stops at the next step; once more ends it at once", name)
        stop.ask("stopped", name, task)
    ours.close()
