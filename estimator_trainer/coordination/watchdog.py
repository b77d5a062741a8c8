"""The watchdog, a thread that ends this process when its main thread waits in vain.

TensorFlow waits for a lost peer without limit, inside C++ where no exception reaches it
(tensorflow/tensorflow#47694, tensorflow/tensorflow#45088).
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import socket
import sys
import threading
import time
from typing import Any

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors, logs, result
from estimator_trainer.cluster import peers
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import checkpoints
from estimator_trainer.coordination.job_view import JobView
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.settings.trainer_config import TrainerConfig


class Watchdog:
    """Watches a task's peers, its progress, and whether it obeys a request to stop."""

    def __init__(self, config: TrainerConfig, task: TaskConfig, stop: Stop, view: JobView):
        self._config, self._task, self._stop, self._view = config, task, stop, view
        self._peers, self._ports = task.peers, ports(task)
        self._connections_at = self._polled_at = 0.0
        self._step = 0
        self._has_stepped = self._is_past_steps = False
        self._needs_peers = bool(self._peers)
        self._ticked_at = self._logged_at = time.monotonic()
        self._requested_at: float | None = None
        self._broke_at: float | None = None
        self._down_at: dict[str, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def __enter__(self) -> Watchdog:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._thread.join()

    def tick(self, step: int | None = None) -> None:
        """Records progress: a training step, or without `step` other work."""
        self._ticked_at = time.monotonic()
        if step is not None:
            self._step, self._has_stepped = step, True
            self._down_at.clear()

    def leave_steps(self, needs_peers: bool = False) -> None:
        """Records that this process makes no more steps, and whether it still needs its peers."""
        self.tick()
        self._is_past_steps, self._needs_peers = True, needs_peers

    def wait_for_end(self) -> None:
        """Waits until this watchdog ends the process, because an all-reduce broke.

        TensorFlow breaks an all-reduce when a trainer is gone, or did not answer for about 10 s,
        and never repairs it: every new session fails, too.
        """
        self._broke_at = time.monotonic()
        self._over.wait()

    def _run(self) -> None:
        while not self._over.wait(deadlines.WATCHDOG_POLL_SECS):
            try:
                self._poll()
            except (OSError, tf.errors.OpError) as error:
                logging.warning("cannot watch the job: %s", errors.first_line(error))

    def _poll(self) -> None:
        seen = self._view.poll(self._has_stepped, self._is_past_steps)
        if seen.lost:
            self._end("lost", seen.lost)
        self._log_sometimes(seen.waiting)
        request, now = self._stop.request, time.monotonic()
        if self._ports and now - self._connections_at > deadlines.CONNECTIONS_POLL_SECS:
            self._connections_at = now
            keep_alive(self._ports)
        if request and not self._is_past_steps:
            self._requested_at = self._requested_at or now
            grace_secs = (deadlines.FAILED_GRACE_SECS if request.status == "failed"
                          else deadlines.SAVE_GRACE_SECS)
            is_limit = request.reason == result.MAX_SECS
            # At --max_secs nobody is about to kill the chief: it saves, however long a step is.
            if now - self._requested_at > grace_secs and not (is_limit and self._task.is_chief):
                status = "stopped" if request.status == "stopping" else request.status
                self._end(status, request.reason if is_limit else str(request))
        # With a short peer timeout, peers are polled before half of it is over.
        patience_secs = min(deadlines.QUIET_SECS, self._config.peer_timeout_secs / 2)
        is_quiet = now - self._ticked_at > patience_secs or self._broke_at is not None
        secs = deadlines.peers_poll_secs(
            len(self._peers), self._config.peer_timeout_secs / deadlines.HEARTBEATS_TO_MISS)
        if self._needs_peers and is_quiet and now - self._polled_at >= secs:
            self._polled_at = now
            self._poll_peers(now)
        quiet_secs, limit = now - self._ticked_at, self._config.stall_timeout_secs
        if quiet_secs > limit and self._task.role != "ps":
            self._end("lost", f"no progress for {limit} s")

    def _poll_peers(self, now: float) -> None:
        """Logs the peers that do not answer, and ends this process when one is gone too long.

        A restarted peer of an all-reduce answers, but counts as gone.
        """
        restarted = self._view.restarted_peer()
        if restarted:
            self._end("lost", f"{restarted} was started again")
        states = peers.states(self._peers)
        lost = {name: state for name, state in states.items() if state != "up"}
        self._down_at = {name: self._down_at.get(name, now) for name in lost}
        shown = peers.named([f"{name} at {self._peers[name]} is {state}"
                             for name, state in lost.items()])
        if not lost and self._task.role == "worker" and not self._has_stepped:
            shown = f"waiting for {self._task.name_of('chief', 0)} to make the model ready"
        self._log_sometimes(shown and f"no step for {now - self._ticked_at:.0f} s: {shown}")
        limit = (self._config.peer_timeout_secs if self._has_stepped
                 else self._config.stall_timeout_secs)
        if any(now - since > limit for since in self._down_at.values()):
            self._end("lost", f"{shown} for {limit} s")
        broken_secs = 0 if self._broke_at is None else now - self._broke_at
        # A trainer that fails requests the end of all others, with a reason, before it is gone.
        if not self._stop.request and (broken_secs and lost or broken_secs > deadlines.BROKEN_SECS):
            self._end("lost", f"the all-reduce broke: {shown or 'every trainer answers again'}")

    def _log_sometimes(self, text: str) -> None:
        if text and time.monotonic() - self._logged_at >= deadlines.QUIET_SECS:
            self._logged_at = time.monotonic()
            logging.info("%s", text)

    def _end(self, status: result.Status, reason: str) -> None:
        """Ends the process now; the steps since the last checkpoint are lost."""
        logs.silence_other_threads()
        logging.error("ends at once: %s; the last checkpoint is kept", reason)
        if status == "lost":
            faulthandler.dump_traceback(sys.stderr.fileno(), all_threads=True)
        step = checkpoints.latest_step(self._config.model_dir)
        self._view.announce_end(status, step, reason)
        ended = result.Result(self._task.name, status, step, reason)
        result.print_last_line(ended)
        os._exit(ended.exit_code)


_PROBES = 4
_FOLDER = "/proc/self/fd"


def ports(task: TaskConfig) -> frozenset[int]:
    """Returns the ports of all tasks that have servers."""
    return frozenset(int(address.rpartition(":")[2])
                     for hosts in task.servers.values() for address in hosts)


def keep_alive(peer_ports: frozenset[int]) -> int:
    """Sets up TCP keepalive for all connections to `peer_ports`, and returns their number."""
    if not sys.platform.startswith("linux"):
        return 0
    count = 0
    for name in os.listdir(_FOLDER):
        # Another thread may close the file, or open another in its place, at any time.
        with contextlib.suppress(OSError):
            if os.readlink(f"{_FOLDER}/{name}").startswith("socket:"):
                with socket.socket(fileno=os.dup(int(name))) as connection:
                    count += _keep_alive(connection, peer_ports)
    return count


def _keep_alive(connection: socket.socket, peer_ports: frozenset[int]) -> bool:
    is_tcp = (connection.family in (socket.AF_INET, socket.AF_INET6) and
              connection.type == socket.SOCK_STREAM)
    if not is_tcp or connection.getpeername()[1] not in peer_ports:
        return False
    probe_secs = int(deadlines.CONNECTION_SECS / (_PROBES + 1))
    for option, value in ((socket.TCP_KEEPIDLE, probe_secs), (socket.TCP_KEEPINTVL, probe_secs),
                          (socket.TCP_KEEPCNT, _PROBES),
                          (socket.TCP_USER_TIMEOUT, int(deadlines.CONNECTION_SECS * 1000))):
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return True
