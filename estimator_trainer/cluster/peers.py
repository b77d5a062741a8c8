"""Polls the other tasks of the cluster."""

import collections
import itertools
import socket
import threading
import time
from typing import Callable, Iterable, Mapping, Sequence

from estimator_trainer import deadlines

# The preface of an HTTP/2 client, with an empty SETTINGS frame (RFC 9113, 3.4).
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_AT_ONCE = 16
_MOST_NAMED = 5


def state(address: str) -> str:
    """Returns whether a TensorFlow server is at `address`, host:port: "up" or "down".

    "silent" means that a connection is taken, but nothing answers, as by a stopped process.
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


def states(peers: Mapping[str, str]) -> dict[str, str]:
    """Returns the state of each peer, by name; polls all at once, for at most CHECK_SECS.

    The limit holds however many peers are gone, and even if the name server is.
    """
    answers = in_parallel(state, set(peers.values()))
    return {name: answers.get(address, "silent") for name, address in peers.items()}


class Group:
    """Tasks of which any one suffices, such as the trainers that use a ps."""

    def __init__(self, addresses: Iterable[str]):
        self._addresses = collections.deque(addresses)

    def answers(self) -> bool:
        """Returns whether any of the tasks takes connections.

        The task that did so last is polled alone, and the others only when that one is gone: with
        many ps and many trainers, each ps would otherwise connect to each trainer.
        """
        rest = iter(list(self._addresses))
        for some in ([*itertools.islice(rest, 1)], *iter(
                lambda: [*itertools.islice(rest, _AT_ONCE)], [])):
            answers = in_parallel(state, some)
            for address in some:
                if answers.get(address, "silent") != "down":
                    self._addresses.remove(address)
                    self._addresses.appendleft(address)
                    return True
        return False


def named(names: Sequence[str]) -> str:
    """Returns the names as text, of many only the first: each task may log such a line."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def in_parallel(step: Callable[[str], str], arguments: Iterable[str]) -> dict[str, str]:
    """Returns the results of `step`, by argument, for the calls that return in CHECK_SECS."""
    results: dict[str, str] = {}

    def run(argument: str) -> None:
        results[argument] = step(argument)

    # Daemons, because a lookup that hangs must not keep the process.
    threads = [threading.Thread(target=run, args=(each,), daemon=True) for each in arguments]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + deadlines.CHECK_SECS
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return results.copy()
