"""Imports TensorFlow, which takes seconds, once and as cheaply as possible.

The package compat comes first, and gives TensorFlow its Estimator back.
"""

import contextlib
import gc
import signal
import sys
import tempfile
import threading
from typing import Any, Iterator

from estimator_trainer import environment, errors, logs


def load(is_verbose: bool, as_tensorflow1: bool = False, counts_operations: bool = True) -> None:
    """Imports TensorFlow; unless `is_verbose`, drops what its libraries print meanwhile.

    With `as_tensorflow1`, `import tensorflow` gives plug-ins TensorFlow 1, whose random ops take
    their seeds from the number of operations if `counts_operations`.

    Raises:
      ConfigError: if there is no place for temporary files, as in a read-only container.
    """
    try:
        tempfile.gettempdir()
    except FileNotFoundError as error:
        raise errors.ConfigError(
            "there is no directory for temporary files (/tmp and others cannot be written), which"
            " TensorFlow needs to be imported; expected a writable /tmp, or TMPDIR to name another"
            " directory. For example: docker run --read-only --tmpfs /tmp") from error
    if not is_verbose:
        environment.quiet_native_logs()
    environment.trust_no_cached_sizes()
    with logs.without_native_noise(is_verbose), _uncollected(), _losing_no_signal():
        from estimator_trainer import compat  # noqa: F401
        # isort: split
        import tensorflow  # noqa: F401
        if as_tensorflow1:
            from estimator_trainer.compat import tf1
            tf1.seed_by_operations(counts_operations)
    logs.silence_tensorflow()


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Stops garbage collection within the context, and exempts what exists at its end for good.

    The 400,000 objects of TensorFlow live as long as the process. Scanning them again and again
    takes a tenth to a quarter of the import, and writes to memory that forks could share.
    """
    if "tensorflow" in sys.modules:
        yield  # Nothing is gained, and the caller's garbage would stay.
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextlib.contextmanager
def _losing_no_signal() -> Iterator[None]:
    """Handles SIGINT and SIGTERM once more at the end of the context, if it went on after them.

    A native library that is imported may clear the exception that a handler has raised.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers: dict[int, Any] = {number: signal.getsignal(number)
                                for number in (signal.SIGINT, signal.SIGTERM)}
    received: list[int] = []

    def handle(number: int, frame: Any) -> None:
        received.append(number)
        handlers[number](number, frame)

    ours = [number for number, handler in handlers.items() if callable(handler)]
    for number in ours:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, handlers[number])
    if received:
        signal.raise_signal(received[0])
