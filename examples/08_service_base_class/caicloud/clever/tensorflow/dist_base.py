"""The base class that a managed training service gave its users, for their programs as they stand.

`estimator-trainer --model_fn=FILE.py:CLASS` does what the service did with such a class.

Source: https://github.com/caicloud/tensorflow-tutorial, in February 2017 (TensorFlow 0.12)
"""

from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Mapping, Optional

import tensorflow as tf


class CaicloudDistTensorflowBase:
    """A model that runs its own iterations; each method but `train` may be left out."""

    def __init__(self) -> None:
        self._saver: Optional[tf.compat.v1.train.Saver] = None

    def build_model(self, global_step: tf.Variable, is_chief: bool, sync: bool,
                    num_replicas: int) -> Any:
        """Builds the graph; may return the optimizer."""

    def get_init_fn(self, checkpoint_path: str) -> Optional[Callable[[Any], None]]:
        """Returns a function of a session that begins from a checkpoint, or None."""
        return None

    def train(self, session: Any, global_step: tf.Tensor, is_chief: bool) -> bool:
        """Runs an iteration; returns True to end training."""
        raise NotImplementedError(f"{type(self).__name__} has no `train`")

    def after_train(self, session: tf.compat.v1.Session, is_chief: bool) -> None:
        """Is called in the chief, when training has ended well."""

    def init_model_exporter(self, export_dir: str, input_tensors: Mapping[str, tf.Tensor],
                            output_tensors: Mapping[str, tf.Tensor],
                            assets_collection: Any = None, legacy_init_op: Any = None,
                            main_op: Any = None) -> None:
        """Prepares `export_model`, while the graph can still grow: call it in `build_model`."""
        init_op = main_op if main_op is not None else legacy_init_op
        self._export_dir, self._init_op = export_dir, getattr(init_op, "name", None)
        self._assets = [each.name for each in assets_collection or ()]
        self._signature = tf.compat.v1.saved_model.predict_signature_def(
            dict(input_tensors), dict(output_tensors))
        self._saver = tf.compat.v1.train.Saver(sharded=True)
        self._meta_graph = self._saver.export_meta_graph()
        for function in self._meta_graph.graph_def.library.function:
            for node in function.node_def:
                node.device = ""  # `clear_devices` leaves those of functions.

    def export_model(self, session: tf.compat.v1.Session) -> None:
        """Writes a SavedModel into the export_dir; call it in `after_train`.

        Raises:
          AssertionError: if init_model_exporter was not called, as the service raised it.
        """
        if self._saver is None:
            raise AssertionError("export_model is called, and init_model_exporter was not")
        # The graph of training is final, and a builder changes its graph: it gets another one.
        parent = os.path.dirname(os.path.abspath(self._export_dir))
        with tempfile.TemporaryDirectory(dir=parent) as folder, tf.Graph().as_default() as graph:
            path = self._saver.save(session, f"{folder}/model", write_meta_graph=False,
                                    write_state=False)
            saver = tf.compat.v1.train.import_meta_graph(
                self._meta_graph, clear_devices=True)
            with tf.compat.v1.Session() as exported:
                saver.restore(exported, path)
                builder = tf.compat.v1.saved_model.Builder(self._export_dir)
                builder.add_meta_graph_and_variables(
                    exported, ["serve"], {"serving_default": self._signature},
                    assets_collection=[graph.get_tensor_by_name(n) for n in self._assets],
                    main_op=self._init_op and graph.get_operation_by_name(self._init_op),
                    saver=saver)
                builder.save()
