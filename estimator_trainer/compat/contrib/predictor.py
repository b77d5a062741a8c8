"""`tf.contrib.predictor`: predictions from an export or an Estimator, in a session kept open."""

from __future__ import annotations

from typing import Any, Mapping

import tensorflow as tf


class _Predictor:
    """A function from a dict of arrays to a dict of arrays.

    Attributes:
      graph, session: Where it computes.
      feed_tensors, fetch_tensors: The tensors by their keys.
    """

    def __init__(self, session: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        self.session, self.graph = session, session.graph
        self.feed_tensors, self.fetch_tensors = dict(inputs), dict(outputs)

    def __call__(self, input_dict: Mapping[str, Any]) -> Any:
        unknown = sorted(set(input_dict) - set(self.feed_tensors))
        if unknown:
            raise ValueError(f"The input has {unknown}; expected {sorted(self.feed_tensors)}.")
        return self.session.run(self.fetch_tensors, {
            self.feed_tensors[key]: value for key, value in input_dict.items()})

    def __repr__(self) -> str:
        return (f"SavedModelPredictor with feed tensors {self.feed_tensors} and fetch_tensors "
                f"{self.fetch_tensors}")


def from_saved_model(export_dir: str, signature_def_key: Any = None, signature_def: Any = None,
                     input_names: Any = None, output_names: Any = None, tags: Any = None,
                     graph: Any = None, config: Any = None) -> Any:
    """Returns a predictor of a SavedModel.

    Args:
      export_dir: The folder of the export.
      signature_def_key: Which signature; serving_default without.
      signature_def: The signature itself.
      input_names, output_names: Names of tensors by keys, where no signature is to be used.
      tags: Tags, comma-separated; `serve` without.
      graph, config: Where to predict, and a ConfigProto for the session.

    Raises:
      ValueError: There is no such signature, or the arguments name tensors in several ways.
    """
    v1 = tf.compat.v1
    ways = [signature_def_key is not None, signature_def is not None, input_names is not None]
    if sum(ways) > 1 or (input_names is None) is not (output_names is None):
        raise ValueError("from_saved_model was given several ways to find tensors; expected one of "
                         "signature_def_key, signature_def, and input_names with output_names.")
    graph = graph or tf.Graph()
    session = v1.Session(graph=graph, config=config)
    with graph.as_default():
        loaded = v1.saved_model.loader.load(session, (tags or "serve").split(","), export_dir)
    if input_names is None:
        key = signature_def_key or "serving_default"
        if signature_def is None and key not in loaded.signature_def:
            raise ValueError(f"signature_def_key is {key!r}; expected one of "
                             f"{sorted(loaded.signature_def)} (from {export_dir}).")
        signature = signature_def or loaded.signature_def[key]
        input_names = {key: info.name for key, info in signature.inputs.items()}
        output_names = {key: info.name for key, info in signature.outputs.items()}
    return _Predictor(session, *({key: graph.get_tensor_by_name(name)
                                  for key, name in names.items()}
                                 for names in (input_names, output_names)))


def from_estimator(estimator: Any, serving_input_receiver_fn: Any, output_key: Any = None,
                   graph: Any = None, config: Any = None) -> Any:
    """Returns a predictor of an Estimator's latest checkpoint.

    Args:
      estimator: The Estimator.
      serving_input_receiver_fn: Makes the inputs.
      output_key: Which of the model's export_outputs; serving_default without. Inputs and outputs
        have the names that an export of it has.
      graph: Where to predict; a new one without.
      config: A ConfigProto for the session.

    Raises:
      KeyError: The model has no such output.
    """
    v1 = tf.compat.v1
    graph = graph or tf.Graph()
    with graph.as_default():
        receiver = serving_input_receiver_fn()
        spec = estimator.model_fn(receiver.features, None, tf.estimator.ModeKeys.PREDICT,
                                  estimator.config)
        key = output_key or "serving_default"
        if key not in spec.export_outputs:
            raise KeyError(f"output_key is {key!r}; expected one of {sorted(spec.export_outputs)}")
        signature = spec.export_outputs[key].as_signature_def(receiver.receiver_tensors)
        session = v1.train.MonitoredSession(v1.train.ChiefSessionCreator(
            config=config, checkpoint_dir=estimator.model_dir))
    return _Predictor(session, *({name: graph.get_tensor_by_name(info.name)
                                  for name, info in infos.items()}
                                 for infos in (signature.inputs, signature.outputs)))


def from_contrib_estimator(estimator: Any, prediction_input_fn: Any,
                           input_alternative_key: Any = None, output_alternative_key: Any = None,
                           graph: Any = None, config: Any = None) -> Any:
    """Returns a predictor of the latest checkpoint of an Estimator of `tf.contrib.learn`.

    Args:
      estimator: The Estimator.
      prediction_input_fn: Returns InputFnOps.
      input_alternative_key: Which inputs: "default_input_alternative" by default, or
        "features_input_alternative".
      output_alternative_key: Which outputs, where the model has several.
      graph, config: Where to predict, and a ConfigProto for the session.

    Raises:
      TypeError: The Estimator is one of tf.estimator.
      KeyError: There are no such inputs.
      ValueError: There are no such outputs, or several.
    """
    from estimator_trainer.compat.contrib.learn import exports
    if isinstance(estimator, tf.compat.v1.estimator.Estimator):
        raise TypeError("from_contrib_estimator was given an Estimator of tf.estimator; expected "
                        "one of tf.contrib.learn. Use from_estimator.")
    v1 = tf.compat.v1
    graph = graph or tf.Graph()
    with graph.as_default():
        inputs = prediction_input_fn()
        model = estimator._get_predict_ops(inputs.features)
        session = v1.train.MonitoredSession(v1.train.ChiefSessionCreator(
            config=config,
            checkpoint_filename_with_path=tf.train.latest_checkpoint(estimator.model_dir)))
    alternatives = {"features_input_alternative": inputs.features}
    if inputs.default_inputs is not None:
        alternatives["default_input_alternative"] = inputs.default_inputs
    outputs, default = exports.output_alternatives(model, output_alternative_key)
    key = input_alternative_key or "default_input_alternative"
    return _Predictor(session, alternatives[key], outputs[default][1])


NAMES = {"from_saved_model": from_saved_model, "from_estimator": from_estimator,
         "from_contrib_estimator": from_contrib_estimator}
