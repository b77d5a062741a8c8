"""Signals ask the process to stop, SIGTERM and SIGINT; a second one ends it at once."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import socket
import sys
import threading
from typing import Any, Callable, Iterator

from absl import logging

from estimator_trainer import deadlines
from estimator_trainer import logs
from estimator_trainer import result
from estimator_trainer.coordination.stop import Stop

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
        stop.ask("stopped", name, task)
    ours.close()


def _say_last(task: str, name: str, last_step: Callable[[], int]) -> None:
    logging.warning("%s again: ends at once", name)
    step = last_step()
    logs.silence_other_threads()
    result.print_last_line(result.Result(task, "stopped", step, name))
