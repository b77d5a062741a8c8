"""The start of a program that was made for the service, in its last line."""

from __future__ import annotations

import inspect
import sys


def start(user_defined_type: type) -> None:
    """Prints how to train the class here, because its program alone cannot."""
    path = inspect.getsourcefile(user_defined_type)
    sys.exit(f"train this class with: estimator-trainer --tf1"
             f" --model_fn={path}:{user_defined_type.__name__} --model_dir=DIR")
