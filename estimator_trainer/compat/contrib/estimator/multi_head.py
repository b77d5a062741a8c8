"""A head of several heads, each with labels, logits, metrics and exports under its name.

Definition: tensorflow_estimator/contrib/estimator/python/estimator/multi_head.py of TensorFlow
1.15.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

import tensorflow as tf
from tensorflow_estimator.python.estimator.canned import head

from estimator_trainer.compat.contrib.estimator import heads as single

_V1: Any = tf.compat.v1
_HEAD: Any = head
_SERVING = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
_Spec: Any = tf.compat.v1.estimator.EstimatorSpec
_Modes: Any = tf.estimator.ModeKeys


def multi_head(heads: Sequence[Any], head_weights: Optional[Sequence[float]] = None) -> Any:
    """Returns a head whose loss is the weighted sum of the heads' losses.

    Args:
      heads: Heads with names. The first is the default one of an export.
      head_weights: A weight for each head; None weighs them equally.

    Raises:
      ValueError: There are no heads, a head has no name, or the numbers differ.
    """
    if head_weights and len(head_weights) != len(heads):
        raise ValueError("heads and head_weights must have the same size. Given len(heads): "
                         f"{len(heads)}. Given len(head_weights): {len(head_weights)}.")
    if not heads:
        raise ValueError(f"Must specify heads. Given: {heads}")
    for each in heads:
        if not each.name:
            raise ValueError(f"All given heads must have name specified. Given: {each}")
    return _MultiHead(tuple(heads), tuple(head_weights or ()))


class _MultiHead(_HEAD._Head):
    """A head for each task. Logits are a dict by head, or one Tensor that is split."""

    def __init__(self, heads: tuple[Any, ...], head_weights: tuple[Any, ...]) -> None:
        self._heads, self._head_weights = heads, head_weights

    @property
    def name(self) -> str:
        return "_".join(each.name for each in self._heads)

    @property
    def logits_dimension(self) -> int:
        return sum(each.logits_dimension for each in self._heads)

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> Any:
        """Returns the LossSpec of all heads: the loss, and dicts by the heads' names."""
        logits = self._by_head(logits)
        found = {each.name: each.create_loss(features, mode, logits[each.name], labels[each.name])
                 for each in self._heads}
        weights = dict(zip(found, self._head_weights or [1] * len(found)))

        def weighted(values: Mapping[str, Any]) -> dict[str, Any]:
            return ({name: tf.multiply(value, weights[name]) for name, value in values.items()}
                    if self._head_weights else dict(values))

        return _HEAD.LossSpec(
            self._merged([each.training_loss for each in found.values()]),
            weighted({name: each.unreduced_loss for name, each in found.items()}),
            weighted({name: each.weights for name, each in found.items()}),
            {name: each.processed_labels for name, each in found.items()})

    def create_estimator_spec(self, features: Any, mode: str, logits: Any, labels: Any = None,
                              optimizer: Any = None, train_op_fn: Any = None) -> Any:
        """Returns the EstimatorSpec of all heads; predictions have keys (head, key)."""
        logits = self._by_head(logits)
        if labels and not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        # As in TensorFlow 1, the heads' own training ops are not used, nor the updates of batch
        # norm in them.
        specs = {each.name: each.create_estimator_spec(
            features=features, mode=mode, logits=logits[each.name],
            labels=labels[each.name] if labels else None, train_op_fn=lambda _: tf.no_op())
            for each in self._heads}
        if mode == _Modes.TRAIN:
            return self._train(specs, optimizer, train_op_fn)
        if mode == _Modes.PREDICT:
            return _predict(specs)
        if mode == _Modes.EVAL:
            return self._evaluate(specs)
        raise ValueError(f"mode={mode} unrecognized")

    def _by_head(self, logits: Any) -> Any:
        """Returns a dict by head of logits that are one Tensor [D0, ..., DN, logits_dimension]."""
        if isinstance(logits, dict):
            return logits
        logits = tf.convert_to_tensor(logits)
        sizes, last = [each.logits_dimension for each in self._heads], logits.shape.as_list()[-1]
        if last not in (None, sum(sizes)):
            raise ValueError(
                f"Could not split logits of shape {logits.shape.as_list()} among the heads with "
                f"individual logits dimensions: {sizes}. The last dimension of the logits tensor "
                f"should equal {sum(sizes)} but is {last}.")
        return dict(zip([each.name for each in self._heads], tf.split(logits, sizes, -1)))

    def _merged(self, losses: Sequence[Any]) -> Any:
        with _V1.name_scope("merge_losses"):
            if self._head_weights:
                losses = [tf.multiply(*each) for each in zip(losses, self._head_weights)]
            return tf.add_n(losses)

    def _train(self, specs: Mapping[str, Any], optimizer: Any, train_op_fn: Any) -> Any:
        loss = self._merged([each.loss for each in specs.values()])
        metrics: dict[str, Any] = {}
        for each in specs.values():
            metrics.update(each.eval_metric_ops or {})
        train_op = single.minimized(loss, optimizer, train_op_fn)
        with _V1.name_scope(""):
            _V1.summary.scalar("loss", loss)
        return _Spec(_Modes.TRAIN, _predictions(specs), loss, train_op, metrics)

    def _evaluate(self, specs: Mapping[str, Any]) -> Any:
        metrics: dict[str, Any] = {}
        with _V1.name_scope("merge_eval"):
            for name, each in specs.items():
                metrics[f"loss/{name}"] = _V1.metrics.mean(each.loss, name=f"loss/{name}")
                metrics.update(each.eval_metric_ops or {})
            loss = self._merged([each.loss for each in specs.values()])
        return _Spec(_Modes.EVAL, _predictions(specs), loss, eval_metric_ops=metrics)


def _predictions(specs: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    return {(name, key): value for name, spec in specs.items()
            for key, value in spec.predictions.items()}


def _predict(specs: Mapping[str, Any]) -> Any:
    outputs: Any = tf.compat.v1.estimator.export.PredictOutput
    first = next(iter(specs))
    exports = {_SERVING: _default_export(first, specs[first].export_outputs)}
    merged = {}
    for name, spec in specs.items():
        for key, value in spec.export_outputs.items():
            exports[name if key == _SERVING else f"{name}/{key}"] = value
            if key == "predict" and isinstance(value, outputs):
                merged.update({f"{name}/{each}": output
                               for each, output in value.outputs.items()})
    exports["predict"] = outputs(merged)
    return _Spec(_Modes.PREDICT, _predictions(specs), export_outputs=exports)


def _default_export(name: str, exports: Mapping[str, Any]) -> Any:
    if len(exports) == 1:
        return next(iter(exports.values()))
    if _SERVING not in exports:
        raise ValueError(f"{name} did not specify default export_outputs. Given: {exports} "
                         "Suggested fix: Use one of the heads in tf.contrib.estimator, or "
                         f"include key {_SERVING} in export_outputs.")
    return exports[_SERVING]
