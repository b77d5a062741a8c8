"""`tf.contrib.framework`: variables and arg_scope are in tf_slim, checkpoints in `tf.train`."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.framework"
_SLIM = """
    add_arg_scope add_model_variable arg_scope arg_scope_func_key arg_scoped_arguments
    assert_global_step assert_or_get_global_step assign_from_checkpoint_fn assign_from_values
    assign_from_values_fn create_global_step current_arg_scope filter_variables get_local_variables
    get_model_variables get_trainable_variables get_unique_variable get_variable_full_name
    get_variables get_variables_by_name get_variables_by_suffix get_variables_to_restore
    global_variable has_arg_scope local_variable model_variable variable
    VariableDeviceChooser""".split()

NAMES = {
    **{name: f"tf_slim.{name}" for name in _SLIM},
    **{name: f"tf.train.{name}" for name in (
        "checkpoints_iterator", "get_global_step", "get_or_create_global_step")},
    **{name: f"tensorflow.python.framework.smart_cond.{name}" for name in (
        "smart_case", "smart_cond", "smart_constant_value")},
    **{name: f"tf.debugging.{name}" for name in (
        "assert_same_float_dtype", "assert_scalar", "is_non_decreasing", "is_strictly_increasing")},
    **{name: f"tensorflow.python.ops.init_ops.{name}" for name in (
        "convolutional_delta_orthogonal", "convolutional_orthogonal_1d",
        "convolutional_orthogonal_2d", "convolutional_orthogonal_3d")},
    **{name: f"tensorflow.python.util.deprecation.{name}" for name in (
        "deprecated", "deprecated_arg_values", "deprecated_args")},
    **{name: f"{_HERE}.checkpoints.{name}" for name in (
        "assign_from_checkpoint", "init_from_checkpoint", "list_variables", "load_checkpoint",
        "load_linear_multiclass_bias_initializer", "load_variable",
        "load_variable_slot_initializer")},
    **{name: f"{_HERE}.functions.{name}" for name in (
        "get_name_scope", "get_placeholders", "py_func", "zero_initializer")},
    **{name: f"{_HERE}.shapes.{name}" for name in (
        "assert_scalar_int", "reduce_sum_n", "remove_squeezable_dimensions", "with_same_shape",
        "with_shape")},
    "BoundedTensorSpec": "tensorflow.python.framework.tensor.BoundedTensorSpec",
    "RecordInput": "tensorflow.python.ops.data_flow_ops.RecordInput",
    "TensorSpec": "tf.TensorSpec",
    "get_graph_from_inputs": "tf_slim.ops.framework_ops.get_graph_from_inputs",
    "load_and_remap_matrix_initializer":
        "tensorflow.python.training.checkpoint_ops._load_and_remap_matrix_initializer",
    "load_embedding_initializer":
        "tensorflow.python.training.checkpoint_ops._load_embedding_initializer",
    "prepend_name_scope": "tensorflow.python.framework.ops.prepend_name_scope",
    "strip_name_scope": "tensorflow.python.framework.ops.strip_name_scope",
    **{name: f"tf.{name}" for name in (
        "argsort", "convert_to_tensor_or_sparse_tensor", "is_tensor", "sort", "CriticalSection")},
    "nest": "tensorflow.python.util.nest",
}
