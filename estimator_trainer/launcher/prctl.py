"""Calls Linux's prctl(2) for processes that start others; does nothing on other systems."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

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
