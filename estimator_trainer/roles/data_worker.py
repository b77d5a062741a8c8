"""A data worker prepares the trainers' input, as a data worker of TensorFlow's tf.data service.

The dataset is the one that the chief has registered. The task belongs to no TensorFlow cluster: a
data worker that is lost costs the records that it had read ahead, and may come back at any time.
"""

from typing import Mapping

from absl import logging

from estimator_trainer import task_events
from estimator_trainer.cluster import peers
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination.job_state import JobState
from estimator_trainer.input import data_service
from estimator_trainer.plugins import importing
from estimator_trainer.result import Result
from estimator_trainer.roles import ps
from estimator_trainer.roles.task_run import FollowerRun


def serve(run: FollowerRun) -> Result:
    """Prepares input until training has ended.

    Raises Interrupted if this task or the job is to stop, and TrainerError if training failed.
    """
    for plugin in filter(None, (run.plan.data, run.plan.train_data)):
        if plugin.thing is None:
            # The dataset may have operations of a library that the module loads.
            importing.module_of(plugin)
    run.log_start()
    server = _Server(run.task)

    def follow(now: JobState | None) -> None:
        run.watchdog.tick()
        if now and now.data_service:
            server.follow(now.data_service)

    return ps.outlive_trainers(run, follow, ends_job=False)


class _Server:
    """The server of a data worker, and the dispatcher that it works for."""

    def __init__(self, task: TaskConfig):
        self._task, self._address = task, ""
        # A server stops when its object is deleted.
        self._server: object = None

    def follow(self, place: Mapping[str, str]) -> None:
        """Serves the dispatcher of `JobState.data_service`, a new one after the chief's restart.

        TensorFlow holds Python's lock while a dispatcher does not answer, so it must be up.
        """
        address = place["address"]
        if address == self._address:
            return
        if place["readers"] != "data_workers":
            logging.info("the %s read the training set: there is nothing to prepare here",
                         "trainers" if place["readers"] == "trainers" else "chief's process alone")
        elif peers.state(address) != "up":
            return
        else:
            self._server = None
            host, _, port = self._task.address.rpartition(":")
            self._server = data_service.worker_server(address, host, int(port))
            logging.info("prepares input at %s, for the dispatcher at %s", self._task.address,
                         address)
        self._address = address
        task_events.emit("serves")
