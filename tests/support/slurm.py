"""A real Slurm on this machine: munged, slurmctld and three slurmd, with a network file of its own.

The nodes are named as a cluster's are, and found in a file /etc/hosts that this Slurm alone sees.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import time
from typing import Callable, Iterator, Mapping

from tests.support import jobs

NODES = ("tnode-01", "tnode-02", "tnode-03")
_PROGRAMS = ("munged", "mungekey", "slurmctld", "slurmd", "srun", "sbatch", "scontrol", "unshare")
_CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={ctld}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdSpoolDir={folder}/spool-%n
StateSaveLocation={folder}/state
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
CryptoType=crypto/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,bf_interval=1
GresTypes=gpu
JobRequeue=1
MpiDefault=none
SwitchType=switch/none
KillWait=30
MinJobAge=3600
SlurmctldTimeout=120
SlurmdTimeout=120
ReturnToService=2
SlurmdParameters=config_overrides
"""
_NODE = ("NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=8"
         " Gres=gpu:4 RealMemory=65536 State=UNKNOWN\n")
_PARTITION = "PartitionName=main Nodes={nodes} Default=YES MaxTime=INFINITE State=UP\n"
_START_SECS = 30


def missing() -> str:
    """Returns why there can be no Slurm here, or ""."""
    lacking = [name for name in _PROGRAMS if not _program(name)]
    if lacking:
        return f"no {', '.join(lacking)} here (Debian: slurm-wlm, munge)"
    return "" if os.geteuid() == 0 else "Slurm's daemons need root here"


@contextlib.contextmanager
def cluster(folder: pathlib.Path, variables: Mapping[str, str],
            settings: str = "") -> Iterator[Cluster]:
    """Runs a Slurm with three nodes of 8 CPUs and 4 GPUs, for as long as the context lasts.

    Args:
      folder: An empty folder for its files.
      variables: Variables that its jobs see beside those of this process.
      settings: More lines of slurm.conf.
    """
    running = Cluster(folder, variables, settings)
    try:
        running.start()
        yield running
    finally:
        running.stop()


class Cluster:
    """A Slurm, and the commands that its users type.

    Args:
      folder: An empty folder for its files.
      variables: Variables that its jobs see beside those of this process.
      settings: More lines of slurm.conf.
    """

    def __init__(self, folder: pathlib.Path, variables: Mapping[str, str], settings: str = ""):
        self._folder, self._settings = folder, settings
        self._daemons: list[subprocess.Popen[bytes]] = []
        self._variables = {name: value for name, value in os.environ.items()
                           if not name.startswith(("SLURM_", "TF_CONFIG", "CLUSTER_SPEC"))}
        self._variables |= {**variables, "SLURM_CONF": str(folder / "slurm.conf")}

    def start(self) -> None:
        """Starts the daemons, and waits until the nodes take jobs."""
        ports = [int(each.rpartition(":")[2]) for each in jobs.free_addresses(1 + len(NODES))]
        host, folder = socket.gethostname().partition(".")[0], self._folder
        folder.chmod(0o755)
        (folder / "state").mkdir()
        (folder / "hosts").write_text(
            "".join(f"127.0.0.1 {name}\n" for name in ("localhost", host, *NODES)))
        (folder / "slurm.conf").write_text(
            _CONF.format(host=host, ctld=ports[0], folder=folder) +
            "".join(_NODE.format(name=name, host=host, port=port)
                    for name, port in zip(NODES, ports[1:])) +
            _PARTITION.format(nodes=",".join(NODES)) + self._settings)
        # Four files stand for the GPUs of a node, which no task opens.
        for number in range(4):
            (folder / f"gpu{number}").touch()
        (folder / "gres.conf").write_text(f"Name=gpu File={folder}/gpu[0-3]\n")
        key = folder / "munge.key"
        subprocess.run([_program("mungekey"), "--create", f"--keyfile={key}"], check=True)
        self._daemon("munged", "--foreground", "--force", f"--key-file={key}",
                     f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid",
                     f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed")
        self._wait(lambda: (folder / "munge.socket").exists(), "munged")
        self._daemon("slurmctld", "-D", "-c")
        for name in NODES:
            (folder / f"spool-{name}").mkdir()
            self._daemon("slurmd", "-D", "-N", name)
        self._wait(self._is_ready, "the nodes")

    def run(self, *words: str, timeout_secs: float = 120) -> subprocess.CompletedProcess[str]:
        """Runs a command of Slurm's to its end."""
        return subprocess.run(words, capture_output=True, text=True, timeout=timeout_secs,
                              cwd=self._folder, env=self._variables)

    def popen(self, *words: str) -> subprocess.Popen[str]:
        """Starts a command of Slurm's."""
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                cwd=self._folder, env=self._variables)

    def stop(self) -> None:
        """Ends every job and every daemon."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.run("scancel", "--user=root", timeout_secs=10)
            self.run("scancel", "--signal=KILL", "--user=root", timeout_secs=10)
        for daemon in reversed(self._daemons):
            daemon.kill()
            daemon.wait()

    def _daemon(self, *words: str) -> None:
        # The shell is the first process of a namespace: it buries what a daemon leaves, for a step
        # is at its end for Slurm only then, and all of it ends with the shell.
        inside = f'mount --bind {self._folder}/hosts /etc/hosts && "$@" & wait'
        with open(self._folder / f"{words[0]}.out", "ab") as out:
            self._daemons.append(subprocess.Popen(
                [_program("unshare"), "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                 "sh", "-c", inside, "sh", _program(words[0]), *words[1:]],
                stdout=out, stderr=out, cwd=self._folder, env=self._variables))

    def _is_ready(self) -> bool:
        states = self.run("sinfo", "--noheader", "--Node", "--format=%T", timeout_secs=20).stdout
        return states.split() == ["idle"] * len(NODES)

    def _wait(self, is_so: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + _START_SECS
        while not is_so():
            if time.monotonic() > deadline:
                logs = "".join(f"\n== {path.name}\n{path.read_text(errors='replace')[-2000:]}"
                               for path in sorted(self._folder.glob("*.*"))
                               if path.suffix in (".log", ".out"))
                raise TimeoutError(f"{what} did not start in {_START_SECS} s{logs}")
            time.sleep(0.1)


def _program(name: str) -> str:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") or ""
