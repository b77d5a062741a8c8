"""`tf.contrib.learn`: the constants of the Estimator's ancestor, and its RunConfig."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from estimator_trainer.errors import ConfigError


class ModeKeys:
    """The modes of a model_fn, with the values of `tf.estimator.ModeKeys`."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"


class PredictionKey:
    """The names of predictions."""

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"


def RunConfig(master: Any = None, num_cores: int = 0,  # pylint: disable=invalid-name
              log_device_placement: bool = False, gpu_memory_fraction: float = 1,
              **options: Any) -> Any:
    """Returns a `tf.estimator.RunConfig`, with the session's options where that has them.

    Raises:
      ConfigError: a server is named; the cluster comes from TF_CONFIG.
    """
    import tensorflow as tf
    if server := master or options.pop("evaluation_master", None):
        raise ConfigError(f"RunConfig(master={server!r}) of tf.contrib.learn names a server;"
                          " expected none, for the cluster comes from TF_CONFIG")
    proto = options.pop("session_config", None) or tf.compat.v1.ConfigProto(
        intra_op_parallelism_threads=num_cores, inter_op_parallelism_threads=num_cores,
        log_device_placement=log_device_placement, gpu_options=tf.compat.v1.GPUOptions(
            per_process_gpu_memory_fraction=gpu_memory_fraction))
    return tf.compat.v1.estimator.RunConfig(session_config=proto, **options)


def replace_monitors_with_hooks(hooks: Optional[Sequence[Any]], estimator: Any) -> list[Any]:
    """Returns the hooks; there are no monitors any more that would have to be replaced."""
    del estimator
    return list(hooks or ())


_CANNED = ("DNNClassifier", "DNNRegressor", "DNNLinearCombinedClassifier", "Estimator",
           "DNNLinearCombinedRegressor", "LinearClassifier", "LinearRegressor")
_MNIST = "estimator_trainer.compat.tensorflow1.tutorials.input_data"
NAMES = {**{name: f"{_MNIST}.{name}" for name in ("load_dataset", "load_mnist", "read_data_sets")},
         "ModeKeys": ModeKeys, "PredictionKey": PredictionKey, "RunConfig": RunConfig,
         "replace_monitors_with_hooks": replace_monitors_with_hooks}
_LOOP = "use tf.estimator.train_and_evaluate with TrainSpec and EvalSpec"
INSTEAD = {
    **{name: f"use tf.estimator.{name}" for name in _CANNED},
    "Experiment": _LOOP,
    "KMeansClustering": "use tf.estimator.experimental.KMeans",
    "MetricSpec": "use EstimatorSpec.eval_metric_ops or tf.estimator.add_metrics",
    "ModelFnOps": "use tf.estimator.EstimatorSpec",
    "build_parsing_serving_input_fn":
        "use tf.estimator.export.build_parsing_serving_input_receiver_fn",
    "make_export_strategy": "use tf.estimator.FinalExporter or LatestExporter",
    "maybe_download": "fetch the file before, or use tensorflow_datasets",
    "read_batch_examples": "use tf.data.TFRecordDataset",
    "read_batch_features": "use tf.data.experimental.make_batched_features_dataset",
    "run": _LOOP,
    "run_experiment": "use tf.estimator.train_and_evaluate",
    "VocabularyProcessor": "use tf.keras.preprocessing.text.Tokenizer",
}
DEFAULT = "use tf.estimator"
