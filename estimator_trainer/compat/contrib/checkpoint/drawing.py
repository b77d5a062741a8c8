"""The objects of a checkpoint as a graph in DOT format.

Definition: tensorflow/contrib/checkpoint/python/visualize.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Iterator

import tensorflow as tf
from tensorflow.python.checkpoint import checkpoint

_VALUE = "VARIABLE_VALUE"


def dot_graph_from_checkpoint(save_path: str) -> str:
    """Returns a graph of the objects of a checkpoint that `tf.train.Checkpoint` wrote.

    Args:
      save_path: The path of the checkpoint.
    """
    reader, found = tf.train.load_checkpoint(save_path), checkpoint.object_metadata(save_path)
    slots = {each.slot_variable_node_id for node in found.nodes for each in node.slot_variables}
    lines = ["digraph {"]
    for number, node in enumerate(found.nodes):
        lines.append(_point(number, node, reader, number in slots))
        lines.extend(_edges(number, node))
    return "\n".join([*lines, "}"]) + "\n"


def _point(number: int, node: Any, reader: Any, is_slot: bool) -> str:
    shown = f'N_{number} [shape=point label=""'
    if len(node.attributes) == 1 and node.attributes[0].name == _VALUE:
        variable = node.attributes[0]
        shape = reader.get_variable_to_shape_map()[variable.checkpoint_key]
        dtype = reader.get_variable_to_dtype_map()[variable.checkpoint_key].name
        color, kind = ("orange", "Slot variable") if is_slot else ("blue", "Variable")
        return (f'{shown} color={color} width=.25 tooltip="{kind} '
                f'{_escaped(variable.full_name)} shape={shape} {dtype}"]')
    return shown + (' width=.25 color=red,tooltip="Optimizer"]' if node.slot_variables
                    else " width=.25]")


def _edges(number: int, node: Any) -> Iterator[str]:
    for child in node.children:
        yield f'N_{number} -> N_{child.node_id} [label="{_escaped(child.local_name)}"]'
    for slot in node.slot_variables:
        yield (f'N_{number} -> N_{slot.slot_variable_node_id} '
               f'[label="{_escaped(slot.slot_name)}" style=dotted]')
        yield (f"N_{slot.original_variable_node_id} -> N_{slot.slot_variable_node_id} "
               f"[style=dotted]")


def _escaped(name: str) -> str:
    return name.replace('"', '\\"')
