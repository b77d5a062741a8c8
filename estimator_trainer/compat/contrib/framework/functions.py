"""Python functions in a graph, and what a graph has.

Source: tensorflow/contrib/framework/python/ops/script_ops.py, ops.py and variables.py, and
python/framework/graph_util.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf


def get_name_scope() -> str:
    """Returns the name scope of the default graph."""
    return str(tf.compat.v1.get_default_graph().get_name_scope())


def get_placeholders(graph: Any) -> list[Any]:
    """Returns the placeholders of a graph.

    Raises:
      TypeError: graph is none.
    """
    if not isinstance(graph, tf.Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return [each.outputs[0] for each in graph.get_operations() if each.type == "Placeholder"]


def py_func(func: Callable[..., Any], args: Any = (), kwargs: Any = None, output_types: Any = None,
            output_shapes: Any = None, stateful: bool = True, name: Any = None) -> Any:
    """Returns what a Python function makes of arrays, as tensors.

    Args:
      func: The function.
      args, kwargs: Its arguments, which may be nested and hold tensors.
      output_types: The types of what it returns, nested alike, or a function of the arguments.
      output_shapes: The shapes, or a function of the arguments.
      stateful: Whether equal arguments may lead to other results.
      name: Name of the operation.

    Raises:
      TypeError: args is no list or tuple, or kwargs no dict.
    """
    nest, kwargs = tf.nest, kwargs or {}
    if not isinstance(args, (list, tuple)) or not isinstance(kwargs, dict):
        raise TypeError(f"args must be list and kwargs dict; they are {args!r} and {kwargs!r}.")
    types = output_types(*args, **kwargs) if callable(output_types) else output_types
    shapes = output_shapes(*args, **kwargs) if callable(output_shapes) else output_shapes

    def call(*flat: Any) -> list[Any]:
        positional, named = nest.pack_sequence_as((args, kwargs), flat)
        returned = func(*positional, **named)
        _nest().assert_shallow_structure(types, returned)
        return list(nest.flatten(returned))

    found = tf.compat.v1.py_func(call, nest.flatten((args, kwargs)), nest.flatten(types),
                                 stateful=stateful, name=name)
    if shapes is not None:
        shapes = _nest().map_structure_up_to(types, tf.TensorShape, shapes)
        for tensor, shape in zip(found, nest.flatten(shapes)):
            tensor.set_shape(shape)
    return nest.pack_sequence_as(types, found)


def _nest() -> Any:
    from tensorflow.python.util import nest
    return nest


def zero_initializer(ref: Any, use_locking: bool = True, name: str = "zero_initializer") -> Any:
    """Returns a variable after an operation that sets it to zeros, if it has no value yet."""
    fresh = tf.logical_not(tf.compat.v1.is_variable_initialized(ref))
    with tf.control_dependencies([tf.debugging.Assert(fresh, ["input is already initialized"])]):
        return tf.compat.v1.assign(ref, tf.zeros(ref.shape, ref.dtype.base_dtype),
                                   use_locking=use_locking, name=name)
