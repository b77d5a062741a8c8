"""Imports of TensorFlow: in the order of notebooks, and with a signal meanwhile."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys

import pytest

from estimator_trainer import tensorflow_import
from tests.support import jobs

pytestmark = pytest.mark.cluster


def test_load_leaves_a_later_import_of_tensorflow_as_it_is():
    program = ("import estimator_trainer\nimport tensorflow as tf\n"
               "print(tf.keras.layers.Dense.__module__)\n"
               "import estimator_trainer.compat\nprint(tf.estimator.Estimator.__name__)")
    environment = {k: v for k, v in jobs.environment().items() if k != "TF_USE_LEGACY_KERAS"}
    ran = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True,
                         text=True, cwd=jobs.REPO, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert not ran.stdout.startswith("keras.src.layers.core.dense") or "2.15" in _tensorflow()
    assert "Estimator" in ran.stdout


def _tensorflow():
    import tensorflow as tf
    return tf.__version__


def test_losing_no_signal_ends_an_import_that_clears_the_exception():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), tensorflow_import._losing_no_signal():
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_losing_no_signal_leaves_an_import_without_signals_alone():
    before = signal.getsignal(signal.SIGTERM)
    with tensorflow_import._losing_no_signal():
        pass
    assert signal.getsignal(signal.SIGTERM) is before
