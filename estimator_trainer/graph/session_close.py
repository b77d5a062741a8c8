"""Closing a session without waiting for the autotuner of its input."""

import atexit
import functools
import threading
from typing import NoReturn

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, storage
from estimator_trainer.graph import operations

THREAD = "session-close"  # The name of each thread that closes a session.
RUNS_UNTIL_CLOSE = "until-close"  # That of a thread whose step ends when its session is closed.
_abandoned = threading.Event()


def bound(session: tf.compat.v1.Session) -> None:
    """Makes `session.close()` return after deadlines.CLOSE_SECS, while the closing goes on.

    The thread in which tf.data tunes an input sleeps for up to 60 s, and whoever closes the session
    waits for it: CancellationManager::StartCancel wakes the thread before IsCancelled is true, so
    the thread may sleep once more (tensorflow/core/framework/cancellation.cc, and
    model::Model::OptimizeLoop in model.cc). A session whose graph calls Python is closed in full,
    because a generator of the input may have something to finish.
    """
    session.close = functools.partial(_close, session, session.close)


def abandon() -> None:
    """Makes the process end without closing its session, in which another task waits for ever."""
    _abandoned.set()


def is_closing() -> bool:
    """Returns whether a session still closes in the background, or may never close."""
    return _abandoned.is_set() or bool(_threads())


@atexit.register
def wait() -> None:
    """Waits until all sessions are closed.

    Python ends a thread that returns to it from TensorFlow while the process ends, which aborts the
    process with exit code 134.
    """
    for thread in _threads():
        # A session that another task holds is never closed.
        thread.join(None if thread.name == THREAD else deadlines.CLOSE_SECS)


def end_process(code: int) -> NoReturn:
    """Ends this process with an exit code like `sys.exit`, without waiting for sessions."""
    atexit.unregister(wait)
    # No public function makes the rest of an ordinary end: other threads, then atexit's functions.
    getattr(threading, "_shutdown")()
    getattr(atexit, "_run_exitfuncs")()
    storage.end_process(code)


def _threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name in (THREAD, RUNS_UNTIL_CLOSE)]


def _close(session: tf.compat.v1.Session, close: functools.partial[None]) -> None:
    # The session refers to itself by this attribute, and would be freed late.
    del session.close
    raised: list[Exception] = []

    def run() -> None:
        try:
            close()
        except Exception as error:  # pylint: disable=broad-except
            raised.append(error)

    thread = threading.Thread(target=run, name=THREAD, daemon=True)
    thread.start()
    thread.join(deadlines.CLOSE_SECS)
    if thread.is_alive() and _calls_python(session.graph):
        thread.join()
    if thread.is_alive():
        logging.info("a session closes in the background: a thread of tf.data still sleeps")
    if raised:
        raise raised[0]


def _calls_python(graph: tf.Graph) -> bool:
    definition = graph.as_graph_def()
    return any(node.op in operations.IN_PYTHON
               for node in (*definition.node, *operations.in_functions(definition)))
