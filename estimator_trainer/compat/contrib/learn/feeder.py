"""Arrays, data frames and iterators are fed to Estimators of `tf.contrib.learn` by batches.

Source: tensorflow/contrib/learn/python/learn/learn_io/data_feeder.py, pandas_io.py and dask_io.py
of TensorFlow 1.15.
"""

from __future__ import annotations

from importlib import util
import itertools
from typing import Any, Callable, Iterator, Optional

import numpy as np
import tensorflow as tf

HAS_PANDAS = util.find_spec("pandas") is not None
_SEED = 42
_NUMBERS = "iufb"


def _is_data_frame(data: Any) -> bool:
    return type(data).__module__.startswith("pandas") and hasattr(data, "columns")


def extract_pandas_data(data: Any) -> Any:
    """Returns a data frame's values as floats, and other data as it is.

    Raises:
      ValueError: a column is no number.
    """
    if not _is_data_frame(data):
        return data
    _check_numbers(data, "extracting pandas data")
    return data.values.astype("float")


def extract_pandas_matrix(data: Any) -> Any:
    """Returns a data frame's values, and other data as it is."""
    return data.values if _is_data_frame(data) else data


def extract_pandas_labels(labels: Any) -> Any:
    """Returns the values of a data frame of one column, and other labels as they are.

    Raises:
      ValueError: there are more columns, or a column is no number.
    """
    if not _is_data_frame(labels):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    _check_numbers(labels, "extracting labels")
    return labels.values


def _check_numbers(frame: Any, purpose: str) -> None:
    wrong = [f"'{column}' type='{frame[column].dtype.name}'" for column in frame
             if frame[column].dtype.kind not in _NUMBERS]
    if wrong:
        raise ValueError(f"Data types for {purpose} must be int, float, or bool. Found: "
                         f"{', '.join(wrong)}")


def setup_train_data_feeder(x: Any, y: Any, n_classes: Any = None,
                            batch_size: Optional[int] = None, shuffle: bool = True,
                            epochs: Optional[int] = None) -> Any:
    """Returns a feeder of arrays or data frames, or of iterators of examples.

    Args:
      x, y: Features and labels, of one kind; dicts of arrays too. y may be None.
      n_classes: Not None for labels that become one-hot.
      batch_size: Examples of a batch; None for all.
      shuffle: Whether examples are in another order in each epoch.
      epochs: How often all are fed; None for no end.

    Raises:
      ValueError: only one of the two is an iterator, or batch_size is not positive.
    """
    x, y = extract_pandas_data(x), extract_pandas_labels(y)
    if batch_size is not None and batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    if hasattr(x, "__next__"):
        if y is not None and not hasattr(y, "__next__"):
            raise ValueError("Both x and y should be iterators for streaming learning to work.")
        return StreamingDataFeeder(x, y, n_classes, batch_size)
    return DataFeeder(x, y, n_classes, batch_size, shuffle, epochs=epochs)


def _map(function: Callable[..., Any], data: Any, *others: Any) -> Any:
    """Returns a function of arrays, or a dict of it for dicts of arrays; None for None."""
    if data is None:
        return None
    if isinstance(data, dict):
        return {key: function(value, *(each[key] for each in others))
                for key, value in data.items()}
    return function(data, *others)


class _Feeder:
    """Placeholders of batches, and what is fed to them."""

    n_classes: Any
    _class_dtype: Any = np.float32
    _batches: Iterator[tuple[Any, Any]]

    def __init__(self, x: Any, y: Any) -> None:
        self._examples = x, y
        self._placeholders: tuple[Any, Any] = (None, None)
        self._epoch_placeholder: Any = None
        self.epoch = 0

    @property
    def input_dtype(self) -> Any:
        """The type of the features, by name where these have names."""
        return _map(lambda each: each.dtype, self._features(self._examples[0]))

    @property
    def output_dtype(self) -> Any:
        """The type of the labels, float32 where there are none."""
        found = _map(lambda each: each.dtype, self._labels(self._examples[1]))
        return np.float32 if found is None else found

    def make_epoch_variable(self) -> Any:
        """Returns a placeholder of the epoch's number, int32 of shape [1], which is fed too."""
        self._epoch_placeholder = tf.compat.v1.placeholder(tf.int32, [1], "epoch")
        return self._epoch_placeholder

    def input_builder(self) -> tuple[Any, Any]:
        """Returns placeholders of the features and of the labels, [batch, ...]."""
        x, y = self._examples
        self._placeholders = (_named_placeholders(self._features(x), "input"),
                              _named_placeholders(self._labels(y), "output"))
        return self._placeholders

    def set_placeholders(self, input_placeholder: Any, output_placeholder: Any) -> None:
        """Feeds these placeholders."""
        self._placeholders = (input_placeholder, output_placeholder)

    def get_feed_dict_fn(self) -> Callable[[], dict[str, Any]]:
        """Returns a function that returns the next batch by names, and raises StopIteration."""
        def next_batch() -> dict[str, Any]:
            batches, fed = next(self._batches), dict[str, Any]()
            if self._epoch_placeholder is not None:
                fed[self._epoch_placeholder.name] = [self.epoch]
            for placeholder, batch in zip(self._placeholders, batches):
                if batch is not None and placeholder is not None:
                    names = _map(lambda each: each.name, placeholder)
                    fed.update({names[key]: batch[key] for key in batch}
                               if isinstance(batch, dict) else {names: batch})
            return fed

        return next_batch

    def _features(self, x: Any) -> Any:
        return _map(lambda each: each.reshape(-1, 1) if each.ndim == 1 else each, x)

    def _labels(self, y: Any) -> Any:
        y = _map(lambda each: each[:, 0] if each.ndim > 1 and each.shape[1] == 1 else each, y)
        if self.n_classes is None or y is None:
            return y
        classes = self.n_classes if isinstance(y, dict) else None
        if classes is None:
            return _one_hot(y, self.n_classes, self._class_dtype)
        return {key: _one_hot(value, classes.get(key)) for key, value in y.items()}


def _one_hot(labels: Any, n_classes: Optional[int], dtype: Any = np.float32) -> Any:
    if n_classes is None:
        return labels
    if n_classes < 2:
        return labels.astype(np.float32)
    return np.eye(n_classes, dtype=dtype)[labels.astype(np.int64)]


def _named_placeholders(examples: Any, name: str) -> Any:
    def make(array: Any, name: str) -> Any:
        return tf.compat.v1.placeholder(tf.as_dtype(array.dtype), [None, *array.shape[1:]], name)

    if isinstance(examples, dict):
        return {key: make(value, f"{name}_{key}") for key, value in examples.items()}
    return None if examples is None else make(examples, name)


class DataFeeder(_Feeder):
    """Feeds arrays, in another order in each epoch."""

    _class_dtype = np.int64

    def __init__(self, x: Any, y: Any, n_classes: Any, batch_size: Optional[int] = None,
                 shuffle: bool = True, random_state: Any = None,
                 epochs: Optional[int] = None) -> None:
        y = np.array(y) if isinstance(y, list) else y
        super().__init__(x, y)
        self.x, self.y, self.n_classes = x, y, n_classes
        self._count = len(next(iter(x.values())) if isinstance(x, dict) else x)
        self.batch_size = batch_size or self._count
        self._shuffle, self._epochs = shuffle, epochs
        self._random = random_state or np.random.RandomState(_SEED)
        self._batches = self._all_batches()

    def _order(self) -> Any:
        return (self._random.permutation(self._count) if self._shuffle
                else np.arange(self._count))

    def _all_batches(self) -> Iterator[tuple[Any, Any]]:
        for self.epoch in itertools.count() if self._epochs is None else range(self._epochs):
            order = self._order()
            for start in range(0, self._count, self.batch_size):
                chosen = order[start:start + self.batch_size]
                yield (self._features(_map(lambda each: each[chosen], self.x)),
                       self._labels(_map(lambda each: each[chosen], self.y)))


class StreamingDataFeeder(_Feeder):
    """Feeds what iterators return, an example each."""

    def __init__(self, x: Any, y: Any, n_classes: Any, batch_size: Optional[int] = None) -> None:
        self.n_classes, self.batch_size = n_classes, batch_size or 1
        first = next(x), None if y is None else next(y)
        super().__init__(*(_map(lambda each: np.asarray(each)[None], each) for each in first))
        pairs = zip(x, itertools.repeat(None) if y is None else y)
        self._batches = self._all_batches(itertools.chain([first], pairs))

    def _all_batches(self, pairs: Iterator[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
        while examples := list(itertools.islice(pairs, self.batch_size)):
            x, y = zip(*examples)
            yield self._features(_stacked(x)), self._labels(_stacked(y))


def _stacked(examples: Any) -> Any:
    if examples[0] is None:
        return None
    if isinstance(examples[0], dict):
        return {key: np.stack([each[key] for each in examples]) for key in examples[0]}
    return np.stack([np.asarray(each) for each in examples])
