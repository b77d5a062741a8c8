"""Sockets hold ports of this machine while a test looks at them."""

from __future__ import annotations

import contextlib
import socket
from typing import Iterator


@contextlib.contextmanager
def bound(host: str, *options: int, listens: bool) -> Iterator[int]:
    """Binds a socket to a free port of `host` within the context, and yields the port.

    Args:
      host: An address of this machine, IPv4 or IPv6.
      *options: Options of SOL_SOCKET to set, such as SO_REUSEADDR.
      listens: Whether the socket listens.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as made:
        for option in options:
            made.setsockopt(socket.SOL_SOCKET, option, 1)
        made.bind((host, 0))
        if listens:
            made.listen()
        yield made.getsockname()[1]
