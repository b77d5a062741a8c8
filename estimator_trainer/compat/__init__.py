"""`tf.estimator` on TensorFlow 2.16 and newer: importing this package is all there is to do.

    import estimator_trainer.compat  # before tensorflow
    import tensorflow as tf

    tf.estimator.train_and_evaluate(...)

TensorFlow 2.16 removed `tf.estimator`; tensorflow-estimator 2.15.0, its last release, runs on
newer TensorFlow once it finds what went with it. On 2.15 the import only lets modules that had
moved before be imported by their old names.

    legacy_keras.py        makes `tf.keras` Keras 2, before TensorFlow is imported
    private_api.py         every private name of TensorFlow that this package touches
    estimator_training.py  stands in for the removed glue to the distribute coordinator
    removed_tpu.py         stands in for the removed TPU modules, refuses TPUEstimator by name
    binding.py             puts `estimator` back into the `tf` namespaces
    module_aliases.py      lets modules be imported by the names that they had
    tf1.py                 gives programs TensorFlow 1, by an import of its own
"""

from __future__ import annotations

import functools

from absl import logging

from estimator_trainer import environment, versions
from estimator_trainer.compat import legacy_keras, module_aliases
from estimator_trainer.errors import ConfigError
from estimator_trainer.patches import private_api

__all__ = ["install"]


@functools.lru_cache(maxsize=None)
def install() -> versions.Versions:
    """Makes `tf.estimator` work; a second call does nothing.

    Returns:
      The versions found; `mode` says whether Estimator is native or comes from here.

    Raises:
      ConfigError: The installed packages cannot work together, or TensorFlow was imported
        with Keras 3 before this was called.
    """
    found = versions.installed()
    problems = versions.problems(found, environment.read().legacy_keras)
    if problems:
        raise ConfigError("\n".join(problems))
    for name, home in private_api.MOVED_MODULES.items():
        module_aliases.add(name, home)
    if found.mode == "compat":
        for sentence in versions.warnings(found):
            logging.warning("%s", sentence)
        legacy_keras.choose()
        # Imports TensorFlow, so it must not come before Keras is chosen, nor happen on 2.15.
        from estimator_trainer.compat import binding
        binding.bind()
    return found


install()
