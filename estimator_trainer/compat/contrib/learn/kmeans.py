"""Clusters of points, by k-means, as an Estimator of `tf.contrib.learn`.

Source: tensorflow/contrib/learn/python/learn/estimators/kmeans.py of TensorFlow 1.15. Clusters:
Sculley, "Web-Scale K-Means Clustering", WWW 2010; k-means++: Arthur and Vassilvitskii, SODA 2007.
"""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import clustering_ops
from tensorflow_estimator.python.estimator.canned import kmeans

from estimator_trainer.compat.contrib.learn.estimator import Estimator
from estimator_trainer.compat.contrib.learn.model_fn import ModelFnOps


class KMeansClustering(Estimator):
    """Finds clusters.

    Args:
      num_clusters: How many.
      model_dir, config: As in Estimator.
      initial_clusters: An array, or one of the two ways to choose points.
      distance_metric: One of the two distances.
      random_seed: The seed of the choice.
      use_mini_batch: Whether a batch is only a part of the points.
      mini_batch_steps_per_iteration: After how many steps clusters move.
      kmeans_plus_plus_num_retries: How many points k-means++ tries for a cluster.
      relative_tolerance: At which change of the loss to stop; None for never.
    """

    SQUARED_EUCLIDEAN_DISTANCE = clustering_ops.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = clustering_ops.COSINE_DISTANCE
    RANDOM_INIT = clustering_ops.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = clustering_ops.KMEANS_PLUS_PLUS_INIT
    SCORES, CLUSTER_IDX, CLUSTERS = "scores", "cluster_idx", "clusters"
    ALL_SCORES, LOSS_OP_NAME = "all_scores", "kmeans_loss"

    def __init__(self, num_clusters: int, model_dir: Any = None,
                 initial_clusters: Any = RANDOM_INIT,
                 distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE, random_seed: int = 0,
                 use_mini_batch: bool = True, mini_batch_steps_per_iteration: int = 1,
                 kmeans_plus_plus_num_retries: int = 2, relative_tolerance: Any = None,
                 config: Any = None) -> None:
        super().__init__(_model_fn, model_dir, config, {
            "relative_tolerance": relative_tolerance, "kmeans": {
                "num_clusters": num_clusters, "initial_clusters": initial_clusters,
                "distance_metric": distance_metric, "use_mini_batch": use_mini_batch,
                "mini_batch_steps_per_iteration": mini_batch_steps_per_iteration,
                "random_seed": random_seed,
                "kmeans_plus_plus_num_retries": kmeans_plus_plus_num_retries}})

    def predict_cluster_idx(self, input_fn: Any = None) -> Iterator[Any]:
        """Returns an iterator of the points' clusters."""
        for each in self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]):
            yield each[self.CLUSTER_IDX]

    def score(self, input_fn: Any = None, steps: Any = None) -> Any:
        """Returns the sum of the points' distances to their clusters."""
        return np.sum(self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES])

    def transform(self, input_fn: Any = None, as_iterable: bool = False) -> Any:
        """Returns the points' distances to all clusters."""
        found = self.predict(input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=as_iterable)
        return found if as_iterable else found[self.ALL_SCORES]

    def clusters(self) -> Any:
        """Returns the clusters, [num_clusters, size]."""
        return self.get_variable_value(self.CLUSTERS)


def _model_fn(features: Any, labels: Any, mode: str, params: Any, config: Any) -> ModelFnOps:
    assert labels is None, labels
    if isinstance(features, dict):
        features = tf.concat([features[key] for key in sorted(features)], 1)
    scores, clusters, losses, is_initialized, init_op, train_op = clustering_ops.KMeans(
        features, **params["kmeans"]).training_graph()
    v1 = tf.compat.v1
    step = v1.assign_add(v1.train.get_global_step(), 1)
    loss = tf.reduce_sum(losses, name=KMeansClustering.LOSS_OP_NAME)
    v1.summary.scalar("loss/raw", loss)
    hooks = [getattr(kmeans, "_InitializeClustersHook")(init_op, is_initialized, config.is_chief)]
    if params["relative_tolerance"] is not None:
        hooks.append(getattr(kmeans, "_LossRelativeChangeHook")(loss,
                                                                params["relative_tolerance"]))
    with tf.control_dependencies([train_op, step]):
        train_op = tf.identity(loss)
    return ModelFnOps(mode, {KMeansClustering.ALL_SCORES: scores[0],
                             KMeansClustering.CLUSTER_IDX: clusters[0]}, loss, train_op,
                      {KMeansClustering.SCORES: loss}, training_hooks=hooks)
