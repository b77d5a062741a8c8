"""The order of two imports, which notebooks begin with."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
