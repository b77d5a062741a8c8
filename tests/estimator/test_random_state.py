"""The program's own calls draw none of the user's random numbers."""

import random
import subprocess

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer import cli
from estimator_trainer.estimator import random_state
from estimator_trainer.patches import private_api
from tests.support import jobs

# The rest of a model_fn that has computed y.
_END_OF_MODEL_FN = """
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
    loss = tf.reduce_mean((y - labels) ** 2)
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=optimizer.minimize(loss, tf.compat.v1.train.get_global_step()))
"""
_PLUGIN = """
import numpy as np
import tensorflow as tf

np.random.seed(1)


def input_fn(mode):
    x = np.random.rand(10, 1).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, 2.0 * x)).batch(10)
    return dataset.repeat() if mode == "train" else dataset


def model_fn(features, labels, mode):
    first = tf.compat.v1.constant_initializer(np.random.rand())
    weight = tf.compat.v1.get_variable("weight", [1, 1], initializer=first)
    y = tf.matmul(features["x"], weight)
""" + _END_OF_MODEL_FN

_KERAS_PLUGIN = """
import tensorflow as tf

tf.keras.utils.set_random_seed(7)


def input_fn(mode):
    batch = {"x": [[1.0, 2.0], [3.0, 4.0]]}, [[0.0], [1.0]]
    return tf.data.Dataset.from_tensors(batch).repeat(None if mode == "train" else 2)


def model_fn(features, labels, mode):
    y = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(1)])(features["x"])
""" + _END_OF_MODEL_FN


@pytest.mark.parametrize("draw", [random.random, np.random.rand, lambda: np.random.seed(7)])
def test_random_state_kept_puts_back_what_was_drawn(draw):
    with random_state.kept():
        np.random.seed(3)
        state = random_state.RandomState()
        assert not state.has_changed()
        with random_state.kept():
            draw()
            assert state.has_changed()
        assert not state.has_changed()


def test_random_state_kept_puts_back_the_seeds_of_keras():
    def drawn():
        return tf.keras.initializers.GlorotUniform()([2]).numpy().tolist()

    with random_state.kept():
        tf.keras.utils.set_random_seed(7)
        first = drawn(), drawn()
        tf.keras.utils.set_random_seed(7)
        assert drawn() == first[0]
        with random_state.kept():
            drawn()
            tf.keras.utils.set_random_seed(8)
        assert drawn() == first[1]
    seed, holders = tf.compat.v1.get_seed(1)[0], private_api.keras_seeds()
    generators = [getattr(each, "generator", None) for each in holders]
    with random_state.kept():
        tf.keras.utils.set_random_seed(7)
    assert tf.compat.v1.get_seed(1)[0] == seed
    assert [getattr(each, "generator", None) for each in holders] == generators


def test_alike_in_all_tasks_puts_back_draws_and_leaves_seeds():
    with random_state.kept():
        state, found = random_state.RandomState(), []
        for _ in range(2):
            with random_state.alike_in_all_tasks("/tmp/job"):
                found.append((random.random(), np.random.rand(100).tolist()))
            assert not state.has_changed()
        assert found[0] == found[1]
        with random_state.alike_in_all_tasks("/tmp/job"):
            random.seed(0)
            np.random.seed(0)
            tf.random.set_seed(0)
        assert random.random() == random.Random(0).random()
        assert np.random.rand() == np.random.RandomState(0).rand()
        assert tf.compat.v1.get_seed(1)[0] == 0


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("earlier", [None, 5])
def test_seeded_restores_the_state_after_an_exception_too(earlier):
    def drawn():
        return random.random(), np.random.rand(), float(tf.random.uniform([]))

    try:
        tf.random.set_seed(earlier)
        state, seed = random_state.RandomState(), tf.compat.v1.get_seed(1)
        found = []
        for _ in range(2):
            with pytest.raises(KeyError), random_state.seeded(3):
                found.append(drawn())
                raise KeyError
            assert not state.has_changed() and tf.compat.v1.get_seed(1) == seed
        assert found[0] == found[1] != drawn()
    finally:
        tf.random.set_seed(None)


def test_seeded_with_0_seeds_nothing():
    state = random_state.RandomState()
    with random_state.seeded(0):
        assert not state.has_changed()


@pytest.mark.cluster
def test_random_state_leaves_a_plugin_the_first_numbers(tmp_path):
    (tmp_path / "drawing.py").write_text(_PLUGIN)
    ran = subprocess.run(
        [*jobs.PROGRAM, "--model_fn=./drawing.py", "--input_fn=./drawing.py", "--noreport",
         "--model_dir=model", "--train_steps=5", "--save_checkpoints_steps=5"],
        cwd=tmp_path, env=jobs.environment(), text=True, capture_output=True, timeout=120,
        check=False)
    assert ran.returncode == 0, ran.stderr
    assert "each evaluation builds its graph again: its input_fn draws random numbers" in ran.stderr
    generator = np.random.RandomState(1)
    x, weight = generator.rand(10, 1), generator.rand()
    for _ in range(5):
        weight -= 0.1 * np.mean(2.0 * (weight - 2.0) * x ** 2)
    assert tf.train.load_variable(str(tmp_path / "model"), "weight") == pytest.approx(weight)


@pytest.mark.cluster
@pytest.mark.parametrize("flags", [[], ["--steps_per_loop=1"]], ids=["loop", "single steps"])
def test_random_state_leaves_keras_layers_the_first_seeds(flags, tmp_path, monkeypatch):
    (tmp_path / "seeding.py").write_text(_KERAS_PLUGIN)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    with random_state.kept():
        exec(_KERAS_PLUGIN, names)
        plain = tf.estimator.Estimator(names["model_fn"], str(tmp_path / "plain"))
        plain.train(lambda: names["input_fn"]("train"), steps=3)
    assert cli.main(["--model_fn=./seeding.py", "--input_fn=./seeding.py", "--noreport",
                     "--model_dir=model", "--train_steps=3", *flags]) == 0
    for name, _ in tf.train.list_variables(str(tmp_path / "plain")):
        expected, got = (tf.train.load_variable(str(tmp_path / folder), name)
                         for folder in ("plain", "model"))
        assert got == pytest.approx(expected), name
