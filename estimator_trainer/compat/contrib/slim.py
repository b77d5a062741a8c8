"""`tf.contrib.slim`, which is the package tf_slim today."""

from __future__ import annotations

from estimator_trainer.compat.contrib import layers

_MODULES = """
    data evaluation initializers layers learning losses metrics nets optimizers queues
    regularizers summaries training""".split()

NAMES = {
    **layers.OWN,
    **{name: f"tf_slim.{name}" for name in (*layers.FUNCTIONS, *_MODULES)},
    **{name: f"tf_slim.layers.utils.{name}" for name in (
        "append_tensor_alias", "channel_dimension", "collect_named_outputs", "constant_value",
        "convert_collection_to_dict", "gather_tensors_aliases", "get_tensor_aliases",
        "get_variable_collections", "last_dimension", "n_positive_integers", "smart_cond",
        "static_cond", "two_element_tuple")},
    **{name: f"tensorflow.python.util.deprecation.{name}" for name in (
        "deprecated", "deprecated_arg_values")},
    "adaptive_clipping_fn": "tf_slim.layers.optimizers.adaptive_clipping_fn",
    "data_decoder": "tf_slim.data.data_decoder",
    "dataset": "tf_slim.data.dataset",
    "dataset_data_provider": "tf_slim.data.dataset_data_provider",
    "model_analyzer": "tf_slim.model_analyzer",
    "parallel_reader": "tf_slim.data.parallel_reader",
    "prefetch_queue": "tf_slim.data.prefetch_queue",
    "tfexample_decoder": "tf_slim.data.tfexample_decoder",
    "utils": "tf_slim.layers.utils",
    "assign_from_checkpoint":
        "estimator_trainer.compat.contrib.framework.checkpoints.assign_from_checkpoint",
    "zero_initializer": "estimator_trainer.compat.contrib.framework.functions.zero_initializer",
}
INNER = {"python.slim.data.prefetch_queue.prefetch_queue":
         "tf_slim.data.prefetch_queue.prefetch_queue"}
DEFAULT = "copy it from tensorflow/models, research/slim, into the program"
