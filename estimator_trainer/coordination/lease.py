"""The lease of a model_dir: one training at a time writes its checkpoints.

The chief keeps `model_dir/lease.json`, with an id of its own and a heartbeat, and removes the file
at its end. A second chief is refused while the heartbeat of the first continues. No file is locked
and no clocks are compared, so that the lease works on NFS and in buckets too: two chiefs that begin
at the same moment both write, and the one whose id is overwritten ends at its next read.
"""

import contextlib
import dataclasses
import datetime
import os
import pathlib
import posixpath
import socket
import time
import uuid

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors, storage
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import shared_files
from estimator_trainer.coordination.stop import Stop

FILE = "lease.json"
_DEAD = ("Z", "X")


@dataclasses.dataclass(frozen=True)
class Process:
    """A process, identified for other processes of its machine.

    Attributes:
      machine: Ids of the machine's boot and of the container's process numbers; "" without /proc.
      start: When the process started, in the kernel's own unit; "" without /proc.
    """

    host: str
    machine: str
    pid: int
    start: str

    def is_here(self) -> bool:
        """Returns whether this process shares machine and process numbers with that one."""
        here = this_process()
        return (self.host, self.machine) == (here.host, here.machine)

    def is_alive(self) -> bool:
        """Returns whether a process of this machine still runs."""
        state, start = _stat(self.pid)
        if self.start:
            return start == self.start and state not in _DEAD
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True


@dataclasses.dataclass(frozen=True)
class Holder:
    """The content of `model_dir/lease.json`: the training that holds a model_dir.

    Attributes:
      task: The name of the chief, such as "chief:0" or "local".
      addresses: The fingerprint of the cluster; "" for a task that is alone.
      began: When the training began, by the clock of its machine, for messages.
      renewed: The chief's last write, by the same clock, for messages.
      is_stopping: Whether the chief was requested to stop, and is about to save and to end.
    """

    run: str
    task: str
    addresses: str
    process: Process
    began: str
    renewed: str
    heartbeat: int = 0
    is_stopping: bool = False

    def __str__(self) -> str:
        return (f"{self.task}, process {self.process.pid} on {self.process.host}, which began at"
                f" {self.began} and sent its last heartbeat at {self.renewed}")


class Lease:
    """Renews the lease of a model_dir for the training that holds it."""

    def __init__(self, model_dir: str, holder: Holder):
        self._path, self._holder, self._lost = posixpath.join(model_dir, FILE), holder, ""
        self._new_folder = "" if tf.io.gfile.isdir(model_dir) else model_dir
        self._write()
        # Two chiefs that begin together detect each other early.
        self._reads_at = time.monotonic() + deadlines.LEASE_CHECK_SECS

    def renew(self, is_stopping: bool) -> str:
        """Renews the lease, if that is due; returns the training that took it over, or ""."""
        is_news = is_stopping and not self._holder.is_stopping
        if self._lost or time.monotonic() < self._reads_at and not is_news:
            return self._lost
        self._reads_at = time.monotonic() + deadlines.LEASE_RENEW_SECS
        found = read(self._path)
        if found and found.run != self._holder.run:
            # A training inside this one, in the same process, ends before this one.
            self._lost = "" if found.process == self._holder.process else str(found)
            return self._lost
        self._holder = dataclasses.replace(
            self._holder, heartbeat=self._holder.heartbeat + 1, renewed=_now(),
            is_stopping=is_stopping)
        self._write()
        return ""

    def release(self) -> None:
        """Removes the lease for the next training, unless another one has taken it already."""
        found = read(self._path)
        if found and found.run == self._holder.run:
            with contextlib.suppress(tf.errors.OpError):
                tf.io.gfile.remove(self._path)
        if self._new_folder:
            # A training that failed before it wrote anything leaves no folder behind.
            with contextlib.suppress(OSError):
                os.rmdir(self._new_folder)

    def _write(self) -> None:
        shared_files.write_json(self._path, dataclasses.asdict(self._holder))


def acquire(model_dir: str, task: TaskConfig, is_forced: bool, stop: Stop) -> Lease:
    """Returns the lease of a model_dir, once it is free; if `is_forced`, after ending its holder.

    Raises:
      ConfigError: if another training holds it.
      Interrupted: if this process is requested to stop.
    """
    now = _now()
    addresses = task.fingerprint if task.num_trainers > 1 or "ps" in task.cluster else ""
    me = Holder(uuid.uuid4().hex, task.name, addresses, this_process(), now, now)
    found = read(posixpath.join(model_dir, FILE))
    if found is not None and not is_forced:
        _wait_until_free(model_dir, me, found, stop)
    lease = Lease(model_dir, me)
    if found is not None and is_forced:
        logging.warning("takes model_dir over, by %s, from %s", errors.Setting("force", True),
                        found)
        _wait_for_end(found, me, stop)
    return lease


def read(path: str) -> Holder | None:
    """Returns the holder of a lease; None if there is none, or the file cannot be read now."""
    return shared_files.read_as(Holder, path)


def this_process() -> Process:
    ids, pid = [_read_text("/proc/sys/kernel/random/boot_id")], os.getpid()
    with contextlib.suppress(OSError):
        ids.append(os.readlink("/proc/self/ns/pid"))
    return Process(socket.gethostname(), " ".join(filter(None, ids)), pid, _stat(pid)[1])


def _wait_until_free(model_dir: str, me: Holder, found: Holder, stop: Stop) -> None:
    """Returns once the training of `found` is gone, or may be replaced by `me`."""
    path, seen, since = posixpath.join(model_dir, FILE), found, time.monotonic()
    poll_secs = (deadlines.LEASE_POLL_OBJECT_SECS if storage.is_object_store(path)
                 else deadlines.LEASE_POLL_SECS)
    is_logged = False
    while time.monotonic() - since < deadlines.LEASE_SECS:
        if _is_over(seen, me):
            return
        if not seen.is_stopping and (seen.heartbeat != found.heartbeat or seen.process.is_here()):
            raise errors.ConfigError(_refusal(model_dir, seen))
        if not is_logged:
            logging.info("model_dir is in use by %s: waits for its end, or at most %g s for a"
                         " heartbeat", seen, deadlines.LEASE_SECS)
            is_logged = True
        stop.check()
        stop.sleep(poll_secs)
        now = read(path)
        if now is None:
            return
        if now.run != found.run:
            raise errors.ConfigError(_refusal(model_dir, now))
        if now != seen:
            seen, since = now, time.monotonic()
    logging.warning("replaces %s: no heartbeat for %g s", seen, deadlines.LEASE_SECS)


def _wait_for_end(found: Holder, me: Holder, stop: Stop) -> None:
    """Returns once the training of `found`, which has lost its lease, writes no more.

    The end of a process elsewhere is not visible: its next read of the lease is soon enough.
    """
    until = time.monotonic() + deadlines.LEASE_RENEW_SECS + deadlines.LEASE_CHECK_SECS
    while time.monotonic() < until and not _is_over(found, me):
        stop.check()
        stop.sleep(deadlines.LEASE_POLL_SECS)


def _is_over(found: Holder, me: Holder) -> bool:
    """Returns whether `me` may begin without waiting for the training of `found`."""
    process = found.process
    if process.is_here():
        return process == me.process or not process.is_alive()
    # A scheduler has started the chief of one job again, elsewhere.
    return bool(me.addresses and (found.addresses, found.task) == (me.addresses, me.task))


def _refusal(model_dir: str, found: Holder) -> errors.Problem:
    return errors.Problem(
        "model_dir", model_dir, f"and another training writes its checkpoints there: {found}",
        "a directory of this job's own, or the end of that training",
        f"{errors.Setting('model_dir', model_dir.rstrip('/') + '-2')}, or"
        f" {errors.Setting('force', True)} to end that training and to go on from its last"
        " checkpoint")


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")


def _stat(pid: int) -> tuple[str, str]:
    """Returns state and start of a process from /proc (man 5 proc); "" where unknown."""
    fields = _read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (fields[0], fields[19]) if len(fields) > 19 else ("", "")


def _read_text(path: str) -> str:
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
