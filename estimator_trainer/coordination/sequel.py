"""The sequel: whether a script trains once more in its job, which only the chief finds out.

After training the chief goes on with the script, and every other task of a job without ps waits. If
the chief begins another training, the other tasks begin theirs; if its script ends, they end. The
chief writes this to `script.json` in the model_dir of the last training, with a heartbeat.
"""

import dataclasses
import posixpath
import threading
import time
from typing import Any, Callable

from absl import logging

from estimator_trainer import deadlines
from estimator_trainer.coordination import job_state, shared_files

_FILE = "script.json"
_WAITS = "{}.waits"
_POLL_SECS = 0.25


@dataclasses.dataclass(frozen=True)
class _ScriptState:
    """The content of `script.json`: how many trainings and heartbeats of the chief's script."""

    trainings: int
    beat: int
    is_over: bool


class SequelWriter:
    """Counts the trainings of the chief's script, and writes heartbeats until the script ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._threads: list[threading.Thread] = []
        self._path, self._num_trainings, self._heartbeats = "", 0, 0

    def begin(self, model_dir: str, peer_timeout_secs: float, num_workers: int) -> None:
        """Announces a training to the tasks that wait in the model_dir of the last training.

        The announcement is written once `job.json` has the chief's new run; before, tasks would
        join the last run. A worker that has not left the last run would read the new one as a
        restarted chief.
        """
        if not self._path:
            self._announce(model_dir)
            secs = deadlines.poll_intervals(model_dir, peer_timeout_secs).chief_heartbeat_secs
            self._start(self._send_heartbeats, secs)
        else:
            _wait_for_workers(posixpath.dirname(self._path), num_workers)
            self._start(self._announce_run, model_dir, _run_in(model_dir))

    def end(self) -> None:
        """Announces that the script has ended, if it has ever trained."""
        self._end.set()
        with self._lock:
            self._write(self._path)
        # A thread that still writes when Python ends would abort the process.
        for thread in self._threads:
            thread.join(deadlines.LAST_HISTORY_SECS)

    def _start(self, function: Callable[..., None], *args: Any) -> None:
        self._threads.append(threading.Thread(target=function, args=args, name="sequel",
                                              daemon=True))
        self._threads[-1].start()

    def _announce_run(self, model_dir: str, last_run: str) -> None:
        while not self._end.wait(_POLL_SECS):
            if _run_in(model_dir) != last_run:
                self._announce(model_dir)
                return

    def _announce(self, model_dir: str) -> None:
        with self._lock:
            self._num_trainings += 1
            last, self._path = self._path, posixpath.join(model_dir, _FILE)
            for path in {last, self._path}:
                self._write(path)

    def _send_heartbeats(self, secs: float) -> None:
        while not self._end.wait(secs):
            with self._lock:
                self._heartbeats += 1
                self._write(self._path)

    def _write(self, path: str) -> None:
        if path:
            shared_files.try_to_write_json(path, dataclasses.asdict(
                _ScriptState(self._num_trainings, self._heartbeats, self._end.is_set())))


def _wait_for_workers(model_dir: str, num_workers: int) -> None:
    """Waits, for a limited time, until all workers have left the last training in a model_dir."""
    run, deadline = _run_in(model_dir), time.monotonic() + deadlines.WORKERS_LEAVE_SECS
    waiting = {_WAITS.format(f"worker-{index}") for index in range(num_workers)}
    while (time.monotonic() < deadline
           and not waiting <= job_state.received_messages(model_dir, run)):
        time.sleep(_POLL_SECS)


def _run_in(model_dir: str) -> str:
    """Returns the id of the run in `job.json`; "" for none."""
    state = shared_files.read_as(job_state.JobState, posixpath.join(model_dir, job_state.JOB_FILE))
    return state.run if state else ""


class SequelReader:
    """Waits, in every other task, for the next training of the chief's script."""

    def __init__(self, model_dir: str, name: str, peer_timeout_secs: float):
        """Reads the chief's file before training; it may be left from an earlier process."""
        self._model_dir, self._path = model_dir, posixpath.join(model_dir, _FILE)
        self._waits = _WAITS.format(name.replace(":", "-"))
        self._peer_timeout_secs = peer_timeout_secs
        self._poll_secs = max(
            _POLL_SECS, deadlines.poll_intervals(model_dir, peer_timeout_secs).task_secs)
        self._found = shared_files.read_as(_ScriptState, self._path)

    def wait_for_training(self, num_trainings: int) -> bool:
        """Waits until the chief's script begins more than `num_trainings`, or ends.

        A file that has not changed since this task began may be a dead chief's. Returns whether
        another training begins; False if the script has ended, or the chief is silent.
        """
        job_state.send_message(self._model_dir, _run_in(self._model_dir), self._waits)
        seen, seen_at = self._found, time.monotonic()
        while time.monotonic() - seen_at < self._peer_timeout_secs:
            now = shared_files.read_as(_ScriptState, self._path)
            if now and now != seen:
                if now.trainings > num_trainings:
                    return True
                if now.is_over:
                    return False
                seen, seen_at = now, time.monotonic()
            time.sleep(self._poll_secs)
        logging.warning("the chief's script sent no heartbeat for %g s: this task ends, though the"
                        " script might have trained once more", self._peer_timeout_secs)
        return False
