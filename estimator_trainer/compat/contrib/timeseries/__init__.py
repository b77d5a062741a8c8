"""`tf.contrib.timeseries`: autoregressive models, their data and exports."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.timeseries"
_CANNED = "tensorflow_estimator.python.estimator.canned.timeseries"
_OWN = {
    "autoregressive": ("ARModel", "ARRegressor", "AnomalyMixtureARModel", "FlatPredictionModel"),
    "readers": ("CSVReader", "NumpyReader", "TFExampleReader", "TimeSeriesReader"),
    "windows": ("RandomWindowInputFn", "TimeSeriesInputFn", "WholeDatasetInputFn",
                "predict_continuation_input_fn"),
}
_MOVED = {
    "ar_model": ("LSTMPredictionModel",),
    "estimators": ("LSTMAutoRegressor", "TimeSeriesRegressor"),
    "feature_keys": ("FilteringFeatures", "FilteringResults", "PredictionFeatures",
                     "PredictionResults", "SavedModelLabels", "State", "Times",
                     "TrainEvalFeatures", "Values"),
    "head": ("OneShotPredictionHead", "TimeSeriesRegressionHead", "state_to_dictionary"),
}

NAMES = {
    **{name: f"{_HERE}.{module}.{name}" for module, names in _OWN.items() for name in names},
    **{name: f"{_CANNED}.{module}.{name}" for module, names in _MOVED.items() for name in names},
    "saved_model_utils": f"{_HERE}.exports.saved_model_utils",
}
INSTEAD = {name: "use tfp.sts of tensorflow_probability" for name in (
    "StateSpaceRegressor", "StructuralEnsembleRegressor")}
