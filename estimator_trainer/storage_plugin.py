"""The storage plug-in is tensorflow-io, which opens s3:// and hdfs:// in TensorFlow 2.15."""

from __future__ import annotations

import importlib
import os
import sys

_MODULE = "tensorflow_io"


def load() -> None:
    """Loads tensorflow-io, which has to come before TensorFlow's first look at a file."""
    import logging
    try:
        importlib.import_module(_MODULE)
    except Exception as error:  # pylint: disable=broad-except
        # It was built for another TensorFlow. Each path that cannot be opened then says so.
        logging.getLogger("absl").warning("tensorflow-io cannot be loaded: %s", error)


def is_loaded() -> bool:
    """Returns whether this process has loaded tensorflow-io."""
    return _MODULE in sys.modules


def end_process(code: int) -> None:
    """Ends this process at once with an exit code.

    An ordinary end destroys tensorflow-io's file systems while threads of theirs still run, which
    aborts the process with exit code 134, however the job ended (tensorflow/io#1912,
    tensorflow/io#2039).
    """
    import logging
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
