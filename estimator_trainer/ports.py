"""Ports: whether the address that TF_CONFIG gives this task is free."""

from __future__ import annotations

import errno
import socket

from estimator_trainer.task_config import TaskConfig


def problems(task: TaskConfig) -> list[str]:
    """Returns a sentence if this task's port is taken.

    TensorFlow's gRPC server binds with SO_REUSEPORT and would share the port without a word.
    """
    if task.role not in ("chief", "worker", "ps") or _is_free(task.address):
        return []
    port = task.address.rpartition(":")[2]
    return [
        f"the address of {task.name} is {task.address!r} (from TF_CONFIG[\"cluster\"]), and"
        f" port {port} is taken on this machine; expected a free port. Stop the process that"
        f" listens there (a leftover of an earlier run?), or change the address."
    ]


def _is_free(address: str) -> bool:
    port = int(address.rpartition(":")[2])
    family = socket.AF_INET6 if socket.has_ipv6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            # Connections of an earlier server in TIME_WAIT do not count as taken.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            probe.bind(("", port))
    except OSError as error:
        return error.errno != errno.EADDRINUSE
    return True
