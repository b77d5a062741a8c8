"""`tf.contrib.estimator`: what of it became Estimator's own, and its heads and Estimators."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.estimator"
_CANNED = "tensorflow_estimator.python.estimator.canned"
_EXPORT = "tensorflow_estimator.python.estimator.export.export"
_OWN = {
    "export": ("export_all_saved_models", "export_saved_model_for_mode"),
    "extenders": ("clip_gradients_by_norm", "forward_features"),
    "heads": ("binary_classification_head", "logistic_regression_head", "multi_class_head",
              "multi_label_head", "poisson_regression_head", "regression_head"),
    "layer_annotations": ("DNNClassifierWithLayerAnnotations",
                          "DNNRegressorWithLayerAnnotations"),
    "multi_head": ("multi_head",),
    "replicate": ("TowerOptimizer", "replicate_model_fn"),
    "rnn": ("RNNClassifier", "RNNEstimator"),
}

NAMES = {
    **{name: f"{_HERE}.{module}.{name}" for module, names in _OWN.items() for name in names},
    **{name: f"tf.estimator.{name}" for name in (
        "BaselineEstimator", "DNNEstimator", "DNNLinearCombinedEstimator", "LinearEstimator",
        "add_metrics")},
    **{name: f"tf.estimator.experimental.{name}" for name in (
        "InMemoryEvaluatorHook", "build_raw_supervised_input_receiver_fn", "call_logit_fn",
        "dnn_logit_fn_builder", "linear_logit_fn_builder", "make_early_stopping_hook",
        "make_stop_at_checkpoint_step_hook", "stop_if_higher_hook", "stop_if_lower_hook",
        "stop_if_no_decrease_hook", "stop_if_no_increase_hook")},
    "SavedModelEstimator": f"{_CANNED}.saved_model_estimator.SavedModelEstimator",
    "build_supervised_input_receiver_fn_from_input_fn":
        f"{_EXPORT}.build_supervised_input_receiver_fn_from_input_fn",
    "read_eval_metrics": "tensorflow_estimator.python.estimator.early_stopping.read_eval_metrics",
}
_KERNELS = "use TensorFlow Decision Forests: TensorFlow 2.16 removed the kernels of boosted trees"
INSTEAD = {f"boosted_trees_{kind}_train_in_memory": _KERNELS for kind in (
    "classifier", "regressor")}
