"""Trains and evaluates a tf.estimator model from a model_fn and an input_fn.

    import estimator_trainer

    result = estimator_trainer.train(model_fn="cnn", input_fn="digits", model_dir="/tmp/digits")
    print(result.metrics["accuracy"])

`train`, `evaluate`, `average`, `predict`, `export`, `check`, `launch`, `report` and `show` are in
`estimator_trainer/api.py`, and do what the commands of these names do.
"""

from __future__ import annotations

import sys
from typing import Any, TYPE_CHECKING

from estimator_trainer import environment, versions

__version__ = "1.0.0"

if TYPE_CHECKING:
    from estimator_trainer.api import (average, check, ConfigError, evaluate, export, Interrupted,
                                       launch, predict, report, Result, show, train, TrainerError)

__all__ = ["average", "check", "ConfigError", "evaluate", "export", "Interrupted", "launch",
           "predict", "report", "Result", "show", "train", "TrainerError"]


if "tensorflow" not in sys.modules and versions.installed().mode == "compat" and (
        not environment.read().legacy_keras):
    # A notebook imports TensorFlow after this package, and Estimator needs Keras 2.
    environment.choose_legacy_keras()


def __getattr__(name: str) -> Any:
    # `import estimator_trainer.compat` of a program that wants tf.estimator alone takes no more.
    if name in __all__:
        from estimator_trainer import api
        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    # The public names, for completion.
    return sorted({*__all__, "__version__"})
