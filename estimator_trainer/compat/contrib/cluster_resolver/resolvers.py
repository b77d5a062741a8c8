"""Resolvers of clusters with the arguments and defaults that they had.

Source: tensorflow/python/distribute/cluster_resolver of TensorFlow 1.15
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer import environment

_RESOLVERS: Any = tf.compat.v1.distribute.cluster_resolver
# The names of a TPU that is none, or is in this machine.
_HERE = ("", "local")


class TPUClusterResolver(_RESOLVERS.TPUClusterResolver):
    """Finds a TPU; programs make one of `""` and train with `use_tpu=False`.

    Args:
      tpu: The TPU's name or address; "" or "local" for none.
      zone, project, job_name, coordinator_name, coordinator_address, credentials, service,
        discovery_url: As in `tf.distribute.cluster_resolver.TPUClusterResolver`.

    Raises:
      ValueError: No TPU is named, in the environment neither.
    """

    def __init__(self, tpu: Any = None, zone: Any = None, project: Any = None,
                 job_name: str = "worker", coordinator_name: Any = None,
                 coordinator_address: Any = None, credentials: Any = "default",
                 service: Any = None, discovery_url: Any = None) -> None:
        name = tpu.decode() if isinstance(tpu, bytes) else tpu
        if name is None and not environment.names_tpu():
            raise ValueError("Please provide a TPU Name to connect to.")
        self._here = name if name in _HERE else None
        if self._here is None:
            super().__init__(tpu, zone, project, job_name, coordinator_name, coordinator_address,
                             credentials, service, discovery_url)
        else:
            self._tpu, self.task_type, self.task_id = name, job_name, 0

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> Any:
        """Returns the address of the TPU's host, or its name if it is none."""
        if self._here is not None:
            return self._here
        return super().master(task_type, task_id, rpc_layer)

    def get_master(self) -> Any:
        """Returns what `master` does."""
        return self.master()

    def cluster_spec(self) -> Any:
        """Returns the hosts of the TPU; None if it is none."""
        return super().cluster_spec() if self._here is None else None


class SlurmClusterResolver(_RESOLVERS.SlurmClusterResolver):
    """Finds the tasks of a job of Slurm.

    Args:
      jobs: The number of tasks by job.
      port_base: The first port.
      gpus_per_node, gpus_per_task: Numbers of GPUs, one unless given.
      tasks_per_node: Tasks of each node; from Slurm without.
      auto_set_gpu: Whether each task is shown its GPUs alone.
      rpc_layer: The protocol.
    """

    def __init__(self, jobs: Any, port_base: int = 8888, gpus_per_node: int = 1,
                 gpus_per_task: int = 1, tasks_per_node: Any = None, auto_set_gpu: bool = True,
                 rpc_layer: str = "grpc") -> None:
        super().__init__(jobs, port_base, gpus_per_node, gpus_per_task, tasks_per_node,
                         auto_set_gpu, rpc_layer)
