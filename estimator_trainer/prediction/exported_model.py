"""An exported model, loaded to predict from dense, sparse and ragged features."""

import os.path
from typing import Any, Iterator, Mapping

import numpy as np
import tensorflow as tf

from estimator_trainer.errors import ConfigError, Problem, Setting

EXAMPLES = "examples"
_DEFAULT = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
# An export with several kinds of inputs has a signature for each; features fit the first two.
_SIGNATURES = (f"raw:{_DEFAULT}", f"example:{_DEFAULT}", _DEFAULT)


class ExportedModel:
    """A SavedModel's signature that takes features, or the default one, in a session of its own.

    Attributes:
      inputs: The names of its inputs, sorted.
      features: Spec of each input by name; None where the one input is serialized tf.Examples.
    """

    def __init__(self, export_dir: str):
        """Loads the export; raises ConfigError if there is no SavedModel that can be served."""
        self._session, signatures = loaded(export_dir)
        name = next((each for each in _SIGNATURES if each in signatures), None)
        if name is None:
            raise ConfigError(Problem(
                "export_dir", export_dir, f"which has no signature {_SIGNATURES[-1]!r}",
                "an export of `estimator-trainer export`"))
        signature = signatures[name]
        self._inputs = dict(signature.inputs)
        self._fetches = {name: info.name for name, info in sorted(signature.outputs.items())}
        self.inputs = sorted(self._inputs)
        self.features = None if self.inputs == [EXAMPLES] else {
            name: _spec(info) for name, info in self._inputs.items()}

    def predict(self, features: Mapping[str, Any]) -> Iterator[dict[str, np.ndarray]]:
        """Yields the model's predictions for each instance of a batch with all of `inputs`."""
        fed = {tensor: array for name, info in self._inputs.items()
               for tensor, array in zip(_tensor_names(info), _arrays(features[name]))}
        arrays = self._session.run(self._fetches, fed)
        for i in range(len(next(iter(arrays.values())))):
            yield {name: array[i] for name, array in arrays.items()}


def loaded(export_dir: str) -> tuple[tf.compat.v1.Session, Mapping[str, Any]]:
    """Returns a session of an export, and its signatures by name.

    Raises:
      ConfigError: if the directory holds no SavedModel.
    """
    if not tf.saved_model.contains_saved_model(export_dir):
        raise ConfigError(Problem(
            "export_dir", export_dir, "which holds no SavedModel",
            "the directory of one export, such as the newest in MODEL_DIR/export/final",
            Setting("export_dir", _example(export_dir))))
    session = tf.compat.v1.Session(graph=tf.Graph())
    with session.graph.as_default():
        found = tf.compat.v1.saved_model.load(session, [tf.saved_model.SERVING], export_dir)
    return session, found.signature_def


def size_of(value: Any) -> int:
    """Returns the number of instances in a batch of a feature: dense, sparse or ragged."""
    if isinstance(value, tf.compat.v1.SparseTensorValue):
        return int(value.dense_shape[0])
    if isinstance(value, tf.compat.v1.ragged.RaggedTensorValue):
        return len(value.row_splits) - 1
    return len(value)


def serialize(features: Mapping[str, Any]) -> np.ndarray:
    """Packs a batch of features into serialized tf.Example protos, shape [batch].

    Raises ConfigError for a sparse feature with gaps, which a tf.Example cannot hold.
    """
    rows = {name: _rows(name, value) for name, value in features.items()}
    size = len(next(iter(rows.values())))
    return np.array([tf.train.Example(features=tf.train.Features(feature={
        name: _feature(each[i]) for name, each in rows.items()})).SerializeToString()
        for i in range(size)], dtype=object)


def _tensor_names(info: Any) -> list[str]:
    kind = info.WhichOneof("encoding")
    if kind == "coo_sparse":
        coo = info.coo_sparse
        return [coo.indices_tensor_name, coo.values_tensor_name, coo.dense_shape_tensor_name]
    if kind == "composite_tensor":
        return [component.name for component in info.composite_tensor.components]
    return [info.name]


def _spec(info: Any) -> Any:
    """Returns the spec of an input of a signature, the batch dimension first."""
    kind, shape = info.WhichOneof("encoding"), tf.TensorShape(info.tensor_shape)
    dtype = tf.dtypes.as_dtype(info.dtype)
    if kind == "coo_sparse":
        return tf.SparseTensorSpec(shape, dtype)
    if kind == "composite_tensor":
        _, *splits = info.composite_tensor.components
        return tf.RaggedTensorSpec(shape, dtype, len(splits), tf.dtypes.as_dtype(splits[0].dtype))
    return tf.TensorSpec(shape, dtype)


def _arrays(value: Any) -> list[Any]:
    """Returns the arrays of a feature's value, in the order of `_tensor_names`."""
    if isinstance(value, tf.compat.v1.SparseTensorValue):
        return list(value)
    if isinstance(value, tf.compat.v1.ragged.RaggedTensorValue):
        return [value.flat_values, *value.nested_row_splits]
    return [value]


def _rows(name: str, value: Any) -> list[Any]:
    if isinstance(value, tf.compat.v1.ragged.RaggedTensorValue):
        return np.split(value.values, value.row_splits[1:-1])
    if not isinstance(value, tf.compat.v1.SparseTensorValue):
        return list(value)
    size = int(value.dense_shape[0])
    starts = np.searchsorted(value.indices[:, 0], np.arange(size + 1))
    places = np.arange(len(value.values)) - starts[value.indices[:, 0]]
    if len(value.dense_shape) != 2 or (places != value.indices[:, 1]).any():
        raise ConfigError(
            f"feature {name!r} is sparse with gaps in its rows, and a tf.Example holds lists"
            f" without gaps; expected an export of {Setting('serving_input', 'raw')}.")
    return np.split(value.values, starts[1:-1])


def _feature(value: Any) -> tf.train.Feature:
    flat = np.asarray(value).ravel()
    if flat.dtype.kind in "OSU":
        return tf.train.Feature(bytes_list=tf.train.BytesList(
            value=list(map(tf.compat.as_bytes, flat))))
    if flat.dtype.kind == "f":
        return tf.train.Feature(float_list=tf.train.FloatList(value=flat.astype(np.float32)))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=flat.astype(np.int64)))


def _example(folder: str) -> str:
    """Returns the newest export within a folder, which may be a model_dir, or a made-up one."""
    found = tf.io.gfile.glob([os.path.join(folder, inner, "saved_model.pb")
                              for inner in ("*", "*/*", "export/*/*")])
    return os.path.dirname(max(found)) if found else "MODEL_DIR/export/final/1700000000"
