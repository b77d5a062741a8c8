"""`tf.contrib.nn`: losses with their arguments the other way round, sampled losses, activations."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.nn"
NAMES = {
    **{name: f"{_HERE}.activations.{name}" for name in ("alpha_dropout", "scaled_softplus")},
    **{f"deprecated_flipped_{name}_cross_entropy_with_logits":
       f"{_HERE}.cross_entropy.{name}_cross_entropy"
       for name in ("sigmoid", "softmax", "sparse_softmax")},
    **{name: f"{_HERE}.sampled_losses.{name}" for name in (
        "rank_sampled_softmax_loss", "sampled_sparse_softmax_loss")},
    "conv1d_transpose": "tf.nn.conv1d_transpose",
    "nth_element": "tensorflow.python.ops.nn_ops.nth_element",
}
