"""Waiting: a worker's wait until the chief has initialized the variables on the ps tasks."""

from __future__ import annotations

import time

from absl import logging
import tensorflow as tf

from estimator_trainer.task_config import TaskConfig

_POLL_SECS = 0.5
_LOG_SECS = 10


class WaitForChief(tf.estimator.SessionRunHook):
    """Looks twice a second whether the model is ready, before the Estimator looks.

    The Estimator's own look comes every 30 seconds (`SessionManager(recovery_wait_secs=30)`, not
    within reach of RunConfig; tensorflow/tensorflow#10679), so a worker would sleep through
    short jobs.
    """

    def __init__(self, task: TaskConfig):
        self._task = task

    def begin(self) -> None:
        uninitialized = tf.compat.v1.report_uninitialized_variables(
            tf.compat.v1.global_variables())
        config = tf.compat.v1.ConfigProto(
            device_filters=["/job:ps", f"/job:worker/task:{self._task.index}"])
        logged_at = time.monotonic()
        with tf.compat.v1.Session(f"grpc://{self._task.address}", config=config) as session:
            while True:
                names = session.run(uninitialized)
                if not names.size:
                    return
                if time.monotonic() - logged_at >= _LOG_SECS:
                    logged_at = time.monotonic()
                    logging.info("waiting for %s to initialize or restore %d variables",
                                 self._task.name_of("chief", 0), names.size)
                time.sleep(_POLL_SECS)
