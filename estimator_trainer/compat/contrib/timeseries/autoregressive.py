"""Autoregressive models of time series by a feed-forward network.

Definition: tensorflow/contrib/timeseries/python/timeseries/{ar_model,estimators}.py of TensorFlow
1.15. The model itself is tensorflow-estimator's.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Optional, Sequence, Union

import tensorflow as tf
from tensorflow_estimator.python.estimator.canned.timeseries import (ar_model, estimators,
                                                                     state_management)

_V1: Any = tf.compat.v1
_Model: Any = tf.keras.Model
_ARModel: Any = ar_model.ARModel
_Regressor: Any = estimators.TimeSeriesRegressor


class FlatPredictionModel(_Model):
    """Predicts the output window by dense layers over the flat input window.

    Args:
      num_features: The number of values at a time.
      input_window_size, output_window_size: The numbers of times.
      hidden_layer_sizes: The numbers of units of the hidden layers.
    """

    def __init__(self, num_features: int, input_window_size: int, output_window_size: int,
                 hidden_layer_sizes: Optional[Sequence[int]] = None) -> None:
        super().__init__()
        layers = tf.keras.layers
        self._input_flatten, self._output_flatten = layers.Flatten(), layers.Flatten()
        self._hidden_layers = (tf.keras.Sequential([
            layers.Dense(size, activation=tf.nn.relu) for size in hidden_layer_sizes])
            if hidden_layer_sizes else None)
        units = num_features * output_window_size
        self._mean_transform = layers.Dense(units, name="predicted_mean")
        self._covariance_transform = layers.Dense(units, name="log_sigma_square")
        self._prediction_shape = [-1, output_window_size, num_features]

    def call(self, input_window_features: Any, output_window_features: Any) -> Any:
        """Returns mean and covariance [batch, output window, features] of two windows."""
        parts = []
        if input_window_features.shape.as_list()[1]:
            parts.append(self._input_flatten(input_window_features))
        if output_window_features.shape.as_list()[2] or not parts:
            parts.append(self._output_flatten(output_window_features))
        found = parts[0] if len(parts) == 1 else tf.concat(parts, 1)
        if self._hidden_layers:
            found = self._hidden_layers(found)
        return {"mean": tf.reshape(self._mean_transform(found), self._prediction_shape),
                "covariance": tf.reshape(tf.exp(self._covariance_transform(found)),
                                         self._prediction_shape)}


class ARModel(_ARModel):
    """An autoregressive model, by FlatPredictionModel unless another factory is given."""

    def __init__(self, periodicities: Any, input_window_size: int, output_window_size: int,
                 num_features: int, prediction_model_factory: Any = FlatPredictionModel,
                 num_time_buckets: int = 10, loss: str = _ARModel.NORMAL_LIKELIHOOD_LOSS,
                 exogenous_feature_columns: Any = None) -> None:
        super().__init__(
            periodicities=periodicities, input_window_size=input_window_size,
            output_window_size=output_window_size, num_features=num_features,
            prediction_model_factory=prediction_model_factory, num_time_buckets=num_time_buckets,
            loss=loss, exogenous_feature_columns=exogenous_feature_columns)

    def loss_op(self, targets: Any, prediction_ops: Any) -> Any:
        """Returns the mean loss of predictions."""
        if self.loss != _ARModel.NORMAL_LIKELIHOOD_LOSS:
            return super().loss_op(targets, prediction_ops)
        return -tf.reduce_mean(_normal(targets - prediction_ops["mean"],
                                       prediction_ops["covariance"]))


class AnomalyMixtureARModel(ARModel):
    """An autoregressive model some of whose values come from a wide distribution instead.

    Args:
      anomaly_prior_probability: How often, between 0 and 1.
      anomaly_distribution: GAUSSIAN_ANOMALY or CAUCHY_ANOMALY, around the predicted mean.
    """

    GAUSSIAN_ANOMALY = "gaussian"
    CAUCHY_ANOMALY = "cauchy"

    def __init__(self, periodicities: Any, anomaly_prior_probability: float,
                 input_window_size: int, output_window_size: int, num_features: int,
                 prediction_model_factory: Any = FlatPredictionModel,
                 anomaly_distribution: str = GAUSSIAN_ANOMALY, num_time_buckets: int = 10,
                 exogenous_feature_columns: Any = None) -> None:
        assert 0 < anomaly_prior_probability < 1
        assert anomaly_distribution in (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY)
        self._prior, self._distribution = anomaly_prior_probability, anomaly_distribution
        super().__init__(
            periodicities, input_window_size, output_window_size, num_features,
            prediction_model_factory, num_time_buckets,
            exogenous_feature_columns=exogenous_feature_columns)

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> Any:
        """Returns mean, covariance, and the parameter of the wide distribution."""
        found = super().prediction_ops(times, values, exogenous_regressors)
        parameter = _V1.get_variable("anomaly_log_param", [], self.dtype,
                                     _V1.zeros_initializer())
        found["anomaly_params"] = tf.exp(parameter)
        return found

    def loss_op(self, targets: Any, prediction_ops: Any) -> Any:
        """Returns the mean negative log likelihood of the mixture."""
        mean = prediction_ops["mean"]
        usual = _normal(targets - mean, prediction_ops["covariance"])
        wide = (_normal if self._distribution == self.GAUSSIAN_ANOMALY else _cauchy)(
            targets - mean, prediction_ops["anomaly_params"])
        mixed = tf.reduce_logsumexp(tf.stack([usual + math.log(1 - self._prior),
                                              wide + math.log(self._prior)]), 0)
        return -tf.reduce_mean(tf.cast(mixed, self.dtype))


def _normal(deviation: Any, variance: Any) -> Any:
    """Returns the log density by which TensorFlow 1.15 trains: log(sigma) counts half."""
    sigma = tf.sqrt(tf.maximum(variance, 1e-5))
    return -0.5 * (tf.square(deviation / sigma) + math.log(2 * math.pi) + tf.math.log(sigma))


def _cauchy(deviation: Any, scale: Any) -> Any:
    return -tf.math.log(math.pi * scale * (1 + tf.square(deviation / scale)))


class ARRegressor(_Regressor):
    """An Estimator of an autoregressive model.

    Args:
      periodicities: The lengths of cycles, a number or several.
      input_window_size: The number of past times that a prediction reads; 0 for none.
      output_window_size: The number of times that it makes.
      num_features: The number of values at a time.
      exogenous_feature_columns: Columns of features that are known ahead.
      num_time_buckets: The number of parts of a cycle.
      loss: ARModel.NORMAL_LIKELIHOOD_LOSS or SQUARED_LOSS.
      hidden_layer_sizes: The numbers of units of the hidden layers.
      anomaly_prior_probability, anomaly_distribution: See AnomalyMixtureARModel.
      optimizer: The optimizer; None for Adagrad.

    Raises:
      ValueError: Arguments about anomalies do not fit.
    """

    def __init__(self, periodicities: Union[int, Sequence[int]], input_window_size: int,
                 output_window_size: int, num_features: int,
                 exogenous_feature_columns: Any = None, num_time_buckets: int = 10,
                 loss: str = _ARModel.NORMAL_LIKELIHOOD_LOSS,
                 hidden_layer_sizes: Optional[Sequence[int]] = None,
                 anomaly_prior_probability: Optional[float] = None,
                 anomaly_distribution: Optional[str] = None, optimizer: Any = None,
                 model_dir: Optional[str] = None, config: Any = None) -> None:
        if anomaly_prior_probability is None and anomaly_distribution is not None:
            raise ValueError("anomaly_prior_probability is required if anomaly_distribution is "
                             "specified.")
        options: dict[str, Any] = dict(
            periodicities=periodicities, input_window_size=input_window_size,
            output_window_size=output_window_size, num_features=num_features,
            prediction_model_factory=functools.partial(
                FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes),
            exogenous_feature_columns=exogenous_feature_columns,
            num_time_buckets=num_time_buckets)
        if anomaly_prior_probability is None:
            model: Any = ARModel(loss=loss, **options)
        elif loss != _ARModel.NORMAL_LIKELIHOOD_LOSS:
            raise ValueError("AnomalyMixtureARModel only supports "
                             "ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS for its loss argument.")
        else:
            model = AnomalyMixtureARModel(
                anomaly_prior_probability=anomaly_prior_probability,
                anomaly_distribution=anomaly_distribution or "gaussian", **options)
        super().__init__(
            model=model, state_manager=state_management.FilteringOnlyStateManager(),
            optimizer=optimizer or _V1.train.AdagradOptimizer(0.1), model_dir=model_dir,
            config=config)
