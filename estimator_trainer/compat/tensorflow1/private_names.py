"""Where modules and names of `tensorflow.python` lie today; KERAS is the package of `tf.keras`."""

from __future__ import annotations

from typing import Any, Optional

_CELLS = ("KERAS.src.layers.rnn.legacy_cells", "KERAS.src.layers.rnn.legacy_cell_wrappers",
          "tensorflow.python.ops.rnn_cell_impl")
_LAYERS = "KERAS.src.legacy_tf_layers"
_OPTIONS = ("tensorflow.python.data.ops.options",)
_SLICES = "tensorflow.python.framework.indexed_slices"
_RECORD = "tensorflow.python.eager.record"
_PATHS = "tensorflow.python.saved_model.path_helpers"
_RESOLVERS = ("estimator_trainer.compat.contrib.cluster_resolver.resolvers",
              "tensorflow.python.distribute.cluster_resolver")

# A module, and what has its names, the first first.
MODULES: dict[str, tuple[str, ...]] = {
    "data.experimental.ops.distribute_options": _OPTIONS,
    "data.experimental.ops.optimization_options": _OPTIONS,
    "data.experimental.ops.threading_options": _OPTIONS,
    "distribute.strategy_combinations": ("tensorflow.python.distribute.strategy_combinations",
                                         "KERAS.src.distribute.optimizer_combinations"),
    "distribute.cluster_resolver": _RESOLVERS,
    "distribute.cluster_resolver.tpu_cluster_resolver": _RESOLVERS,
    "feature_column.dense_features": ("tf.keras.layers",),
    "feature_column.dense_features_v2": ("KERAS.src.feature_column.dense_features_v2",),
    **{f"layers.{name}": (f"{_LAYERS}.{name}", f"tensorflow.python.layers.{name}")
       for name in ("base", "convolutional", "core", "normalization", "pooling")},
    "layers.layers": ("tf.layers", "tensorflow.python.layers.layers"),
    "context": ("tensorflow.python.eager.context",),
    "graph_util": ("tensorflow.python.framework.graph_util",),
    # The attribute of `tensorflow.python` was this module, and the folder is the package.
    "ops": ("tensorflow.python.ops", "tensorflow.python.framework.ops"),
    "ops.losses.loss_reduction": ("KERAS.src.utils.losses_utils",
                                  "tensorflow.python.ops.losses.losses_impl"),
    "ops.nn": ("tensorflow.python.ops.nn", "tf.nn"),
    "ops.rnn": ("tf.nn", "tensorflow.python.ops.rnn"),
    "ops.rnn_cell": _CELLS,
    "ops.rnn_cell_impl": _CELLS,
    "ops.rnn_cell_wrapper_impl": _CELLS,
    "ops.standard_ops": ("tensorflow.python.ops.standard_ops", "tf"),
    "training.distribute": ("tensorflow.python.distribute.distribute_lib",),
    "training.saving.functional_saver": ("tensorflow.python.checkpoint.functional_saver",),
    "training.experimental.mixed_precision": (
        "tensorflow.python.training.experimental.mixed_precision", "tf.train.experimental"),
    "training.tracking.tracking": ("tensorflow.python.training.tracking.tracking",
                                   "tensorflow.python.trackable.resource"),
    "training.training_ops": ("tensorflow.python.ops.gen_training_ops",
                              "tensorflow.python.training.gen_training_ops"),
    "training.tracking.util": ("tensorflow.python.checkpoint.checkpoint",),
    **{f"keras.layers.{name}": (f"KERAS.src.layers.{name}", "tf.keras.layers") for name in (
        "advanced_activations", "convolutional", "convolutional_recurrent", "cudnn_recurrent",
        "dense_attention", "embeddings", "local", "merge", "noise", "normalization",
        "normalization_v2", "pooling", "recurrent", "recurrent_v2", "rnn_cell_wrapper_v2",
        "wrappers")},
    "keras.engine": ("KERAS.src.engine", "tf.keras.layers", "tf.keras.utils"),
    "keras.engine.network": ("KERAS.src.engine.functional", "tf.keras.utils"),
    **{f"keras.engine.training_{name}": (f"KERAS.src.engine.training_{name}",
                                         f"KERAS.src.engine.training_{name}_v1")
       for name in ("arrays", "distributed", "eager", "generator", "utils")},
    "keras.saving": ("KERAS.src.saving.legacy.save", "KERAS.src.saving.legacy.hdf5_format",
                     "KERAS.src.saving.legacy.saving_utils", "tf.keras.models"),
    "keras.losses": ("KERAS.src.losses", "tf.keras.losses"),
    "keras.optimizer_v2.optimizer_v2": ("KERAS.src.optimizers.legacy.optimizer_v2",),
    "keras.optimizer_v2.learning_rate_schedule": (
        "KERAS.src.optimizers.schedules.learning_rate_schedule",),
    **{f"keras.preprocessing.{name}": (f"KERAS.src.preprocessing.{name}",
                                       f"tf.keras.preprocessing.{name}")
       for name in ("image", "sequence", "text")},
    "keras.utils": ("KERAS.src.utils", "tf.keras.utils"),
    "keras.utils.generic_utils": (
        "KERAS.src.utils.generic_utils", "KERAS.src.saving.legacy.serialization",
        "tf.keras.utils"),
    "keras.utils.io_utils": ("KERAS.src.utils.io_utils", "tf.keras.utils"),
    "keras.utils.layer_utils": ("KERAS.src.utils.layer_utils", "tf.keras.utils"),
    "keras.utils.multi_gpu_utils": ("tf.keras.utils",),
    "util.compat_internal": ("tensorflow.python.util.compat",),
}
# The first parts of modules of `tensorflow.python.keras`, and those of today.
KERAS = {
    "api._v1.keras": "KERAS.api._v1.keras",
    "api._v2.keras": "KERAS.api._v2.keras",
    "api.keras": "KERAS.api._v1.keras",
    "mixed_precision.experimental": "KERAS.src.mixed_precision",
    "optimizer_v2": "KERAS.src.optimizers.legacy",
    "premade": "KERAS.src.premade_models",
    "saving": "KERAS.src.saving.legacy",
}


def _shape_function(op_type: str) -> Any:
    """Returns a decorator that leaves a function as it was: shapes are inferred in C++."""
    return lambda function: function


def _no_shape(op: Any) -> Any:
    """Stands for a function that a program gives to RegisterShape, which calls none."""
    raise NotImplementedError(f"The shapes of {op!r} are inferred in C++.")


def _shape(*dimensions: Any) -> Any:
    import tensorflow as tf
    return tf.TensorShape(list(dimensions))


def _registered_ops() -> dict[str, Any]:
    """Returns the definitions of all operations by their names."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session
    found = op_def_pb2.OpList.FromString(
        pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    return {each.name: each for each in found.op}


def _definition(variable: Any, export_scope: Optional[str] = None) -> Any:
    """Returns the protocol buffer of a variable, as a collection is exported."""
    return variable.to_proto(export_scope=export_scope)


def _variable(definition: Any, import_scope: Optional[str] = None) -> Any:
    """Returns the variable of a protocol buffer, as a collection is imported."""
    import tensorflow as tf
    return tf.compat.v1.Variable.from_proto(definition, import_scope=import_scope)


# Names that a module has lost.
NAMES: dict[str, dict[str, Any]] = {
    "data.ops.dataset_ops": {"Options": "tf.data.Options"},
    "data.ops.iterator_ops": {
        "IteratorV2": "tensorflow.python.data.ops.iterator_ops.OwnedIterator"},
    "eager.function": {"defun": "tf.function"},
    "eager.tape": {name: f"{_RECORD}.{name}" for name in (
        "could_possibly_record", "record_operation", "stop_recording")},
    "feature_column.feature_column_v2": {
        "FeatureColumn": "tensorflow.python.feature_column.feature_column_v2_types.FeatureColumn",
        "LinearModel": "tf.keras.experimental.LinearModel"},
    "feature_column.sequence_feature_column": {
        "SequenceFeatures": "tf.keras.experimental.SequenceFeatures"},
    "framework.common_shapes": dict.fromkeys((
        "call_cpp_shape_fn", "no_outputs", "scalar_shape", "unchanged_shape", "unknown_shape"),
        _no_shape),
    "framework.config": {name: f"tf.config.experimental.{name}" for name in (
        "get_virtual_device_configuration", "set_virtual_device_configuration")},
    "framework.graph_util_impl": {
        "convert_variables_to_constants": "tf.graph_util.convert_variables_to_constants"},
    "framework.op_def_registry": {"get_registered_ops": _registered_ops},
    "framework.ops": {
        "IndexedSlicesValue": f"{_SLICES}.IndexedSlicesValue",
        "RegisterShape": _shape_function,
        "convert_n_to_tensor_or_indexed_slices":
            f"{_SLICES}.internal_convert_n_to_tensor_or_indexed_slices",
        "convert_to_tensor_or_indexed_slices": "tf.convert_to_tensor_or_indexed_slices",
        "convert_to_tensor_v2": "tensorflow.convert_to_tensor",
        "disable_tensor_equality": "tf.disable_tensor_equality",
        "enable_tensor_equality": "tf.enable_tensor_equality",
        "internal_convert_n_to_tensor_or_indexed_slices":
            f"{_SLICES}.internal_convert_n_to_tensor_or_indexed_slices",
        "internal_convert_to_tensor_or_indexed_slices": "tf.convert_to_tensor_or_indexed_slices",
    },
    "framework.tensor_shape": {
        "scalar": _shape, "vector": _shape, "matrix": _shape},
    "framework.tensor_util": {name: f"tensorflow.python.ops.shape_util.{name}" for name in (
        "maybe_set_static_shape", "shape_tensor")},
    "keras.engine.network": {"Network": "tf.keras.Model"},
    "keras.utils.tf_utils": {"smart_cond": "tensorflow.python.framework.smart_cond.smart_cond",
                             "constant_value": "tf.get_static_value"},
    "ops.control_flow_ops": {"switch_case": "tf.switch_case", "case_v2": "tensorflow.case",
                             "cond_for_tf_v2": "tensorflow.cond",
                             "while_loop_v2": "tensorflow.while_loop"},
    "ops.math_ops": {"bessel_i0e": "tf.math.bessel_i0e", "bessel_i1e": "tf.math.bessel_i1e",
                     "bincount_v1": "tf.math.bincount"},
    "ops.parallel_for": {
        "batch_jacobian": "tensorflow.python.ops.parallel_for.gradients.batch_jacobian",
        "for_loop": "tensorflow.python.ops.parallel_for.control_flow_ops.for_loop",
        "jacobian": "tensorflow.python.ops.parallel_for.gradients.jacobian"},
    "ops.random_ops": {"random_crop": "tf.random_crop"},
    "ops.resource_variable_ops": {"_from_proto_fn": _variable, "_to_proto_fn": _definition},
    "ops.variable_scope": {
        "default_variable_creator": "tensorflow.python.ops.ref_variable.default_variable_creator",
        **{f"{name}_resource_variables": f"tf.{name}_resource_variables" for name in (
            "disable", "enable")},
        "resource_variables_enabled": "tf.resource_variables_enabled"},
    "ops.variables": {
        "AbstractVariableMetaclass": "builtins.type",
        "RefVariable": "tensorflow.python.ops.ref_variable.RefVariable",
        "default_variable_creator": "tensorflow.python.ops.ref_variable.default_variable_creator",
        "is_variable_initialized": "tf.is_variable_initialized"},
    "pywrap_tensorflow": {
        "EqualGraphDefWrapper":
            "tensorflow.python.client.pywrap_tf_session.EqualGraphDefWrapper",
        "EventsWriter": "tensorflow.python.client._pywrap_events_writer.EventsWriter",
        "NewCheckpointReader": "tf.train.NewCheckpointReader"},
    "saved_model.loader_impl": {
        "_parse_saved_model": "tensorflow.python.saved_model.loader_impl.parse_saved_model"},
    "saved_model.utils_impl": {name: f"{_PATHS}.{name}" for name in (
        "get_assets_dir", "get_or_create_assets_dir", "get_or_create_variables_dir",
        "get_variables_dir", "get_variables_path")},
    "training.training": {"enable_mixed_precision_graph_rewrite":
                          "tf.train.experimental.enable_mixed_precision_graph_rewrite"},
    "util.tf_export": {"estimator_export": "tensorflow_estimator.python.estimator."
                                           "estimator_export.estimator_export"},
}
