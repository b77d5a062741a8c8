"""The checkpoints of a job are shared out among its evaluators, so that each is evaluated once.

The first evaluator leads: it alone decides who evaluates which checkpoint, and writes this to
`evaluators/evaluator-0.json`. Therefore two evaluators never take the same one, and nothing is
locked. Each other evaluator is a member: it writes a heartbeat to a file of its own, with the
checkpoint that it has taken, and whether it has finished. A file that does not change belongs to a
process that has ended, whose checkpoint another evaluator gets; no clocks are compared.
"""

from __future__ import annotations

import contextlib
import dataclasses
import posixpath
import re
import threading
import time
from typing import Any, Collection, Iterator, Literal, Mapping, NamedTuple
import uuid

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors
from estimator_trainer.coordination import checkpoints, shared_files
from estimator_trainer.coordination.job_state import JobState, JobStateReader

FOLDER = "evaluators"
# The index of the evaluator that leads.
LEAD = 0
_FILE = re.compile(r"evaluator-(\d+)\.json")
# How an evaluation has ended: "gone" if the checkpoint was deleted meanwhile; "" while it goes on.
Outcome = Literal["", "done", "gone"]


@dataclasses.dataclass(frozen=True)
class _Shares:
    """The content of the lead's file.

    Attributes:
      assigned: The global step of the checkpoint that each evaluator has, by index.
      is_over: Whether nothing is left for the members.
    """

    process: str
    count: int
    assigned: Mapping[str, int]
    is_over: bool = False


@dataclasses.dataclass(frozen=True)
class _Member:
    """The content of a member's file.

    Attributes:
      process: Id of the member's process; "" after its end.
      count: Number of heartbeats of that process.
      step: The global step of the checkpoint that it has taken last; -1 before the first.
    """

    process: str
    count: int
    step: int = -1
    outcome: Outcome = ""


class _Seen(NamedTuple):
    """A member's file as it was read last, when it had changed, and whether it ever has."""

    member: _Member
    changed_at: float
    has_changed: bool


def has_members(model_dir: str) -> bool:
    """Returns whether there is the file of another evaluator than the first."""
    return any(index != LEAD for index, _ in _files(model_dir))


class Lead:
    """Gives checkpoints to the members and to its own process, in a thread.

    The newest checkpoint comes first. When training has ended, those that are left follow, the
    newest first, unless `is_last_only`.
    """

    def __init__(self, model_dir: str, state: JobStateReader, throttle_secs: float,
                 begun: Collection[int], finished: Collection[int], is_last_only: bool):
        """Makes the lead of a job, which may have had another one before.

        Args:
          throttle_secs: The least seconds from the start of an evaluation to the next one's.
          begun: The global steps that need no evaluation.
          finished: Those among them whose results this process has yet to use.
          is_last_only: Whether only the last checkpoint counts after the end of training.
        """
        self._model_dir, self._state = model_dir, state
        self._throttle_secs, self._is_last_only = throttle_secs, is_last_only
        self._intervals = deadlines.poll_intervals(model_dir)
        self._process, self._count = uuid.uuid4().hex, 0
        self._lock = threading.Lock()
        self._begun, self._finished = set(begun), set(finished)
        self._assigned: dict[int, int] = {}
        self._waiting: list[int] = []
        self._seen: dict[int, _Seen] = {}
        self._written: Any = None
        self._written_at = self._gives_at = 0.0
        self._is_last, self._latest = False, ""
        self._error: Exception | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="evaluators", daemon=True)

    def __enter__(self) -> Lead:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._thread.join()
        with contextlib.suppress(tf.errors.OpError):
            self._write({}, is_over=self.is_complete)

    @property
    def own_step(self) -> int | None:
        """The global step that this process has to evaluate now; None if there is none."""
        return self._assigned.get(LEAD)

    @property
    def is_complete(self) -> bool:
        """Whether training has ended, and every checkpoint that counts has been used."""
        with self._lock:
            return self._is_last and not (self._assigned or self._waiting or self._finished)

    @property
    def has_last(self) -> bool:
        """Whether training has ended, and its last checkpoint is visible."""
        return self._is_last

    def finish_own(self, is_gone: bool) -> None:
        """Records the end of this process's own evaluation."""
        with self._lock:
            step = self._assigned.pop(LEAD)
            self._finished |= set() if is_gone else {step}

    def next_finished(self) -> int | None:
        """Returns the step whose result is next to be used, in the order of steps; None: wait."""
        if self._error:
            raise self._error
        with self._lock:
            step = min(self._finished, default=None)
            before = [each for each in (*self._assigned.values(), *self._waiting)
                      if step is not None and each < step]
            return None if before else step

    def use(self, step: int, again: bool = False) -> None:
        """Records that the result of a step has been used; `again`: it is to be made again."""
        with self._lock:
            self._finished.discard(step)
            self._begun -= {step} if again else set()

    def path_of(self, step: int) -> str:
        """Returns the path of the checkpoint of a step."""
        return self._latest if step == checkpoints.step_of(self._latest) else path_of(
            self._model_dir, step)

    def poll(self) -> None:
        """Reads what has changed, and gives out what is due."""
        # The order matters: the checkpoint that is the latest after the end is the last.
        final_state = self._state.poll_final_state()
        latest = checkpoints.latest(self._model_dir, known=self._latest)
        wanted = self._wanted(final_state, latest)
        members = self._members()
        with self._lock:
            self._latest = latest or self._latest
            self._is_last = bool(final_state and wanted)
            self._receive(members)
            self._give(wanted, members)
            assigned = {str(index): step for index, step in self._assigned.items()}
        is_due = time.monotonic() - self._written_at >= self._intervals.evaluator_heartbeat_secs
        if assigned != self._written or is_due:
            self._write(assigned)

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                self.poll()
            except tf.errors.OpError as error:
                logging.warning("cannot share out checkpoints now: %s", errors.first_line(error))
            except Exception as error:  # pylint: disable=broad-except
                self._error = error  # The main thread raises it.
                return
            self._over.wait(self._intervals.checkpoint_secs)

    def _wanted(self, final_state: JobState | None, latest: str) -> list[int]:
        """Returns the steps to evaluate, the most needed first."""
        newest = checkpoints.step_of(latest)
        if not latest or final_state and (final_state.status != "done" or final_state.finisher
                                          or newest < final_state.step):
            return []
        if not final_state or self._is_last_only:
            return [newest]
        steps = map(checkpoints.step_of, reversed(checkpoints.paths_in(self._model_dir)))
        return [newest, *(step for step in steps if step < newest)]

    def _members(self) -> dict[int, _Seen]:
        """Returns the members that run, as far as is known."""
        now = time.monotonic()
        for index, path in _files(self._model_dir):
            found, seen = shared_files.read_as(_Member, path), self._seen.get(index)
            if index != LEAD and found and (seen is None or found != seen.member):
                self._seen[index] = _Seen(found, now, seen is not None)
        return {index: seen for index, seen in self._seen.items() if seen.member.process and
                now - seen.changed_at < self._intervals.member_lost_secs}

    def _receive(self, members: Mapping[int, _Seen]) -> None:
        """Takes from members what they have finished, and from those that are gone all."""
        for index, step in [each for each in self._assigned.items() if each[0] != LEAD]:
            seen = members.get(index)
            if seen is None:
                logging.warning("evaluator:%d is gone: another one evaluates step %d", index, step)
                del self._assigned[index]
                self._begun.discard(step)
            elif seen.member.step == step and seen.member.outcome:
                del self._assigned[index]
                self._finished |= {step} if seen.member.outcome == "done" else set()
        for index, (member, _, _) in members.items():
            # An earlier process of this evaluator gave it.
            if index not in self._assigned and _is_busy(member) and member.step not in self._begun:
                self._assigned[index] = member.step
                self._begun.add(member.step)

    def _give(self, wanted: list[int], members: Mapping[int, _Seen]) -> None:
        # This process comes last, because it also has to use the results.
        free = [index for index, (member, _, has_changed) in sorted(members.items())
                if has_changed and index not in self._assigned and not _is_busy(member)]
        free += [LEAD] if LEAD not in self._assigned else []
        self._waiting = []
        for step in wanted:
            if step in self._begun:
                continue
            if not free or not self._is_last and time.monotonic() < self._gives_at:
                self._waiting.append(step)
                continue
            self._assigned[free.pop(0)] = step
            self._begun.add(step)
            self._gives_at = time.monotonic() + self._throttle_secs

    def _write(self, assigned: dict[str, int], is_over: bool = False) -> None:
        self._count += 1
        content = _Shares(self._process, self._count, assigned, is_over)
        shared_files.write_json(_path(self._model_dir, LEAD), dataclasses.asdict(content))
        self._written, self._written_at = assigned, time.monotonic()


class Member:
    """Takes checkpoints from the lead, and sends heartbeats within the context."""

    def __init__(self, model_dir: str, index: int):
        self._model_dir, self._index = model_dir, index
        self._intervals = deadlines.poll_intervals(model_dir)
        self._state, self._lock = _Member(uuid.uuid4().hex, 0), threading.Lock()
        self._shares = self._first = self._read()
        self._changed_at, self._polls_at = time.monotonic(), 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> Member:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._thread.join()
        self._write(process="")

    @property
    def silent_secs(self) -> float:
        """Seconds since the last change by the lead was found, or since this object was made."""
        return time.monotonic() - self._changed_at

    @property
    def is_over(self) -> bool:
        """Whether the lead of this job has nothing left for this member."""
        return bool(self._shares and self._shares != self._first and self._shares.is_over)

    def take(self) -> int | None:
        """Returns the step of a checkpoint that the lead has just assigned to this member, or None.

        A file that has not changed since this process began may be an earlier job's.
        """
        if time.monotonic() < self._polls_at:
            return None
        self._polls_at = time.monotonic() + self._intervals.checkpoint_secs
        found = self._read()
        if found and found != self._shares:
            self._shares, self._changed_at = found, time.monotonic()
        if found is None or found == self._first:
            return None
        step = found.assigned.get(str(self._index))
        if step is None or step == self._state.step:
            return None
        self._write(step=step, outcome="")
        return step

    def finish(self, outcome: Outcome) -> None:
        """Sends how the evaluation of the step that was taken last has ended."""
        self._write(outcome=outcome)

    def _read(self) -> _Shares | None:
        return shared_files.read_as(_Shares, _path(self._model_dir, LEAD))

    def _run(self) -> None:
        while True:
            self._write()
            if self._over.wait(self._intervals.evaluator_heartbeat_secs):
                return

    def _write(self, **changes: Any) -> None:
        with self._lock:
            self._state = dataclasses.replace(self._state, count=self._state.count + 1, **changes)
            shared_files.try_to_write_json(_path(self._model_dir, self._index),
                                           dataclasses.asdict(self._state))


def path_of(model_dir: str, step: int) -> str:
    """Returns the path of the checkpoint of a step in model_dir."""
    return posixpath.join(model_dir, f"model.ckpt-{step}")


def _is_busy(member: _Member) -> bool:
    return member.step >= 0 and not member.outcome


def _path(model_dir: str, index: int) -> str:
    return posixpath.join(model_dir, FOLDER, f"evaluator-{index}.json")


def _files(model_dir: str) -> Iterator[tuple[int, str]]:
    """Yields index and path of each evaluator's file, from one listing."""
    folder = posixpath.join(shared_files.escape(model_dir), FOLDER)
    for path in tf.io.gfile.glob(posixpath.join(folder, "evaluator-*.json")):
        match = _FILE.fullmatch(posixpath.basename(path))
        if match:
            yield int(match[1]), path
