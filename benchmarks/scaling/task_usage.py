"""Usage of memory, threads, connections and CPU by the processes of a job, on Linux."""

from __future__ import annotations

import collections
import dataclasses
import os
import pathlib
import re
import statistics
from typing import Iterable, Mapping

_TICKS_PER_SEC = os.sysconf("SC_CLK_TCK")
_TASK = re.compile(r"(chief|worker|ps|evaluator):\d+$")
_ESTABLISHED = "01"


@dataclasses.dataclass(frozen=True)
class Usage:
    """The resources of one process at one moment.

    Attributes:
      own_mb: Memory that no other process shares (USS), in MB of 10^6 bytes.
      proportional_mb: The same, and its part of the shared memory (PSS).
      threads: Number of threads.
      connections: Number of open TCP connections.
      cpu_secs: CPU seconds so far.
    """

    own_mb: float
    proportional_mb: float
    threads: int
    connections: int
    cpu_secs: float

    @classmethod
    def of(cls, pid: int) -> Usage:
        """Returns the usage of a process."""
        folder = pathlib.Path(f"/proc/{pid}")
        sizes: collections.Counter[str] = collections.Counter()
        for line in (folder / "smaps_rollup").read_text().splitlines()[1:]:
            name, kilobytes = line.split()[:2]
            sizes[name] += int(kilobytes)
        own = sizes["Private_Clean:"] + sizes["Private_Dirty:"]
        return cls(own / 976.5625, sizes["Pss:"] / 976.5625, len(os.listdir(folder / "task")),
                   len(_sockets(folder) & _established(folder)), cpu_secs(pid))


def cpu_secs(pid: int) -> float:
    """Returns the CPU seconds of a process so far."""
    text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    user, system = text.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / _TICKS_PER_SEC


def tasks_of(launcher: int) -> dict[str, int]:
    """Returns the process ids of the tasks that `launch` has started, by name."""
    found = {}
    for pid in pathlib.Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split():
        name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
        if _TASK.match(name):
            found[name] = int(pid)
    return found


def median(usages: Mapping[str, Usage], role: str, field: str) -> float:
    """Returns the median of a field over the tasks of a role; of the chief if there is none."""
    found = [getattr(each, field) for name, each in usages.items() if name.startswith(role)]
    return statistics.median(found or [getattr(usages["chief:0"], field)])


def since(before: Mapping[str, Usage], after: Mapping[str, Usage]) -> dict[str, Usage]:
    """Returns the later usages, with the CPU seconds since the earlier ones."""
    return {name: dataclasses.replace(after[name],
                                      cpu_secs=after[name].cpu_secs - before[name].cpu_secs)
            for name in after}


def of_all(pids: Mapping[str, int]) -> dict[str, Usage]:
    """Returns the usage of each process, by name."""
    return {name: Usage.of(pid) for name, pid in pids.items()}


def busy_secs() -> float:
    """Returns the seconds for which the cores of this machine have been busy."""
    user, nice, system, _, _, *others = pathlib.Path("/proc/stat").read_text().split()[1:9]
    return sum(map(int, (user, nice, system, *others))) / _TICKS_PER_SEC


def _sockets(folder: pathlib.Path) -> set[str]:
    found = set()
    for each in os.listdir(folder / "fd"):
        try:
            target = os.readlink(folder / "fd" / each)
        except FileNotFoundError:
            continue  # The file was closed meanwhile.
        if target.startswith("socket:["):
            found.add(target[len("socket:["):-1])
    return found


def _established(folder: pathlib.Path) -> set[str]:
    """Returns the inodes of the open TCP connections of this network namespace."""
    rows: Iterable[list[str]] = (
        line.split() for name in ("tcp", "tcp6")
        for line in (folder / "net" / name).read_text().splitlines()[1:])
    return {row[9] for row in rows if row[3] == _ESTABLISHED}
