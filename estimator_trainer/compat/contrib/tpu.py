"""`tf.contrib.tpu`: its Estimator is Estimator's, its ops are TensorFlow's.

`TPUEstimator(use_tpu=False)` trains on CPU and GPU.
"""

from __future__ import annotations

_ESTIMATOR = "tensorflow_estimator.python.estimator.tpu"
_TENSORFLOW = "tensorflow.python.tpu"

NAMES = {
    **{name: f"tf.estimator.tpu.{name}" for name in (
        "InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec")},
    **{name: f"tf.tpu.{name}" for name in (
        "CrossShardOptimizer", "batch_parallel", "bfloat16_scope", "core", "cross_replica_sum",
        "initialize_system", "outside_compilation", "replicate", "rewrite", "shard",
        "shutdown_system")},
    "AsyncCheckpointSaverHook": "tf.train.CheckpointSaverHook",
    "repeat": f"{_TENSORFLOW}.training_loop.repeat",
    "while_loop": f"{_TENSORFLOW}.training_loop.while_loop",
}
MODULES = (
    *(f"{_ESTIMATOR}.{module}" for module in (
        "tpu_estimator", "tpu_config", "tpu_context", "error_handling", "util")),
    *(f"{_TENSORFLOW}.{module}" for module in (
        "ops.tpu_ops", "tpu", "tpu_feed", "tpu_function", "tpu_sharding", "training_loop",
        "tensor_tracer", "topology", "device_assignment", "tpu_optimizer", "bfloat16")),
)
INSTEAD = {
    "keras_to_tpu_model": "use tf.distribute.TPUStrategy",
    "TPUDistributionStrategy": "use tf.distribute.TPUStrategy",
}
DEFAULT = "train with TPUEstimator(use_tpu=False) or tf.estimator.Estimator on CPU and GPU"
