"""`tf.contrib.framework`: variables and arg_scope are in tf_slim, checkpoints in `tf.train`."""

from __future__ import annotations


def get_name_scope() -> str:
    """Returns the name scope of the default graph."""
    import tensorflow as tf
    return str(tf.compat.v1.get_default_graph().get_name_scope())


_SLIM = """
    add_arg_scope add_model_variable arg_scope arg_scope_func_key arg_scoped_arguments
    assert_global_step assert_or_get_global_step assign_from_checkpoint assign_from_checkpoint_fn
    assign_from_values assign_from_values_fn create_global_step current_arg_scope
    filter_variables get_local_variables get_model_variables get_trainable_variables
    get_unique_variable get_variable_full_name get_variables get_variables_by_name
    get_variables_by_suffix get_variables_to_restore global_variable has_arg_scope local_variable
    model_variable variable VariableDeviceChooser""".split()

NAMES = {
    **{name: f"tf_slim.{name}" for name in _SLIM},
    **{name: f"tf.train.{name}" for name in (
        "checkpoints_iterator", "get_global_step", "get_or_create_global_step",
        "init_from_checkpoint", "list_variables", "load_checkpoint", "load_variable")},
    **{name: f"tensorflow.python.framework.smart_cond.{name}" for name in (
        "smart_cond", "smart_constant_value")},
    **{name: f"tf.{name}" for name in (
        "argsort", "convert_to_tensor_or_sparse_tensor", "is_tensor", "sort", "CriticalSection")},
    "deprecated": "tensorflow.python.util.deprecation.deprecated",
    "deprecated_args": "tensorflow.python.util.deprecation.deprecated_args",
    "get_name_scope": get_name_scope,
    "is_non_decreasing": "tf.debugging.is_non_decreasing",
    "is_strictly_increasing": "tf.debugging.is_strictly_increasing",
    "nest": "tensorflow.python.util.nest",
}
INSTEAD = {
    "assert_same_float_dtype": "use tf.debugging.assert_same_float_dtype",
    "assert_scalar": "use tf.debugging.assert_scalar",
    "with_same_shape": "use tf.ensure_shape",
    "with_shape": "use tf.ensure_shape",
    "zero_initializer": "use tf.zeros_initializer",
}
