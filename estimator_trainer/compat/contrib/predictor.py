"""`tf.contrib.predictor`: predictions from an export or an Estimator, in a session kept open."""

from __future__ import annotations

from typing import Any, Mapping

import tensorflow as tf

from estimator_trainer.errors import ConfigError


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
        return f"Predictor with feed_tensors {self.feed_tensors}, fetch {self.fetch_tensors}"


def from_saved_model(export_dir: str, signature_def_key: Any = None, signature_def: Any = None,
                     input_names: Any = None, output_names: Any = None, tags: Any = None,
                     **options: Any) -> Any:
    """Returns a predictor of a SavedModel.

    Args:
      export_dir: The folder of the export.
      signature_def_key: Which signature; serving_default without.
      signature_def: The signature itself.
      input_names, output_names: Names of tensors by keys, where no signature is to be used.
      tags: Tags, comma-separated; `serve` without.
      **options: graph and config, of the session.
    """
    v1 = tf.compat.v1
    graph = options.pop("graph", None) or tf.Graph()
    session = v1.Session(graph=graph, config=options.pop("config", None))
    with graph.as_default():
        loaded = v1.saved_model.loader.load(session, (tags or "serve").split(","), export_dir)
    if input_names is None:
        key = signature_def_key or "serving_default"
        if signature_def is None and key not in loaded.signature_def:
            raise ConfigError(f"signature_def_key is {key!r}; expected one of "
                              f"{sorted(loaded.signature_def)} (from {export_dir}).")
        signature = signature_def or loaded.signature_def[key]
        input_names = {key: info.name for key, info in signature.inputs.items()}
        output_names = {key: info.name for key, info in signature.outputs.items()}
    return _Predictor(session, *({key: graph.get_tensor_by_name(name)
                                  for key, name in names.items()}
                                 for names in (input_names, output_names)))


def from_estimator(estimator: Any, serving_input_receiver_fn: Any, output_key: Any = None,
                   graph: Any = None, config: Any = None) -> Any:
    """Returns a predictor of an Estimator's latest checkpoint."""
    v1 = tf.compat.v1
    checkpoint = tf.train.latest_checkpoint(estimator.model_dir)
    if checkpoint is None:
        raise ConfigError(f"model_dir is {estimator.model_dir!r} (from the Estimator), which has "
                          "no checkpoint; train first.")
    graph = graph or tf.Graph()
    with graph.as_default():
        v1.train.create_global_step(graph)
        receiver = serving_input_receiver_fn()
        spec = estimator.model_fn(receiver.features, None, tf.estimator.ModeKeys.PREDICT,
                                  estimator.config)
        outputs = spec.predictions
        if output_key or not isinstance(outputs, dict):
            exported = spec.export_outputs[output_key or "serving_default"]
            outputs = {key.removesuffix("/Tensor"): tensor for key, tensor in
                       exported.as_signature_def(receiver.receiver_tensors).outputs.items()}
            outputs = {key: graph.get_tensor_by_name(info.name) for key, info in outputs.items()}
        session = v1.train.MonitoredSession(v1.train.ChiefSessionCreator(
            config=config or estimator.config.session_config,
            checkpoint_filename_with_path=checkpoint))
    return _Predictor(session, receiver.receiver_tensors, outputs)


NAMES = {"from_saved_model": from_saved_model, "from_estimator": from_estimator}
INSTEAD = {"from_contrib_estimator": "use tf.contrib.predictor.from_estimator"}
