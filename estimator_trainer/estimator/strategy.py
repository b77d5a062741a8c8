"""Builds the `tf.distribute` strategies of a task from the settings."""

from typing import NamedTuple

import tensorflow as tf

from estimator_trainer import deadlines, environment, errors, machine
from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.communication import gradient_packs
from estimator_trainer.coordination import stop
from estimator_trainer.settings.trainer_config import TrainerConfig


class Strategies(NamedTuple):
    """The strategies of training and of evaluation; None is none."""

    train: tf.distribute.Strategy | None
    eval: tf.distribute.Strategy | None


def split_cpu(num_replicas: int) -> None:
    """Makes a logical CPU for every replica that gets no GPU; call it before TensorFlow's first op.

    The strategies' eager part uses them; `builder.config_of` does the same for their graphs.
    """
    cpu = tf.config.list_physical_devices("CPU")[0]
    if replicas_share_cpus(num_replicas) and not tf.config.get_logical_device_configuration(cpu):
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration()] * num_replicas)


def replicas_share_cpus(num_replicas: int) -> bool:
    """Returns whether each replica gets a logical CPU, because there are no GPUs."""
    return num_replicas > 1 and not tf.config.list_physical_devices("GPU")


def for_training(config: TrainerConfig, task: TaskConfig) -> Strategies:
    """Returns the strategies of this task; call it before TensorFlow's first op, and any plug-in.

    Only a chief and a worker train, and `MultiWorkerMirroredStrategy` fails in an evaluator with
    `KeyError: 'evaluator'`, so others get None for training.
    """
    trains = task.is_trainer
    with environment.tf_config(task.strategy_tf_config()):
        return Strategies(_build(config.train_distribute, config) if trains else None,
                          _build(config.eval_distribute, config))


def of_plan(plan: Plan) -> Strategies:
    """Returns the strategies of this task: those that a script has made, or new ones."""
    if plan.script_run is None:
        # All trainers have joined; a strategy would wait for ever for one that is gone since then.
        config, task = plan.config, plan.task
        patience_secs = min(config.stall_timeout_secs,
                            config.peer_timeout_secs + deadlines.DISK_REMEMBERS_SECS)
        with stop.killed_after(patience_secs if task.is_all_reduce else None):
            return for_training(config, task)
    of_script = plan.script_run.strategies
    assert isinstance(of_script, Strategies)
    return of_script if plan.task.is_trainer else Strategies(None, of_script.eval)


def name_of(strategy: tf.distribute.Strategy | None) -> str:
    """Returns the setting's name of a strategy.

    Raises:
      ConfigError: if it has none.
    """
    if strategy is None:
        return "none"
    # The classes of TensorFlow 1 and 2.
    v1 = tf.compat.v1.distribute
    kinds: dict[str, tuple[type, ...]] = {
        "one_device": (tf.distribute.OneDeviceStrategy, v1.OneDeviceStrategy),
        "mirrored": (tf.distribute.MirroredStrategy, v1.MirroredStrategy),
        "central_storage": (tf.distribute.experimental.CentralStorageStrategy,
                            v1.experimental.CentralStorageStrategy),
        "multi_worker_mirrored": (tf.distribute.MultiWorkerMirroredStrategy,
                                  v1.experimental.MultiWorkerMirroredStrategy),
        "parameter_server": (v1.experimental.ParameterServerStrategy,)}
    for name, classes in kinds.items():
        if isinstance(strategy, classes):
            return name
    raise errors.ConfigError(
        f"the script's strategy is a {type(strategy).__name__}; expected one of"
        f" {', '.join(sorted(kinds))}")


def for_one_process(config: TrainerConfig) -> Strategies:
    """Returns the strategy of an evaluation, which runs in one process of any task."""
    return Strategies(None, _build(config.eval_distribute, config))


def _build(name: str, config: TrainerConfig) -> tf.distribute.Strategy | None:
    devices = _devices(config.num_replicas)
    if name == "none":
        return None
    if name == "one_device":
        return tf.distribute.OneDeviceStrategy(devices[0])
    if name == "mirrored":
        # The default all-reduce hangs between logical CPUs.
        reduce_ops = None if "GPU" in devices[0] else tf.distribute.ReductionToOneDevice()
        return tf.distribute.MirroredStrategy(devices, cross_device_ops=reduce_ops)
    if name == "central_storage":
        return tf.distribute.experimental.CentralStorageStrategy(devices, "/device:CPU:0")
    if name == "multi_worker_mirrored":
        return _multi_worker_mirrored(config, on_gpus="GPU" in devices[0])
    return tf.compat.v1.distribute.experimental.ParameterServerStrategy()


def _multi_worker_mirrored(config: TrainerConfig, on_gpus: bool) -> tf.distribute.Strategy:
    machine.keep_freed_memory()
    implementation = tf.distribute.experimental.CommunicationImplementation
    # In a graph TensorFlow uses NCCL only for several tensors, so GPUs send theirs unpacked.
    pack_mb = None if on_gpus else config.all_reduce_pack_mb or gradient_packs.CPU_PACK_MB
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=implementation[config.collective.upper()],
        bytes_per_pack=1 if pack_mb else config.all_reduce_pack_mb * 2**20)
    return gradient_packs.send_in_packs(
        tf.distribute.MultiWorkerMirroredStrategy(communication_options=options), pack_mb,
        tf.dtypes.as_dtype(config.all_reduce_dtype))


def _devices(num_replicas: int) -> list[str]:
    gpus = len(tf.config.list_physical_devices("GPU"))
    kind, count = ("GPU", num_replicas or gpus) if gpus else ("CPU", num_replicas or 1)
    return [f"/device:{kind}:{i}" for i in range(count)]


def check(device: str, task: TaskConfig) -> None:
    """Raises ConfigError if `device` names a GPU that TensorFlow does not see.

    With soft placement the model would silently compute on a CPU.
    """
    kind, _, number = device.partition(":")
    gpus = tf.config.list_physical_devices("GPU")
    if kind != "gpu" or int(number) < len(gpus) or (
            task.role in ("ps", "data_worker")):
        return
    seen = ", ".join(f"gpu:{i}" for i in range(len(gpus))) or "no GPU"
    place = "this machine" if task.is_local else task.name
    example = f"gpu:{len(gpus) - 1}" if gpus else "cpu:0"
    raise errors.ConfigError(errors.Problem(
        "device", device, f"and TensorFlow sees {seen} in {place}",
        "a device that is there", errors.Setting("device", example)))
