"""Puts `estimator` back where TensorFlow 2.15 had it."""

from __future__ import annotations

import tensorflow as tf
import tensorflow.compat.v1 as tf_v1
import tensorflow.compat.v2 as tf_v2

from estimator_trainer.compat import estimator_training, legacy_keras, module_aliases, removed_tpu
from estimator_trainer.patches import private_api

# `tf.compat.v1` and `tensorflow.compat.v1` can be two module objects, and each has both again.
_V1_NAMESPACES = (tf.compat.v1, tf_v1, tf.compat.v1.compat.v1, tf.compat.v2.compat.v1)
_V2_NAMESPACES = (tf, tf.compat.v2, tf_v2, tf.compat.v1.compat.v2, tf.compat.v2.compat.v2)


def bind() -> None:
    """Supplies what tensorflow-estimator misses, imports it, and binds its two APIs."""
    legacy_keras.resolve(tf)
    private_api.supply_export_names()
    private_api.supply_module("tensorflow.python.distribute.estimator_training",
                              estimator_training)
    removed_tpu.supply(tf)

    v1_api, v2_api = private_api.estimator_api("_v1"), private_api.estimator_api("_v2")
    for namespace in _V1_NAMESPACES:
        namespace.estimator = v1_api
    for namespace in _V2_NAMESPACES:
        namespace.estimator = v2_api
    _name_modules(v1_api.__name__, v2_api.__name__)
    removed_tpu.refuse(v1_api.tpu.TPUEstimator)


def _name_modules(v1_api: str, v2_api: str) -> None:
    """Makes the modules importable by the names that they have on TensorFlow 2.15."""
    for name in ("tensorflow", "tensorflow._api.v2", "tensorflow._api.v2.v2"):
        module_aliases.add(f"{name}.estimator", v2_api)
        for outer in ("", ".compat.v1", ".compat.v2"):
            module_aliases.add(f"{name}{outer}.compat.v1.estimator", v1_api)
            module_aliases.add(f"{name}{outer}.compat.v2.estimator", v2_api)
    for name, home in private_api.ESTIMATOR_MODULES.items():
        module_aliases.add(name, home)
