"""Imports TensorFlow, which takes seconds in every start, once and as cheaply as possible.

The package compat comes first, and gives TensorFlow back its Estimator.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import tempfile
from typing import Iterator

from estimator_trainer import environment, errors, logs


def load(is_verbose: bool, as_tensorflow1: bool = False) -> None:
    """Imports TensorFlow, without what its libraries print meanwhile unless `is_verbose`.

    Args:
      is_verbose: Whether everything is printed.
      as_tensorflow1: Whether plug-ins get TensorFlow 1's names and behaviour by `tensorflow`.

    Raises:
      ConfigError: Nothing may be written where temporary files go, as in a read-only container.
    """
    _check_temporary_files()
    if not is_verbose:
        environment.quiet_native_logs()
    environment.trust_no_cached_sizes()
    with logs.without_native_noise(is_verbose), _uncollected():
        from estimator_trainer import compat  # noqa: F401
        # isort: split
        import tensorflow  # noqa: F401
        if as_tensorflow1:
            from estimator_trainer.compat import tf1  # noqa: F401
    logs.silence_tensorflow()


def _check_temporary_files() -> None:
    """Says in a sentence what would end the import of TensorFlow, which makes such files."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError as error:
        raise errors.ConfigError(
            "there is no directory for temporary files (/tmp and others cannot be written), which"
            " TensorFlow needs to be imported; expected a writable /tmp, or TMPDIR to name another"
            " directory. For example: docker run --read-only --tmpfs /tmp") from error


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Keeps garbage collection off within the context, and off what exists at its end for ever.

    The 400,000 objects of TensorFlow stay as long as the process; to walk through them again and
    again, while they grow in number, takes a tenth to a quarter of the import. Forks share their
    memory as long as nothing writes to it.
    """
    if "tensorflow" in sys.modules:
        yield  # There is nothing to gain, and garbage of the caller's would stay.
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
