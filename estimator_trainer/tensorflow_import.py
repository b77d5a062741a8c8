"""The import of TensorFlow: what takes seconds in every start, made once and as cheap as it can be.

Before anything else of TensorFlow, compat gives it back its Estimator.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from typing import Iterator

from estimator_trainer import environment
from estimator_trainer import logs


def load(is_verbose: bool) -> None:
    """Imports TensorFlow, without what its libraries print meanwhile unless `is_verbose`."""
    if not is_verbose:
        environment.quiet_native_logs()
    environment.trust_no_cached_sizes()
    with logs.without_native_noise(is_verbose), _uncollected():
        from estimator_trainer import compat  # noqa: F401
        # isort: split
        import tensorflow  # noqa: F401
    logs.silence_tensorflow()


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Within it, to import TensorFlow in: no garbage is looked for, nor in what is left, ever.

    Its 400,000 objects stay as long as the process; to walk through them again and again, while
    they grow in number, takes a tenth to a quarter of the import. A fork shares them all the
    longer if nothing writes to them.
    """
    if "tensorflow" in sys.modules:
        yield  # Nothing to gain, and garbage of the caller's would stay.
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
