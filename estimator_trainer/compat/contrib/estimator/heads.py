"""The heads of one task, whose losses, metrics and exports are those of TensorFlow 1's `_Head`.

Definition: tensorflow_estimator/contrib/estimator/python/estimator/head.py of TensorFlow 1.15. A
head of TensorFlow 1 adds the updates of batch norm to the training op; one of TensorFlow 2 does
not. `logits` is a float Tensor [D0, ..., DN, logits_dimension] everywhere.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Sequence

import tensorflow as tf
from tensorflow.python.ops import lookup_ops
from tensorflow_estimator.python.estimator import model_fn
from tensorflow_estimator.python.estimator.canned import head, metric_keys, prediction_keys

_V1: Any = tf.compat.v1
_MEAN = "weighted_sum_over_batch_size"
_HEAD: Any = head
_SERVING = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
_NO_LABELS = ("You must provide a labels Tensor. Given: None. Check that your data have your label "
              "feature, and that your input_fn returns labels.")


def binary_classification_head(weight_column: Any = None,
                               thresholds: Optional[Sequence[float]] = None,
                               label_vocabulary: Optional[Sequence[str]] = None,
                               loss_reduction: str = _MEAN, loss_fn: Any = None,
                               name: Optional[str] = None) -> Any:
    """Returns a head of one logit and two classes."""
    make = _HEAD._binary_logistic_head_with_sigmoid_cross_entropy_loss
    return make(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


def multi_class_head(n_classes: int, weight_column: Any = None,
                     label_vocabulary: Optional[Sequence[str]] = None,
                     loss_reduction: str = _MEAN, loss_fn: Any = None,
                     name: Optional[str] = None) -> Any:
    """Returns a head of `n_classes` logits, of which one is right."""
    make = _HEAD._multi_class_head_with_softmax_cross_entropy_loss
    return make(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def regression_head(weight_column: Any = None, label_dimension: int = 1,
                    loss_reduction: str = _MEAN, loss_fn: Any = None, inverse_link_fn: Any = None,
                    name: Optional[str] = None) -> Any:
    """Returns a head of `label_dimension` numbers."""
    make = _HEAD._regression_head
    return make(weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name)


def poisson_regression_head(weight_column: Any = None, label_dimension: int = 1,
                            loss_reduction: str = _MEAN, compute_full_loss: bool = True,
                            name: Optional[str] = None) -> Any:
    """Returns a head that predicts the means of Poisson distributions; logits are their logs."""
    def loss_fn(labels: Any, logits: Any) -> Any:
        return tf.nn.log_poisson_loss(labels, logits, compute_full_loss)

    return regression_head(weight_column, label_dimension, loss_reduction, loss_fn, tf.exp, name)


def logistic_regression_head(weight_column: Any = None, loss_reduction: str = _MEAN,
                             name: Optional[str] = None) -> Any:
    """Returns a head that predicts numbers in [0, 1], its labels as well."""
    def loss_fn(labels: Any, logits: Any) -> Any:
        labels = _between(labels, 2, "Labels must be in range [0, 1]")
        return tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)

    return regression_head(weight_column, 1, loss_reduction, loss_fn, tf.sigmoid, name)


def multi_label_head(n_classes: int, weight_column: Any = None,
                     thresholds: Optional[Sequence[float]] = None,
                     label_vocabulary: Optional[Sequence[str]] = None,
                     loss_reduction: str = _MEAN, loss_fn: Any = None,
                     classes_for_class_based_metrics: Optional[Sequence[Any]] = None,
                     name: Optional[str] = None) -> Any:
    """Returns a head of `n_classes` logits, of which any number is right.

    Labels are an int Tensor of the logits' shape with 0 and 1, or a SparseTensor of class ids, or
    of strings of the vocabulary.

    Raises:
      ValueError: An argument is out of its range.
    """
    _check(n_classes, thresholds or (), label_vocabulary, loss_reduction)
    if loss_fn:
        _HEAD._validate_loss_fn_args(loss_fn)
    classes = _class_ids(classes_for_class_based_metrics or (), n_classes, label_vocabulary)
    return _MultiLabelHead(n_classes, weight_column, tuple(thresholds or ()), label_vocabulary,
                           loss_reduction, loss_fn, classes, name)


def _check(n_classes: Optional[int], thresholds: Sequence[float],
           vocabulary: Optional[Sequence[str]], loss_reduction: str) -> None:
    if n_classes is None or n_classes < 2:
        raise ValueError("n_classes must be > 1 for multi-class classification. "
                         f"Given: {n_classes}")
    for each in thresholds:
        if not 0 < each < 1:
            raise ValueError(f"thresholds must be in (0, 1) range. Given: {each}")
    if vocabulary is not None and not isinstance(vocabulary, (list, tuple)):
        raise ValueError(f"label_vocabulary must be a list or tuple. Given type: "
                         f"{type(vocabulary)}")
    if vocabulary is not None and len(vocabulary) != n_classes:
        raise ValueError(f"Length of label_vocabulary must be n_classes ({n_classes}). "
                         f"Given: {len(vocabulary)}")
    reductions = _V1.losses.Reduction
    if loss_reduction not in reductions.all() or loss_reduction == reductions.NONE:
        raise ValueError(f"Invalid loss_reduction: {loss_reduction}")


def _class_ids(classes: Sequence[Any], n_classes: int,
               vocabulary: Optional[Sequence[str]]) -> tuple[int, ...]:
    if classes and isinstance(classes[0], str):
        if not vocabulary:
            raise ValueError("label_vocabulary must be provided when "
                             "classes_for_class_based_metrics are strings.")
        return tuple(vocabulary.index(each) for each in classes)
    for each in classes:
        if not 0 <= each < n_classes:
            raise ValueError("All classes_for_class_based_metrics must be in range "
                             f"[0, {n_classes - 1}]. Given: {each}")
    return tuple(classes)


def _between(labels: Any, n_classes: int, message: str) -> Any:
    return _HEAD._assert_range(labels, n_classes, message=message)


class _MultiLabelHead(_HEAD._Head):
    """A head with a sigmoid for each class."""

    def __init__(self, n_classes: int, weight_column: Any, thresholds: tuple[float, ...],
                 label_vocabulary: Any, loss_reduction: str, loss_fn: Any,
                 classes: tuple[int, ...], name: Optional[str]) -> None:
        self._n_classes, self._weight_column, self._thresholds = (
            n_classes, weight_column, thresholds)
        self._label_vocabulary, self._loss_reduction, self._loss_fn = (
            label_vocabulary, loss_reduction, loss_fn)
        self._classes, self._name = classes, name

    @property
    def name(self) -> Optional[str]:
        return self._name

    @property
    def logits_dimension(self) -> int:
        return self._n_classes

    def _indicators(self, labels: Any) -> Any:
        """Returns labels as 0 and 1 for each class."""
        if labels is None:
            raise ValueError(_NO_LABELS)
        if not isinstance(labels, tf.sparse.SparseTensor):
            return _between(labels, 2, "labels must be an integer indicator Tensor with values "
                                       "in [0, 1]")
        if labels.dtype == tf.string:
            ids = lookup_ops.index_table_from_tensor(
                tuple(self._label_vocabulary), name="class_id_lookup").lookup(labels.values)
        else:
            message = ("labels must be an integer SparseTensor with values in "
                       f"[0, {self._n_classes})")
            ids = labels.values
            _V1.debugging.assert_integer(ids, message=message)
            ids = _between(ids, self._n_classes, message)
        labels = tf.sparse.SparseTensor(labels.indices, ids, labels.dense_shape)
        return tf.cast(tf.sparse.to_indicator(labels, self._n_classes), tf.int64)

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> Any:
        """Returns the LossSpec: the loss, the loss of each example, the weights, 0 and 1."""
        del mode
        logits = tf.convert_to_tensor(logits)
        labels = _HEAD._check_dense_labels_match_logits_and_reshape(
            self._indicators(labels), logits, self._n_classes)
        if self._loss_fn:
            each = _HEAD._call_loss_fn(self._loss_fn, labels, logits, features, 1)
        else:
            each = tf.reduce_mean(_V1.losses.sigmoid_cross_entropy(
                labels, logits, reduction="none"), -1, keepdims=True)
        weights = _HEAD._get_weights_and_check_match_logits(
            features, self._weight_column, logits)
        loss = _V1.losses.compute_weighted_loss(each, weights, reduction=self._loss_reduction)
        return _HEAD.LossSpec(loss, each, weights, labels)

    def _create_tpu_estimator_spec(self, features: Any, mode: str, logits: Any, labels: Any = None,
                                   optimizer: Any = None, train_op_fn: Any = None,
                                   regularization_losses: Any = None) -> Any:
        make = model_fn._TPUEstimatorSpec
        with _V1.name_scope(self._name, "head"):
            logits = _HEAD._check_logits_final_dim(logits, self._n_classes)
            keys = prediction_keys.PredictionKeys
            probabilities = tf.sigmoid(logits, name=keys.PROBABILITIES)
            predictions = {keys.LOGITS: logits, keys.PROBABILITIES: probabilities}
            if mode == model_fn.ModeKeys.PREDICT:
                return make(mode, predictions=predictions,
                            export_outputs=self._exports(predictions))
            found = self.create_loss(features, mode, logits, labels)
            penalty = tf.add_n(regularization_losses) if regularization_losses else None
            loss = found.training_loss if penalty is None else found.training_loss + penalty
            if mode == model_fn.ModeKeys.EVAL:
                metrics = _HEAD._create_eval_metrics_tuple(self._metrics, {
                    "labels": found.processed_labels, "probabilities": probabilities,
                    "weights": found.weights, "each": found.unreduced_loss, "penalty": penalty})
                return make(mode, predictions=predictions, loss=loss, eval_metrics=metrics)
            train_op = _HEAD._append_update_ops(
                minimized(loss, optimizer, train_op_fn))
        self._summarize(loss, found, penalty)
        return make(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _exports(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        scores = predictions[prediction_keys.PredictionKeys.PROBABILITIES]
        classes = _HEAD._classification_output(
            scores, self._n_classes, self._label_vocabulary)
        return {_SERVING: classes, "classification": classes,
                "predict": tf.compat.v1.estimator.export.PredictOutput(predictions)}

    def _summarize(self, loss: Any, found: Any, penalty: Any) -> None:
        keys = metric_keys.MetricKeys
        with _V1.name_scope(""):
            _V1.summary.scalar(self._key(keys.LOSS), loss)
            # A mean is another number than the loss only where the loss is a sum.
            if self._loss_reduction == "weighted_sum":
                count = tf.reduce_sum(found.weights * tf.ones_like(found.unreduced_loss))
                _V1.summary.scalar(self._key(keys.LOSS_MEAN), found.training_loss / count)
            if penalty is not None:
                _V1.summary.scalar(self._key(keys.LOSS_REGULARIZATION), penalty)

    def _key(self, key: str) -> str:
        return f"{key}/{self._name}" if self._name else key

    def _metrics(self, labels: Any, probabilities: Any, weights: Any, each: Any,
                 penalty: Any) -> dict[str, Any]:
        keys, metrics = metric_keys.MetricKeys, _V1.metrics
        found = {
            keys.LOSS_MEAN: metrics.mean(each, weights, name=keys.LOSS_MEAN),
            keys.AUC: metrics.auc(labels, probabilities, weights, name=keys.AUC),
            keys.AUC_PR: metrics.auc(labels, probabilities, weights, curve="PR",
                                     name=keys.AUC_PR)}
        if penalty is not None:
            found[keys.LOSS_REGULARIZATION] = metrics.mean(penalty, name=keys.LOSS_REGULARIZATION)
        for threshold in self._thresholds:
            for key, kind in ((keys.ACCURACY_AT_THRESHOLD, "accuracy"),
                              (keys.PRECISION_AT_THRESHOLD, "precision"),
                              (keys.RECALL_AT_THRESHOLD, "recall")):
                found[key % threshold] = getattr(_HEAD, f"_{kind}_at_threshold")(
                    labels, probabilities, weights, threshold, key % threshold)
        for index in self._classes:
            found.update(self._class_metrics(index, labels[..., index:index + 1],
                                             probabilities[..., index:index + 1], weights))
        return {self._key(key): value for key, value in found.items()}

    def _class_metrics(self, index: int, labels: Any, probabilities: Any,
                       weights: Any) -> dict[str, Any]:
        """Returns the metrics of one class of [D0, ..., DN, 1]."""
        keys, metrics = metric_keys.MetricKeys, _V1.metrics
        names = [keys.PROBABILITY_MEAN_AT_CLASS, keys.AUC_AT_CLASS, keys.AUC_PR_AT_CLASS]
        shown: Any = index
        if self._label_vocabulary is not None:
            names = [keys.PROBABILITY_MEAN_AT_NAME, keys.AUC_AT_NAME, keys.AUC_PR_AT_NAME]
            shown = self._label_vocabulary[index]
        mean, roc, pr = (name % shown for name in names)
        return {mean: _HEAD._predictions_mean(probabilities, weights, mean),
                roc: metrics.auc(labels, probabilities, weights, name=roc),
                pr: metrics.auc(labels, probabilities, weights, curve="PR", name=pr)}


def minimized(loss: Any, optimizer: Any, train_op_fn: Optional[Callable[[Any], Any]]) -> Any:
    """Returns the training op of a head, which has an optimizer or a function of the loss."""
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if optimizer is not None:
        return optimizer.minimize(loss, global_step=_V1.train.get_global_step())
    if train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    return train_op_fn(loss)
