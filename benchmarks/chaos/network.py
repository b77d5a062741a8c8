"""A network of one machine that delays, loses and cuts off packets, as `tc netem` does.

Each task has a network namespace with a TUN device, whose other end is a file of this process. A
packet from one task is read there, and written to another's file: later, or never.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import heapq
import itertools
import os
import pathlib
import random
import select
import shutil
import socket
import struct
import subprocess
import threading
import time
from typing import Any, Iterator, Sequence

from benchmarks.chaos import damage
from benchmarks.chaos.skipped import Skipped

_TUN = pathlib.Path("/dev/net/tun")
# linux/if_tun.h: the request that names a device, and its kind: IP packets without a header.
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_PORT = 2222
_PACKET_BYTES = 1500
_POLL_SECS = 0.05


@dataclasses.dataclass(frozen=True)
class Quality:
    """The quality of the connection between two tasks.

    Attributes:
      delay_secs: Seconds from one task to the other.
      loss: Share of lost packets, 0 to 1.
    """

    delay_secs: float = 0.0
    loss: float = 0.0


class Network:
    """Network namespaces, one for each task, and the thread that carries packets between them.

    Attributes:
      hosts: Addresses by role, as TF_CONFIG has them.
    """

    def __init__(self, tasks: Sequence[str], quality: Quality):
        self.hosts: dict[str, list[str]] = {}
        self._quality = quality
        self._dice = random.Random(0)
        self._addresses: dict[str, bytes] = {}
        self._spaces: dict[str, str] = {}
        self._files: dict[bytes, int] = {}
        self._cut_until: dict[bytes, float] = {}
        self._bytes_per_sec: dict[bytes, float] = {}
        self._free_at: dict[bytes, float] = {}
        self._tasks, self._is_open = tasks, True
        self._thread = threading.Thread(target=self._carry, daemon=True)

    def open(self) -> None:
        """Makes the namespaces, and starts carrying packets.

        Raises:
          OSError, CalledProcessError: Network namespaces cannot be made here.
        """
        for number, task in enumerate(self._tasks, 1):
            self._add(task, number)
        self._thread.start()

    @property
    def ways(self) -> dict[str, dict[str, Any]]:
        """How a task's processes are started in the network, by its name."""
        return {task: {"prefix": ("ip", "netns", "exec", space)}
                for task, space in self._spaces.items()}

    def cut(self, task: str, secs: float) -> None:
        """Cuts a task off from all others for a while."""
        self._cut_until[self._addresses[task]] = time.monotonic() + secs

    def slow(self, task: str, bytes_per_sec: float) -> None:
        """Limits the bytes per second that a task sends and receives."""
        self._bytes_per_sec[self._addresses[task]] = bytes_per_sec

    def close(self) -> None:
        """Removes the namespaces and devices."""
        self._is_open = False
        if self._thread.is_alive():
            self._thread.join()
        for file in self._files.values():
            os.close(file)
        for space in self._spaces.values():
            subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)

    def _add(self, task: str, number: int) -> None:
        role, _, _ = task.partition(":")
        address = f"10.79.0.{number}"
        space = self._spaces[task] = f"chaos{os.getpid()}-{number}"
        device = f"tun{os.getpid()}x{number}"
        damage.sh("ip", "netns", "add", space)
        file = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(file, _TUNSETIFF,
                    struct.pack("16sH22x", device.encode(), _IFF_TUN | _IFF_NO_PI))
        damage.sh("ip", "link", "set", device, "netns", space)
        damage.sh("ip", "-n", space, "addr", "add", f"{address}/24", "dev", device)
        damage.sh("ip", "-n", space, "link", "set", device, "mtu", str(_PACKET_BYTES), "up")
        damage.sh("ip", "-n", space, "link", "set", "lo", "up")
        self._addresses[task] = socket.inet_aton(address)
        self._files[self._addresses[task]] = file
        self.hosts.setdefault(role, []).append(f"{address}:{_PORT}")

    def _carry(self) -> None:
        waiting: list[tuple[float, int, int, bytes]] = []
        count = itertools.count()
        poll = select.poll()
        for file in self._files.values():
            poll.register(file, select.POLLIN)
        while self._is_open:
            secs = waiting[0][0] - time.monotonic() if waiting else _POLL_SECS
            for file, _ in poll.poll(max(0.0, min(secs, _POLL_SECS)) * 1000):
                packet = os.read(file, _PACKET_BYTES + 100)
                due = self._due(packet)
                if due is not None:
                    target = self._files[packet[16:20]]
                    heapq.heappush(waiting, (due, next(count), target, packet))
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, file, packet = heapq.heappop(waiting)
                with contextlib.suppress(BlockingIOError):  # A full queue loses packets too.
                    os.write(file, packet)

    def _due(self, packet: bytes) -> float | None:
        """Returns when a packet arrives; None if never."""
        source, target, now = packet[12:16], packet[16:20], time.monotonic()
        if (packet[0] >> 4 != 4 or target not in self._files
                or max(self._cut_until.get(source, 0), self._cut_until.get(target, 0)) > now
                or self._dice.random() < self._quality.loss):
            return None
        due = now
        for address in (source, target):
            if address in self._bytes_per_sec:
                due = max(due, self._free_at.get(address, 0.0))
                due += len(packet) / self._bytes_per_sec[address]
                self._free_at[address] = due
        return due + self._quality.delay_secs


@contextlib.contextmanager
def network(tasks: Sequence[str], quality: Quality = Quality()) -> Iterator[Network]:
    """Yields a network of tasks.

    Raises:
      Skipped: This process may not make one.
    """
    if os.geteuid() or not shutil.which("ip") or not _TUN.exists():
        raise Skipped(f"a network of its own needs root, the command `ip` and {_TUN}")
    made = Network(tasks, quality)
    try:
        try:
            made.open()
        except (OSError, subprocess.CalledProcessError) as error:
            raise Skipped(f"no network namespaces here: {error}") from error
        yield made
    finally:
        made.close()
