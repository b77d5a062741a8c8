"""Gradients of an all-reduce in 16 bit, and in packs: nearly the same training, the same files."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests.support import jobs

pytestmark = [pytest.mark.cluster, pytest.mark.any_tensorflow, pytest.mark.soak]


def _train(folder, data_dir, *flags):
    """Trains on two processes; returns the variables of the last checkpoint."""
    folder.mkdir()
    model_dir = folder / "model"
    with jobs.running(folder, jobs.cluster(chief=1, worker=1), [
            "--model_fn=mlp", f"--param=data_dir={data_dir}", f"--model_dir={model_dir}",
            "--train_distribute=multi_worker_mirrored", "--train_steps=60", "--seed=1",
            "--exporters=none", *flags]) as tasks:
        jobs.wait(list(tasks.values()), 120)
        assert all(task.code == 0 for task in tasks.values())
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(model_dir)))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


@pytest.fixture(scope="module")
def plain(tmp_path_factory, data_dir):
    return _train(tmp_path_factory.mktemp("plain") / "job", data_dir)


@pytest.mark.parametrize("dtype, tolerance", [
    ("bfloat16", 2e-2), ("float16", 2e-3)])
def test_gradients_of_16_bit_train_32_bit_variables_nearly_the_same(
        dtype, tolerance, plain, tmp_path, data_dir):
    rounded = _train(tmp_path / "job", data_dir, f"--all_reduce_dtype={dtype}")
    assert rounded.keys() == plain.keys() and rounded["global_step"] == 60
    weights = [name for name, value in plain.items() if value.dtype == np.float32]
    assert {rounded[name].dtype for name in weights} == {np.dtype(np.float32)}
    furthest = max(np.abs(rounded[name] - plain[name]).max() for name in weights)
    assert 0 < furthest < tolerance


def test_packs_change_nothing_but_the_order_of_sending(plain, tmp_path, data_dir):
    packed = _train(tmp_path / "job", data_dir, "--all_reduce_pack_mb=1")
    for name, value in plain.items():
        np.testing.assert_allclose(packed[name], value, rtol=1e-5, atol=1e-6, err_msg=name)
