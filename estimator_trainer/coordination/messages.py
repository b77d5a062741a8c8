"""Messages are what the other tasks of a job say to its chief, as files in `model_dir/tasks/`.

A file's name is RUN.TASK.KIND, and mostly says everything, so that one listing tells the chief of
all tasks, however many they are: `stop` asks it to end training, `left` says that a worker has
finished its part, `joined` that it takes part in an all-reduce, `waits` (sequel.py) that it has
left the training. A look for one name would miss a new file for as long as "not there" is cached,
30 s on some shared disks; a listing shows it.
"""

from __future__ import annotations

import contextlib
import posixpath
from typing import Any, TypeVar

from absl import logging
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination import shared_files, small_files

T = TypeVar("T")
_DIR = "tasks"


def send(model_dir: str, run: str, name: str, content: dict[str, Any] | None = None) -> None:
    """Leaves a message to the chief.

    Args:
      model_dir: The job's directory.
      run: Id of the chief's run that the message is for.
      name: TASK.KIND, such as "worker-0.left".
      content: What the name does not say.
    """
    # A note is never empty; some file systems cannot rename an empty file.
    shared_files.write(_path(model_dir, run, name), content or {})


def take_back(model_dir: str, run: str, name: str) -> None:
    """Removes a message, if it is still there and can be removed."""
    with contextlib.suppress(tf.errors.OpError):
        tf.io.gfile.remove(_path(model_dir, run, name))


def received(model_dir: str, run: str) -> frozenset[str]:
    """Returns the names of the messages to a run, with one request."""
    paths = tf.io.gfile.glob(_path(small_files.escape(model_dir), run, "*"))
    # A file that is still being written has another ending, and is no message.
    return frozenset(posixpath.basename(path).removeprefix(f"{run}.") for path in paths)


def read_as(kind: type[T], model_dir: str, run: str, name: str) -> T | None:
    """Returns the content of a message, of the schema `kind`; None if it cannot be used now."""
    return shared_files.read_as(kind, _path(model_dir, run, name))


def begin(model_dir: str) -> None:
    """Makes the folder of messages, and removes those to earlier chiefs from it.

    The chief makes the folder before it looks there: some disks remember that it was not there.
    """
    small_files.make_folder(posixpath.join(model_dir, _DIR))
    for path in tf.io.gfile.glob(posixpath.join(small_files.escape(model_dir), _DIR, "*")):
        try:
            tf.io.gfile.remove(path)
        except tf.errors.OpError as error:
            logging.warning("cannot remove %s: %s", path, errors.first_line(error))


def _path(model_dir: str, run: str, name: str) -> str:
    return posixpath.join(model_dir, _DIR, f"{run}.{name}")
