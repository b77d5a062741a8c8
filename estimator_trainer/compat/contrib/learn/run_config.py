"""The settings of a run of `tf.contrib.learn`, and the cluster that TF_CONFIG names.

Source: tensorflow/contrib/learn/python/learn/estimators/run_config.py of TensorFlow 1.15.
"""

from __future__ import annotations

import json
from typing import Any, Optional

import tensorflow as tf
from tensorflow.python.platform import tf_logging as logging

from estimator_trainer import environment
from estimator_trainer.compat.contrib.learn.keys import Environment, TaskType

# Settings that may differ between two runs which are otherwise one.
_NOT_IN_UID = ("tf_random_seed", "save_summary_steps", "save_checkpoints_steps",
               "save_checkpoints_secs", "session_config", "keep_checkpoint_max",
               "keep_checkpoint_every_n_hours", "log_step_count_steps", "master",
               "session_creation_timeout_secs")


def _tf_config() -> dict[str, Any]:
    return dict(json.loads(environment.read().tf_config or "{}"))


class ClusterConfig:
    """A task's place in a cluster.

    Attributes:
      cluster_spec, task_type, task_id, environment: As TF_CONFIG has them.
      master, evaluation_master: Addresses of servers, "" for this process.
      num_ps_replicas, num_worker_replicas: How many tasks of a kind.
      is_chief: Whether this task writes checkpoints.
    """

    def __init__(self, master: Optional[str] = None,
                 evaluation_master: Optional[str] = None) -> None:
        config = _tf_config()
        cluster = config.get("cluster", {})
        self.task_type: Any = config.get("task", {}).get("type")
        self.task_id = self.get_task_id()
        self.cluster_spec = tf.train.ClusterSpec(cluster)
        self.environment = config.get("environment", Environment.LOCAL)
        self.master = _master(cluster, self.task_type, self.task_id) if master is None else master
        self.evaluation_master = evaluation_master or ""
        self.num_ps_replicas = len(cluster.get("ps", []))
        self.num_worker_replicas = len(cluster.get("worker", [])) + len(cluster.get("master", []))
        chief = TaskType.MASTER if self.environment == Environment.CLOUD else TaskType.WORKER
        self.is_chief = self.task_id == 0 and self.task_type in (None, chief)

    @staticmethod
    def get_task_id() -> int:
        """Returns the number of this task."""
        return int(_tf_config().get("task", {}).get("index") or 0)


def _master(cluster: dict[str, Any], task_type: Any, task_id: int) -> str:
    if sum(len(addresses) for addresses in cluster.values()) < 2 or not task_type:
        return ""
    if task_type not in cluster:
        raise ValueError(f"{task_type} is not a valid task_type in the cluster_spec {cluster}, "
                         "which may come from TF_CONFIG.")
    if not 0 <= task_id < len(cluster[task_type]):
        raise ValueError(f"{task_id} is not a valid task_id for task_type {task_type} in the "
                         f"cluster_spec {cluster}, which may come from TF_CONFIG.")
    return f"grpc://{cluster[task_type][task_id]}"


def _setting(name: str) -> Any:
    return property(lambda self: vars(self)[f"_{name}"],
                    lambda self, value: setattr(self, f"_{name}", value))


class RunConfig(ClusterConfig, tf.compat.v1.estimator.RunConfig):
    """The settings of a run.

    Args:
      master, evaluation_master: Addresses of servers.
      num_cores, log_device_placement, gpu_memory_fraction: Are in `tf_config`.
      tf_random_seed: The seed of graphs.
      save_summary_steps: Steps between summaries.
      save_checkpoints_secs, save_checkpoints_steps: Between checkpoints, 600 seconds by default.
      keep_checkpoint_max, keep_checkpoint_every_n_hours: Which checkpoints are kept.
      log_step_count_steps: Steps between lines of the log.
      protocol: The servers' protocol.
      model_dir: Where checkpoints are; TF_CONFIG may name the folder.
      session_config: A ConfigProto.
      session_creation_timeout_secs: How long a worker waits for the chief.
    """

    _USE_DEFAULT = 0

    def __init__(  # pylint: disable=super-init-not-called
            self, master: Optional[str] = None, num_cores: int = 0,
            log_device_placement: bool = False, gpu_memory_fraction: float = 1,
            tf_random_seed: Any = None, save_summary_steps: int = 100,
            save_checkpoints_secs: Any = _USE_DEFAULT, save_checkpoints_steps: Any = None,
            keep_checkpoint_max: int = 5, keep_checkpoint_every_n_hours: float = 10000,
            log_step_count_steps: int = 100, protocol: Any = None, evaluation_master: str = "",
            model_dir: Optional[str] = None, session_config: Any = None,
            session_creation_timeout_secs: int = 7200) -> None:
        v1 = tf.compat.v1
        ClusterConfig.__init__(self, master, evaluation_master)
        if save_checkpoints_secs == self._USE_DEFAULT:
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        self.tf_config = v1.ConfigProto(
            log_device_placement=log_device_placement, inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=v1.GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction))
        self._set(tf_random_seed=tf_random_seed, save_summary_steps=save_summary_steps,
                  save_checkpoints_secs=save_checkpoints_secs,
                  save_checkpoints_steps=save_checkpoints_steps,
                  keep_checkpoint_max=keep_checkpoint_max,
                  keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
                  log_step_count_steps=log_step_count_steps, protocol=protocol,
                  session_config=session_config, model_dir=_model_dir(model_dir),
                  session_creation_timeout_secs=session_creation_timeout_secs,
                  train_distribute=None, eval_distribute=None, device_fn=None,
                  experimental_max_worker_delay_secs=None, checkpoint_save_graph_def=True)

    def _set(self, **settings: Any) -> None:
        for name, value in settings.items():
            setattr(self, f"_{name}", value)

    # tf.estimator's RunConfig reads settings behind an underscore; ClusterConfig writes them here.
    cluster_spec, task_type, task_id, environment, master, evaluation_master = map(_setting, (
        "cluster_spec", "task_type", "task_id", "environment", "master", "evaluation_master"))
    num_ps_replicas, num_worker_replicas, is_chief, tf_config = map(_setting, (
        "num_ps_replicas", "num_worker_replicas", "is_chief", "tf_config"))

    def uid(self, whitelist: Any = None) -> str:
        """Returns a text of the settings, without those in `whitelist`."""
        left_out = {f"_{name}" for name in (_NOT_IN_UID if whitelist is None else whitelist)}
        found = {**vars(self), "_cluster_spec": sorted(self._cluster_spec.as_dict().items())}
        return ", ".join(f"{name}={value!r}" for name, value in sorted(found.items())
                         if name not in left_out)


def _model_dir(model_dir: Optional[str]) -> Optional[str]:
    named = _tf_config().get("model_dir")
    if named is not None and model_dir not in (None, named):
        raise ValueError("`model_dir` provided in RunConfig construct, if set, must have the same "
                         f"value as the model_dir in TF_CONFIG; they are {model_dir!r} and "
                         f"{named!r}.")
    if named is not None:
        logging.info("Using model_dir in TF_CONFIG: %s", named)
    return model_dir or named
