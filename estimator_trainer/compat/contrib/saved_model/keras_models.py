"""Exports of Keras models that Keras reads again: a SavedModel with the model's JSON in it.

Source: tensorflow/python/keras/saving/saved_model_experimental.py of TensorFlow 1.15
"""

from __future__ import annotations

import os
from typing import Any, Optional

import tensorflow as tf

_V1: Any = tf.compat.v1
_KERAS: Any = _V1.keras
_OBJECTS = "_CHECKPOINTABLE_OBJECT_GRAPH"


def export_saved_model(model: Any, saved_model_path: str, custom_objects: Any = None,
                       as_text: bool = False, input_signature: Any = None,
                       serving_only: bool = False) -> None:
    """Writes a model as a SavedModel, whose signature `serving_default` predicts.

    Args:
      model: A Sequential or functional model.
      saved_model_path: The folder, which must not be there yet.
      custom_objects: Classes of the model by their names.
      as_text: Whether the graph is written as text.
      input_signature: The specs of a subclassed model's inputs, for serving alone.
      serving_only: Whether the model is only to be served, not to be read by Keras again.

    Raises:
      NotImplementedError: The model is a subclassed one, or a Sequential without an input shape,
        and serving_only is False.
      AssertionError: The folder is there.
    """
    if serving_only:
        tf.saved_model.save(model, saved_model_path, signatures=_serving(model, input_signature))
        return
    if not getattr(model, "_is_graph_network", False):
        raise NotImplementedError(
            "export_saved_model was given a model without known inputs; expected a functional "
            "model, a Sequential whose first layer has input_shape, or serving_only=True.")
    if tf.io.gfile.exists(saved_model_path) and tf.io.gfile.listdir(saved_model_path):
        raise AssertionError(f"saved_model_path is {saved_model_path}; expected a folder that is "
                             f"not there, or is empty")
    text, weights = model.to_json(), model.get_weights()
    session_before = None if tf.executing_eagerly() else _KERAS.backend.get_session()
    builder = _V1.saved_model.Builder(saved_model_path)
    with tf.Graph().as_default(), _V1.Session() as session:
        _KERAS.backend.set_session(session)
        _KERAS.backend.set_learning_phase(0)
        copy = _KERAS.models.model_from_json(text, custom_objects=custom_objects)
        session.run(_V1.global_variables_initializer())
        copy.set_weights(weights)
        inputs, outputs = (dict(zip(names, tensors)) for names, tensors in (
            (copy.input_names, copy.inputs), (copy.output_names, copy.outputs)))
        builder.add_meta_graph_and_variables(session, ["serve"], {
            "serving_default": _V1.saved_model.predict_signature_def(inputs, outputs)},
            saver=_V1.train.Saver({_key(number): each
                                   for number, each in enumerate(copy.weights)}))
        builder.save(as_text)
    _KERAS.backend.set_session(session_before)
    assets = os.path.join(saved_model_path, "assets")
    tf.io.gfile.makedirs(assets)
    with tf.io.gfile.GFile(os.path.join(assets, "saved_model.json"), "w") as file:
        file.write(text)


def _serving(model: Any, input_signature: Any) -> Optional[Any]:
    if input_signature is None:
        return None
    return tf.function(model.call).get_concrete_function(*tf.nest.flatten(input_signature))


def _key(number: int) -> str:
    """Returns the name in a checkpoint of a model's n-th weight."""
    return f"weight_{number:05d}"


def load_from_saved_model(saved_model_path: str, custom_objects: Any = None) -> Any:
    """Returns a model that `export_saved_model` wrote, here or in TensorFlow 1.15; not compiled.

    Args:
      saved_model_path: The folder.
      custom_objects: Classes of the model by their names.
    """
    path = os.path.join(os.fspath(saved_model_path), "assets", "saved_model.json")
    with tf.io.gfile.GFile(path) as file:
        model = _KERAS.models.model_from_json(file.read(), custom_objects=custom_objects)
    variables = os.path.join(os.fspath(saved_model_path), "variables", "variables")
    reader = tf.train.load_checkpoint(variables)
    if reader.has_tensor(_OBJECTS):
        model.load_weights(variables)
    else:
        model.set_weights([reader.get_tensor(_key(number))
                           for number in range(len(model.weights))])
    return model
