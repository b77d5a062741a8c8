"""Copies operations, tensors and variables from one graph to another.

Follows the API of `tensorflow/contrib/copy_graph/python/util/copy_elements.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Iterable

import tensorflow as tf

_V1 = tf.compat.v1
_EVERYWHERE = (_V1.GraphKeys.GLOBAL_VARIABLES, _V1.GraphKeys.TRAINABLE_VARIABLES)


def copy_variable_to_graph(org_instance: Any, to_graph: tf.Graph, scope: str = "") -> Any:
    """Returns a new variable with the initial value of another, or its value as it is initialized.

    Raises:
      TypeError: `org_instance` is no variable.
    """
    if not isinstance(org_instance, tf.Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    graph = org_instance.graph
    with graph.as_default(), _V1.Session() as session:
        value = session.run(org_instance.initialized_value())
    trainable = any(org_instance is each
                    for each in graph.get_collection(_V1.GraphKeys.TRAINABLE_VARIABLES))
    collections = [name if name in _EVERYWHERE else _scoped(name, scope)
                   for name in _collections(org_instance)]
    with to_graph.as_default():
        return _V1.Variable(value, trainable, name=_scoped(org_instance.op.name, scope),
                            collections=collections, validate_shape=False)


def copy_op_to_graph(org_instance: Any, to_graph: tf.Graph, variables: Iterable[Any],
                     scope: str = "") -> Any:
    """Returns the copy of an operation or tensor, with copies of all that it is computed from.

    Args:
      org_instance: An operation or a tensor.
      to_graph: The graph of the copy.
      variables: The copies of all variables that `org_instance` needs.
      scope: A scope for the names.

    Raises:
      TypeError: `org_instance` is neither an operation nor a tensor.
    """
    name = _scoped(org_instance.name, scope)
    names = {each.name for each in variables}
    if name in names:
        return to_graph.get_tensor_by_name(name)
    try:
        return to_graph.as_graph_element(name, allow_tensor=True, allow_operation=True)
    except (KeyError, ValueError):
        pass
    if isinstance(org_instance, tf.Tensor):
        copy = copy_op_to_graph(org_instance.op, to_graph, variables, scope)
        output = copy.outputs[org_instance.value_index]
        for collection in _collections(org_instance):
            to_graph.add_to_collection(_scoped(collection, scope), output)
        return output
    if not isinstance(org_instance, tf.Operation):
        raise TypeError(f"Could not copy instance: {org_instance}")
    before, inputs = ([copy_op_to_graph(each, to_graph, variables, scope) for each in group]
                      for group in (org_instance.control_inputs, org_instance.inputs))
    node = org_instance.node_def
    with to_graph.as_default(), to_graph.control_dependencies(before):
        # A name that ends in a slash is used as it is.
        return to_graph.create_op(
            org_instance.type, inputs, [each.dtype for each in org_instance.outputs],
            name=f"{name}/", attrs=dict(node.attr), op_def=org_instance.op_def)


def get_copied_op(org_instance: Any, graph: tf.Graph, scope: str = "") -> Any:
    """Returns the copy of an operation, a tensor or a variable in a graph."""
    return graph.as_graph_element(_scoped(org_instance.name, scope), allow_tensor=True,
                                  allow_operation=True)


def _scoped(name: str, scope: str) -> str:
    return f"{scope}/{name}" if scope else name


def _collections(instance: Any) -> list[str]:
    """Returns the names of the collections that have an object."""
    return [name for name in instance.graph.get_all_collection_keys()
            if any(instance is each for each in instance.graph.get_collection_ref(name))]
