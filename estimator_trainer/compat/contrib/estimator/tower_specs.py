"""The EstimatorSpecs of a model's copies on several devices as one.

Definition: tensorflow_estimator/contrib/estimator/python/estimator/replicate_model_fn.py of
TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Sequence

import tensorflow as tf

_V1: Any = tf.compat.v1
_Modes: Any = tf.estimator.ModeKeys
_Exports: Any = tf.compat.v1.estimator.export


def merged(specs: Sequence[Any], mode: str, device: str) -> Any:
    """Returns the spec of all towers: losses are summed, predictions are joined."""
    if mode == _Modes.PREDICT:
        return _predict(specs, device)
    loss = summed([each.loss for each in specs], device, "loss")
    if mode == _Modes.TRAIN:
        return specs[-1]._replace(mode=mode, loss=loss)
    updates = [update for each in specs for _, update in each.eval_metric_ops.values()]
    with tf.control_dependencies(updates):
        update = _reduced_metrics(len(specs))
    metrics = {name: (value, update) for name, (value, _) in specs[0].eval_metric_ops.items()}
    return specs[0]._replace(mode=mode, loss=loss, eval_metric_ops=metrics)


def summed(values: Sequence[Any], device: str, name: Optional[str] = None) -> Any:
    """Returns the sum of Tensors, or of IndexedSlices, computed on a device."""
    with _V1.device(device):
        if isinstance(values[0], tf.IndexedSlices):
            return tf.IndexedSlices(
                tf.concat([each.values for each in values], 0),
                tf.concat([each.indices for each in values], 0), values[0].dense_shape)
        return tf.add_n(values, name=name)


def _reduced_metrics(count: int) -> Any:
    """Returns the op that adds the towers' metric variables to the first tower's, and zeroes them.

    Raises:
      ValueError: The towers have different numbers of metric variables.
    """
    variables = _V1.get_collection(_V1.GraphKeys.METRIC_VARIABLES)
    each = len(variables) // count
    if len(variables) % count:
        raise ValueError("Different `EstimatorSpec.eval_metric_ops` across `model_fn()` calls. "
                         f"Expected {each * count} local variables, but got {len(variables)} "
                         "instead.")
    updates = []
    for index in range(each):
        copies = variables[index + each::each]
        total = _V1.assign_add(variables[index], tf.add_n([var.read_value() for var in copies]))
        with tf.control_dependencies([total]):
            updates += [_V1.assign(var, tf.zeros_like(var)) for var in copies]
    return tf.group(*updates)


def _predict(specs: Sequence[Any], device: str) -> Any:
    with _V1.device(device):
        exports = {}
        for name, first in (specs[0].export_outputs or {}).items():
            exports[name] = _export(first, [each.export_outputs[name] for each in specs])
        return specs[0]._replace(
            mode=_Modes.PREDICT, predictions=_joined([each.predictions for each in specs]),
            export_outputs=exports)


def _joined(dicts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: tf.concat([each[name] for each in dicts], 0, name=name) for name in dicts[0]}


def _export(first: Any, every: Sequence[Any]) -> Any:
    def join(attribute: str, how: Callable[..., Any] = tf.concat) -> Any:
        values = [getattr(each, attribute) for each in every]
        return None if values[0] is None else how(values, axis=0)

    if isinstance(first, _Exports.PredictOutput):
        return _Exports.PredictOutput(_joined([each.outputs for each in every]))
    if isinstance(first, _Exports.RegressionOutput):
        return _Exports.RegressionOutput(join("value"))
    # As in TensorFlow 1.15, classes are stacked: [towers, batch, classes].
    return _Exports.ClassificationOutput(scores=join("scores"), classes=join("classes", tf.stack))
