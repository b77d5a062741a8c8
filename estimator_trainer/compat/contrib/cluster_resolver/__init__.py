"""`tf.contrib.cluster_resolver`, which is `tf.distribute.cluster_resolver` today."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.cluster_resolver.resolvers"
_HOME = "tf.distribute.cluster_resolver"

NAMES = {
    **{name: f"{_HOME}.{name}" for name in (
        "ClusterResolver", "GCEClusterResolver", "KubernetesClusterResolver",
        "SimpleClusterResolver", "TFConfigClusterResolver")},
    "GceClusterResolver": f"{_HOME}.GCEClusterResolver",
    "SlurmClusterResolver": f"{_HERE}.SlurmClusterResolver",
    "TPUClusterResolver": f"{_HERE}.TPUClusterResolver",
    "UnionClusterResolver": f"{_HOME}.UnionResolver",
}
