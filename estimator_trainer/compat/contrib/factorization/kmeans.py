"""Clusters of points, by k-means, as an Estimator of `tf.estimator`.

Source: tensorflow/contrib/factorization/python/ops/kmeans.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator

from tensorflow_estimator.python.estimator.canned import kmeans


class KMeansClustering(kmeans.KMeansClustering):
    """Finds clusters; distances are squared where they are Euclidean.

    Args:
      num_clusters: How many.
      model_dir, config: As in `tf.estimator.Estimator`.
      initial_clusters: An array, a function, or one of the ways to choose points.
      distance_metric: "squared_euclidean" or "cosine".
      random_seed: The seed of the choice.
      use_mini_batch: Whether a batch is only a part of the points.
      mini_batch_steps_per_iteration: After how many steps clusters move.
      kmeans_plus_plus_num_retries: How many points k-means++ tries for a cluster.
      relative_tolerance: At which change of the loss to stop; None for never.
      feature_columns: Columns of `tf.feature_column`, whose values are the points.
    """

    def __init__(self, num_clusters: int, model_dir: Any = None,
                 initial_clusters: Any = kmeans.KMeansClustering.RANDOM_INIT,
                 distance_metric: str = kmeans.KMeansClustering.SQUARED_EUCLIDEAN_DISTANCE,
                 random_seed: int = 0, use_mini_batch: bool = True,
                 mini_batch_steps_per_iteration: int = 1, kmeans_plus_plus_num_retries: int = 2,
                 relative_tolerance: Any = None, config: Any = None,
                 feature_columns: Any = None) -> None:
        super().__init__(num_clusters, model_dir, initial_clusters, distance_metric, random_seed,
                         use_mini_batch, mini_batch_steps_per_iteration,
                         kmeans_plus_plus_num_retries, relative_tolerance, config, feature_columns)

    def transform(self, input_fn: Callable[..., Any]) -> Iterator[Any]:
        """Returns an iterator of each point's distances to all clusters."""
        for each in self.predict(input_fn, [self.ALL_DISTANCES]):
            yield each[self.ALL_DISTANCES]
