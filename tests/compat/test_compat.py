"""`import estimator_trainer.compat` gives `tf.estimator` back, and changes nothing on 2.15."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from estimator_trainer import compat  # Before TensorFlow.
from estimator_trainer import versions
from estimator_trainer.compat import legacy_keras
from estimator_trainer.errors import ConfigError
from estimator_trainer.patches import private_api
from tests.support import jobs

# isort: split
import tensorflow as tf

NATIVE = versions.installed().mode == "native"


def run_python(code, **variables):
    """Runs `code` in a new interpreter that knows nothing of this one's environment."""
    hidden = ("TF_CONFIG", versions.LEGACY_KERAS_VARIABLE)
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    env.update(PYTHONPATH=str(jobs.REPO), CUDA_VISIBLE_DEVICES="-1", TF_CPP_MIN_LOG_LEVEL="3")
    env.update(variables)
    return subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=env, timeout=120,
                          check=False, capture_output=True, text=True)


def last_line(text):
    return text.strip().splitlines()[-1]


@pytest.mark.cluster
def test_the_import_alone_gives_tf_estimator_and_nothing_new_on_2_15():
    code = """
import json, os, sys
before = dict(os.environ)
import estimator_trainer.compat
loaded, changed = "tensorflow" in sys.modules, set(os.environ.items()) ^ set(before.items())
supplied = [name for name in sys.modules if name.startswith("estimator_trainer.compat.")]
import tensorflow as tf
print(json.dumps([loaded, sorted(changed), supplied, tf.estimator.Estimator.__name__]))
"""
    run = run_python(code)
    loaded, changed, supplied, name = json.loads(last_line(run.stdout))
    assert name == "Estimator" or name == "EstimatorV2"
    assert loaded is not NATIVE
    assert changed == ([] if NATIVE else [["TF_USE_LEGACY_KERAS", "1"]])
    assert ("estimator_trainer.compat.binding" in supplied) is not NATIVE


def test_a_second_install_does_nothing_and_names_what_runs():
    assert compat.install() is compat.install()
    assert compat.install().mode == ("native" if NATIVE else "compat")


def test_estimator_is_in_every_namespace_in_which_2_15_has_it():
    from tensorflow.compat.v1 import estimator as v1_estimator
    import tensorflow.compat.v1.estimator
    import tensorflow.compat.v2.estimator
    import tensorflow.estimator

    v1 = (tf.compat.v1, tensorflow.compat.v1, tf.compat.v1.compat.v1, tf.compat.v2.compat.v1)
    v2 = (tf, tensorflow.compat.v2, tf.compat.v2, tf.compat.v1.compat.v2, tf.compat.v2.compat.v2)
    assert {namespace.estimator.Estimator for namespace in v1} == {v1_estimator.Estimator}
    assert {namespace.estimator.Estimator for namespace in v2} == {tf.estimator.Estimator}
    assert tf.estimator.Estimator is not v1_estimator.Estimator


def test_every_keras_of_tensorflow_is_keras_2():
    expected = "keras.src" if NATIVE else "tf_keras.src"
    for layer in (tf.keras.layers.Layer, tf.compat.v1.keras.layers.Layer,
                  tf.compat.v2.keras.layers.Layer, tf.compat.v1.layers.Dense,
                  tf.compat.v1.nn.rnn_cell.LSTMCell, tf.optimizers.Adam, tf.losses.Loss):
        assert layer.__module__.startswith(expected)


@pytest.mark.cluster
@pytest.mark.parametrize("title, before, variables, sentence", [
    ("tensorflow first", "import tensorflow", {}, "tensorflow was imported before "
     "estimator_trainer.compat"),
    ("Keras 3 wanted", "", {"TF_USE_LEGACY_KERAS": "0"}, "unset TF_USE_LEGACY_KERAS"),
    ("no tf_keras", "from estimator_trainer import versions as v; real = v.of_package\n"
     "v.of_package = lambda name, folders: None if name == 'tf_keras' else real(name, folders)",
     {}, 'pip install "tf_keras=='),
])
def test_an_impossible_mix_is_refused_in_one_sentence(title, before, variables, sentence):
    run = run_python(f"{before}\nimport estimator_trainer.compat\nprint('fine')", **variables)
    if NATIVE:
        assert last_line(run.stdout) == "fine"
    else:
        assert run.returncode != 0
        assert last_line(run.stderr).startswith("estimator_trainer.errors.ConfigError: ")
        assert sentence in last_line(run.stderr)


@pytest.mark.cluster
@pytest.mark.soak
def test_the_variable_set_after_tensorflow_is_too_late():
    run = run_python("import tensorflow, os; os.environ['TF_USE_LEGACY_KERAS'] = '1'\n"
                     "import estimator_trainer.compat")
    if NATIVE and versions.installed().tf_keras:
        # Both of its Keras are Keras 2.
        assert run.returncode == 0
        return
    sentence = ("Type: unset TF_USE_LEGACY_KERAS" if NATIVE else
                "put `import estimator_trainer.compat` before the first `import tensorflow`")
    assert sentence in last_line(run.stderr)


def test_a_mismatched_tf_keras_is_refused_with_the_command(tmp_path):
    metadata = tmp_path / "tf_keras-2.9.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: tf_keras\nVersion: 2.9.0\n")
    run = run_python("import estimator_trainer.compat", PYTHONPATH=f"{tmp_path}:{jobs.REPO}")
    assert (run.returncode == 0) is NATIVE
    assert NATIVE or "tf_keras (the Keras 2 that Estimator needs) is 2.9.0" in last_line(run.stderr)


@pytest.mark.cluster
@pytest.mark.soak
def test_tensorflow_first_is_fine_when_the_variable_was_set_in_the_shell():
    code = "import tensorflow as tf; import estimator_trainer.compat; print(tf.estimator.ModeKeys)"
    run = run_python(code, **({} if NATIVE else {"TF_USE_LEGACY_KERAS": "1"}))
    assert "ModeKeys" in last_line(run.stdout)


def test_a_mixture_of_two_keras_is_refused(monkeypatch):
    class Layer:
        __module__ = "keras.src.layers.layer"

    if not NATIVE:
        monkeypatch.setattr(tf.keras.layers, "Layer", Layer)
        with pytest.raises(ConfigError, match="comes from 'keras.src.layers.layer'"):
            legacy_keras.resolve(tf)


def test_tensorflow_still_shows_which_keras_it_took():
    assert private_api.imported_with_legacy_keras(default=NATIVE) is not NATIVE


def test_tpu_estimator_fails_by_name():
    tpu = tf.compat.v1.estimator.tpu
    config = tpu.RunConfig(model_dir="/tmp/never-written")
    options = dict(model_fn=lambda features, labels, mode, params: None, config=config,
                   train_batch_size=8)
    assert tpu.TPUEstimator(use_tpu=False, **options)
    if NATIVE:
        assert tpu.TPUEstimator(**options)
    else:
        with pytest.raises(NotImplementedError, match="TPUEstimator with use_tpu=True cannot"):
            tpu.TPUEstimator(**options)


def test_tpu_embedding_fails_by_name():
    from tensorflow.python.tpu import session_support, tpu_embedding

    parameters = tf.compat.v1.tpu.experimental.AdagradParameters
    assert isinstance(tpu_embedding.AdamParameters, type)
    if NATIVE:
        assert parameters(0.1)
    else:
        with pytest.raises(NotImplementedError, match="experimental.AdagradParameters cannot work"):
            parameters(0.1)
        with pytest.raises(NotImplementedError, match="session_support.start_worker_watchdog"):
            session_support.start_worker_watchdog(None)
