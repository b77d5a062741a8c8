"""The addresses of a job on this machine: nobody takes their ports before its tasks do."""

from __future__ import annotations

import contextlib
import socket
from typing import Iterator, Sequence

from estimator_trainer import errors


@contextlib.contextmanager
def reserved(host: str, tasks: Sequence[tuple[str, int]]) -> Iterator[dict[str, list[str]]]:
    """Reserves a port for each task within the context, for this process and its children.

    A port that was free a moment ago may be another's by the time that a server binds to it. Here
    each port stays bound all the while, without listening: the kernel gives it to nobody who asks
    for any port, and lets a process listen there that asks for it by number with SO_REUSEADDR, as
    gRPC does.

    Args:
      host: Host name or address that the tasks find each other at.
      tasks: (role, index) of each task.

    Yields:
      The `cluster` of TF_CONFIG: the addresses by role.

    Raises:
      ConfigError: if the host is not an address of this machine.
    """
    cluster: dict[str, list[str]] = {}
    with contextlib.ExitStack() as stack:
        family = _family(host)
        for role, _ in tasks:
            holder = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.bind(("", 0))
            port = holder.getsockname()[1]
            shown = f"[{host}]" if ":" in host else host
            cluster.setdefault(role, []).append(f"{shown}:{port}")
        yield cluster


def _family(host: str) -> socket.AddressFamily:
    """Returns the host's address family, once it is sure that tasks can be reached there."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind(address)
        return family
    except OSError as error:
        raise errors.ConfigError(
            f"host is {host!r} (from --host), which is not an address of this machine ({error});"
            " expected one that is. For example: --host=127.0.0.1") from error
