"""Patches of the writers of files: checkpoints, events and exports."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import types
from typing import Any, Callable, Iterator
import uuid

import tensorflow as tf

from estimator_trainer import storage
from estimator_trainer.patches import private_api, replacement

_RENAMES = 5
_LARGE_BYTES = 2**16


@contextlib.contextmanager
def saving_with(listener: tf.estimator.CheckpointSaverListener | None, secs: float | None,
                last: tf.estimator.CheckpointSaverListener | None = None,
                least_steps: Callable[[], int] = lambda: 0) -> Iterator[None]:
    """Makes CheckpointSaverHooks also call a listener, and save by time, within a `with` statement.

    The hook, and so a RunConfig, takes either steps or seconds. With a strategy in a cluster the
    Estimator refuses the listeners of a TrainSpec, or drops them (TensorFlow 2.15). A subclass of
    the hook among the hooks of a TrainSpec does not help: a session of an all-reduce makes another
    hook in any case, and the hook needs the model's Scaffold. After `secs` without a checkpoint a
    hook that saves by steps saves too; None: only by steps. The listener `last` is called after
    all others, of which one may evaluate. A hook that saves by steps leaves `least_steps()` between
    two checkpoints.
    """
    saver, construct = tf.estimator.CheckpointSaverHook, tf.estimator.CheckpointSaverHook.__init__
    signature = inspect.signature(construct)

    def constructed(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.arguments["listeners"] = [
            *filter(None, [listener]), *(bound.arguments.get("listeners") or ()),
            *filter(None, [last])]
        construct(*bound.args, **bound.kwargs)
        if secs:
            _save_by_time_too(bound.arguments["self"], secs, least_steps)

    with replacement.functions_of_this_thread([(saver, "__init__", constructed)]):
        yield


def _save_by_time_too(hook: tf.estimator.CheckpointSaverHook, secs: float,
                      least_steps: Callable[[], int]) -> None:
    timer = getattr(hook, private_api.SAVER_TIMER)
    by_steps = timer.should_trigger_for_step
    by_secs = tf.estimator.SecondOrStepTimer(every_secs=secs)

    def is_due(step: int) -> bool:
        last = timer.last_triggered_step()
        if last != by_secs.last_triggered_step():
            by_secs.update_last_triggered_step(last)
        is_by_steps = by_steps(step) and (last is None or step - last >= least_steps())
        return bool(is_by_steps or by_secs.should_trigger_for_step(step))

    timer.should_trigger_for_step = is_due


@contextlib.contextmanager
def saving_apart() -> Iterator[None]:
    """Makes a Saver that resumes delete no earlier checkpoint, within a `with` statement.

    Every trainer of an all-reduce saves, all but the chief into a folder that nothing reads. Each
    begins with the chief's list of checkpoints, and would delete the chief's files to keep its own
    number: with one to keep, the only checkpoint of the job.
    """
    with replacement.functions_of_this_thread([
            (tf.compat.v1.train.Saver, "recover_last_checkpoints", lambda *args, **kwargs: None)]):
        yield


@contextlib.contextmanager
def naming_event_files(task_name: str) -> Iterator[None]:
    """Ends the names of event files with the name of their task, within a `with` statement.

    TensorFlow names a file after the second and the host, so two tasks on one machine may write to
    the same file and corrupt it, as in every job with a `master`, where worker 0 writes summaries
    and the master checkpoint events. Neither a RunConfig nor a hook nor FileWriterCache has a
    setting for FileWriter's `filename_suffix`.
    """
    writer = tf.compat.v1.summary.FileWriter
    named = functools.partialmethod(
        writer.__init__, filename_suffix=f".{task_name.replace(':', '_')}")
    with replacement.attributes([(writer, "__init__", named)]):
        yield


@contextlib.contextmanager
def writing_graphs_natively() -> Iterator[None]:
    """Makes C++ write the text of `graph.pbtxt`, within a `with` statement.

    protobuf's `text_format` is written in Python, and takes ten times as long as `str` of a
    message: 0.3 seconds before the first step, for 7,000 operations. Both texts are read as
    the same graph.
    """
    files = private_api.graph_files()
    native = types.SimpleNamespace(**vars(files.text_format) | {
        "MessageToString": lambda message, **options: _text(message)})
    with replacement.attributes([(files, "text_format", native)]):
        yield


def _text(message: Any) -> str:
    """Returns the text of a message, such as a GraphDef.

    A dataset of NumPy arrays is in the graph. protobuf takes a second to write 24 MB of it, and
    Python a fifth of that: the text of bytes is in the syntax of protobuf too.
    """
    mark = uuid.uuid4().hex
    large = _large_constants(message) if isinstance(message, tf.compat.v1.GraphDef) else []
    contents = [each.tensor_content for each in large]
    try:
        for number, tensor in enumerate(large):
            tensor.tensor_content = f"{mark} {number}".encode()
        text = str(message)
    finally:
        for tensor, content in zip(large, contents):
            tensor.tensor_content = content
    return re.sub(f'"{mark} ([0-9]+)"', lambda found: repr(contents[int(found[1])])[1:], text)


def _large_constants(graph: tf.compat.v1.GraphDef) -> list[Any]:
    """Returns the TensorProtos of a graph and its functions whose content is large."""
    bodies = [graph.node, *(function.node_def for function in graph.library.function)]
    tensors = (node.attr["value"].tensor for nodes in bodies for node in nodes
               if node.op == "Const")
    return [each for each in tensors if len(each.tensor_content) > _LARGE_BYTES]


@contextlib.contextmanager
def renaming_again() -> Iterator[None]:
    """Makes `gfile.Rename`, the end of an export, retry in a bucket, within a `with` statement.

    TensorFlow retries all requests but the first, whether the name is a folder: after a 429 or 503
    it takes the name for an object's, and raises NotFoundError (`GcsFileSystem::RenameFile`).
    """
    gfile = tf.compat.v1.gfile
    rename = gfile.Rename

    def renamed(old: Any, new: Any, overwrite: bool = False) -> None:
        path = tf.compat.as_str_any(old)
        for _ in range(_RENAMES - 1):
            try:
                return rename(old, new, overwrite)
            except tf.errors.NotFoundError:
                if not storage.is_object_store(path) or not tf.io.gfile.glob(f"{path}/*"):
                    raise
                overwrite = True  # Some files may have their new names.
        return rename(old, new, overwrite)

    with replacement.attributes([(gfile, "Rename", renamed)]):
        yield
