"""`tf.contrib.cluster_resolver`, which is `tf.distribute.cluster_resolver` today."""

from __future__ import annotations

_HOME = "tf.distribute.cluster_resolver"

NAMES = {
    **{name: f"{_HOME}.{name}" for name in (
        "ClusterResolver", "KubernetesClusterResolver", "SimpleClusterResolver",
        "SlurmClusterResolver", "TFConfigClusterResolver", "TPUClusterResolver")},
    "GceClusterResolver": f"{_HOME}.GCEClusterResolver",
    "UnionClusterResolver": f"{_HOME}.UnionResolver",
}
