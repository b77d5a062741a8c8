"""`tf.contrib.eager`: what of it became TensorFlow's own."""

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


NAMES = {
    "metrics": "estimator_trainer.compat.contrib.eager.metrics",
    "Checkpoint": "tf.train.Checkpoint",
    "EagerVariableStore": "tensorflow.python.ops.variable_scope.EagerVariableStore",
    "TensorSpec": "tf.TensorSpec",
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
    "py_func": "tf.py_function",
    "run": "tf.app.run",
    **{name: f"tensorflow.python.eager.backprop.{name}" for name in (
        "GradientTape", "gradients_function", "implicit_grad", "implicit_val_and_grad",
        "make_vjp", "val_and_grad_function")},
    "implicit_gradients": "tensorflow.python.eager.backprop.implicit_grad",
    "implicit_value_and_gradients": "tensorflow.python.eager.backprop.implicit_val_and_grad",
    **{name: f"tf.{name}" for name in (
        "add_check_numerics_ops", "custom_gradient", "enable_eager_execution",
        "executing_eagerly", "init_scope")},
}
INSTEAD = {"Iterator": "iterate over the Dataset",
           "Network": "use tf.keras.Model"}
