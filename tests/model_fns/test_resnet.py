"""ResNet: the published sizes, and batch-norm statistics that evaluation can rely on."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer import cli
from input_fns import digits
from model_fns import resnet
from tests.support import jobs

# ResNet-8 for images of 8x8, its rate at 0 when training ends.
FLAGS = ["--model_fn=resnet", "--param=variant=cifar", "--param=depth=8", "--train_steps=250",
         "--param=warmup_steps=20", "--param=decay_steps=230", "--param=learning_rate=0.4",
         "--seed=1"]


def _spec(mode, labels=None, **params):
    image = tf.compat.v1.placeholder(tf.float32, [None, 224, 224, 3])
    return resnet.model_fn({"image": image}, labels, mode, {
        **resnet.DEFAULT_PARAMS, "num_classes": 1000, **params})


_SECONDS = [pytest.mark.cluster, pytest.mark.any_tensorflow]


@pytest.mark.cluster
@pytest.mark.parametrize("params, count", [
    ({"depth": 18}, 11_689_512),
    pytest.param({"depth": 34}, 21_797_672, marks=pytest.mark.soak),
    pytest.param({"depth": 50}, 25_557_032, marks=_SECONDS),
    pytest.param({"depth": 101}, 44_549_160, marks=pytest.mark.soak),
    pytest.param({"depth": 152}, 60_192_808, marks=pytest.mark.soak),
    ({"depth": 20, "variant": "cifar", "num_classes": 10}, 269_722), ({}, 25_557_032),
    ({"variant": "half"}, 3_052_040)])
def test_resnet_has_the_published_number_of_parameters(params, count):
    with tf.Graph().as_default():
        _spec("infer", **params)
        sizes = [v.shape.num_elements() for v in tf.compat.v1.trainable_variables()]
    assert sum(sizes) == count


@pytest.mark.parametrize("params", [
    {"depth": 20}, {"depth": 18, "variant": "cifar"}, {"variant": "other"}])
def test_resnet_refuses_a_depth_that_the_variant_lacks(params):
    with tf.Graph().as_default(), pytest.raises(ValueError, match="--param variant=cifar"):
        _spec("infer", **params)


@pytest.mark.cluster
@pytest.mark.parametrize("size, variables, optimizer", [
    (8, 20, "ResourceApplyMomentum"), pytest.param(
        96, 21, "ResourceApplyAdam", marks=pytest.mark.soak)])
def test_resnet_for_small_images_is_a_small_one(size, variables, optimizer):
    with tf.Graph().as_default() as graph:
        image = tf.compat.v1.placeholder(tf.float32, [None, size, size, 3])
        resnet.model_fn(image, tf.zeros([8], tf.int64), "train", {
            **resnet.DEFAULT_PARAMS, "num_classes": 3, "global_batch_size": 8})
        kernels = [v for v in tf.compat.v1.trainable_variables() if v.shape.rank > 1]
        assert len(kernels) == variables
        assert optimizer in {op.type for op in graph.get_operations()}


@pytest.mark.cluster
@pytest.mark.parametrize("classes, names", [
    (19, {"accuracy"}), (20, {"accuracy", "top_5_accuracy"})])
def test_resnet_counts_the_first_five_guesses_of_many_classes(classes, names):
    with tf.Graph().as_default():
        spec = _spec("eval", tf.zeros([8], tf.int64), num_classes=classes, depth=18)
    assert set(spec.eval_metric_ops) == names


@pytest.mark.cluster
def test_resnet_decays_kernels_alone():
    with tf.Graph().as_default():
        loss = _spec("train", tf.zeros([8], tf.int64), global_batch_size=8, depth=18).loss
        decayed = {op.inputs[0].op.inputs[0].op.name for op in loss.graph.get_operations()
                   if op.type == "L2Loss"}
    assert len(decayed) == 21 and {name.rpartition("/")[2] for name in decayed} == {"kernel"}


@pytest.mark.cluster
def test_resnet_moves_its_statistics_in_a_plain_estimator(tmp_path):
    params = {**resnet.DEFAULT_PARAMS, "variant": "cifar", "depth": 8, "num_classes": 2,
              "global_batch_size": 4}
    images = np.random.RandomState(0).rand(4, 8, 8, 3).astype(np.float32)
    estimator = tf.estimator.Estimator(resnet.model_fn, str(tmp_path), params=params)
    estimator.train(lambda: tf.data.Dataset.from_tensors((images, [0, 1, 0, 1])), steps=1)
    start = {"moving_mean": 0.0, "moving_variance": 1.0}
    moved = [name for name in estimator.get_variable_names()
             if np.all(estimator.get_variable_value(name) != start.get(name.split("/")[-1]))
             and "/moving_" in name]
    assert len(moved) == 2 * 7


@pytest.mark.soak
@pytest.mark.cluster
def test_resnet_evaluates_with_the_statistics_of_training(tmp_path, data_dir, capfd):
    flags = [*FLAGS, f"--param=data_dir={data_dir}", f"--model_dir={tmp_path}"]
    assert cli.main(flags) == 0
    _check_evaluation(flags, capfd)
    _check_statistics_of_the_stem(tmp_path, data_dir)


@pytest.mark.cluster
@pytest.mark.soak
def test_resnet_of_replicas_saves_the_mean_of_their_statistics(tmp_path, data_dir, capfd):
    flags = [*FLAGS, f"--param=data_dir={data_dir}", f"--model_dir={tmp_path}"]
    ran = jobs.trainer(*flags, "--train_distribute=mirrored", "--num_replicas=2")
    assert ran.returncode == 0, ran.stderr
    _check_evaluation(flags, capfd)
    _check_statistics_of_the_stem(tmp_path, data_dir)


def _check_evaluation(flags, capfd):
    accuracy = {}
    for split in ("train", "test"):
        capfd.readouterr()
        assert cli.main(["evaluate", *flags, f"--param=eval_split={split}"]) == 0
        accuracy[split] = json.loads(capfd.readouterr().out)["accuracy"]
    assert accuracy["train"] > 0.97 and accuracy["test"] > 0.93, accuracy


def _check_statistics_of_the_stem(model_dir, data_dir):
    """Compares the moving averages with the mean and variance over the training set."""
    params = {**digits.DEFAULT_PARAMS, "data_dir": str(data_dir), "eval_split": "train"}
    images = np.concatenate([features["image"] for features, _ in
                             digits.input_fn("eval", params).as_numpy_iterator()])
    saved = tf.train.load_checkpoint(str(model_dir))
    kernel = saved.get_tensor("stem/convolution/kernel")
    y = tf.nn.conv2d((images - 0.5) / 0.5, kernel, 1, [[0, 0], [1, 1], [1, 1], [0, 0]]).numpy()
    np.testing.assert_allclose(saved.get_tensor("stem/norm/moving_mean"), y.mean((0, 1, 2)),
                               atol=0.1 * y.std())
    np.testing.assert_allclose(saved.get_tensor("stem/norm/moving_variance"), y.var((0, 1, 2)),
                               rtol=0.2)
