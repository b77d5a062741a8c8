"""Counts the calls between tasks in a training step, from the graphs that TensorFlow runs."""

from __future__ import annotations

import functools
import statistics
from typing import Any, Callable

import tensorflow as tf

# The first session runs initialize variables; later ones are steps, of which few write summaries.
_RUNS = 30
_COUNTED_RUNS = 15
_RECEIVES = ("Recv", "_Recv", "_HostRecv")


def print_once() -> None:
    """Makes the sessions of this process print a line "calls N" after some runs.

    Each tensor that a task receives from another is a call. Receives inside a loop count once, as
    for one step; so do those of a session run outside its loop, which a step shares with others.
    """
    counts: list[int] = []
    session = tf.compat.v1.Session
    run_uncounted, make_uncounted = session.run, session.make_callable

    def counted(call: Callable[..., Any], options: Any = None, run_metadata: Any = None) -> Any:
        if len(counts) == _RUNS:
            return call(options, run_metadata)
        requested, metadata = tf.compat.v1.RunOptions(), run_metadata
        if metadata is None:
            metadata = tf.compat.v1.RunMetadata()
        if options is not None:
            requested.CopyFrom(options)
        requested.output_partition_graphs = True
        result = call(requested, metadata)
        counts.append(calls(metadata))
        if len(counts) == _RUNS:
            session.run, session.make_callable = run_uncounted, make_uncounted
            print(f"calls {statistics.median_low(counts[-_COUNTED_RUNS:])}", flush=True)
        return result

    def run(self: tf.compat.v1.Session, fetches: Any, feed_dict: Any = None, options: Any = None,
            run_metadata: Any = None) -> Any:
        return counted(functools.partial(run_uncounted, self, fetches, feed_dict), options,
                       run_metadata)

    # This project prepares the runs of single steps, and does not call `run` for them.
    def make_callable(self: tf.compat.v1.Session, *args: Any, **kwargs: Any) -> Any:
        call = make_uncounted(self, *args, **kwargs)
        return functools.partial(counted, call) if kwargs == {"accept_options": True} else call

    session.run, session.make_callable = run, make_callable


def calls(metadata: tf.compat.v1.RunMetadata) -> int:
    """Returns the number of tensors that tasks have received from others in a session run."""
    return sum(node.op in _RECEIVES and _task(node, "send_device") != _task(node, "recv_device")
               for graph in metadata.partition_graphs for node in graph.node)


def _task(node: tf.compat.v1.NodeDef, end: str) -> tuple[str | None, int | None]:
    device = tf.DeviceSpec.from_string(node.attr[end].s.decode())
    return device.job, device.task
