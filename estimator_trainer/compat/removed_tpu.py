"""Stands in for the TPU modules that TensorFlow removed together with Estimator.

tensorflow-estimator imports them whether or not there is a TPU, so the import must work, and
what needs them must say so by its name when it is used.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from estimator_trainer.errors import ConfigError
from estimator_trainer.patches import private_api

_MODULES = ("tpu_embedding", "tpu_embedding_gradient", "session_support")
# Names of tpu_embedding that Estimator reads in `tf.compat.v1.tpu.experimental`.
_PUBLIC = ("AdagradParameters", "AdamParameters", "FtrlParameters",
           "StochasticGradientDescentParameters")
_WHY = ("TensorFlow 2.16 removed what it needs, and nothing replaces it. Use "
        "tf.estimator.Estimator on CPU and GPU, or TensorFlow 2.15 on TPU")


class NoTPUError(ConfigError, NotImplementedError):
    """A program wants a TPU, for which this TensorFlow has no Estimator."""


class StandIn(ModuleType):
    """A module in which every name is a class that cannot be instantiated.

    Classes, because Estimator uses some of the names in `isinstance`.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        full_name = f"{self.__name__}.{name}"

        def refuse(cls: Any, *args: Any, **kwargs: Any) -> Any:
            raise NoTPUError(f"{full_name} cannot work: {_WHY}.")

        value = type(name, (), {"__new__": refuse, "__module__": self.__name__})
        setattr(self, name, value)
        return value


def supply(tf: Any) -> None:
    """Makes the modules importable, and the names of `tf.compat.v1.tpu.experimental` exist."""
    for name in _MODULES:
        private_api.supply_module(f"tensorflow.python.tpu.{name}",
                                  StandIn(f"tensorflow.python.tpu.{name}"))
    public = tf.compat.v1.tpu.experimental
    embedding = StandIn("tf.compat.v1.tpu.experimental")
    for name in _PUBLIC:
        if not hasattr(public, name):
            setattr(public, name, getattr(embedding, name))


def refuse(tpu_estimator: Any) -> None:
    """Makes the class `TPUEstimator` refuse `use_tpu=True`, its default, when constructed."""
    construct = tpu_estimator.__init__

    @functools.wraps(construct)
    def construct_without_tpu(self: Any, model_fn: Any = None, model_dir: Any = None,
                              config: Any = None, params: Any = None, use_tpu: bool = True,
                              *args: Any, **kwargs: Any) -> None:
        if use_tpu:
            raise NoTPUError(f"TPUEstimator with use_tpu=True cannot work: {_WHY}; "
                             "with use_tpu=False it trains here.")
        construct(self, model_fn, model_dir, config, params, use_tpu, *args, **kwargs)

    tpu_estimator.__init__ = construct_without_tpu
