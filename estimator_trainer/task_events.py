"""A task sends its events to the launcher that started it, as JSON lines in a pipe.

The environment names the pipe. The history of the task receives the events too, with more details,
and keeps all but `error` and `result` under the same names (reports/history.py). The kinds:

    trains (step), serves                        the task has begun its work
    model                                        what is trained
    train (step, examples_per_sec, loss)         with each logged line of training
    load                                         a ps has served for a while
    trainers (count)                             so many tasks train; once workers have joined
    sample                                       steps of a trainer beside others were traced
    evaluation                                   a checkpoint has been evaluated, on all sets
    result                                       the same by another evaluator; not in the history
    evaluation_set                               it has been evaluated on a further set of data
    error (message)                              the sentence that explains a failure
    end (status, step, reason)                   with the last line
"""

import contextlib
import json
import os
import select
import stat
from typing import Any, Callable, Iterator, Mapping

from estimator_trainer import environment

_pipe: int | None = None
_owner = 0
Listener = Callable[[str, dict[str, Any]], None]
# Each with the process that it belongs to, because a fork is not the task.
_listeners: list[tuple[int, Listener]] = []


def begin() -> None:
    """Takes the pipe out of the environment, so that children of this process do not inherit it."""
    global _pipe, _owner
    descriptor = environment.take_events_pipe()
    if descriptor is None:
        return
    with contextlib.suppress(OSError):
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            os.set_inheritable(descriptor, False)
            # A launcher that does not read loses events, and no task waits for it.
            os.set_blocking(descriptor, False)
            _pipe, _owner = descriptor, os.getpid()


@contextlib.contextmanager
def received_by(listener: Listener) -> Iterator[None]:
    """Calls `listener` with the kind and the values of each event, within a `with` statement.

    The innermost listener is called first: it has the event even if an outer one, such as a
    function of the user, raises.
    """
    entry = (os.getpid(), listener)
    _listeners.append(entry)
    try:
        yield
    finally:
        _listeners.remove(entry)


def has_launcher() -> bool:
    """Returns whether a launcher of this program started this process."""
    return _pipe is not None and _owner == os.getpid()


def emit(kind: str, details: Mapping[str, Any] | None = None,
         **values: str | int | float) -> None:
    """Sends an event to the launcher, in a line that the kernel writes as a whole.

    Args:
      kind: One of the kinds above.
      details: Further values, for the history alone.
      **values: Long texts are cut for the launcher.
    """
    for owner, listener in reversed(_listeners):
        if owner == os.getpid():
            listener(kind, {**values, **(details or {})})
    # A fork that a plug-in made is not the task.
    if _pipe is None or _owner != os.getpid():
        return
    # The launcher may be gone, or somebody has closed the pipe.
    with contextlib.suppress(OSError):
        os.write(_pipe, _line({"kind": kind, **values}))


def parse(line: bytes) -> dict[str, Any]:
    """Returns an event with its kind and values; {} if the line is damaged."""
    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def _line(event: dict[str, Any]) -> bytes:
    """Returns the line, with the texts cut until it has at most PIPE_BUF bytes."""
    most_chars = select.PIPE_BUF
    line = json.dumps(event)
    while len(line) >= select.PIPE_BUF and most_chars:
        most_chars //= 2
        line = json.dumps({name: value[:most_chars] if isinstance(value, str) else value
                           for name, value in event.items()})
    return f"{line}\n".encode()
