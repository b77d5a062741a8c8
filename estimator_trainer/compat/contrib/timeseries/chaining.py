"""A state manager that begins a window with the state in which the one before it ended.

Definition: tensorflow/contrib/timeseries/python/timeseries/{state_management,math_utils}.py of
TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.ops import lookup_ops
from tensorflow_estimator.python.estimator.canned.timeseries import (feature_keys, math_utils,
                                                                     state_management)
from tensorflow_estimator.python.estimator.canned.timeseries.model import ModelOutputs

_V1: Any = tf.compat.v1
_Overridable: Any = state_management._OverridableStateManager
_TIMES, _VALUES = feature_keys.TrainEvalFeatures.TIMES, feature_keys.TrainEvalFeatures.VALUES


class TensorValuedMutableDenseHashTable(lookup_ops.DenseHashTable):
    """A table whose values are tensors of any one shape."""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, *args: Any,
                 **kwargs: Any) -> None:
        self._one_shape = tf.shape(default_value)
        super().__init__(key_dtype, value_dtype, tf.reshape(default_value, [-1]), *args, **kwargs)

    def insert(self, keys: Any, values: Any, name: Any = None) -> Any:
        """Returns an operation that stores values [keys' shape, ...] at keys."""
        flat = tf.reshape(tf.convert_to_tensor(keys, self.key_dtype), [-1])
        return super().insert(flat, tf.reshape(values, [tf.shape(flat)[0], -1]), name=name)

    def lookup(self, keys: Any, name: Any = None) -> Any:
        """Returns the values [keys' shape, ...] at keys."""
        flat = tf.reshape(tf.convert_to_tensor(keys, self.key_dtype), [-1])
        return tf.reshape(super().lookup(flat, name=name),
                          tf.concat([tf.shape(keys), self._one_shape], 0))


class TupleOfTensorsLookup:
    """A table whose values are nests of tensors.

    Args:
      key_dtype: The type of keys.
      default_values: The nest for a key that the table does not have.
      empty_key, deleted_key: Keys that are not used.
      name: The beginning of the tables' names.
      checkpoint: Whether checkpoints hold the tables.
    """

    def __init__(self, key_dtype: Any, default_values: Any, empty_key: Any, deleted_key: Any,
                 name: str, checkpoint: bool = True) -> None:
        self._hash_tables = tf.nest.pack_sequence_as(default_values, [
            TensorValuedMutableDenseHashTable(
                key_dtype=key_dtype, value_dtype=value.dtype.base_dtype, default_value=value,
                empty_key=empty_key, deleted_key=deleted_key, name=f"{name}_{number}",
                checkpoint=checkpoint)
            for number, value in enumerate(tf.nest.flatten(default_values))])
        self._name = name

    def lookup(self, keys: Any) -> Any:
        """Returns the nest of values at keys."""
        return tf.nest.map_structure(lambda table: table.lookup(keys), self._hash_tables)

    def insert(self, keys: Any, values: Any) -> Any:
        """Returns an operation that stores a nest of values, once all of them are computed."""
        tf.nest.assert_same_structure(self._hash_tables, values)
        flat = [tf.identity(value) for value in tf.nest.flatten(values)]
        with tf.control_dependencies(flat):
            return tf.group(*[table.insert(keys, value) for table, value in zip(
                tf.nest.flatten(self._hash_tables), flat)])


class ChainingStateManager(_Overridable):
    """Takes the windows of a batch for parts of one series, and keeps states between steps.

    Args:
      state_saving_interval: How many times there are for each state that is kept. The model imputes
        the others.
      checkpoint_state: Whether checkpoints hold the states, as many as the series is long.

    Raises:
      ValueError: `initialize_graph` was not called before `define_loss`.
    """

    def __init__(self, state_saving_interval: int = 20, checkpoint_state: bool = False) -> None:
        super().__init__()
        self._checkpoint_state = checkpoint_state
        self._state_saving_interval = state_saving_interval
        self._start_state: Any = None
        self._cached_states: Any = None

    def initialize_graph(self, model: Any, input_statistics: Any = None) -> None:
        """Makes the tables of states."""
        super().initialize_graph(model=model, input_statistics=input_statistics)
        self._start_state = model.get_start_state()
        self._cached_states = TupleOfTensorsLookup(
            key_dtype=tf.int64, default_values=self._start_state, empty_key=-1, deleted_key=-2,
            name="cached_states", checkpoint=self._checkpoint_state)

    def _define_loss_with_saved_state(self, model: Any, features: Any, mode: Any) -> Any:
        """Returns the ModelOutputs of windows [windows, times] of one series."""
        if not self._graph_initialized:
            raise ValueError("ChainingStateManager was not initialized; expected a call of "
                             "initialize_graph before its use.")
        loss, end_state, predictions = self._update_cached_states(model, features, mode)
        predictions["observed"] = features[_VALUES]
        return ModelOutputs(
            loss=loss, end_state=tf.nest.map_structure(lambda each: each[-1][None], end_state),
            predictions=predictions, prediction_times=features[_TIMES])

    def _get_chunk_number(self, time: Any) -> Any:
        return time // self._state_saving_interval

    def _get_cached_states(self, times: Any) -> Any:
        """Returns the states [windows, ...] before times [windows]."""
        numbers = self._get_chunk_number(times)
        found = tuple(self._cached_states.lookup(tf.cast(numbers, tf.int64)))
        start_time = self._input_statistics.start_time if self._input_statistics is not None else 0
        # Gradients go from the first part to the start state's variables.
        is_first = tf.equal(numbers, self._get_chunk_number(start_time))
        start = math_utils.replicate_state(self._start_state, tf.shape(times)[0])
        return tf.nest.pack_sequence_as(found, [
            _V1.where(is_first, *pair)
            for pair in zip(tf.nest.flatten(start), tf.nest.flatten(found))])

    def _update_cached_states(self, model: Any, features: Any, mode: Any) -> Any:
        """Returns the loss, the last states [windows, ...] and the predictions.

        A state is stored for the part in which the next time is, and never for that from which
        the window's own was read. Of several for one part the last one stays.
        """
        times = features[_TIMES]
        loss, states, predictions = model.per_step_batch_loss(
            features=features, mode=mode, state=self._get_cached_states(times[:, 0]))
        least = self._get_chunk_number(times) + 1
        numbers = tf.maximum(self._get_chunk_number(
            tf.concat([times[:, 1:], times[:, -1:] + 1], axis=1)), least)
        saved = self._cached_states.insert(keys=numbers, values=states)
        end_state = tf.nest.map_structure(lambda each: each[:, -1], states)
        with tf.control_dependencies([saved]):
            return tf.identity(loss), end_state, predictions
