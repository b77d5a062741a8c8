"""`tf.contrib.checkpoint`: what objects of a checkpoint are, most of it TensorFlow's own today."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.checkpoint"
_STRUCTURES = "tensorflow.python.trackable.data_structures"
_OBJECTS = "tensorflow.python.checkpoint.checkpoint"

NAMES = {
    "CheckpointManager": "tf.train.CheckpointManager",
    "Checkpointable": "tensorflow.python.trackable.autotrackable.AutoTrackable",
    "CheckpointableBase": "tensorflow.python.trackable.base.Trackable",
    "CheckpointableObjectGraph":
        "tensorflow.core.protobuf.trackable_object_graph_pb2.TrackableObjectGraph",
    "PythonStateWrapper": "tensorflow.python.trackable.python_state.PythonState",
    **{name: f"{_HERE}.trackables.{name}" for name in ("NumpyState", "UniqueNameTracker")},
    "dot_graph_from_checkpoint": f"{_HERE}.drawing.dot_graph_from_checkpoint",
    "split_dependency": f"{_HERE}.splitting.split_dependency",
    **{name: f"{_STRUCTURES}.{name}" for name in ("List", "Mapping", "NoDependency")},
    **{name: f"{_OBJECTS}.{name}" for name in (
        "capture_dependencies", "list_objects", "object_metadata")},
}
