"""The hint at --tf1, for a program that misses a name of TensorFlow 1."""

from __future__ import annotations

import re
import sys

from estimator_trainer import errors

_MISSING = re.compile(r"module '(tensorflow|tf_keras|keras)\S*' has no attribute '(\w+)'"
                      r"|No module named '(tensorflow\.contrib\S*)'")


def of(error: BaseException) -> str:
    """Returns a sentence if `error` is what a program of TensorFlow 1 raises, else ""."""
    missing = _MISSING.search(str(error))
    version = str(getattr(sys.modules.get("tensorflow"), "__version__", ""))
    if not missing or version.startswith("1."):
        return ""
    return (f" If {missing[2] or missing[3]} is a name of TensorFlow 1, add --tf1, which gives"
            " programs the names and the behaviour of TensorFlow 1.")


def print_traceback(error: BaseException) -> None:
    """Prints the traceback of an error of the user's code, and the hint if it is of use."""
    errors.print_traceback(error)
    hint = of(error)
    if hint:
        print(f"estimator-trainer:{hint}", file=sys.stderr)
