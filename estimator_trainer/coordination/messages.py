"""Messages: what the other tasks of a job say to its chief, as files in `model_dir/tasks/`.

A file's name is RUN.TASK.KIND, and mostly says it all, so that one listing tells the chief of all
tasks, however many they are: `stop` asks it to end training, `left` says that a worker has
finished its part, `joined` that it takes part in an all-reduce. A listing also shows what a
look for one name would miss for as long as "not there" is cached, 30 s on some shared disks.
"""

from __future__ import annotations

import posixpath
from typing import Any

from absl import logging
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination import notes
from estimator_trainer.coordination import small_files

_DIR = "tasks"


def say(model_dir: str, run: str, name: str, content: dict[str, Any] | None = None) -> None:
    """Leaves a message to the chief.

    Args:
      model_dir: The job's.
      run: Id of the chief's run that the message is for.
      name: TASK.KIND, such as "worker-0.left".
      content: What else there is to say.
    """
    # Even without content it is not empty, which some file systems cannot rename.
    notes.write(_path(model_dir, run, name), content or {})


def said(model_dir: str, run: str) -> frozenset[str]:
    """Returns the names of the messages to a run; one request."""
    paths = tf.io.gfile.glob(_path(small_files.escape(model_dir), run, "*"))
    # A file that is being written has another ending still.
    return frozenset(posixpath.basename(path).removeprefix(f"{run}.") for path in paths)


def read(model_dir: str, run: str, name: str) -> dict[str, Any] | None:
    """Returns the content of a message; None if it cannot be read now."""
    return notes.read(_path(model_dir, run, name))


def begin(model_dir: str) -> None:
    """Makes the place for messages, and removes those to earlier chiefs from it.

    The chief makes it, and so never looks for it in vain: see `small_files.read`.
    """
    small_files.make_folder(posixpath.join(model_dir, _DIR))
    for path in tf.io.gfile.glob(posixpath.join(small_files.escape(model_dir), _DIR, "*")):
        try:
            tf.io.gfile.remove(path)
        except tf.errors.OpError as error:
            logging.warning("cannot remove %s: %s", path, errors.first_line(error))


def _path(model_dir: str, run: str, name: str) -> str:
    return posixpath.join(model_dir, _DIR, f"{run}.{name}")
