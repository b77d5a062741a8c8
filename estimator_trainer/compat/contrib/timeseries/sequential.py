"""Models of time series that go through a window time by time, and carry a state along.

Definition: tensorflow/contrib/timeseries/python/timeseries/model.py of TensorFlow 1.15.
"""

from __future__ import annotations

import abc
from typing import Any, Callable, Optional, Sequence

import tensorflow as tf
from tensorflow_estimator.python.estimator.canned.timeseries import feature_keys, model

_V1: Any = tf.compat.v1
_Model: Any = model.TimeSeriesModel
_TIMES, _VALUES = feature_keys.TrainEvalFeatures.TIMES, feature_keys.TrainEvalFeatures.VALUES
_STATE = feature_keys.PredictionFeatures.STATE_TUPLE


class SequentialTimeSeriesModel(_Model):
    """Base of recurrent models, whose steps a subclass defines.

    At each time of a window: `_imputation_step` over the times that are missing,
    `_exogenous_input_step` if the model has exogenous columns, `_prediction_step`, and, where
    values are known, `_filtering_step`. A state is a nest of tensors [batch, ...].

    Args:
      train_output_names: The keys of what `_filtering_step` returns beside "loss".
      predict_output_names: The keys of what `_prediction_step` returns.
      num_features: The number of values at a time.
      normalize_features: Whether values are scaled before the model gets them. The subclass then
        has to define `_scale_back_predictions`.
      dtype: The floating type of values.
      exogenous_feature_columns: Columns of features that are known ahead.
      exogenous_update_condition: A function of `times` [batch] and `features` that returns whether
        the features of a time change the state, [batch] bool; None for always.
      static_unrolling_window_size_threshold: Windows of a known size up to this one are unrolled in
        the graph; None for a `tf.while_loop` always.
    """

    def __init__(self, train_output_names: Sequence[str], predict_output_names: Sequence[str],
                 num_features: int, normalize_features: bool = False, dtype: Any = tf.float32,
                 exogenous_feature_columns: Any = None,
                 exogenous_update_condition: Optional[Callable[..., Any]] = None,
                 static_unrolling_window_size_threshold: Optional[int] = None) -> None:
        super().__init__(num_features=num_features, dtype=dtype,
                         exogenous_feature_columns=exogenous_feature_columns)
        self._exogenous_update_condition = exogenous_update_condition
        self._train_output_names = train_output_names
        self._predict_output_names = predict_output_names
        self._normalize_features = normalize_features
        self._static_unrolling_window_size_threshold = static_unrolling_window_size_threshold

    @abc.abstractmethod
    def _filtering_step(self, current_times: Any, current_values: Any, state: Any,
                        predictions: Any) -> Any:
        """Returns the state after values [batch, features] are seen, and a dict with "loss"."""

    @abc.abstractmethod
    def _prediction_step(self, current_times: Any, state: Any) -> Any:
        """Returns the state at times [batch], and a dict of predictions."""

    @abc.abstractmethod
    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        """Returns the state after the missing times before `current_times` [batch]."""

    @abc.abstractmethod
    def _exogenous_input_step(self, current_times: Any, current_exogenous_regressors: Any,
                              state: Any) -> Any:
        """Returns the state after exogenous features [batch, size] are seen."""

    def _scale_back_predictions(self, predictions: Any) -> Any:
        """Returns predictions on the scale of the values that were given."""
        raise NotImplementedError(
            f"{type(self).__name__} has normalize_features=True; expected it to define "
            f"_scale_back_predictions.")

    def _loss_additions(self, times: Any, values: Any, mode: Any) -> Any:
        """Returns what is added to the mean loss, such as a regularization."""
        del times, values, mode
        return 0.

    def _window_initializer(self, times: Any, state: Any) -> None:
        """Prepares for a window."""

    def get_batch_loss(self, features: Any, mode: Any, state: Any) -> Any:
        """Returns the ModelOutputs of a window; its state is that after the last time."""
        loss, states, outputs = self.per_step_batch_loss(features, mode, state)
        outputs["observed"] = features[_VALUES]
        return model.ModelOutputs(
            loss=loss, end_state=tf.nest.map_structure(lambda each: each[:, -1], states),
            predictions=outputs, prediction_times=features[_TIMES])

    def per_step_batch_loss(self, features: Any, mode: Any, state: Any) -> Any:
        """Returns the mean loss, the states and the predictions at each time of a window.

        Args:
          features: Times [batch, window], values [batch, window, features] and exogenous features.
          mode: The ModeKeys.
          state: The state before the window.

        Returns:
          A scalar, a nest of [batch, window, ...], and a dict of [batch, window, ...].
        """
        self._check_graph_initialized()
        times = tf.cast(features[_TIMES], tf.int64)
        values = tf.cast(features[_VALUES], self.dtype)
        if self._normalize_features:
            values = self._scale_data(values)
        exogenous = self._process_exogenous_features(times=times, features=_others(features))

        def step(number: Any, current_times: Any, state: Any) -> Any:
            current_values = values[:, number, :]
            state = self._after_exogenous(number, current_times, state, features, exogenous)
            state, predictions = self._prediction_step(current_times=current_times, state=state)
            return self._filtering_step(current_times=current_times, current_values=current_values,
                                        state=state, predictions=predictions)

        state, outputs = self._state_update_loop(
            times=times, state=state, state_update_fn=step,
            outputs=["loss", *self._train_output_names])
        losses = outputs.pop("loss")
        losses.set_shape(times.shape)
        loss = tf.reduce_sum(losses) / tf.cast(tf.reduce_prod(tf.shape(times)), self.dtype)
        loss += self._loss_additions(times, values, mode)
        return loss, state, self._scaled_back(outputs)

    def predict(self, features: Any) -> Any:
        """Returns a dict of predictions [batch, window, ...] after a state."""
        times = tf.convert_to_tensor(features[_TIMES], tf.int64)
        state = features[_STATE]
        exogenous = self._process_exogenous_features(
            times=times, features={key: value for key, value in features.items()
                                   if key not in (_TIMES, _STATE)})

        def step(number: Any, current_times: Any, state: Any) -> Any:
            state = self._after_exogenous(number, current_times, state, features, exogenous)
            return self._prediction_step(current_times=current_times, state=state)

        return self._scaled_back(self._state_update_loop(
            times=times, state=state, state_update_fn=step,
            outputs=self._predict_output_names)[1])

    def _scaled_back(self, outputs: Any) -> Any:
        return self._scale_back_predictions(outputs) if self._normalize_features else outputs

    def _after_exogenous(self, number: Any, times: Any, state: Any, features: Any,
                         exogenous: Any) -> Any:
        """Returns the state after the exogenous features of a time, where they count."""
        if exogenous is None:
            return state
        updated = self._exogenous_input_step(
            current_times=times, current_exogenous_regressors=exogenous[:, number, :], state=state)
        if self._exogenous_update_condition is None:
            return updated
        current = {key: value[:, number] for key, value in _others(features, _STATE).items()}
        flat = [_V1.where(self._exogenous_update_condition(times=times, features=current), *pair)
                for pair in zip(tf.nest.flatten(updated), tf.nest.flatten(state))]
        return tf.nest.pack_sequence_as(state, flat)

    def _state_update_loop(self, times: Any, state: Any, state_update_fn: Callable[..., Any],
                           outputs: Sequence[str]) -> Any:
        """Returns the states and the outputs of a function at each time.

        Args:
          times: [batch, window] times.
          state: The state before them.
          state_update_fn: Takes the number of the step, its times [batch] and the state, and
            returns a state and a dict.
          outputs: The keys of the dict.
        """
        times = tf.convert_to_tensor(times, tf.int64)
        limit, known = self._static_unrolling_window_size_threshold, times.shape[1]
        known = getattr(known, "value", known)
        unrolled = limit is not None and known is not None and known <= limit
        self._window_initializer(times, state)

        def step(number: Any, state: Any, states: Any, kept: Any, reuse: bool = False) -> Any:
            with _V1.variable_scope("state_update_step", reuse=reuse):
                current = times[:, number]
                state = self._imputation_step(current_times=current, state=state)
                updated, found = state_update_fn(number, current, state)
                assert set(found) == set(outputs)
                kept = [array.write(number, found[key]) for key, array in zip(outputs, kept)]
                flat = tf.nest.flatten(updated)
                assert len(states) == len(flat)
                for value, before in zip(flat, tf.nest.flatten(state)):
                    # A loop takes no state whose known shape changes.
                    value.set_shape(before.shape)
                states = [array.write(number, value) for array, value in zip(states, flat)]
                return number + 1, tf.nest.pack_sequence_as(state, flat), states, kept

        size = tf.shape(times)[1]

        def array(dtype: Any) -> Any:
            return _Listed() if unrolled else tf.TensorArray(dtype, size)

        arguments: Any = [tf.zeros([], tf.int32), state,
                          [array(each.dtype) for each in tf.nest.flatten(state)],
                          [array(self.dtype) for _ in outputs]]
        if unrolled:
            for number in range(known):
                _, state, states, kept = arguments
                arguments = step(tf.constant(number), state, states, kept, reuse=number > 0)
        else:
            arguments = _V1.while_loop(lambda number, *_: number < size, step, arguments)
        _, _, states, kept = arguments
        return (tf.nest.pack_sequence_as(state, [_batch_first(each) for each in states]),
                {key: _batch_first(each) for key, each in zip(outputs, kept)})


class _Listed:
    """Is written as a TensorArray is, but holds a list."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def write(self, index: Any, value: Any) -> _Listed:
        del index
        self.values.append(value)
        return self


def _batch_first(array: Any) -> Any:
    """Returns [batch, window, ...] of what was written at each time."""
    if isinstance(array, _Listed):
        return tf.stack(array.values, axis=1)
    stacked = array.stack()
    return tf.transpose(stacked, tf.concat([[1, 0], tf.range(2, tf.rank(stacked))], 0))


def _others(features: Any, *keys: str) -> Any:
    return {key: value for key, value in features.items() if key not in (_TIMES, _VALUES, *keys)}
