"""`tf.contrib.eager`: networks, savers, callbacks, and what of it became TensorFlow's own."""

from __future__ import annotations

from typing import Any


def _context() -> Any:
    from tensorflow.python.eager import context
    return context.context()


def list_devices() -> Any:
    """Returns the names of the devices that eager code could run on."""
    return _context().devices()


def num_gpus() -> int:
    """Returns how many GPUs the process sees."""
    return int(_context().num_gpus())


def make_template(name_: str, func_: Any, create_scope_now_: bool = False,
                  unique_name_: Any = None, custom_getter_: Any = None, **kwargs: Any) -> Any:
    """Returns `tf.make_template` of a function that becomes a graph.

    `create_graph_function_` says whether; False by default.
    """
    from tensorflow.python.ops import template
    return template.make_template_internal(name_, func_, create_scope_now_, unique_name_,
                                           custom_getter_, **kwargs)


_HERE = "estimator_trainer.compat.contrib.eager"
_OWN = {
    "callbacks": ("ExecutionCallback", "InfOrNanError", "add_execution_callback",
                  "clear_execution_callbacks", "errstate", "inf_callback", "inf_nan_callback",
                  "nan_callback", "seterr"),
    "iterator": ("Iterator",),
    "network": ("Network", "Sequential"),
    "savers": ("Saver", "get_optimizer_variables", "restore_network_checkpoint",
               "restore_variables_on_create", "save_network_checkpoint"),
}
NAMES = {
    **{name: f"{_HERE}.{module}.{name}" for module, names in _OWN.items() for name in names},
    "set_server_def": "tensorflow.python.eager.context.set_server_def",
    "metrics": "estimator_trainer.compat.contrib.eager.metrics",
    "Checkpoint": "tf.train.Checkpoint",
    "EagerVariableStore": "tensorflow.python.ops.variable_scope.EagerVariableStore",
    "Checkpointable": "tensorflow.python.trackable.autotrackable.AutoTrackable",
    "TensorSpec": "tf.TensorSpec",
    "connect_to_remote_host": "tensorflow.python.eager.remote.connect_to_remote_host",
    "enable_remote_eager_execution":
        "tensorflow.python.framework.ops.enable_eager_execution_internal",
    "run_all_tests_in_graph_and_eager_modes":
        "tensorflow.python.framework.test_util.run_all_in_graph_and_eager_modes",
    "run_test_in_graph_and_eager_modes":
        "tensorflow.python.framework.test_util.run_in_graph_and_eager_modes",
    "in_eager_mode": "tf.executing_eagerly",
    "value_and_gradients_function":
        "tensorflow.python.eager.backprop.val_and_grad_function",
    **{name: f"tensorflow.python.eager.context.{name}" for name in (
        "ASYNC", "DEVICE_PLACEMENT_EXPLICIT", "DEVICE_PLACEMENT_SILENT", "DEVICE_PLACEMENT_WARN",
        "SYNC", "async_clear_error", "async_wait", "execution_mode", "set_execution_mode")},
    "list_devices": list_devices,
    "num_gpus": num_gpus,
    "Variable": "tensorflow.python.ops.resource_variable_ops.ResourceVariable",
    "defun": "tf.compat.v2.function",
    "function": "tf.compat.v2.function",
    "make_template": make_template,
    "py_func": "tf.py_function",
    "run": "tensorflow.python.framework.ops.eager_run",
    **{name: f"tensorflow.python.eager.backprop.{name}" for name in (
        "GradientTape", "gradients_function", "implicit_grad", "implicit_val_and_grad",
        "make_vjp", "val_and_grad_function")},
    "implicit_gradients": "tensorflow.python.eager.backprop.implicit_grad",
    "implicit_value_and_gradients": "tensorflow.python.eager.backprop.implicit_val_and_grad",
    **{name: f"tf.{name}" for name in (
        "add_check_numerics_ops", "custom_gradient", "enable_eager_execution",
        "executing_eagerly", "init_scope")},
}
