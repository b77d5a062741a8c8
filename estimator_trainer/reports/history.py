"""The history of a job: `model_dir/history.jsonl`, a line for each event of a task.

The head of the job writes `history.jsonl`, and every other task `history/TASK.jsonl`, because a
file in a bucket has one writer and cannot be appended to. The head copies the others' lines into
its file: on a disk at intervals, in a bucket at the end. Each file is always written whole.
"""

import json
import math
import os
import posixpath
import threading
import time
from typing import Any, TypedDict

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors, machine, schema, storage
from estimator_trainer.coordination import shared_files
from estimator_trainer.evaluation import event_files
from estimator_trainer.record import run_record

NAME, FOLDER = "history.jsonl", "history"
# The most lines of training in a file, which suffice for the curves of all tasks.
MOST_LINES = 4000
_LEAST_LINES = 200
# The same of jobs of a hundred tasks and more, whose history is still read whole.
_MOST_OF_ALL, _LEAST_OF_MANY = 20_000, 20
# The most other lines of a task; more only come from endless restarts.
_MOST_OF_LIFE = 500
# The most lines of how busy a task was: means over some time.
_MOST_LOADS = 100
# Pause between two collections of the others' lines, as a multiple of the time that one takes.
_REST = 20
_DIGITS = 6
# A brief reading has so many of the last lines of training.
_LAST_LINES = 50
_OF_TRAINING = '"kind": "train"'
_OF_SET = "evaluation_set"

Line = dict[str, Any]


class _Line(TypedDict):
    task: schema.Word
    kind: str
    time: schema.Time


class Layer(TypedDict):
    """A layer of the model, with the shape of each of its variables."""

    name: str
    parameters: int
    shapes: dict[str, Any]


class _Model(_Line):
    parameters: int
    layers: list[Layer]


class _Event(_Line, total=False):
    pid: int
    step: int | None
    # CPU time as a share of the time since the line before: 1.0 is one core.
    cpu: schema.Number | None
    memory_mb: schema.Number | None
    # For `trains`: the step at which training ends, and the metric that may end it before.
    max_steps: int | None
    metric: str
    # For training; `examples_per_sec` is the share of this task.
    loss: schema.Number | None
    steps_per_sec: schema.Number | None
    examples_per_sec: schema.Number | None
    # Only where other trainers make steps of their own; `others_updates` per own step.
    own_steps_per_sec: schema.Number | None
    others_updates: schema.Number | None
    # The share of the time since the line before in which the task waited for batches.
    input_wait: schema.Number | None
    paused_secs: schema.Number | None
    saving_secs: schema.Number | None
    # The time of an evaluation; else the time since the line before, pauses left out.
    secs: schema.Number | None
    # For evaluations only; those of a further set of data, and `evaluation` has all as SET/NAME.
    metrics: dict[str, schema.Metric]
    examples: int | None
    eval_name: str


class _Sample(_Line, total=False):
    """The parts of a step of a trainer, as `training.step_samples.divided` returns them."""

    step: int
    own_secs: schema.Number
    input_secs: schema.Number
    ps_secs: schema.Number
    workers_secs: schema.Number
    received_bytes: int
    sent_bytes: int


class _Ended(_Line):
    status: schema.Word


class _End(_Ended, total=False):
    step: int | None
    reason: str
    exit_code: int | None


class _Exit(_Line):
    by: str
    began: schema.Time
    code: int


# Lines of other kinds, such as those of newer versions, are read as `_Line`.
_KINDS: dict[str, type[Any]] = {
    "start": _Event,  # A process of the task began.
    "model": _Model,  # The chief's model.
    "trains": _Event,  # A session of training began.
    "train": _Event, "evaluation": _Event, "evaluation_set": _Event,
    "load": _Event,  # How busy a ps was.
    "sample": _Sample,
    "end": _End,  # The process is about to end.
    "exit": _Exit}  # The process has ended; `launch` writes this line.


class HistoryWriter:
    """Writes the lines of one task after the earlier lines of its file.

    A process that ends before its work begins writes nothing, unless model_dir has a record: a
    mistake creates no directory.

    Attributes:
      has_begun: Whether the file is written.
    """

    def __init__(self, model_dir: str, task: str, is_head: bool, num_tasks: int = 1):
        """Starts the thread that writes; the head's file is `history.jsonl` itself.

        The more tasks the job has, the fewer lines each keeps: at the end the head reads them all.
        """
        self._model_dir, self._task, self._is_head = model_dir, task, is_head
        self._path = (posixpath.join(model_dir, NAME) if is_head else
                      posixpath.join(model_dir, FOLDER, f"{task.replace(':', '-')}.jsonl"))
        self._num_tasks = num_tasks
        self._lock = threading.Lock()
        self.has_begun = False
        self._written_at = self._collects_at = -math.inf
        self._lines: list[Line] | None = None
        self._new: list[Line] = []
        self._warned_of: set[str] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="history", daemon=True)
        self._measured_at, self._cpu_secs = time.monotonic(), time.process_time()
        self.add("start", pid=os.getpid())
        self._thread.start()

    def add(self, kind: str, **values: Any) -> None:
        """Adds a line, which is written a little later.

        Ends and an evaluator's lines are written at once, because the head ends after the final
        evaluation, and then collects all lines.
        """
        line: Line = {"task": self._task, "kind": kind, "time": round(time.time(), 3), **values}
        if kind in ("train", "evaluation", "evaluation_set", "load"):
            line |= {"memory_mb": machine.memory_mb(), "cpu": self._cpu()}
        self._new.append(_plain(line))
        self.has_begun = self.has_begun or kind not in ("start", "end")
        if kind == "end" or kind.startswith("evaluation") and not self._is_head:
            self._write(is_last=kind == "end")

    def _cpu(self) -> float:
        """Returns the CPU time of this process as a share of the time since the last call."""
        now, cpu_secs = time.monotonic(), time.process_time()
        share = (cpu_secs - self._cpu_secs) / max(now - self._measured_at, 1e-3)
        self._measured_at, self._cpu_secs = now, cpu_secs
        return share

    def close(self) -> None:
        """Writes the remaining lines."""
        self._over.set()
        self._thread.join(deadlines.LAST_HISTORY_SECS)
        self._write(is_last=True)

    def _run(self) -> None:
        while not self._over.wait(deadlines.history_secs(self._model_dir)):
            self._write(is_last=False)

    def _write(self, is_last: bool) -> None:
        """Writes the file, if there are new lines; a failure is logged, and retried later."""
        # The other thread may wait for a disk that no longer answers, when this one has to end.
        if not self._lock.acquire(timeout=deadlines.LAST_HISTORY_SECS):
            return
        try:
            self._write_alone(is_last)
        except (tf.errors.OpError, OSError) as error:
            logging.log_every_n_seconds(logging.WARNING, "cannot write %s: %s", 60,
                                        self._path, errors.first_line(error))
        finally:
            self._lock.release()

    def _write_alone(self, is_last: bool) -> None:
        count = len(self._new)
        if is_last and not self.has_begun:
            self.has_begun = shared_files.is_listed(
                posixpath.join(self._model_dir, run_record.NAME))
        if not self.has_begun or not count:
            return
        if self._lines is None:
            self._lines = _read(self._path, self._warn)
        lines = [*self._lines, *self._new[:count]]
        is_remote = storage.is_object_store(self._model_dir)
        began = time.monotonic()
        if self._is_head and (is_last or not is_remote and began >= self._collects_at):
            lines = _with_parts(self._model_dir, lines, self._warn)
            self._collects_at = time.monotonic() + _REST * (time.monotonic() - began)
        lines = thinned(lines, self._num_tasks)
        if is_remote:
            free_at = self._written_at + deadlines.OBJECT_WRITE_SECS
            time.sleep(max(0.0, free_at - time.monotonic()))
        else:
            shared_files.make_folder(posixpath.dirname(self._path))
        shared_files.write_text(self._path, "".join(f"{json.dumps(line)}\n" for line in lines))
        self._written_at, self._lines = time.monotonic(), lines
        # Another thread may have added lines meanwhile.
        del self._new[:count]

    def _warn(self, sentence: str) -> None:
        """Logs a sentence about a damaged file once, though the file is read often."""
        if sentence not in self._warned_of:
            self._warned_of.add(sentence)
            shared_files.warn(sentence)


def read(model_dir: str, warn_of: shared_files.Warn = shared_files.warn) -> list[Line]:
    """Returns all valid lines of a job by time, including lines that are not yet collected."""
    return _with_parts(model_dir, _read(posixpath.join(model_dir, NAME), warn_of), warn_of)


def read_brief(model_dir: str, warn_of: shared_files.Warn = shared_files.warn) -> list[Line]:
    """Returns the lines that `read` returns, but of training only the last lines of each session.

    A table of hundreds of runs reads them in seconds.
    """
    first = _read(posixpath.join(model_dir, NAME), warn_of, is_brief=True)
    return _with_parts(model_dir, first, warn_of, is_brief=True)


def by_step(model_dir: str) -> list[dict[str, Any]]:
    """Returns a record for each global step of a job that has values, in the order of steps.

    A record has `global_step`, the chief's `train_loss` and `examples_per_sec` where there is a
    line of training, and the metrics where there was an evaluation. A named evaluation set has
    records of its own, with `eval_name`.
    """
    found: dict[tuple[int, str], dict[str, Any]] = {}
    lines = [line for line in read(model_dir) if line["kind"] == "train"]
    for line in lines:
        if line["task"] == lines[0]["task"] and line.get("step") is not None:
            found[line["step"], ""] = {
                "global_step": line["step"], "train_loss": line.get("loss"),
                "examples_per_sec": line.get("examples_per_sec")}
    for metrics in event_files.read(model_dir):
        key = metrics["global_step"], metrics.get("eval_name", "")
        found[key] = {**found.get(key, {}), **metrics}
    return [found[key] for key in sorted(found)]


def thinned(lines: list[Line], num_tasks: int = 1) -> list[Line]:
    """Returns the lines, with fewer of training and evaluation where there are too many.

    `num_tasks` is the number of tasks of the job; `lines` may be those of one alone.
    """
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        kind = line["kind"] + (f" {line.get('eval_name')}" if line["kind"] == _OF_SET else "")
        groups.setdefault((_writer(line), kind), []).append(line)
    reports = [key for key in groups if key[1] == "train" or key[1].startswith("evaluation")]
    share = max(_LEAST_OF_MANY, _MOST_OF_ALL // max(1, num_tasks, len(reports)))
    most = {kind: min(share, max(_LEAST_LINES, MOST_LINES // max(1, len(reports))))
            for _, kind in reports}
    most |= dict.fromkeys(("sample", "load"), min(_MOST_LOADS, share // 2))
    if all(len(found) <= most.get(kind, _MOST_OF_LIFE) for (_, kind), found in groups.items()):
        return lines
    kept = {id(line) for (_, kind), found in groups.items()
            for line in (_spread(found, most[kind]) if kind in most else found[-_MOST_OF_LIFE:])}
    return [line for line in lines if id(line) in kept]


def _spread(lines: list[Line], most: int) -> list[Line]:
    """Returns the lines, or about half of `most` lines at even distances of steps, or of time."""
    if len(lines) <= most:
        return lines
    steps = [line["time"] if line["kind"] == "load" else line.get("step") or 0 for line in lines]
    gap = max(1.0, (max(steps) - steps[0]) / (most / 2))
    kept, due = [], -math.inf
    for line, step in zip(lines[:-1], steps):
        # A resumed run begins at an earlier step.
        if step >= due or step < due - 2 * gap:
            kept.append(line)
            due = step + gap
    return [*kept[-most:], lines[-1]]


def _with_parts(model_dir: str, lines: list[Line], warn_of: shared_files.Warn,
                is_brief: bool = False) -> list[Line]:
    """Returns the lines, with each task's own file in place of its copied lines."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(_writer(line), []).append(line)
    pattern = posixpath.join(shared_files.escape(model_dir), FOLDER, "*.jsonl")
    paths = sorted(tf.io.gfile.glob(pattern))
    for part in shared_files.in_parallel(lambda path: _read(path, warn_of, is_brief), paths):
        if part:
            found[_writer(part[0])] = part
    return sorted((line for each in found.values() for line in each), key=lambda line: line["time"])


def _writer(line: Line) -> str:
    return str(line.get("by") or line["task"])


def _read(path: str, warn_of: shared_files.Warn, is_brief: bool = False) -> list[Line]:
    """Returns the valid lines of a file; none if there is no file."""
    lines, damaged = [], []
    texts = list(enumerate((shared_files.read_text(path) or "").splitlines(), start=1))
    for number, text in _brief(texts) if is_brief else texts:
        if not text.strip():
            continue
        try:
            content = schema.decoded(text)
            kind = schema.made(_Line, content)["kind"]
            lines.append(schema.made(_KINDS.get(kind, _Line), content))
        except schema.SchemaError as error:
            damaged.append(f"in line {number}, {error}")
    if damaged:
        others = f" (and {len(damaged) - 1} more lines)" if len(damaged) > 1 else ""
        warn_of(f"{path} is damaged: {damaged[0]}{others}. Damaged lines are left out of the"
                " history; training and its results do not depend on the history.")
    return lines


def _brief(texts: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Returns the numbered lines without those of training that another line of training follows.
    """
    last = len(texts) - _LAST_LINES
    return [texts[i] for i in range(len(texts)) if i >= last or _OF_TRAINING not in texts[i][1]
            or _OF_TRAINING not in texts[i + 1][1]]


def _plain(value: Any) -> Any:
    """Returns a value for JSON: floats with few digits, NaN and infinities as null."""
    if isinstance(value, dict):
        return {name: _plain(each) if name != "time" else each for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    return value
