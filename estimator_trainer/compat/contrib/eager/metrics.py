"""`tf.contrib.eager.metrics`: metrics that are objects.

Follows the API of `tensorflow/contrib/eager/python/metrics_impl.py` of TensorFlow 1.15.
"""

from __future__ import annotations

import re
from typing import Any, Optional

import tensorflow as tf

_V1 = tf.compat.v1


class Metric(tf.Module):
    """A metric: `metric(values)` updates its variables, and `metric.result()` is its value.

    A subclass has `build`, which makes variables, `call` and `result`.
    """

    def __init__(self, name: Optional[str] = None, use_global_variables: bool = False) -> None:
        name = re.sub("[^A-Za-z0-9_.]", "_", name or type(self).__name__)
        super().__init__(name=name)
        with _V1.variable_scope(name, use_resource=True, reuse=False) as self._scope:
            pass
        self._collection = _V1.GraphKeys.GLOBAL_VARIABLES if use_global_variables else (
            _V1.GraphKeys.LOCAL_VARIABLES)
        self._built = False
        self._vars: list[Any] = []
        self._initial: list[Any] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Updates the metric; a graph's operation does so."""
        if not self._built:
            with tf.init_scope(), _V1.variable_scope(self._scope):
                self.build(*args, **kwargs)
            self._built = True
        return self.call(*args, **kwargs)

    @property
    def variables(self) -> list[Any]:
        """The variables."""
        return list(self._vars)

    def init_variables(self) -> Any:
        """Starts anew; in a graph, returns the operation that does."""
        if tf.executing_eagerly():
            for each, value in zip(self._vars, self._initial):
                each.assign(value)
            return None
        return tf.group([each.initializer for each in self._vars])

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the variables, at the first call."""

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Updates the variables."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self) -> Any:
        """Returns the value."""
        raise NotImplementedError("Metrics must define a result() member function")

    def add_variable(self, name: str, shape: Any = None, dtype: Any = None,
                     initializer: Any = None) -> Any:
        """Returns a new variable of the metric.

        Raises:
          RuntimeError: The metric is built.
        """
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        collections = None if tf.executing_eagerly() else [
            self._collection, _V1.GraphKeys.METRIC_VARIABLES]
        variable = _V1.get_variable(name, shape, dtype, initializer, trainable=False,
                                    collections=collections, use_resource=True)
        self._vars.append(variable)
        if tf.executing_eagerly():
            self._initial.append(variable.read_value())
        return variable


class Mean(Metric):
    """The mean of all values, by their weights."""

    def __init__(self, name: Optional[str] = None, dtype: Any = tf.float64,
                 use_global_variables: bool = False) -> None:
        super().__init__(name, use_global_variables)
        self.dtype = dtype

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the sum of the values and that of the weights."""
        self.numer = self.add_variable("numer", (), self.dtype, _V1.zeros_initializer())
        self.denom = self.add_variable("denom", (), self.dtype, _V1.zeros_initializer())

    def call(self, values: Any, weights: Any = None) -> Any:
        """Counts values, of any shape; weights broadcast to them. Returns its arguments."""
        numbers = tf.cast(values, self.dtype)
        factors = tf.ones_like(numbers) if weights is None else (
            tf.cast(weights, self.dtype) * tf.ones_like(numbers))
        updates = [self.numer.assign_add(tf.reduce_sum(numbers * factors)),
                   self.denom.assign_add(tf.reduce_sum(factors))]
        with tf.control_dependencies(updates):
            values = tf.identity(values)
        return values if weights is None else (values, weights)

    def result(self, write_summary: bool = True) -> Any:
        """Returns the mean; NaN before there are values."""
        return self.numer / self.denom


class Accuracy(Mean):
    """How often a prediction is its label."""

    def __init__(self, name: Optional[str] = None, dtype: Any = tf.float64) -> None:
        super().__init__(name, dtype)

    def call(self, labels: Any, predictions: Any,  # type: ignore[override]
             weights: Any = None) -> Any:
        """Counts predictions of the shape of the labels. Returns its arguments."""
        return self._count(self.matches(labels, predictions), labels, predictions, weights)

    def matches(self, labels: Any, predictions: Any) -> Any:
        """Returns where a prediction is right."""
        return tf.equal(labels, predictions)

    def _count(self, matches: Any, labels: Any, predictions: Any, weights: Any) -> Any:
        counted = super().call(tf.cast(matches, self.dtype), weights)
        # In a graph, what is returned updates the metric.
        with tf.control_dependencies([counted if weights is None else counted[0]]):
            labels, predictions = tf.identity(labels), tf.identity(predictions)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


class CategoricalAccuracy(Accuracy):
    """How often the largest prediction is where the label is 1."""

    def matches(self, labels: Any, predictions: Any) -> Any:
        """Returns where both have their largest number in one place of the last dimension."""
        return tf.equal(tf.argmax(labels, axis=-1), tf.argmax(predictions, axis=-1))


class BinaryAccuracy(Accuracy):
    """How often a prediction is above a threshold where its label is true."""

    def __init__(self, threshold: float, name: Optional[str] = None,
                 dtype: Any = tf.float64) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold

    def matches(self, labels: Any, predictions: Any) -> Any:
        """Returns where a prediction is on its label's side of the threshold."""
        above = tf.greater(tf.convert_to_tensor(predictions), self.threshold)
        return tf.equal(tf.cast(labels, tf.bool), above)


class SparseAccuracy(Accuracy):
    """How often the largest prediction is at the index that the label says."""

    def matches(self, labels: Any, predictions: Any) -> Any:
        """Returns where the largest number of the last dimension is at the label."""
        return tf.equal(tf.cast(labels, tf.int64), tf.argmax(predictions, axis=-1))
