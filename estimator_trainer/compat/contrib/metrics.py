"""`tf.contrib.metrics`, which is `tf_slim.metrics` today."""

from __future__ import annotations

_STREAMING = """
    accuracy auc concat covariance curve_points dynamic_auc false_negative_rate
    false_negative_rate_at_thresholds false_negatives false_negatives_at_thresholds
    false_positive_rate false_positive_rate_at_thresholds false_positives
    false_positives_at_thresholds mean mean_absolute_error mean_cosine_distance mean_iou
    mean_relative_error mean_squared_error mean_tensor pearson_correlation percentage_less
    precision precision_at_thresholds recall recall_at_k recall_at_thresholds
    root_mean_squared_error sensitivity_at_specificity sparse_average_precision_at_k
    sparse_average_precision_at_top_k sparse_precision_at_k sparse_precision_at_top_k
    sparse_recall_at_k specificity_at_sensitivity true_negatives true_negatives_at_thresholds
    true_positives true_positives_at_thresholds""".split()
_OTHERS = """
    accuracy aggregate_metric_map aggregate_metrics auc_using_histogram
    auc_with_confidence_intervals cohen_kappa count f1_score precision_at_recall
    precision_recall_at_equal_thresholds recall_at_precision sparse_recall_at_top_k""".split()

NAMES = {
    **{name: f"tf_slim.metrics.{name}" for name in
       (*(f"streaming_{each}" for each in _STREAMING), *_OTHERS)},
    "confusion_matrix": "tf.math.confusion_matrix",
    "set_difference": "tf.sets.set_difference",
    "set_intersection": "tf.sets.set_intersection",
    "set_size": "tf.sets.set_size",
    "set_union": "tf.sets.set_union",
}
DEFAULT = "use a metric of tf.metrics"
