"""Presence: how the chief learns that an evaluator runs, when TF_CONFIG does not say.

Vertex AI and others keep the evaluator out of every cluster. So it leaves a beat in model_dir,
rewritten every second, and at its end the step it evaluated last. A beat that stays as it is
belongs to a process that is gone; no clock is compared, and nothing is locked.
"""

from __future__ import annotations

import contextlib
import posixpath
import threading
import time
from typing import Iterator
import uuid

from absl import logging
import tensorflow as tf

from estimator_trainer import checkpoints
from estimator_trainer.exporters import EvaluationRecord

_FILE = "evaluator.beat"
_EVALUATED = "evaluated "
_BEAT_SECS = 1.0
_PATIENCE_SECS = 5.0


@contextlib.contextmanager
def beating(model_dir: str, record: EvaluationRecord) -> Iterator[None]:
    """Within it, this process shows its presence as the evaluator of model_dir.

    Args:
      model_dir: Where to show it.
      record: Tells, at the end, which step was evaluated last.
    """
    stop = threading.Event()
    path = posixpath.join(model_dir, _FILE)

    def beat() -> None:
        process, count = uuid.uuid4().hex, 0
        while not stop.wait(_BEAT_SECS if count else 0):
            count += 1
            try:
                checkpoints.write_text(path, f"{process} {count}\n")
            except tf.errors.OpError as error:
                logging.warning("cannot write %s: %s", path, error.message)

    thread = threading.Thread(target=beat, name="evaluator beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    checkpoints.write_text(path, f"{_EVALUATED}{record.metrics.get('global_step', 0)}\n")


def evaluator_covers(model_dir: str, step: int) -> bool:
    """Returns whether an evaluator has evaluated `step`, or is there to do so.

    Takes up to 5 seconds where an evaluator has been and is gone.
    """
    first = _read(model_dir)
    deadline = time.monotonic() + _PATIENCE_SECS
    while first:
        now = _read(model_dir)
        if now.startswith(_EVALUATED):
            return int(now.removeprefix(_EVALUATED)) >= step
        if now != first:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(_BEAT_SECS / 4)
    return False


def _read(model_dir: str) -> str:
    try:
        with tf.io.gfile.GFile(posixpath.join(model_dir, _FILE)) as file:
            return str(file.read())
    except tf.errors.NotFoundError:
        return ""
