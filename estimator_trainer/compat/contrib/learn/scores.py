"""Scores of predictions, and the division of arrays, without scikit-learn.

Source: tensorflow/contrib/learn/python/learn/estimators/_sklearn.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np


def accuracy_score(y_true: Any, y_pred: Any) -> Any:
    """Returns the part of the predictions that equal their labels."""
    return np.average(y_true == y_pred)


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """Returns the mean of the squared differences."""
    return np.average(np.square(np.squeeze(y_true) - np.squeeze(y_pred)))


def train_test_split(*arrays: Any, test_size: Optional[float] = None,
                     train_size: Optional[float] = None,
                     random_state: Optional[int] = None) -> tuple[Any, ...]:
    """Divides the rows of arrays at random.

    Args:
      *arrays: Arrays of the same number of rows.
      test_size: The part that is for tests.
      train_size: The part that is for training; by default the rest, or 0.75.
      random_state: A seed.

    Returns:
      The rows for training and those for tests of each array in turn.
    """
    if train_size is None:
        train_size = 0.75 if test_size is None else 1 - test_size
    count = int(train_size * arrays[0].shape[0])
    np.random.seed(random_state)
    order = np.random.permutation(arrays[0].shape[0])
    return tuple(each.take(rows, axis=0) for each in arrays
                 for rows in (order[:count], order[count:]))
