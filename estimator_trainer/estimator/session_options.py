"""Session options: what a session is told of devices, precision and compilation."""

from __future__ import annotations

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.estimator import strategy
from estimator_trainer.patches import upstream
from estimator_trainer.settings.trainer_config import TrainerConfig


def config_of(config: TrainerConfig) -> tf.compat.v1.ConfigProto:
    """Returns the ConfigProto that the settings ask for, to be merged into that of the role.

    Raises:
      ConfigError: for a device or a precision that this machine does not have.
    """
    _check_devices(config)
    session_config = tf.compat.v1.ConfigProto(
        allow_soft_placement=config.soft_placement,
        log_device_placement=config.log_device_placement)
    if strategy.replicas_share_cpus(config):
        session_config.device_count["CPU"] = config.num_replicas
    graph_options = session_config.graph_options
    if config.mixed_precision == "float16":
        graph_options.rewrite_options.auto_mixed_precision = upstream.REWRITER_ON
    if config.mixed_precision == "bfloat16":
        graph_options.rewrite_options.auto_mixed_precision_onednn_bfloat16 = (
            upstream.REWRITER_ON)
        # Remapping fuses convolutions with what follows them to an op that has no bfloat16.
        graph_options.rewrite_options.remapping = upstream.REWRITER_OFF
    if config.xla:
        graph_options.optimizer_options.global_jit_level = tf.compat.v1.OptimizerOptions.ON_1
    return session_config


def _check_devices(config: TrainerConfig) -> None:
    gpus = [f"gpu:{i}" for i in range(len(tf.config.list_physical_devices("GPU")))]
    wanted, has = ("GPU", gpus) if config.mixed_precision == "float16" else ("CPU alone", not gpus)
    if config.mixed_precision != "none" and not has:
        other = "bfloat16" if wanted == "GPU" else "float16"
        raise errors.ConfigError(
            f"mixed_precision is {config.mixed_precision!r} (from --mixed_precision), which"
            f" TensorFlow has for a {wanted}; this machine has {', '.join(['cpu:0', *gpus])}."
            f" For example: --mixed_precision={other}")
