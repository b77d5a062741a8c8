"""Types and shapes of the features and labels that an Estimator was trained with.

Source: tensorflow/contrib/learn/python/learn/estimators/tensor_signature.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf


class Signature(NamedTuple):
    """The type and shape of a tensor; the first size is a batch's, which may be another."""

    dtype: Any
    shape: Any
    is_sparse: bool

    def accepts(self, tensor: Any) -> bool:
        """Returns whether another batch may have this tensor."""
        other = signatures(tensor)
        if self.is_sparse or other.is_sparse:
            return bool((self.dtype, self.is_sparse) == (other.dtype, other.is_sparse))
        if self.dtype != other.dtype or None in (self.shape.ndims, other.shape.ndims):
            return bool(self.dtype == other.dtype)
        return bool(self.shape[1:].is_compatible_with(other.shape[1:]))

    def placeholder(self) -> Any:
        """Returns a placeholder of such a tensor."""
        v1 = tf.compat.v1
        if self.is_sparse:
            return v1.sparse_placeholder(self.dtype)
        if not self.shape.ndims:
            return v1.placeholder(self.dtype, self.shape)
        return v1.placeholder(self.dtype, [None, *self.shape[1:]])


def signatures(tensors: Any) -> Any:
    """Returns the signatures of a tensor or of a dict of them; None for None."""
    if tensors is None:
        return None
    if isinstance(tensors, dict):
        return {key: signatures(value) for key, value in tensors.items()}
    is_sparse = isinstance(tensors, tf.sparse.SparseTensor)
    return Signature(tensors.dtype, None if is_sparse else tensors.shape, is_sparse)


def check(name: str, tensors: Any, known: Any) -> Any:
    """Returns the signatures of tensors, after a look whether they are like those before.

    Raises:
      ValueError: they are not.
    """
    if known is None or tensors is None:
        return known or signatures(tensors)
    fits = (isinstance(tensors, dict) and all(
        key in tensors and each.accepts(tensors[key]) for key, each in known.items())
        if isinstance(known, dict) else not isinstance(tensors, dict) and known.accepts(tensors))
    if not fits:
        raise ValueError(f"{name} are incompatible with given information. Given: {tensors}, "
                         f"required signatures: {known}.")
    return known


def placeholders(known: Any) -> Any:
    """Returns placeholders of signatures; None for None."""
    if isinstance(known, dict):
        return {key: each.placeholder() for key, each in known.items()}
    return None if known is None else known.placeholder()
