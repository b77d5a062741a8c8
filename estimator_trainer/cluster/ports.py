"""Finds out whether the port that TF_CONFIG gives this task is free, and else who has it."""

from __future__ import annotations

import contextlib
import errno
import pathlib
import socket
import sys

from estimator_trainer import deadlines
from estimator_trainer.cluster.task_config import TaskConfig

_PROC = pathlib.Path("/proc")
_LISTENS = "0A"  # This is a state in /proc/net/tcp.


def problems(task: TaskConfig) -> list[str]:
    """Returns a sentence if this task's port is taken, naming the process that has it."""
    if task.role not in ("chief", "worker", "ps") or _is_free(task.address):
        return []
    return [taken(task)]


def taken(task: TaskConfig) -> str:
    """Returns the sentence about a task whose port another process has.

    That may have come between `problems` and the start of TensorFlow's server, seconds later.
    """
    port = int(task.address.rpartition(":")[2])
    return (f"the address of {task.name} is {task.address!r} (from {task.source}), and port {port}"
            f" is taken on this machine{_holder(port)}; expected a free port. Stop the process"
            " that listens there (a leftover of an earlier run, or a task with the same address?),"
            f" or change the address{task.port_remedy}.")


def _is_free(address: str) -> bool:
    """Binds the port as TensorFlow's server is going to.

    That server binds every interface, whatever host the cluster names, with SO_REUSEADDR and
    without SO_REUSEPORT. So any listener takes the port, also on one address only; a socket that is
    bound and does not listen, as the one by which `launch` keeps a port, does not, if it has
    SO_REUSEADDR too. A listener on [::1] would not stop TensorFlow, which then listens on IPv4
    alone, but takes the connections of those peers that resolve localhost to it.
    """
    port = int(address.rpartition(":")[2])
    family = socket.AF_INET6 if socket.has_ipv6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            # Connections of an earlier server in TIME_WAIT do not count as taken either.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            probe.bind(("", port))
    except OSError as error:
        return error.errno != errno.EADDRINUSE
    # Linux refuses to bind beside any listener; BSD and macOS let the wildcard in.
    return sys.platform == "linux" or not _answers(port)


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("localhost", port), deadlines.LOCAL_CONNECT_SECS):
            return True
    except OSError:
        return False


def _holder(port: int) -> str:
    """Returns " by process ..." as far as /proc lets this user see it, or ""."""
    inodes = _listening_inodes(port)
    if not inodes:
        return ""
    for folder in _PROC.glob("[0-9]*/fd"):
        with contextlib.suppress(OSError):
            if any(_inode(link) in inodes for link in folder.iterdir()):
                words = (folder.parent / "cmdline").read_bytes().split(b"\0")
                # Arguments may be secrets, and those of a trainer are long.
                program = words[:3] if words[1:2] == [b"-m"] else [
                    word for word in words[:2] if not word.startswith(b"-")]
                shown = b" ".join(program).decode(errors="replace").strip()[:100]
                return f" by process {folder.parent.name} ({shown})"
    return " by a process of another user"


def _listening_inodes(port: int) -> set[str]:
    inodes = set()
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in (_PROC / "net" / name).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    inodes.add(fields[9])
    return inodes


def _inode(link: pathlib.Path) -> str:
    with contextlib.suppress(OSError):
        return str(link.readlink()).removeprefix("socket:[").removesuffix("]")
    return ""
