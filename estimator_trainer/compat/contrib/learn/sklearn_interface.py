"""Estimators of `tf.contrib.learn` with arrays in and out, as scikit-learn has them.

Source: tensorflow/contrib/learn/python/learn/estimators/estimator.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.contrib.learn import feeder


def check_inputs(x: Any, y: Any, input_fn: Any, feed_fn: Any = None,
                 batch_size: Optional[int] = None) -> None:
    """Raises a ValueError unless inputs come either from arrays or from a function."""
    if input_fn is None:
        if x is None:
            raise ValueError("Either x or input_fn must be provided.")
        if tf.is_tensor(x) or tf.is_tensor(y):
            raise ValueError("Inputs cannot be tensors. Please provide input_fn.")
        if feed_fn is not None:
            raise ValueError("Can not provide both feed_fn and x or y.")
    elif x is not None or y is not None:
        raise ValueError("Can not provide both input_fn and x or y.")
    elif batch_size is not None:
        raise ValueError("Can not provide both input_fn and batch_size.")


def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """Returns a real-valued column of `tf.contrib.layers` for each feature."""
    from estimator_trainer.compat.contrib.layers import column_inputs
    with tf.Graph().as_default():
        return column_inputs.infer_real_valued_columns(input_fn()[0])


def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """Returns a real-valued column of `tf.contrib.layers` for each array."""
    check_inputs(x, None, None)
    return infer_real_valued_columns_from_input_fn(
        feeder.setup_train_data_feeder(x, None, shuffle=False).input_builder)


def check_metrics(metrics: Any) -> None:
    """Raises a ValueError where metrics are no dict."""
    if metrics is not None and not isinstance(metrics, dict):
        raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")


class SKCompat:
    """An Estimator with the interface of scikit-learn: arrays in and out."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(self, x: Any, y: Any, batch_size: Any = 128, steps: Any = None, max_steps: Any = None,
            monitors: Any = None) -> Any:
        """Trains from arrays, in another order in each epoch, without end unless steps are given.

        Args:
          x, y: Arrays, dicts of them, data frames or iterators of examples.
          batch_size: Examples of a batch; None for all.
          steps, max_steps, monitors: As in `Estimator.fit`.
        """
        fed = feeder.setup_train_data_feeder(x, y, None, batch_size, True, None)
        hooks = [tf.estimator.FeedFnHook(fed.get_feed_dict_fn()), *(monitors or ())]
        self._estimator.fit(input_fn=fed.input_builder, steps=steps, max_steps=max_steps,
                            monitors=hooks)
        return self

    def score(self, x: Any, y: Any, batch_size: Any = 128, steps: Any = None, metrics: Any = None,
              name: Any = None) -> Any:
        """Returns metrics of arrays by name."""
        check_metrics(metrics)
        fed = feeder.setup_train_data_feeder(x, y, None, batch_size, False, 1)
        evaluate = getattr(self._estimator, "_evaluate_model")
        return evaluate(fed.input_builder, steps, fed.get_feed_dict_fn(), metrics, name or "")

    def predict(self, x: Any, batch_size: Any = 128, outputs: Any = None) -> Any:
        """Returns the predictions of arrays, an array or a dict of them."""
        fed = feeder.setup_train_data_feeder(x, None, None, batch_size, False, 1)
        infer = getattr(self._estimator, "_infer_model")
        found = list(infer(fed.input_builder, fed.get_feed_dict_fn(), outputs, True, True))
        if not isinstance(found[0], dict):
            return np.concatenate(found)
        return {key: np.concatenate([batch[key] for batch in found]) for key in found[0]}
