"""Private names of TensorFlow that programs and tf_slim import.

Names that the installed versions still have stay as they are. `tests/compat/test_tf1.py` fails when
a present name moves.
"""

from __future__ import annotations

import importlib
from typing import Any

from estimator_trainer.compat import module_aliases
from estimator_trainer.compat.tensorflow1 import homes

_FRAMEWORK = "tensorflow.python.framework"
_OPS = "tensorflow.python.ops"
_TPU = "estimator_trainer.compat.contrib.cluster_resolver.resolvers.TPUClusterResolver"
_RESOURCE = "resource_variable_ops.BaseResourceVariable"

NAMES: dict[str, Any] = {
    "tensorflow._api.v2.compat.v1.data.experimental.CheckpointInputPipelineHook":
        "estimator_trainer.compat.contrib.data.hooks.CheckpointInputPipelineHook",
    f"{_FRAMEWORK}.graph_util.convert_variables_to_constants":
        "tf.graph_util.convert_variables_to_constants",
    f"{_FRAMEWORK}.ops.IndexedSlices": "tf.IndexedSlices",
    f"{_FRAMEWORK}.ops.Tensor": "tf.Tensor",
    f"{_FRAMEWORK}.ops.register_tensor_conversion_function":
        "tf.register_tensor_conversion_function",
    f"{_OPS}.array_ops.parallel_stack": "tf.parallel_stack",
    f"{_OPS}.array_ops.stack": "tf.stack",
    f"{_OPS}.array_ops.unstack": "tf.unstack",
    f"{_OPS}.control_flow_ops.Assert": "tf.Assert",
    f"{_OPS}.control_flow_ops.case": "tf.case",
    f"{_OPS}.control_flow_ops.cond": "tf.cond",
    f"{_OPS}.control_flow_ops.while_loop": "tf.while_loop",
    f"{_OPS}.variable_scope.variable": "tf.Variable",
    f"{_OPS}.variables.VariableV1": "tf.Variable",
    "tensorflow.python.util.nest.is_sequence": "tensorflow.python.util.nest.is_nested",
}
_TUTORIALS = "estimator_trainer.compat.tensorflow1.tutorials"
# TensorFlow itself imports the layers of TensorFlow 1 by the first two.
MODULES = {
    "keras.legacy_tf_layers": "keras.src.legacy_tf_layers",
    "tf_keras.legacy_tf_layers": "tf_keras.src.legacy_tf_layers",
    "tensorflow.python.distribute.distribution_strategy_context":
        "tensorflow.python.distribute.distribute_lib",
    "tensorflow.python.training.distribution_strategy_context":
        "tensorflow.python.distribute.distribute_lib",
    "tensorflow.python.ops.distributions.transformed_distribution":
        "estimator_trainer.compat.contrib.distributions.transformed",
    "tensorflow_estimator.contrib": "tensorflow.contrib",
    "tensorflow_estimator.python.estimator.keras":
        "tensorflow_estimator.python.estimator.keras_lib",
    # Only `input_data`, in the last of the three packages, is supplied.
    "tensorflow.examples": _TUTORIALS,
    "tensorflow.examples.tutorials": _TUTORIALS,
    "tensorflow.examples.tutorials.mnist": _TUTORIALS,
}


def supply() -> None:
    """Makes the names importable that this TensorFlow lacks."""
    for name, home in MODULES.items():
        if not module_aliases.is_there(name):
            module_aliases.add(name, home)
    for name, home in NAMES.items():
        module_name, _, attribute = name.rpartition(".")
        module = importlib.import_module(module_name)
        if not hasattr(module, attribute):
            setattr(module, attribute, homes.resolve(home))
    # A program without a TPU makes one of "".
    resolvers = homes.resolve("tf.distribute.cluster_resolver")
    resolvers.TPUClusterResolver = homes.resolve(_TPU)
    # In TensorFlow 1 a resource variable was a tf.Variable too.
    homes.resolve("tf.Variable").register(homes.resolve(f"{_OPS}.{_RESOURCE}"))
