"""Estimators and optimizers with something added: forwarded features, clipped gradients.

Definition: tensorflow_estimator/contrib/estimator/python/estimator/extenders.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Sequence, Union

import tensorflow as tf

_V1: Any = tf.compat.v1
_Optimizer: Any = tf.compat.v1.train.Optimizer


def forward_features(estimator: Any, keys: Union[None, str, Sequence[str]] = None,
                     sparse_default_values: Optional[Mapping[str, Any]] = None) -> Any:
    """Returns an Estimator whose predictions have features beside them, unchanged.

    Args:
      estimator: The Estimator to take the model from.
      keys: A key of the features or a list of them; None for all.
      sparse_default_values: For a sparse feature, by key: the value of what it lacks.

    Raises:
      TypeError: A key is not a string.
      ValueError: A key is no feature, is a prediction, or its feature is sparse.
    """
    chosen = [keys] if isinstance(keys, str) else keys
    if chosen is not None and not isinstance(chosen, (list, tuple)):
        raise TypeError("keys should be either a string or a list of strings. "
                        f"Given: {type(keys)}")
    for key in chosen or ():
        if not isinstance(key, str):
            raise TypeError("All items in the given keys list should be a string. There exist "
                            f"an item with type: {type(key)}")

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        if spec.predictions is None:
            return spec
        forwarded = _forwarded(features, spec.predictions, chosen, sparse_default_values or {})
        spec.predictions.update(forwarded)
        for name in ("predict", "serving_default"):
            output = (spec.export_outputs or {}).get(name)
            if isinstance(output, _V1.estimator.export.PredictOutput):
                output.outputs.update(forwarded)
        return spec

    return _V1.estimator.Estimator(model_fn, estimator.model_dir, estimator.config)


def _forwarded(features: Mapping[str, Any], predictions: Any, keys: Optional[Sequence[str]],
               defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the chosen features as dense Tensors."""
    if not isinstance(predictions, dict):
        raise ValueError("Predictions should be a dict to be able to forward features. "
                         f"Given: {type(predictions)}")
    found = {}
    for key in list(features) if keys is None else keys:
        if key not in features:
            raise ValueError(f"keys should be exist in features. Key \"{key}\" is not in features "
                             f"dict, which has the keys: {sorted(features)}.")
        if key in predictions:
            raise ValueError(f"Cannot forward feature key ({key}). Since it does exist in "
                             f"predictions, which have the keys: {sorted(predictions)}.")
        value = _V1.convert_to_tensor_or_sparse_tensor(features[key])
        sparse = isinstance(value, tf.sparse.SparseTensor)
        if key in defaults and not sparse:
            raise ValueError(f"Feature ({key}) is expected to be a `SparseTensor`.")
        if sparse and key not in defaults:
            raise ValueError(f"Feature ({key}) should be a Tensor. Use `keys` of forward_features "
                             "to leave it out, or add key to `sparse_default_values`.")
        found[key] = tf.sparse.to_dense(value, defaults[key]) if sparse else value
    return found


def clip_gradients_by_norm(optimizer: Any, clip_norm: float) -> Any:
    """Returns an optimizer that clips the gradients to a global norm of `clip_norm`."""
    def clip(grads_and_vars: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        grads, variables = zip(*grads_and_vars)
        return list(zip(tf.clip_by_global_norm(grads, clip_norm)[0], variables))

    return _Transformed(optimizer, clip, f"ClipByNorm{optimizer.get_name()}")


class _Transformed(_Optimizer):
    """An optimizer whose (gradient, variable) pairs go through a function first."""

    def __init__(self, optimizer: Any, transform: Callable[[Any], Any], name: str) -> None:
        super().__init__(False, name)
        self._optimizer, self._transform = optimizer, transform

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: Optional[str] = None) -> Any:
        return self._optimizer.apply_gradients(
            self._transform(list(grads_and_vars)), global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        return self._optimizer.variables()
