"""`tf.contrib.training`: changes of gradients that `create_train_op` makes.

Follows the API of `tensorflow/contrib/training/python/training/training.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import tensorflow as tf

_Gradients = Sequence[tuple[Any, Any]]


def clip_gradient_norms_fn(max_norm: Any) -> Callable[[_Gradients], _Gradients]:
    """Returns a `transform_grads_fn` of `create_train_op` that clips each gradient's norm."""
    def clipped(gradient: Any) -> Any:
        if gradient is None:
            return None
        if isinstance(gradient, tf.IndexedSlices):
            return tf.IndexedSlices(tf.clip_by_norm(gradient.values, max_norm), gradient.indices,
                                    gradient.dense_shape)
        return tf.clip_by_norm(gradient, max_norm)

    return lambda gradients_to_variables: [
        (clipped(gradient), variable) for gradient, variable in gradients_to_variables]
