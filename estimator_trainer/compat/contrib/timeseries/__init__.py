"""`tf.contrib.timeseries`: autoregressive and sequential models, their data and exports."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.timeseries"
_CANNED = "tensorflow_estimator.python.estimator.canned.timeseries"
_OWN = {
    "autoregressive": ("ARModel", "ARRegressor", "AnomalyMixtureARModel", "FlatPredictionModel"),
    "chaining": ("ChainingStateManager", "TensorValuedMutableDenseHashTable",
                 "TupleOfTensorsLookup"),
    "exports": ("cold_start_filter", "filter_continuation", "predict_continuation",
                "saved_model_utils"),
    "readers": ("CSVReader", "NumpyReader", "TFExampleReader", "TimeSeriesReader"),
    "sequential": ("SequentialTimeSeriesModel",),
    "windows": ("RandomWindowInputFn", "TimeSeriesInputFn", "WholeDatasetInputFn",
                "predict_continuation_input_fn"),
}
_MOVED = {
    "ar_model": ("LSTMPredictionModel",),
    "estimators": ("LSTMAutoRegressor", "TimeSeriesRegressor"),
    "feature_keys": ("FilteringFeatures", "FilteringResults", "PredictionFeatures",
                     "PredictionResults", "SavedModelLabels", "State", "Times",
                     "TrainEvalFeatures", "Values"),
    "math_utils": ("InputStatistics", "InputStatisticsFromMiniBatch", "Moments", "replicate_state"),
    "model": ("ModelOutputs", "TimeSeriesModel"),
    "model_utils": ("canonicalize_times_or_steps_from_output", "fully_connected"),
    "state_management": ("FilteringOnlyStateManager", "PassthroughStateManager"),
    "head": ("OneShotPredictionHead", "TimeSeriesRegressionHead", "state_to_dictionary"),
}

NAMES = {
    **{name: f"{_HERE}.{module}.{name}" for module, names in _OWN.items() for name in names},
    **{name: f"{_CANNED}.{module}.{name}" for module, names in _MOVED.items() for name in names},
}
INSTEAD = {name: "use tfp.sts of tensorflow_probability" for name in (
    "StateSpaceRegressor", "StructuralEnsembleRegressor")}
