"""Finds out whether this task's port in TF_CONFIG is free, and if not, which process has it."""

import contextlib
import errno
import pathlib
import socket
import sys

from estimator_trainer import deadlines
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.errors import Problem, Setting

_PROC = pathlib.Path("/proc")
_LISTENS = "0A"  # A state in /proc/net/tcp.


def problems(task: TaskConfig) -> list[Problem]:
    """Returns a problem if this task's port is taken, with the process that has it."""
    is_fine = task.role not in ("chief", "worker", "ps", "data_worker") or _is_free(task.address)
    return [] if is_fine else [taken(task)]


def taken(task: TaskConfig) -> Problem:
    """Returns the problem of a task whose port another process has.

    The process may start after `problems` and before TensorFlow's server, seconds later.
    """
    port = int(task.address.rpartition(":")[2])
    remedy = f" by {Setting(task.ports_setting, 'PORT')}" if task.ports_setting else ""
    return Problem(
        f"the address of {task.name}", task.address, source=task.source, expected="a free port",
        why=f"and port {port} is taken on this machine{_holder(port)}",
        advice="Stop the process that listens there (a leftover of an earlier run, or a task with"
        f" the same address?), or change the address{remedy}.")


def _is_free(address: str) -> bool:
    """Returns whether TensorFlow's server could bind the port.

    The server binds every interface, whatever host the cluster names, with SO_REUSEADDR and without
    SO_REUSEPORT. So any listener takes the port, even on one address only. A socket that is bound
    and does not listen (`launch` reserves a port with one) does not, if it has SO_REUSEADDR too. A
    listener on [::1] does not stop TensorFlow, which then listens on IPv4 alone, but takes the
    connections of peers that resolve localhost to [::1].
    """
    port = int(address.rpartition(":")[2])
    family = socket.AF_INET6 if socket.has_ipv6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            # Connections of an earlier server in TIME_WAIT do not take the port either.
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
    """Returns " by process ..." if /proc shows the process to this user, or ""."""
    if not (inodes := _listening_inodes(port)):
        return ""
    for folder in _PROC.glob("[0-9]*/fd"):
        with contextlib.suppress(OSError):
            if any(_inode(link) in inodes for link in folder.iterdir()):
                words = (folder.parent / "cmdline").read_bytes().split(b"\0")
                # Arguments may be secrets, and are long in a trainer.
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
