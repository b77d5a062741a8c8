"""`tf.contrib.kernel_methods`: random features, a linear model of them, and a hinge loss."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.kernel_methods"

NAMES = {
    "KernelLinearClassifier": f"{_HERE}.classifier.KernelLinearClassifier",
    "RandomFourierFeatureMapper": f"{_HERE}.mapper.RandomFourierFeatureMapper",
    "InvalidShapeError": f"{_HERE}.mapper.InvalidShapeError",
    "sparse_multiclass_hinge_loss": f"{_HERE}.losses.sparse_multiclass_hinge_loss",
}
