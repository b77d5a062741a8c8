"""Masks of weights: 0 where a weight is left out, and the collections in which they are.

Follows the API of `tensorflow/contrib/model_pruning/python/pruning.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_V1: Any = tf.compat.v1
MASKS, THRESHOLDS, MASKED, WEIGHTS = "masks", "thresholds", "masked_weights", "kernel"
_MASKED_NAME = "weights/masked_weight"


def masked(mask: Any, weights: Any, threshold: Any) -> Any:
    """Returns weights times their mask, which are in the collections from now on."""
    found = tf.multiply(mask, weights, _MASKED_NAME)
    if not any(mask is each for each in _V1.get_collection_ref(MASKS)):
        for name, value in ((THRESHOLDS, threshold), (MASKS, mask), (MASKED, found),
                            (WEIGHTS, weights)):
            _V1.add_to_collection(name, value)
    return found


def mask_of(layer: Any, shape: Any) -> Any:
    """Makes a layer's variable `mask`, ones."""
    return layer.add_weight(name="mask", shape=shape, initializer=_V1.ones_initializer(),
                            trainable=False, dtype=layer.dtype)


def threshold_of(layer: Any) -> Any:
    """Makes a layer's variable `threshold`, 0."""
    return layer.add_weight(name="threshold", shape=[], initializer=_V1.zeros_initializer(),
                            trainable=False, dtype=layer.dtype)


def apply_mask(x: Any, scope: Any = "") -> Any:
    """Returns weights times a mask of ones, a variable `mask` that is made in `scope`."""
    with _V1.variable_scope(scope):
        mask = _V1.get_variable("mask", x.shape, x.dtype.base_dtype, _V1.ones_initializer(),
                                trainable=False)
    with _V1.variable_scope(scope):
        threshold = _V1.get_variable("threshold", [], x.dtype.base_dtype,
                                     _V1.zeros_initializer(), trainable=False)
    return masked(mask, x, threshold)


def get_masked_weights() -> Any:
    """Returns the weights times their masks."""
    return _V1.get_collection(MASKED)


def get_masks() -> Any:
    """Returns the masks."""
    return _V1.get_collection(MASKS)


def get_thresholds() -> Any:
    """Returns the sizes below which weights are masked."""
    return _V1.get_collection(THRESHOLDS)


def get_weights() -> Any:
    """Returns the weights."""
    return _V1.get_collection(WEIGHTS)


def get_weight_sparsity() -> Any:
    """Returns the part of each mask that is 0."""
    return [tf.math.zero_fraction(each) for each in get_masks()]
