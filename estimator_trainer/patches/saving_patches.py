"""Patches of what writes files: checkpoints, events and exports."""

from __future__ import annotations

import contextlib
import functools
import inspect
from typing import Any, Iterator, Sequence

import tensorflow as tf

from estimator_trainer import storage
from estimator_trainer.patches import private_api, replacement

_RENAMES = 5


@contextlib.contextmanager
def saving_by_time_too(secs: float | None) -> Iterator[None]:
    """Makes what saves every so many steps save after `secs` without a checkpoint, too.

    CheckpointSaverHook, and so a RunConfig, takes steps or seconds; for both it raises ValueError.
    """
    saver, made = tf.estimator.CheckpointSaverHook, tf.estimator.CheckpointSaverHook.__init__

    def made_with_both(hook: Any, *args: Any, **kwargs: Any) -> None:
        made(hook, *args, **kwargs)
        timer = getattr(hook, private_api.SAVER_TIMER)
        by_steps = timer.should_trigger_for_step
        by_secs = tf.estimator.SecondOrStepTimer(every_secs=secs)

        def is_due(step: int) -> bool:
            last = timer.last_triggered_step()
            if last != by_secs.last_triggered_step():
                by_secs.update_last_triggered_step(last)
            return bool(by_steps(step) or by_secs.should_trigger_for_step(step))

        timer.should_trigger_for_step = is_due

    with replacement.functions_of_this_thread(
            [(saver, "__init__", made_with_both)] if secs else []):
        yield


@contextlib.contextmanager
def saving_with(listener: tf.estimator.CheckpointSaverListener | None) -> Iterator[None]:
    """Makes every CheckpointSaverHook call a listener, within a `with` statement; None: no change.

    Under a strategy in a cluster the Estimator refuses the listeners of a TrainSpec, or drops them
    (TensorFlow 2.15), and makes the hook by itself.
    """
    saver, made = tf.estimator.CheckpointSaverHook, tf.estimator.CheckpointSaverHook.__init__
    signature = inspect.signature(made)

    def made_with_listener(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        own = bound.arguments.get("listeners") or ()
        bound.arguments["listeners"] = [listener, *own]
        made(*bound.args, **bound.kwargs)

    with replacement.functions_of_this_thread(
            [(saver, "__init__", made_with_listener)] if listener else []):
        yield


@contextlib.contextmanager
def saving_apart() -> Iterator[None]:
    """Lets a Saver that goes on from a checkpoint delete none of those before, within a `with`.

    Every trainer of an all-reduce saves, all but the chief into a folder that nothing reads. Each
    begins with the chief's list of checkpoints, and would delete the chief's to keep its own
    number: with one to keep, the only checkpoint of the job.
    """
    def forget(saver: tf.compat.v1.train.Saver, checkpoint_paths: Sequence[str]) -> None:
        pass

    with replacement.functions_of_this_thread(
            [(tf.compat.v1.train.Saver, "recover_last_checkpoints", forget)]):
        yield


@contextlib.contextmanager
def naming_event_files(task_name: str) -> Iterator[None]:
    """Ends the names of event files with the name of the task that writes, within a `with`.

    TensorFlow names a file after the second and the host, so two tasks of one machine may write
    into one file, which is then corrupt. So did every job with a `master`: Estimator lets worker 0
    write the summaries, and the master the marks of checkpoints. No setting of a RunConfig, a hook
    or FileWriterCache reaches FileWriter's `filename_suffix`. What gives one has its own.
    """
    writer = tf.compat.v1.summary.FileWriter
    named = functools.partialmethod(
        writer.__init__, filename_suffix=f".{task_name.replace(':', '_')}")
    with replacement.attributes([(writer, "__init__", named)]):
        yield


@contextlib.contextmanager
def renaming_again() -> Iterator[None]:
    """Makes `gfile.Rename`, with which an export ends, try again in a bucket, within a `with`.

    TensorFlow first asks the bucket whether the name is a folder. If the answer is 429 or 503, it
    takes the folder for an object, which is not there, and raises NotFoundError
    (`GcsFileSystem::RenameFile`); after an error at any other request it tries again by itself.
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
                overwrite = True  # A part may have its new name.
        return rename(old, new, overwrite)

    with replacement.attributes([(gfile, "Rename", renamed)]):
        yield
