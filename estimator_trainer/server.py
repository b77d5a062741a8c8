"""A ps task: serves variables until training has ended and no trainer needs them any more."""

from __future__ import annotations

import socket
import time

from absl import logging
import tensorflow as tf

from estimator_trainer.ending import Ending
from estimator_trainer.ending import Watch
from estimator_trainer.task_config import TaskConfig

_POLL_SECS = 0.5
_CONNECT_SECS = 2.0


def serve(task: TaskConfig, watch: Watch) -> Ending:
    """Runs this ps's server to the end of the job.

    The Estimator's own ps joins its server, which never returns (tensorflow/tensorflow#25858,
    tensorflow/tensorflow#21305).

    Returns:
      How training ended.
    """
    # Read as the trainers read it: they may call the chief `master`.
    cluster = tf.distribute.cluster_resolver.TFConfigClusterResolver().cluster_spec()
    # The name keeps the server: without it, it would be collected and stop.
    server = tf.distribute.Server(cluster, job_name="ps", task_index=task.index)
    logging.info("serves variables at %s", server.target)
    while True:
        ending = watch.ending()
        if ending and not any(_listens(address) for role in ("chief", "worker")
                              for address in task.cluster.get(role, ())):
            return ending
        time.sleep(_POLL_SECS)


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECS).close()
    except OSError:
        return False
    return True
