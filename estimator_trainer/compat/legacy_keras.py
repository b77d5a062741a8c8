"""Makes `tf.keras` Keras 2, which Estimator and model_fns with Keras layers need.

TensorFlow decides between Keras 2 (the package tf_keras) and Keras 3 by the environment
variable TF_USE_LEGACY_KERAS, partly when it is first imported and partly when each `keras`
attribute is first used. Set between the two, `tf.keras` is a mixture of both.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from estimator_trainer import environment, versions
from estimator_trainer.errors import ConfigError
from estimator_trainer.patches import private_api

_FIRST = ("put `import estimator_trainer.compat` before the first `import tensorflow`, or "
          f"type: export {versions.LEGACY_KERAS_VARIABLE}=1")


def choose() -> None:
    """Chooses Keras 2 for a TensorFlow not yet imported, checks it for an imported one.

    Raises:
      ConfigError: TensorFlow was imported with Keras 3.
    """
    chosen = versions.means_legacy_keras(environment.read().legacy_keras)
    if "tensorflow" in sys.modules and not private_api.imported_with_legacy_keras(chosen):
        raise ConfigError("tensorflow was imported before estimator_trainer.compat, with Keras 3 "
                          f"as tf.keras; Estimator needs Keras 2: {_FIRST}")
    if not chosen:
        environment.choose_legacy_keras()


def resolve(tf: Any) -> None:
    """Loads every lazy `keras` of TensorFlow now, and checks that each is Keras 2.

    Left to the first use, worker threads that come first together end in a RecursionError:
    the loaders are not thread-safe, and read the variable each time.

    Raises:
      ConfigError: `tf.keras` is not Keras 2.
    """
    for root in (tf, tf.compat.v1, tf.compat.v2, importlib.import_module("tensorflow.compat.v1")):
        dir(root.keras)
    for alias in (tf.losses, tf.metrics, tf.optimizers, tf.initializers, tf.compat.v1.layers,
                  tf.compat.v1.nn.rnn_cell):
        dir(alias)
    source = tf.keras.layers.Layer.__module__
    if not source.startswith("tf_keras."):
        raise ConfigError(f"tf.keras.layers comes from {source!r} (from tensorflow, imported "
                          f"earlier); expected tf_keras: {_FIRST}")
