"""The state of the job: whether training goes on, or at which step it ended, and why.

The chief keeps the state in `model_dir/job.json`, with an id of its run. Only the chief writes this
file; the other tasks read it, and send messages to the chief. A new task may find the state of an
earlier run, which must not end this one. No file is locked, no clocks are compared.

A message is a file `model_dir/tasks/RUN.TASK.KIND`. Most messages need no content, so that one
listing suffices for any number of tasks. The kinds are `stop` (a request to end training), `left`
(a worker has finished its part, or one that joined ends), `joined` (a worker takes part in an
all-reduce, or has joined a job with ps, with its address) and `waits` (a worker has left the
training; sequel.py). A request for one name would miss a new file as long as
"missing" is cached, 30 s on some shared disks; a listing shows the file.
"""

import contextlib
import dataclasses
import posixpath
import threading
import time
from typing import Any, Mapping
import uuid

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors
from estimator_trainer.coordination import shared_files
from estimator_trainer.coordination.stop import Request, Stop
from estimator_trainer.result import Status

JOB_FILE = "job.json"
_MESSAGES_DIR = "tasks"
_POLL_SECS = 0.25
_GOES_ON = ("running", "stopping")


@dataclasses.dataclass(frozen=True)
class JobState:
    """The content of `model_dir/job.json`.

    Attributes:
      run: Id of the chief's process, a new one for each.
      status: "running"; "stopping", when the chief requests the trainers to stop; "done",
        "stopped", "failed" or "lost" after the end.
      step: The global step of the final checkpoint; 0 before the end.
      reason: Why training ended, or is about to end; "" while running.
      finisher: The task that evaluates the final checkpoint in place of the evaluator.
      beat: Number of heartbeats since the last change.
      cluster: Number of tasks by role in the chief's TF_CONFIG; {} if unknown.
      addresses: The fingerprint of the chief's cluster; "" if unknown.
      is_complete: Whether all trainers of an all-reduce have joined the run.
      data_service: The place of the training set that is handed out (input/data_service.py); {}
        without one, or before the chief has it.
    """

    run: str
    status: Status
    step: int = 0
    reason: str = ""
    finisher: str = ""
    beat: int = 0
    cluster: Mapping[str, int] = dataclasses.field(default_factory=dict)
    addresses: str = ""
    is_complete: bool = False
    data_service: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Joined:
    """The message of a worker that joins a job with ps: its name, and its address, host:port."""

    name: str
    address: str


@dataclasses.dataclass(frozen=True)
class Trained:
    """The records that a trainer has trained on, in how many steps, at most `batch` in one."""

    records: int = 0
    steps: int = 0
    batch: int = 0

    def __add__(self, other: "Trained") -> "Trained":
        return Trained(self.records + other.records, self.steps + other.steps,
                       max(self.batch, other.batch))


class JobStateWriter:
    """Writes the job's state for the chief, and receives the other tasks' messages."""

    def __init__(self, model_dir: str, is_shared: bool,
                 peer_timeout_secs: float = deadlines.PEER_TIMEOUT_SECS,
                 cluster: Mapping[str, int] | None = None, addresses: str = ""):
        """Makes the writer, which writes nothing unless other tasks may share model_dir."""
        self._model_dir, self._is_shared = model_dir, is_shared
        self._poll_intervals = deadlines.poll_intervals(model_dir, peer_timeout_secs)
        self._lock = threading.Lock()
        self._state = JobState(uuid.uuid4().hex, "running", cluster=cluster or {},
                               addresses=addresses)
        self._has_begun = False
        self._written_at = self._polled_at = 0.0
        self._messages: frozenset[str] = frozenset()
        self._joined: dict[str, Joined] = {}
        # The first request of another task to end this run.
        self.request: Request | None = None

    def announce(self, status: Status, step: int = 0, reason: str = "", finisher: str = "") -> None:
        with self._lock:
            if self._is_shared and not self._has_begun:
                self._begin_messages()
            self._has_begun = True
            self._write(dataclasses.replace(
                self._state, status=status, step=step, reason=reason, finisher=finisher, beat=0))

    def gather(self, num_workers: int, stop: Stop) -> None:
        """Waits until all workers of an all-reduce have joined the run, and writes that they have.

        TensorFlow's own wait lasts an hour, in which neither a signal nor a Python thread reaches
        the process; this one raises Interrupted when the process is requested to stop.
        """
        missing = {f"worker-{index}.joined" for index in range(num_workers)}
        while not missing <= self._messages:
            stop.check()
            stop.sleep(_POLL_SECS)
            self.receive(is_waiting=True)
        with self._lock:
            self._write(dataclasses.replace(self._state, is_complete=True))

    def announce_data_service(self, place: Mapping[str, str]) -> None:
        """Writes where the trainers get the training set."""
        with self._lock:
            self._write(dataclasses.replace(self._state, data_service=place))

    def write_heartbeat(self) -> None:
        """Writes the chief's heartbeat, if it is due; may be called often."""
        if time.monotonic() - self._written_at < self._poll_intervals.chief_heartbeat_secs:
            return
        with self._lock:
            if self._has_begun and self._state.status in _GOES_ON:
                try:
                    self._write(dataclasses.replace(self._state, beat=self._state.beat + 1))
                except tf.errors.OpError as error:
                    logging.warning("cannot write %s: %s", JOB_FILE, errors.first_line(error))

    def receive(self, is_waiting: bool) -> None:
        """Receives the other tasks' messages to this run, if a poll is due; may be called often."""
        secs = (self._poll_intervals.chief_waits_secs if is_waiting
                else self._poll_intervals.chief_trains_secs)
        goes_on = self._has_begun and self._state.status in _GOES_ON
        if not goes_on or not self._is_shared or time.monotonic() - self._polled_at < secs:
            return
        self._polled_at = time.monotonic()
        self._messages = received_messages(self._model_dir, self._state.run)
        for name in sorted(self._messages):
            if name.endswith(".stop") and self.request is None:
                self.request = shared_files.read_as(
                    Request, _message_path(self._model_dir, self._state.run, name))

    def has_left(self, worker: int) -> bool:
        """Returns whether the worker of that index has sent that it finished its part."""
        return f"worker-{worker}.left" in self._messages

    def joined(self) -> dict[str, str]:
        """Returns the address, by name, of each worker that joined a job with ps and is there."""
        tasks = [name.removesuffix(".joined") for name in self._messages
                 if name.endswith(".joined")]
        for task in tasks:
            if f"{task}.left" in self._messages:
                self._joined.pop(task, None)
            elif task not in self._joined:
                joined = shared_files.read_as(
                    Joined, _message_path(self._model_dir, self._state.run, f"{task}.joined"))
                if joined:
                    self._joined[task] = joined
        return {joined.name: joined.address for _, joined in sorted(self._joined.items())}

    def is_joined_twice(self, worker: int) -> bool:
        """Returns whether a second process of that worker has tried to join."""
        return f"worker-{worker}.joined-twice" in self._messages

    def trained(self) -> list[Trained]:
        """Returns what each process of a worker that has ended by itself trained on."""
        run = self._state.run
        names = received_messages(self._model_dir, run) if self._is_shared else ()
        found = [shared_files.read_as(Trained, _message_path(self._model_dir, run, name))
                 for name in sorted(names) if ".trained-" in name]
        return [each for each in found if each]

    def _begin_messages(self) -> None:
        """Makes the folder of messages, and removes messages to earlier chiefs.

        The folder is made before the first listing: some disks remember that it was missing.
        """
        shared_files.make_folder(posixpath.join(self._model_dir, _MESSAGES_DIR))
        shared_files.in_parallel(_try_to_remove, tf.io.gfile.glob(posixpath.join(
            shared_files.escape(self._model_dir), _MESSAGES_DIR, "*")))

    def _write(self, state: JobState) -> None:
        self._state, self._written_at = state, time.monotonic()
        if self._is_shared:
            shared_files.write_json(posixpath.join(self._model_dir, JOB_FILE),
                                    dataclasses.asdict(state))


class JobStateReader:
    """Polls the job's state for the other tasks, and sends their messages to the chief."""

    def __init__(self, model_dir: str, max_steps: int | None, poll_secs: float = 0.0):
        """Makes the reader, and reads the state for the first time.

        Args:
          max_steps: The last step of training; a run that reached it has ended this one, too.
          poll_secs: The least seconds between two reads of the file.
        """
        # The run that a worker of an all-reduce has joined; "" before.
        self.joined_run = ""
        # The address from which a trainer gets its training set; "" before.
        self.service_address = ""
        self._refused_run: str | None = None
        self._joins: tuple[int, Joined] | None = None
        self._joins_run = ""
        self._model_dir, self._max_steps, self._poll_secs = model_dir, max_steps, poll_secs
        self._lock = threading.Lock()
        # Some disks remember that a folder was missing; see shared_files.read_text.
        with contextlib.suppress(tf.errors.OpError):
            shared_files.make_folder(model_dir)
        # The outcome of the last read, the last state that could be read, and the first one.
        self._read_state = self._read()
        self._last = self._first = self._read_state
        self._start = self._changed_at = self._read_at = time.monotonic()

    @property
    def has_seen_chief(self) -> bool:
        """Whether a read has found a change by the chief since this task began."""
        return self._last != self._first

    @property
    def silent_secs(self) -> float:
        """Seconds since the last change by the chief was found, or since this task began."""
        return time.monotonic() - self._changed_at

    @property
    def state(self) -> JobState | None:
        """The job's state by the last poll; None if this run has not begun, or is unknown.

        For a while, a final state that this task found at its start counts as an earlier run's.
        """
        state = self._read_state
        if state is None or state.status == "running":
            return state
        if state.status == "stopping":
            # The chief of a state found at the start was killed, or writes again soon.
            return None if state == self._first else state
        is_reached = self._max_steps and state.status == "done" and state.step >= self._max_steps
        age_secs = time.monotonic() - self._start
        may_be_stale = state == self._first and age_secs < deadlines.STALE_STATE_SECS
        return None if may_be_stale and not is_reached else state

    def poll(self) -> JobState | None:
        """Reads the job's state, if a read is due, and returns `state`; for any thread."""
        self._poll(self._poll_secs)
        if self._joins and self._last and self._last.run != self._joins_run:
            self.join_with_ps(*self._joins)  # The chief was started again.
        return self.state

    def poll_final_state(self) -> JobState | None:
        """Polls, and returns how training ended; None while it may go on."""
        state = self.poll()
        return None if state is None or state.status in _GOES_ON else state

    def poll_often_from(self, step: int) -> None:
        """Makes rare polls more frequent if training ends at `step`, or has ended."""
        if self._max_steps and step >= self._max_steps:
            self._poll_secs = min(self._poll_secs, deadlines.GOAL_POLL_SECS)

    def wait(self, secs: float) -> JobState | None:
        """Waits at most `secs` until the chief writes how training ended, and returns that."""
        deadline = time.monotonic() + secs
        while (found := self.poll_final_state()) is None and time.monotonic() < deadline:
            time.sleep(_POLL_SECS)
        return found

    def request_end(self, status: Status, reason: str, by: str) -> None:
        """Requests the chief to end the current run; without one there is nothing to end."""
        self._poll(0)
        # A state that cannot be read now is most likely the last one.
        state = self._read_state or self._last
        if state is None or state.status != "running":
            return
        try:
            send_message(self._model_dir, state.run, f"{by.replace(':', '-')}.stop",
                         {"status": status, "reason": reason, "by": by})
        except tf.errors.OpError as error:
            # The chief cannot write there either, and ends because of that.
            logging.warning("cannot send a request to the chief: %s", errors.first_line(error))

    def join(self, worker: int) -> bool:
        """Sends that a worker joins the current run, and returns whether it may join.

        An all-reduce cannot include a second process of a worker.
        """
        run = self._last.run if self._last else ""
        if run == self._refused_run:
            return False
        received, joined = received_messages(self._model_dir, run), f"worker-{worker}.joined"
        if joined not in received:
            self.joined_run = run
            send_message(self._model_dir, run, joined)
            return True
        self._refused_run = run
        if f"{joined}-twice" not in received:
            send_message(self._model_dir, run, f"{joined}-twice")
        return False

    def join_with_ps(self, worker: int, joined: Joined) -> None:
        """Sends that a worker takes part that the job did not have at its start."""
        run = self._last.run if self._last else ""
        self._joins, self._joins_run = (worker, joined), run
        with contextlib.suppress(tf.errors.NotFoundError):
            # An earlier process of this worker has left.
            tf.io.gfile.remove(_message_path(self._model_dir, run, f"worker-{worker}.left"))
        send_message(self._model_dir, run, f"worker-{worker}.joined", dataclasses.asdict(joined))

    def report_trained(self, worker: int, trained: Trained) -> None:
        """Sends what this process of the worker of that index has trained on."""
        run = self._last.run if self._last else ""
        send_message(self._model_dir, run, f"worker-{worker}.trained-{uuid.uuid4().hex[:8]}",
                     dataclasses.asdict(trained))

    def withdraw(self, worker: int) -> None:
        """Lets another process of the worker join; this one has not begun."""
        if self.joined_run:
            with contextlib.suppress(tf.errors.OpError):
                tf.io.gfile.remove(_message_path(
                    self._model_dir, self.joined_run, f"worker-{worker}.joined"))

    def leave(self, worker: int) -> None:
        """Sends that the worker of that index has finished its part."""
        send_message(self._model_dir, self._last.run if self._last else "", f"worker-{worker}.left")

    def _poll(self, most_secs: float) -> None:
        """Reads `job.json`, unless the last read is less than `most_secs` old."""
        with self._lock:
            if time.monotonic() - self._read_at < most_secs:
                return
            self._read_state, self._read_at = self._read(), time.monotonic()
            if self._read_state is not None and self._read_state != self._last:
                self._last, self._changed_at = self._read_state, self._read_at

    def _read(self) -> JobState | None:
        return shared_files.read_as(JobState, posixpath.join(self._model_dir, JOB_FILE))


def send_message(model_dir: str, run: str, name: str,
                 content: dict[str, Any] | None = None) -> None:
    """Sends a message, named TASK.KIND (`worker-0.left`), to a run of the chief."""
    shared_files.write_json(_message_path(model_dir, run, name), content or {})


def received_messages(model_dir: str, run: str) -> frozenset[str]:
    """Returns the names of the messages to a run, from one listing."""
    paths = tf.io.gfile.glob(_message_path(shared_files.escape(model_dir), run, "*"))
    # A file that is still being written ends with `.new`, and has no meaning as a message.
    return frozenset(posixpath.basename(path).removeprefix(f"{run}.") for path in paths)


def _try_to_remove(path: str) -> None:
    try:
        tf.io.gfile.remove(path)
    except tf.errors.OpError as error:
        logging.warning("cannot remove %s: %s", path, errors.first_line(error))


def _message_path(model_dir: str, run: str, name: str) -> str:
    return posixpath.join(model_dir, _MESSAGES_DIR, f"{run}.{name}")
