"""Keras models as estimators of scikit-learn: `tf.keras.wrappers.scikit_learn`.

Source: the documentation of TensorFlow 1.15
"""

from __future__ import annotations

import copy
import inspect
from typing import Any, Callable, Mapping, Optional

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.tensorflow1 import keras_methods

_KERAS: Any = tf.compat.v1.keras
_Model: Any = _KERAS.Model


class BaseWrapper:
    """A model that a function builds, with arguments that scikit-learn sets.

    Args:
      build_fn: Returns a compiled model; None where the class itself has a `__call__` that does.
      **sk_params: Arguments of build_fn, and of the model's fit, predict and evaluate.

    Raises:
      ValueError: No function takes an argument of that name.
    """

    def __init__(self, build_fn: Optional[Callable[..., Any]] = None, **sk_params: Any) -> None:
        self.build_fn, self.sk_params = build_fn, sk_params
        self.check_params(sk_params)

    def _builder(self) -> Any:
        if self.build_fn is None:
            return getattr(self, "__call__")
        if inspect.isfunction(self.build_fn) or inspect.ismethod(self.build_fn):
            return self.build_fn
        return self.build_fn.__call__  # type: ignore[operator]

    def check_params(self, params: Mapping[str, Any]) -> None:
        """Raises ValueError for an argument that no function takes."""
        functions = (_Model.fit, _Model.predict, _Model.evaluate, self._builder())
        for name in params:
            if name != "nb_epoch" and not any(_takes(each, name) for each in functions):
                raise ValueError(f"{name} is not a legal parameter")

    def get_params(self, **params: Any) -> dict[str, Any]:
        """Returns the arguments by their names; takes what scikit-learn gives."""
        del params
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> BaseWrapper:
        """Sets arguments, and returns the wrapper."""
        self.check_params(params)
        self.sk_params.update(params)
        return self

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Builds a model, trains it, and returns its History.

        Args:
          x: [samples, ...] inputs.
          y: [samples] or [samples, outputs] labels.
          **kwargs: Arguments of the model's fit.
        """
        builder = self._builder()
        self.model = (self.build_fn or builder)(**self.filter_sk_params(builder))
        options = copy.deepcopy(self.filter_sk_params(_Model.fit))
        return self.model.fit(x, self._targets(y), **{**options, **kwargs})

    def _targets(self, y: Any) -> Any:
        """Returns labels, one-hot where the model's loss takes such."""
        loss = self.model.loss
        is_categorical = getattr(loss, "__name__", loss) == "categorical_crossentropy"
        return _KERAS.utils.to_categorical(y) if is_categorical and np.ndim(y) != 2 else y

    def filter_sk_params(self, fn: Any, override: Optional[Mapping[str, Any]] = None
                         ) -> dict[str, Any]:
        """Returns the arguments that a function takes, those of `override` first."""
        taken = {name: value for name, value in self.sk_params.items() if _takes(fn, name)}
        return {**taken, **(override or {})}


class KerasClassifier(BaseWrapper):
    """A classifier.

    Attributes:
      classes_: The classes, sorted.
      n_classes_: How many there are.
    """

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Trains a model for labels [samples], or one-hot ones [samples, classes].

        Raises:
          ValueError: The labels have another shape.
        """
        y = np.array(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif y.ndim == 1 or y.ndim == 2 and y.shape[1] == 1:
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError(f"Invalid shape for y: {y.shape}")
        self.n_classes_ = len(self.classes_)
        return super().fit(x, y, **kwargs)

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """Returns the classes of inputs; [samples, 1] where the model has one output."""
        found = self.model.predict(x, **self.filter_sk_params(_Model.predict, kwargs))
        return self.classes_[keras_methods.classes_of(found)]

    def predict_proba(self, x: Any, **kwargs: Any) -> Any:
        """Returns the probabilities [samples, classes]."""
        found = self.model.predict(x, **self.filter_sk_params(_Model.predict, kwargs))
        return np.hstack([1 - found, found]) if found.shape[1] == 1 else found

    def score(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Returns the mean accuracy.

        Raises:
          ValueError: The model was compiled without the metric accuracy.
        """
        y = self._targets(np.searchsorted(self.classes_, y))
        found = self.model.evaluate(x, y, **self.filter_sk_params(_Model.evaluate, kwargs))
        for name, value in zip(self.model.metrics_names,
                               found if isinstance(found, list) else [found]):
            if name in ("accuracy", "acc"):
                return value
        raise ValueError('The model has no accuracy; expected metrics=["accuracy"] in its '
                         'compile().')


class KerasRegressor(BaseWrapper):
    """A regressor."""

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """Returns predictions, without dimensions of size 1."""
        return np.squeeze(self.model.predict(x, **self.filter_sk_params(_Model.predict, kwargs)))

    def score(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Returns the negative loss, as more is better to scikit-learn."""
        found = self.model.evaluate(x, y, **self.filter_sk_params(_Model.evaluate, kwargs))
        return -found[0] if isinstance(found, list) else -found


def _takes(function: Any, name: str) -> bool:
    return name in inspect.signature(function).parameters
