"""Samples of a trainer's steps beside other tasks: what they compute, wait for and receive.

TensorFlow traces a few steps of one session run. A trace costs milliseconds, so samples become
rare, and together take at most a two-hundredth of the time.
"""

import dataclasses
import re
import time
from typing import Any, Iterable, NamedTuple

from absl import logging
import tensorflow as tf

from estimator_trainer import task_events
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.training.loop_size import LoopSize

# Traced steps of a run. Fewer would show the start of the run, more make a long trace.
_STEPS = 4
_FIRST_RUNS = 5
_FIRST_SECS, _LONGEST_SECS = 0.5, 60.0
# The least time between two samples, as a multiple of what the last one took beside its steps.
_REST = 200
# Between two operations of a step that wait for nothing.
_SCHEDULING_MICROS = 50
_OP_TYPE = re.compile(r" = (\w+)\(")
_LOOP = "estimator_trainer/while/LoopCond"
_INPUT = re.compile(r"IteratorGetNext")
_ALL_REDUCE = re.compile(r"Collective")
_TOKEN = "sync_token_q_Dequeue"
_TRANSFER_NAME = re.compile(r"\] (\S+) from ")
_TRANSFERS = ("RecvTensor", "RecvBuf")


class StepSamples(tf.estimator.SessionRunHook):
    """Adds a line to the history for each sample of a trainer that trains with others."""

    def __init__(self, task: TaskConfig, loop_size: LoopSize):
        """Makes the hook; it comes after the one that plans the runs of `loop_size`."""
        # The trace of a GPU costs more, and lacks what goes on after its operations return.
        self._is_traced = task.num_trainers > 1 and not tf.config.list_physical_devices("GPU")
        self._loop_size = loop_size

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        self._num_runs = 0
        self._gap_secs = _FIRST_SECS
        self._due_at = time.monotonic() + _FIRST_SECS

    def before_run(self, run_context: Any) -> tf.estimator.SessionRunArgs | None:
        self._started = time.monotonic()
        if not self._loop_size.is_sample:
            return None
        # A master that is reached by gRPC collects no other trace.
        return tf.estimator.SessionRunArgs(None, options=tf.compat.v1.RunOptions(
            trace_level=tf.compat.v1.RunOptions.FULL_TRACE))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._num_runs += 1
        now = time.monotonic()
        if self._loop_size.is_sample:
            extra = now - self._started - self._loop_size.steps * self._loop_size.step_secs
            self._emit(run_values.run_metadata)
            extra = max(0.0, extra) + time.monotonic() - now
            self._gap_secs = min(2 * self._gap_secs, _LONGEST_SECS)
            self._due_at = now + max(self._gap_secs, _REST * extra)
        if self._is_traced and self._num_runs >= _FIRST_RUNS and now >= self._due_at:
            self._loop_size.sample_next(_STEPS)

    def _emit(self, run_metadata: Any) -> None:
        try:
            parts = divided(run_metadata.step_stats.dev_stats)
        except (AttributeError, TypeError, ValueError, IndexError) as error:
            # Figures of a trace must never end a training.
            logging.debug("cannot read the trace of a step: %s", error)
            return
        if parts:
            task_events.emit("sample", parts, step=self._loop_size.step)


class _Node(NamedTuple):
    """An operation of a trace, with its type, and its times in microseconds."""

    name: str
    type: str
    start: int
    end: int


@dataclasses.dataclass
class _Trace:
    """The operations of this task, the bytes of transfers, and the waits for tokens.

    `sent` has the sizes of the transfers to the ps by their names.
    """

    own: list[_Node] = dataclasses.field(default_factory=list)
    received: int = 0
    sent: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    tokens_micros: list[int] = dataclasses.field(default_factory=list)
    has_ps: bool = False


def divided(devices: Iterable[Any]) -> dict[str, float]:
    """Returns the parts of a traced step, each the mean of the trace's steps; {} without a step.

    `devices` are the DeviceStepStats of the trace. `own_secs` is the time in which this task
    computes; while nothing computes, `input_secs` end as a batch comes, `workers_secs` as an
    all-reduce ends or, beside ps, while a token of a synchronous step is due, and `ps_secs` as
    another tensor comes. `received_bytes` and `sent_bytes` are the tensors that come from other
    tasks and, beside ps, go to them.
    """
    trace = _read(devices)
    edges = sorted(each.end for each in trace.own if each.name.startswith(_LOOP))
    if not trace.own or len(edges) == 1:
        return {}
    steps = max(1, len(edges) - 1)
    parts: dict[str, float] = {"received_bytes": trace.received // steps}
    if trace.has_ps:
        parts["sent_bytes"] = sum(sum(sizes) // len(sizes) for sizes in trace.sent.values())
    start, end = (edges[0], edges[-1]) if edges else (
        min(each.start for each in trace.own), max(each.end for each in trace.own))
    micros = _shares(trace.own, start, end, trace.has_ps)
    if not trace.has_ps:
        del micros["ps"]
    elif trace.tokens_micros:
        micros["workers"] = min(sum(trace.tokens_micros), micros["ps"])
        micros["ps"] -= micros["workers"]
    else:
        del micros["workers"]
    return parts | {f"{name}_secs": each / steps / 1e6 for name, each in micros.items()}


def _read(devices: Iterable[Any]) -> _Trace:
    trace = _Trace()
    for device in devices:
        is_ps = device.device.startswith("/job:ps/")
        trace.has_ps = trace.has_ps or is_ps
        for each in device.node_stats:
            if each.node_name in _TRANSFERS:
                size = _size(each)
                if not is_ps:
                    trace.received += size
                elif size:
                    # A ps leaves out some transfers while another trainer's trace ends. Each
                    # tensor goes to it once a step.
                    trace.sent.setdefault(_name_of_transfer(each), []).append(size)
            elif not is_ps:
                trace.own.append(_node(each))
            elif each.node_name.endswith(_TOKEN):
                trace.tokens_micros.append(each.all_end_rel_micros)
    return trace


def _shares(own: list[_Node], start: int, end: int, has_ps: bool) -> dict[str, float]:
    """Returns the microseconds from `start` to `end` by what ends them."""
    ends = {"input": _ends(own, _INPUT), "workers": _ends(own, _ALL_REDUCE)}
    computing = sorted((each.start, each.end) for each in own if not (
        _INPUT.match(each.type) or _ALL_REDUCE.match(each.type)))
    found = {"own": 0.0, "input": 0.0, "ps": 0.0, "workers": 0.0}
    at = start
    for first, last in [*computing, (end, end)]:
        first, last = min(first, end), min(last, end)
        if first > at:
            found[_waited_for(ends, at, first, has_ps)] += first - at
        if last > at:
            found["own"] += last - max(first, at)
            at = last
    return found


def _waited_for(ends: dict[str, list[int]], start: int, end: int, has_ps: bool) -> str:
    """Returns which wait ended, in a gap between two operations."""
    latest = {name: max((at for at in found if start <= at <= end), default=-1)
              for name, found in ends.items()}
    name = max(latest, key=lambda each: latest[each])
    if end - start < _SCHEDULING_MICROS:
        return "own"
    return name if latest[name] >= 0 else "ps" if has_ps else "own"


def _ends(own: list[_Node], wanted: re.Pattern[str]) -> list[int]:
    return [each.end for each in own if wanted.match(each.type)]


def _node(stats: Any) -> _Node:
    found = _OP_TYPE.search(stats.timeline_label)
    return _Node(stats.node_name, found.group(1) if found else "", stats.all_start_micros,
                 stats.all_start_micros + stats.all_end_rel_micros)


def _name_of_transfer(stats: Any) -> str:
    found = _TRANSFER_NAME.search(stats.timeline_label)
    return found.group(1) if found else stats.timeline_label


def _size(stats: Any) -> int:
    """Returns the bytes of a transfer, which are its output's."""
    return sum(each.tensor_description.allocation_description.requested_bytes
               for each in stats.output)
