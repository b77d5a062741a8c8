"""`tf.contrib.estimator`: what of it became Estimator's own, and a few small functions."""

from __future__ import annotations

from typing import Any

_CANNED = "tensorflow_estimator.python.estimator.canned"
_MEAN = "weighted_sum_over_batch_size"


def _heads() -> Any:
    from tensorflow_estimator.python.estimator.canned import head
    return head


def binary_classification_head(weight_column: Any = None, thresholds: Any = None,
                               label_vocabulary: Any = None, loss_reduction: str = _MEAN,
                               loss_fn: Any = None, name: Any = None) -> Any:
    """Returns a head of one logit and two classes."""
    make = getattr(_heads(), "_binary_logistic_head_with_sigmoid_cross_entropy_loss")
    return make(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


def multi_class_head(n_classes: int, weight_column: Any = None, label_vocabulary: Any = None,
                     loss_reduction: str = _MEAN, loss_fn: Any = None, name: Any = None) -> Any:
    """Returns a head of `n_classes` logits, of which one is right."""
    make = getattr(_heads(), "_multi_class_head_with_softmax_cross_entropy_loss")
    return make(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def regression_head(weight_column: Any = None, label_dimension: int = 1,
                    loss_reduction: str = _MEAN, loss_fn: Any = None, inverse_link_fn: Any = None,
                    name: Any = None) -> Any:
    """Returns a head of `label_dimension` numbers."""
    make = getattr(_heads(), "_regression_head")
    return make(weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name)


def forward_features(estimator: Any, keys: Any = None, sparse_default_values: Any = None) -> Any:
    """Returns an Estimator whose predictions have features beside them, unchanged.

    Args:
      estimator: The Estimator to take the model from.
      keys: A key of the features or a list of them; None for all.
      sparse_default_values: For a sparse feature, by key: the value of what it lacks.
    """
    import tensorflow as tf

    def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        if not isinstance(spec.predictions, dict):
            return spec
        chosen = [keys] if isinstance(keys, str) else keys or list(features)
        taken = set(chosen) & set(spec.predictions)
        if taken or not set(chosen) <= set(features):
            raise ValueError(f"keys is {chosen} (from forward_features); expected keys of the "
                             f"features, {sorted(features)}, that are no predictions.")
        for key in chosen:
            value = features[key]
            if isinstance(value, tf.sparse.SparseTensor):
                value = tf.sparse.to_dense(value, (sparse_default_values or {}).get(key))
            spec.predictions[key] = value
            for name in ("predict", "serving_default"):
                output = (spec.export_outputs or {}).get(name)
                if isinstance(output, tf.estimator.export.PredictOutput):
                    output.outputs[key] = value
        return spec

    return tf.compat.v1.estimator.Estimator(model_fn, estimator.model_dir, estimator.config)


NAMES = {
    **{each.__name__: each for each in (
        binary_classification_head, multi_class_head, regression_head, forward_features)},
    **{name: f"tf.estimator.{name}" for name in (
        "BaselineEstimator", "DNNEstimator", "DNNLinearCombinedEstimator", "LinearEstimator",
        "add_metrics")},
    **{name: f"tf.estimator.experimental.{name}" for name in (
        "InMemoryEvaluatorHook", "build_raw_supervised_input_receiver_fn", "call_logit_fn",
        "dnn_logit_fn_builder", "linear_logit_fn_builder", "make_early_stopping_hook",
        "make_stop_at_checkpoint_step_hook", "stop_if_higher_hook", "stop_if_lower_hook",
        "stop_if_no_decrease_hook", "stop_if_no_increase_hook")},
    **{name: f"{_CANNED}.rnn.{name}" for name in ("RNNClassifier", "RNNEstimator")},
    "SavedModelEstimator": f"{_CANNED}.saved_model_estimator.SavedModelEstimator",
    "clip_gradients_by_norm": "estimator_trainer.compat.contrib.optimizers.clip_gradients_by_norm",
    "logistic_regression_head": "tf.estimator.LogisticRegressionHead",
    "multi_head": "tf.estimator.MultiHead",
    "multi_label_head": "tf.estimator.MultiLabelHead",
    "poisson_regression_head": "tf.estimator.PoissonRegressionHead",
    "read_eval_metrics": "tensorflow_estimator.python.estimator.early_stopping.read_eval_metrics",
}
INSTEAD = {
    "TowerOptimizer": "use RunConfig(train_distribute=tf.distribute.MirroredStrategy())",
    "replicate_model_fn": "use RunConfig(train_distribute=tf.distribute.MirroredStrategy())",
    "export_all_saved_models": "call Estimator.experimental_export_all_saved_models",
    "export_saved_model_for_mode": "call Estimator.export_saved_model",
}
