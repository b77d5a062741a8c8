"""Asks the other tasks of the cluster whether they answer."""

from __future__ import annotations

import socket

from estimator_trainer import deadlines
from estimator_trainer.cluster.task_config import TaskConfig

# An HTTP/2 client says this first, with an empty SETTINGS frame (RFC 9113, 3.4).
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


def state(address: str) -> str:
    """Returns whether a TensorFlow server is at `address`.

    Args:
      address: host:port of the server.

    Returns:
      "up"; "silent" if the connection is taken but nothing answers, as by a stopped process; or
      "down".
    """
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)),
                                      deadlines.PEER_ANSWER_SECS) as connection:
            connection.sendall(_HELLO)
            return "up" if connection.recv(9) else "down"
    except TimeoutError:
        return "silent"
    except OSError:
        return "down"


def needed(task: TaskConfig) -> dict[str, str]:
    """Returns the address by name of each task without which this one cannot make a step."""
    if task.role not in ("chief", "worker"):
        return {}
    roles = ("chief", "worker") if task.is_all_reduce else ("ps",)
    return {task.name_of(role, i): address for role in roles
            for i, address in enumerate(task.cluster.get(role, ()))
            if (role, i) != (task.role, task.index)}


def workers(task: TaskConfig) -> dict[str, str]:
    """Returns the address by name of each worker."""
    return {task.name_of("worker", i): address
            for i, address in enumerate(task.cluster.get("worker", ()))}
