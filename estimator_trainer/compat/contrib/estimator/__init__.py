"""`tf.contrib.estimator`: what of it became Estimator's own, and its heads and Estimators."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.estimator"
_CANNED = "tensorflow_estimator.python.estimator.canned"
_OWN = {
    "extenders": ("clip_gradients_by_norm", "forward_features"),
    "heads": ("binary_classification_head", "logistic_regression_head", "multi_class_head",
              "multi_label_head", "poisson_regression_head", "regression_head"),
    "multi_head": ("multi_head",),
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
    **{name: f"{_CANNED}.rnn.{name}" for name in ("RNNClassifier", "RNNEstimator")},
    "SavedModelEstimator": f"{_CANNED}.saved_model_estimator.SavedModelEstimator",
    "read_eval_metrics": "tensorflow_estimator.python.estimator.early_stopping.read_eval_metrics",
}
INSTEAD = {
    "TowerOptimizer": "use RunConfig(train_distribute=tf.distribute.MirroredStrategy())",
    "replicate_model_fn": "use RunConfig(train_distribute=tf.distribute.MirroredStrategy())",
    "export_all_saved_models": "call Estimator.experimental_export_all_saved_models",
    "export_saved_model_for_mode": "call Estimator.export_saved_model",
}
