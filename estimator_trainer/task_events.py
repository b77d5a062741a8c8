"""A task tells its events to the launcher that started it, as JSON lines in a pipe.

The launcher names the pipe in the environment. Without one nothing is told. The kinds:

    trains (step), serves, evaluates             the task has begun its work
    progress (step, examples_per_sec, loss)      with each line of progress
    error (message)                              the sentence that explains a failure
    end (status, step, reason)                   with the last line
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import stat
from typing import Any

from estimator_trainer import environment

_pipe: int | None = None
_owner = 0


def begin() -> None:
    """Takes the pipe out of the environment: what this process starts is to know nothing of it."""
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


def tell(kind: str, **values: str | int | float) -> None:
    """Tells the launcher something, in a line that the kernel writes as a whole.

    Args:
      kind: One of the kinds above.
      **values: What is told; long texts are cut.
    """
    # A fork that a plug-in made is not the task.
    if _pipe is None or _owner != os.getpid():
        return
    # The launcher may be gone, or somebody has closed the pipe.
    with contextlib.suppress(OSError):
        os.write(_pipe, _line({"kind": kind, **values}))


def parse(line: bytes) -> dict[str, Any]:
    """Returns an event with its kind and values; {} if the line is not one."""
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
