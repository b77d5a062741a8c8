"""Connections to other tasks break when nobody answers at their other end any more.

A host that is lost says nothing. Its task may be back at another address soon, and gRPC looks up
the name again once a connection breaks; but Linux keeps one that gets no answer for 15 minutes, and
TensorFlow has no setting for gRPC's keepalive. So the sockets get the kernel's (tcp(7)).
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys

from estimator_trainer import deadlines
from estimator_trainer.cluster.task_config import TaskConfig

_PROBES = 4
_FOLDER = "/proc/self/fd"


def ports(task: TaskConfig) -> frozenset[int]:
    """Returns the ports at which the tasks of the cluster serve."""
    return frozenset(int(address.rpartition(":")[2])
                     for hosts in task.cluster.values() for address in hosts)


def keep_alive(peer_ports: frozenset[int]) -> int:
    """Has each connection of this process to a task break, once that is silent for too long.

    Args:
      peer_ports: The ports at which tasks serve; other connections are left as they are.

    Returns:
      The number of connections.
    """
    if not sys.platform.startswith("linux"):
        return 0
    count = 0
    for name in os.listdir(_FOLDER):
        # Another thread may close it, or open another file in its place, at any time.
        with contextlib.suppress(OSError):
            if os.readlink(f"{_FOLDER}/{name}").startswith("socket:"):
                with socket.socket(fileno=os.dup(int(name))) as connection:
                    count += _keep_alive(connection, peer_ports)
    return count


def _keep_alive(connection: socket.socket, peer_ports: frozenset[int]) -> bool:
    is_tcp = (connection.family in (socket.AF_INET, socket.AF_INET6) and
              connection.type == socket.SOCK_STREAM)
    if not is_tcp or connection.getpeername()[1] not in peer_ports:
        return False
    probe_secs = int(deadlines.CONNECTION_SECS / (_PROBES + 1))
    for option, value in ((socket.TCP_KEEPIDLE, probe_secs), (socket.TCP_KEEPINTVL, probe_secs),
                          (socket.TCP_KEEPCNT, _PROBES),
                          (socket.TCP_USER_TIMEOUT, int(deadlines.CONNECTION_SECS * 1000))):
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return True
