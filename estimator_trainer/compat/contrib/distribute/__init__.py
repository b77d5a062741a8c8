"""`tf.contrib.distribute`: its strategies, with the arguments that they had."""

from __future__ import annotations

from typing import Any

from estimator_trainer.errors import ConfigError

_LIB = "tensorflow.python.distribute.distribute_lib"
_CROSS_DEVICE = "tensorflow.python.distribute.cross_device_ops"


def _strategies() -> Any:
    import tensorflow as tf
    return tf.compat.v1.distribute


def MirroredStrategy(devices: Any = None,  # pylint: disable=invalid-name
                     num_gpus: Any = None, num_gpus_per_worker: Any = None,
                     cross_device_ops: Any = None, auto_shard_dataset: bool = False,
                     cross_tower_ops: Any = None) -> Any:
    """Returns a MirroredStrategy of `devices`, or of so many GPUs.

    Raises:
      ConfigError: Devices and numbers of GPUs are given together.
    """
    number = num_gpus if num_gpus is not None else num_gpus_per_worker
    if devices is not None and number is not None:
        raise ConfigError("tf.contrib.distribute.MirroredStrategy was given both devices and a "
                          "number of GPUs; expected one of them.")
    if number:
        devices = [f"/device:GPU:{index}" for index in range(number)]
    return _strategies().MirroredStrategy(devices, cross_device_ops or cross_tower_ops)


def CollectiveAllReduceStrategy(num_gpus_per_worker: int = 0,  # pylint: disable=invalid-name
                                communication: Any = None) -> Any:
    """Returns a MultiWorkerMirroredStrategy; it takes every GPU that the process sees."""
    options = {} if communication is None else {"communication": communication}
    return _strategies().experimental.MultiWorkerMirroredStrategy(**options)


def ParameterServerStrategy(num_gpus_per_worker: int = 0) -> Any:  # pylint: disable=invalid-name
    """Returns a ParameterServerStrategy; it takes every GPU that the process sees."""
    return _strategies().experimental.ParameterServerStrategy()


NAMES = {
    **{each.__name__: each for each in (
        MirroredStrategy, CollectiveAllReduceStrategy, ParameterServerStrategy)},
    **{name: f"tf.distribute.{name}" for name in (
        "CrossDeviceOps", "OneDeviceStrategy", "ReductionToOneDevice", "get_loss_reduction",
        "get_replica_context", "get_strategy", "has_strategy", "in_cross_replica_context")},
    **{name: f"tensorflow.python.distribute.step_fn.{name}" for name in (
        "StandardInputStep", "StandardSingleLossStep", "Step")},
    **{name: f"{_LIB}.{name}" for name in (
        "UpdateContext", "get_cross_replica_context", "require_replica_context")},
    "AllReduceCrossDeviceOps": f"{_CROSS_DEVICE}.AllReduceCrossDeviceOps",
    "AllReduceCrossTowerOps": f"{_CROSS_DEVICE}.AllReduceCrossDeviceOps",
    "CollectiveCommunication": "tf.distribute.experimental.CollectiveCommunication",
    "DistributeConfig": "tensorflow.python.distribute.distribute_config.DistributeConfig",
    "DistributionStrategy": "tf.distribute.Strategy",
    "Monitor": "estimator_trainer.compat.contrib.distribute.monitor.Monitor",
    "ReplicaContext": "tf.distribute.ReplicaContext",
    "TPUStrategy": "tf.distribute.experimental.TPUStrategy",
    "get_distribution_strategy": "tf.distribute.get_strategy",
    "has_distribution_strategy": "tf.distribute.has_strategy",
    "initialize_tpu_system": "tf.tpu.experimental.initialize_tpu_system",
    "run_standard_tensorflow_server":
        "tensorflow.python.distribute.distribute_coordinator.run_standard_tensorflow_server",
}
