"""Input functions of time series: the whole series, random windows, and times to predict.

Definition: tensorflow/contrib/timeseries/python/timeseries/input_pipeline.py of TensorFlow 1.15.
"""

from __future__ import annotations

import abc
from typing import Any, Callable, Mapping, Optional

import tensorflow as tf
from tensorflow_estimator.python.estimator.canned.timeseries import feature_keys, model_utils

_V1: Any = tf.compat.v1
_TIMES = feature_keys.TrainEvalFeatures.TIMES


def predict_continuation_input_fn(evaluation: Mapping[str, Any], steps: Optional[int] = None,
                                  times: Any = None,
                                  exogenous_features: Optional[Mapping[str, Any]] = None
                                  ) -> Callable[[], Any]:
    """Returns the input_fn of a prediction that goes on where an evaluation ended.

    Args:
      evaluation: What `Estimator.evaluate` returned.
      steps: The number of times after the last one.
      times: The times to predict, [batch, times], instead of steps.
      exogenous_features: Other features of these times.

    Raises:
      ValueError: Both or none of steps and times is given, or the times are not later ones.
    """
    times = model_utils.canonicalize_times_or_steps_from_output(
        times=times, steps=steps, previous_model_output=evaluation)
    features = {
        feature_keys.PredictionFeatures.STATE_TUPLE:
            evaluation[feature_keys.FilteringResults.STATE_TUPLE],
        feature_keys.PredictionFeatures.TIMES: times, **(exogenous_features or {})}

    def input_fn() -> Any:
        return {key: tf.nest.map_structure(
            lambda each: _V1.train.limit_epochs(each, num_epochs=1), value)
            for key, value in features.items()}, None

    return input_fn


class TimeSeriesInputFn(abc.ABC):
    """An input_fn of batches of windows: times [batch, window], values [batch, window, ...]."""

    @abc.abstractmethod
    def create_batch(self) -> Any:
        """Returns features and labels, which are None."""

    def __call__(self) -> Any:
        return self.create_batch()


class WholeDatasetInputFn(TimeSeriesInputFn):
    """Gives the whole series as a batch of one window."""

    def __init__(self, time_series_reader: Any) -> None:
        self._reader = time_series_reader

    def create_batch(self) -> Any:
        return {key: value[None, ...] for key, value in self._reader.read_full().items()}, None


class RandomWindowInputFn(TimeSeriesInputFn):
    """Gives random windows of a series.

    Args:
      time_series_reader: The reader.
      window_size: The number of records in a window.
      batch_size: The number of windows in a batch.
      queue_capacity_multiplier: The number of batches that queues hold at most.
      shuffle_min_after_dequeue_multiplier: The number of batches out of which windows are drawn.
      discard_out_of_order: Whether a window that goes over the series' end is dropped; otherwise
        its records are sorted.
      discard_consecutive_batches_limit: The number of batches without a window that is an error.
      jitter: Whether windows begin at odd records too.
      num_threads: The number of threads; None for the batch size.
      shuffle_seed: The seed of the order.
    """

    def __init__(self, time_series_reader: Any, window_size: int, batch_size: int,
                 queue_capacity_multiplier: int = 1000,
                 shuffle_min_after_dequeue_multiplier: int = 2, discard_out_of_order: bool = True,
                 discard_consecutive_batches_limit: int = 1000, jitter: bool = True,
                 num_threads: Optional[int] = 2, shuffle_seed: Optional[int] = None) -> None:
        time_series_reader.check_dataset_size(minimum_dataset_size=window_size)
        self._reader, self._window_size, self._batch_size = (
            time_series_reader, window_size, batch_size)
        self._capacity = queue_capacity_multiplier * batch_size
        self._min_after_dequeue = shuffle_min_after_dequeue_multiplier * batch_size
        self._discard_out_of_order = discard_out_of_order
        self._discard_limit, self._jitter = discard_consecutive_batches_limit, jitter
        self._num_threads = batch_size if num_threads is None else num_threads
        self._shuffle_seed = shuffle_seed

    def create_batch(self) -> Any:
        windows = self._windows()
        if self._discard_out_of_order:
            keep = self._in_order(windows[_TIMES])
        else:
            order = tf.argsort(windows[_TIMES], axis=1)
            windows = {key: tf.gather(value, order, batch_dims=1)
                       for key, value in windows.items()}
            keep = True
        return _V1.train.maybe_shuffle_batch(
            windows, num_threads=self._num_threads, seed=self._shuffle_seed,
            batch_size=self._batch_size, capacity=self._capacity,
            min_after_dequeue=self._min_after_dequeue, keep_input=keep, enqueue_many=True), None

    def _windows(self) -> dict[str, Any]:
        """Returns as many windows as a batch has, one after the other in the series."""
        shape = [self._batch_size, self._window_size]
        jitter = tf.random.uniform([], maxval=2, dtype=tf.int32) if self._jitter else 0
        records = _V1.train.batch(
            self._reader.read(), batch_size=self._batch_size * self._window_size + jitter,
            enqueue_many=True, capacity=self._capacity * self._window_size,
            num_threads=self._num_threads)
        found = {}
        for key, value in records.items():
            window = tf.reshape(value[jitter:], tf.concat([shape, tf.shape(value)[1:]], 0))
            window.set_shape(tf.TensorShape(shape).concatenate(value.shape[1:]))
            found[key] = window
        return found

    def _in_order(self, times: Any) -> Any:
        """Returns for each window whether its times do not decrease.

        Raises:
          OutOfRangeError: The limit of batches without such a window is reached.
        """
        in_order = tf.reduce_all(times[:, 1:] >= times[:, :-1], axis=1)
        count = _V1.Variable(tf.constant(0, tf.int64), name="discarded_windows_limiter",
                             trainable=False, collections=[_V1.GraphKeys.LOCAL_VARIABLES])

        def counted() -> Any:
            return tf.cond(tf.reduce_any(in_order), lambda: tf.identity(_V1.assign(count, 0)),
                           lambda: tf.identity(count.count_up_to(self._discard_limit)))

        # The threads of a queue may run before the variable is initialized.
        checked = tf.cond(_V1.is_variable_initialized(count), counted,
                          lambda: tf.constant(0, tf.int64))
        with tf.control_dependencies([checked]):
            return tf.identity(in_order)
