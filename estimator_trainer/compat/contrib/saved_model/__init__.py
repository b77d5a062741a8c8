"""`tf.contrib.saved_model`: reading what was exported, and exports of Keras models."""

from __future__ import annotations

from typing import Any


def get_signature_def_by_key(meta_graph_def: Any, signature_def_key: str) -> Any:
    """Returns a signature of a MetaGraphDef.

    Raises:
      ValueError: if there is no such signature.
    """
    if signature_def_key not in meta_graph_def.signature_def:
        raise ValueError(f"signature_def_key is {signature_def_key!r}; expected one of "
                         f"{sorted(meta_graph_def.signature_def)}")
    return meta_graph_def.signature_def[signature_def_key]


_KERAS = "estimator_trainer.compat.contrib.saved_model.keras_models"
NAMES = {
    "get_signature_def_by_key": get_signature_def_by_key,
    "read_saved_model": "tensorflow.python.saved_model.loader_impl.parse_saved_model",
    "get_saved_model_tag_sets":
        "tensorflow.python.tools.saved_model_utils.get_saved_model_tag_sets",
    "get_meta_graph_def": "tensorflow.python.tools.saved_model_utils.get_meta_graph_def",
    "load_keras_model": f"{_KERAS}.load_from_saved_model",
    "save_keras_model": f"{_KERAS}.export_saved_model",
}
