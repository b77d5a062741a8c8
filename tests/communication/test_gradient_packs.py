"""Gradients of an all-reduce in packs and in 16 bit: nearly the same training, the same files."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.communication import gradient_packs
from tests.support import jobs

pytestmark = pytest.mark.any_tensorflow
_MB = 2**20


def _sent_and_received(gradients, pack_mb, dtype=tf.float32):
    """Returns the packs of one replica, and the sums; an all-reduce doubles what it gets."""
    seen = []

    class Extended:
        """Stands for a StrategyExtended of two replicas that compute the same."""

        def call_for_each_replica(self, function, args):
            return function(*args)

        def batch_reduce_to(self, reduce_op, pairs, options=None):
            seen.extend(value for value, _ in pairs)
            return [tf.IndexedSlices(2 * value.values, value.indices)
                    if isinstance(value, tf.IndexedSlices) else 2 * value for value, _ in pairs]

    class Strategy:
        """Has an `extended`."""

        extended = Extended()

    strategy = gradient_packs.send_in_packs(Strategy(), pack_mb, dtype)
    sums = strategy.extended.batch_reduce_to(
        tf.distribute.ReduceOp.SUM, [(gradient, "variable") for gradient in gradients])
    return seen, sums


def _gradients(*shapes, dtype=np.float32):
    dice = np.random.default_rng(1)
    return [tf.constant(dice.normal(size=shape).astype(dtype)) for shape in shapes]


def test_send_in_packs_cuts_large_gradients_and_joins_small_ones():
    gradients = _gradients([64], [1024, 3 * 1024], [32, 3], [])
    packs, sums = _sent_and_received(gradients, pack_mb=4)
    assert sorted(pack.shape.num_elements() for pack in packs) == [161, _MB, _MB, _MB]
    for gradient, found in zip(gradients, sums):
        np.testing.assert_array_equal(found, 2 * gradient)
        assert found.shape == gradient.shape


def test_send_in_packs_begins_with_the_last_layer():
    gradients = [tf.fill([_MB // 4], float(layer)) for layer in range(8)]
    packs, _ = _sent_and_received(gradients, pack_mb=2)
    # TensorFlow sends from the last to the first.
    assert [set(pack.numpy()) for pack in reversed(packs)] == [{7, 6}, {5, 4}, {3, 2}, {1, 0}]


def test_send_in_packs_leaves_what_the_strategy_packs():
    gradients = _gradients([1024, 3 * 1024], [5], [7])
    packs, sums = _sent_and_received(gradients, None, tf.bfloat16)
    assert [(pack.dtype, pack.shape.num_elements()) for pack in packs] == [
        (tf.bfloat16, 3 * _MB), (tf.bfloat16, 5), (tf.bfloat16, 7)]
    for gradient, found in zip(gradients, sums):
        np.testing.assert_allclose(found, 2 * gradient, rtol=1e-2)


def test_send_in_packs_of_one_dtype_without_sparse_gradients():
    rows = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 5]))
    gradients = [*_gradients([1024, 2048]), rows, *_gradients([5], dtype=np.float64),
                 *_gradients([7])]
    packs, sums = _sent_and_received(gradients, pack_mb=100)
    assert packs[-1] is rows
    assert {pack.dtype: pack.shape.num_elements() for pack in packs[:-1]} == {
        tf.float32: 1024 * 2048 + 7, tf.float64: 5}
    np.testing.assert_array_equal(sums[1].values, 2 * rows.values)
    for number in (0, 2, 3):
        np.testing.assert_array_equal(sums[number], 2 * gradients[number])


def test_send_in_packs_halves_only_gradients_of_32_bit():
    gradients = [*_gradients([100]), *_gradients([3], dtype=np.float64)]
    packs, sums = _sent_and_received(gradients, 4, tf.bfloat16)
    assert {pack.dtype for pack in packs} == {tf.bfloat16, tf.float64}
    assert [each.dtype for each in sums] == [tf.float32, tf.float64]
    np.testing.assert_allclose(sums[0], 2 * gradients[0], rtol=1e-2)


def _train(folder, data_dir, *flags):
    """Trains on two processes; returns the variables of the last checkpoint."""
    folder.mkdir()
    model_dir = folder / "model"
    with jobs.running(folder, jobs.cluster(chief=1, worker=1), [
            "--model_fn=mlp", f"--param=data_dir={data_dir}", f"--model_dir={model_dir}",
            "--param=hidden_units=8000", "--train_distribute=multi_worker_mirrored",
            "--train_steps=60", "--seed=1", "--exporters=none", *flags]) as tasks:
        jobs.wait(list(tasks.values()), 120)
        assert all(task.code == 0 for task in tasks.values())
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(model_dir)))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


@pytest.fixture(scope="module")
def plain(tmp_path_factory, data_dir):
    return _train(tmp_path_factory.mktemp("plain") / "job", data_dir,
                  "--all_reduce_pack_mb=1000")


@pytest.mark.cluster
@pytest.mark.soak
@pytest.mark.parametrize("dtype, tolerance", [
    ("bfloat16", 2e-2), ("float16", 2e-3)])
def test_send_in_packs_of_16_bit_trains_nearly_the_same(
        dtype, tolerance, plain, tmp_path, data_dir):
    rounded = _train(tmp_path / "job", data_dir, f"--all_reduce_dtype={dtype}")
    assert rounded.keys() == plain.keys() and rounded["global_step"] == 60
    weights = [name for name, value in plain.items() if value.dtype == np.float32]
    assert {rounded[name].dtype for name in weights} == {np.dtype(np.float32)}
    furthest = max(np.abs(rounded[name] - plain[name]).max() for name in weights)
    assert 0 < furthest < tolerance


@pytest.mark.cluster
@pytest.mark.soak
def test_send_in_packs_changes_only_the_order_of_sending(plain, tmp_path, data_dir):
    packed = _train(tmp_path / "job", data_dir, "--all_reduce_pack_mb=1")
    for name, value in plain.items():
        np.testing.assert_allclose(packed[name], value, rtol=1e-5, atol=1e-6, err_msg=name)
