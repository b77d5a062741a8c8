"""The program's own calls draw none of the user's random numbers."""

import random
import subprocess

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.estimator import random_state
from tests.support import jobs

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
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
    loss = tf.reduce_mean((y - labels) ** 2)
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=optimizer.minimize(loss, tf.compat.v1.train.get_global_step()))
"""


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
