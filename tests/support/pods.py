"""Pods have a network namespace and an address each, and names as a headless Service gives them.

A name resolves while its pod has an address, and a pod that is started again has another address.
The name of a late task does not resolve, and nothing answers at the old address of a moved task,
not even a refusal.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
from typing import Iterator, Sequence

import pytest

from tests.support import jobs
from tests.support.jobs import Task

PORT = 2222
_NETWORK = "10.78"
_DNS = f"{_NETWORK}.0.1"
_SWITCH_ADDRESS = "02:00:00:00:00:01"
# A pod asks for NAME.SERVICE in its own name space first.
_SEARCH = "team.svc.cluster.local"
_SERVICE = "job"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def name_of(task: str) -> str:
    """Returns the name of a task's pod, such as "job-worker-0.job" for "worker:0"."""
    return f"{_SERVICE}-{task.replace(':', '-')}.{_SERVICE}"


class Network:
    """A switch with a name server, and the pods that are connected to it."""

    def __init__(self, folder: pathlib.Path):
        """Makes the network; `folder` gets the table of names.

        Raises:
          OSError, CalledProcessError: No network namespaces can be made here.
        """
        self._prefix = f"pods{os.getpid()}"
        self._switch = f"{self._prefix}-switch"
        self._spaces: list[str] = []
        self._names: dict[str, str] = {}
        self._table, self._log = folder / "names", folder / "dns.log"
        self._numbers = itertools.count(1)
        self._server: subprocess.Popen[bytes] | None = None

    def open(self) -> None:
        """Makes the switch, and starts the name server."""
        self._add_space(self._switch)
        # Without an address of its own it takes one of a pod's, and changes it as pods go.
        _ip("-n", self._switch, "link", "add", "switch", "address", _SWITCH_ADDRESS, "type",
            "bridge")
        _ip("-n", self._switch, "addr", "add", f"{_DNS}/16", "dev", "switch")
        _ip("-n", self._switch, "link", "set", "switch", "up")
        self._write_names()
        self._server = subprocess.Popen(
            ["ip", "netns", "exec", self._switch, "dnsmasq", "--keep-in-foreground", "--conf-file=",
             "--no-resolv", "--no-hosts", f"--addn-hosts={self._table}", "--local=/#/",
             "--user=root", "--pid-file=", f"--listen-address={_DNS}", "--bind-interfaces",
             f"--log-facility={self._log}"])
        # A signal to read the names again would end a server that does not handle it yet.
        jobs.wait_for(lambda: self._log.exists() and "started" in self._log.read_text(), 20)

    def close(self) -> None:
        """Removes everything that was made."""
        if self._server:
            self._server.kill()
            self._server.wait()
        for space in list(self._spaces):
            self.remove(space)

    def add(self, task: str) -> str:
        """Adds a pod for a task such as "worker:0", at an address that no pod had before.

        Returns:
          The name of its network namespace.
        """
        number = next(self._numbers)
        space, port = f"{self._prefix}-{number}", f"port{number}"
        address = f"{_NETWORK}.1.{number}"
        self._add_space(space)
        folder = pathlib.Path("/etc/netns", space)
        folder.mkdir(parents=True)
        (folder / "resolv.conf").write_text(
            f"nameserver {_DNS}\nsearch {_SEARCH}\noptions ndots:5\n")
        _ip("link", "add", "net", "netns", space, "type", "veth", "peer", "name", port, "netns",
            self._switch)
        _ip("-n", self._switch, "link", "set", "dev", port, "master", "switch", "up")
        _ip("-n", space, "addr", "add", f"{address}/16", "dev", "net")
        _ip("-n", space, "link", "set", "net", "up")
        _ip("-n", space, "link", "set", "lo", "up")
        self.name(task, address)
        return space

    def name(self, task: str, address: str) -> None:
        """Makes a task's name known, or unknown for the address ""."""
        self._names[task] = address
        self._write_names()
        if self._server:
            self._server.send_signal(signal.SIGHUP)

    def cut(self, space: str) -> None:
        """Cuts a pod off, as where its node is lost: nobody hears any more that it ends."""
        port = f"port{space.rpartition('-')[2]}"
        _ip("-n", self._switch, "link", "set", "dev", port, "nomaster")

    def remove(self, space: str) -> None:
        """Removes a pod with its address, whose processes have ended."""
        with contextlib.suppress(OSError):
            subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)
        shutil.rmtree(pathlib.Path("/etc/netns", space), ignore_errors=True)
        with contextlib.suppress(ValueError):
            self._spaces.remove(space)

    def _add_space(self, space: str) -> None:
        self._spaces.append(space)
        _ip("netns", "add", space)

    def _write_names(self) -> None:
        lines = [f"{address} {name_of(task)}.{_SEARCH}\n"
                 for task, address in self._names.items() if address]
        new = self._table.with_suffix(".new")
        new.write_text("".join(lines))
        new.rename(self._table)


class Job:
    """A job whose tasks run in pods, with what a scheduler does when one ends.

    Attributes:
      tasks: The last process of each task, by name.
      ended: (seconds since the start, task, exit code) of every process that has ended.
    """

    def __init__(self, folder: pathlib.Path, network: Network, counts: dict[str, int],
                 args: Sequence[str]):
        self.tasks: dict[str, Task] = {}
        self.ended: list[tuple[float, str, int]] = []
        self._folder, self._network, self._args = folder, network, args
        self._cluster = self.cluster(**counts)
        self._spaces: dict[str, str] = {}
        self._began_at = time.monotonic()

    @staticmethod
    def cluster(**counts: int) -> dict[str, list[str]]:
        """Returns the cluster of TF_CONFIG, e.g. for `chief=1, worker=2`."""
        return {role: [f"{name_of(f'{role}:{i}')}:{PORT}" for i in range(count)]
                for role, count in counts.items()}

    @property
    def names(self) -> list[str]:
        """The names of all tasks of the cluster."""
        return [f"{role}:{i}" for role, hosts in self._cluster.items() for i in range(len(hosts))]

    def start(self, *names: str, cluster: dict[str, list[str]] | None = None) -> None:
        """Starts tasks, each in a new pod with a new address."""
        for name in names:
            role, _, index = name.partition(":")
            space = self._spaces[name] = self._network.add(name)
            tf_config = {"cluster": cluster or self._cluster,
                         "task": {"type": role, "index": int(index)}}
            folder = self._folder / f"{space}-{role}-{index}"
            folder.mkdir()
            self.tasks[name] = jobs.start(folder, name, self._args, json.dumps(tf_config),
                                          ("ip", "netns", "exec", space))

    def stop(self, name: str, number: int = signal.SIGKILL, is_node_lost: bool = False) -> None:
        """Ends a task by a signal, and removes its pod, name and address."""
        if is_node_lost:
            self._network.cut(self._spaces[name])
        os.killpg(self.tasks[name].process.pid, number)
        self.tasks[name].process.wait(60)
        self.remove(name)

    def remove(self, name: str) -> None:
        """Removes the pod of a task that has ended."""
        code = self.tasks[name].process.wait(0)
        self.ended.append((self.secs, name, code))
        self._network.name(name, "")
        self._network.remove(self._spaces.pop(name))

    @property
    def secs(self) -> float:
        """Seconds since the job was made."""
        return round(time.monotonic() - self._began_at, 1)

    def schedule(self, timeout_secs: float, rest_secs: float = 1.5) -> None:
        """Starts each task again that is to be, as a manifest's Jobs do, until all are done.

        Args:
          timeout_secs: How long that may take.
          rest_secs: How long the name of a task is unknown between two of its processes.
        """
        deadline, due = time.monotonic() + timeout_secs, dict[str, float]()
        while self._spaces or due:
            assert time.monotonic() < deadline, self.logs()
            for name in [name for name in self._spaces if self.tasks[name].code is not None]:
                self.remove(name)
                code = self.ended[-1][2]
                assert code in (0, 142, 143, -9), self.logs()
                if code:
                    due[name] = time.monotonic() + rest_secs
            for name in [name for name, at in due.items() if at < time.monotonic()]:
                del due[name]
                self.start(name)
            time.sleep(0.1)

    def logs(self) -> str:
        """Returns the ends of all tasks, and the last lines of the last log of each."""
        tails = (f"--- {t.name} {t.code}\n{t.log[-3000:]}" for t in self.tasks.values())
        return "\n".join([str(self.ended), *tails])

    def close(self) -> None:
        """Kills what still runs."""
        for task in self.tasks.values():
            jobs.kill(task)


@contextlib.contextmanager
def network(folder: pathlib.Path) -> Iterator[Network]:
    """Yields a network of pods; skips the test where there can be none."""
    missing = [tool for tool in ("ip", "dnsmasq") if not shutil.which(tool)]
    if missing or os.geteuid():
        pytest.skip(f"no network of pods here: it needs {' and '.join(missing) or 'root'}")
    made = Network(folder)
    try:
        try:
            made.open()
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no network namespaces here: {getattr(error, 'stderr', error)}")
        yield made
    finally:
        made.close()
