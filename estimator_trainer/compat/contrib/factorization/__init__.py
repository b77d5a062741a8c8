"""`tf.contrib.factorization`: k-means, which is in TensorFlow and tensorflow_estimator."""

from __future__ import annotations

_OPS = "tensorflow.python.ops.clustering_ops"

NAMES = {
    **{name: f"{_OPS}.{name}" for name in (
        "COSINE_DISTANCE", "KMEANS_PLUS_PLUS_INIT", "KMeans", "RANDOM_INIT",
        "SQUARED_EUCLIDEAN_DISTANCE")},
    "KMeansClustering": "estimator_trainer.compat.contrib.factorization.kmeans.KMeansClustering",
}
_NO_KERNELS = "use another library, for TensorFlow has no kernels of it any more"
INSTEAD = {name: _NO_KERNELS for name in (
    "WALSMatrixFactorization", "WALSModel", "masked_matmul", "wals_compute_partial_lhs_and_rhs")}
