"""Messages from the other tasks of a job to its chief, as files in `model_dir/tasks/`.

A file's name is RUN.TASK.KIND. Most messages need no content, so that one listing suffices for any
number of tasks. The kinds are `stop` (a request to end training), `left` (a worker has finished its
part), `joined` (a worker takes part in an all-reduce) and `waits` (a worker has left the training;
sequel.py). A request for one name would miss a new file as long as "missing" is cached, 30 s on
some shared disks; a listing shows the file.
"""

from __future__ import annotations

import contextlib
import posixpath
from typing import Any, TypeVar

from absl import logging
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination import shared_files

T = TypeVar("T")
_DIR = "tasks"


def send(model_dir: str, run: str, name: str, content: dict[str, Any] | None = None) -> None:
    """Sends a message, named TASK.KIND (`worker-0.left`), to a run of the chief."""
    shared_files.write_json(_path(model_dir, run, name), content or {})


def take_back(model_dir: str, run: str, name: str) -> None:
    """Removes a message, if that is possible."""
    with contextlib.suppress(tf.errors.OpError):
        tf.io.gfile.remove(_path(model_dir, run, name))


def received(model_dir: str, run: str) -> frozenset[str]:
    """Returns the names of the messages to a run, from one listing."""
    paths = tf.io.gfile.glob(_path(shared_files.escape(model_dir), run, "*"))
    # A file that is still being written ends with `.new`, and has no meaning as a message.
    return frozenset(posixpath.basename(path).removeprefix(f"{run}.") for path in paths)


def read_as(kind: type[T], model_dir: str, run: str, name: str) -> T | None:
    """Returns the content of a message as the dataclass `kind`; None if unusable now."""
    return shared_files.read_as(kind, _path(model_dir, run, name))


def begin(model_dir: str) -> None:
    """Makes the folder of messages, and removes messages to earlier chiefs.

    The folder is made before the first listing: some disks remember that it was missing.
    """
    shared_files.make_folder(posixpath.join(model_dir, _DIR))
    for path in tf.io.gfile.glob(posixpath.join(shared_files.escape(model_dir), _DIR, "*")):
        try:
            tf.io.gfile.remove(path)
        except tf.errors.OpError as error:
            logging.warning("cannot remove %s: %s", path, errors.first_line(error))


def _path(model_dir: str, run: str, name: str) -> str:
    return posixpath.join(model_dir, _DIR, f"{run}.{name}")
