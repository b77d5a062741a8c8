"""The library that model_fns share: schedules, optimizers, the update of a step, averages."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer import cli
from estimator_trainer.estimator import serving_input
from model_fns import convnet
from model_fns.training import classifier, optimizers, schedules
from tests.support import jobs

_X = np.random.RandomState(0).randn(64, 5).astype(np.float32)
_Y = (_X[:, 0] > 0).astype(np.int64)
_BATCH = 16


def _input(x=_X):
    return lambda: tf.data.Dataset.from_tensor_slices((x, _Y)).repeat().batch(_BATCH)


def _estimator(tmp_path, **params):
    """Returns an Estimator of logistic regression, whose variables start at 0."""

    def model_fn(features, labels, mode, params):
        zeros = tf.compat.v1.zeros_initializer()
        w = tf.compat.v1.get_variable("w", [5, 2], initializer=zeros, use_resource=True)
        b = tf.compat.v1.get_variable("b", [2], initializer=zeros, use_resource=True)
        return classifier.spec(tf.matmul(features, w) + b, labels, mode, params)

    params = {**classifier.DEFAULT_PARAMS, "num_classes": 2, **params}
    return tf.estimator.Estimator(model_fn, str(tmp_path), params=params)


def _trained(tmp_path, steps, x=_X, **params):
    """Returns the variables after some steps, by name."""
    estimator = _estimator(tmp_path, **params)
    estimator.train(_input(x), max_steps=steps)
    return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}


def _gradients(w, b, x, y, rate):
    """Makes one step of SGD on the mean cross-entropy, in NumPy."""
    logits = x @ w + b
    shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    errors = (shares - np.eye(2)[y]) / len(x)
    return rate * x.T @ errors, rate * errors.sum(0)


def _rate(step, **params):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tensor = schedules.learning_rate({**schedules.DEFAULT_PARAMS, "learning_rate": 0.8,
                                          **params}, tf.constant(step, tf.int64))
        return float(session.run(tensor))


@pytest.mark.parametrize("params, step, expected", [
    ({}, 500, 0.8),
    ({"decay": "exponential", "decay_rate": 0.5, "decay_steps": 10}, 15, 0.8 * 0.5**1.5),
    ({"decay": "staircase", "decay_rate": 0.5, "decay_steps": 10}, 19, 0.4),
    ({"decay": "steps", "decay_rate": 0.1, "decay_boundaries": [10, 20]}, 20, 0.008),
    ({"decay": "steps", "decay_rate": 0.1, "decay_boundaries": [1], "decay_epochs": 1.0,
      "train_examples": 100, "global_batch_size": 10}, 10, 0.08),
    ({"decay": "cosine", "decay_steps": 100}, 25, 0.4 * (1 + math.cos(math.pi / 4))),
    ({"decay": "cosine", "decay_steps": 100}, 1000, 0.0),
    ({"decay": "exponential", "decay_rate": 0.99, "decay_epochs": 1.0, "train_examples": 1000,
      "global_batch_size": 100}, 20, 0.8 * 0.99**2),
    ({"warmup_steps": 4}, 0, 0.2),
    ({"warmup_steps": 4, "decay": "cosine", "decay_steps": 10}, 4, 0.8),
    ({"reference_batch_size": 256, "global_batch_size": 1024}, 0, 3.2),
])
def test_schedule_follows_its_formula(params, step, expected):
    assert _rate(step, **params) == pytest.approx(expected, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("params, expected", [
    ({"decay": "cosin"}, "decay is 'cosin'; expected one of constant, cosine"),
    ({"decay": "cosine", "decay_epochs": 3.0}, "--param train_examples=1000"),
    ({"reference_batch_size": 64}, "--param global_batch_size=1000"),
])
def test_schedule_that_cannot_be_names_what_to_type(params, expected):
    with pytest.raises(ValueError, match=expected):
        _rate(0, **params)


@pytest.mark.cluster
@pytest.mark.parametrize("name", sorted(optimizers._BY_NAME))
def test_optimizer_by_name_lowers_the_loss(name, tmp_path):
    estimator = _estimator(tmp_path, optimizer=name, epsilon=1e-3)
    estimator.train(_input(), max_steps=40)
    assert estimator.evaluate(_input(), steps=4)["loss"] < math.log(2) - 0.001


def test_update_takes_params_from_their_defaults(tmp_path):
    def model_fn(features, labels, mode):
        logits = tf.compat.v1.get_variable("w", [5, 2], use_resource=True)
        return classifier.spec(tf.matmul(features, logits), labels, mode, {"learning_rate": 1.0})

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    estimator.train(_input(), max_steps=20)
    assert estimator.evaluate(_input(), steps=4)["accuracy"] > 0.8


@pytest.mark.cluster
def test_mistake_in_params_is_one_sentence(tmp_path, data_dir, capsys):
    assert cli.main([f"--model_dir={tmp_path}", f"--param=data_dir={data_dir}",
                     "--param=optimizer=adm", "--train_steps=1"]) == 2
    error = capsys.readouterr().err
    assert "optimizer is 'adm'; expected one of adadelta" in error and "Traceback" not in error


def test_optimizer_that_is_unknown_is_named_with_the_others(tmp_path):
    with pytest.raises(ValueError, match="optimizer is 'adm'; expected one of adadelta, adagrad"):
        _trained(tmp_path, 1, optimizer="adm")


def test_update_is_that_of_plain_gradient_descent(tmp_path):
    found = _trained(tmp_path, 1)
    dw, db = _gradients(np.zeros((5, 2)), np.zeros(2), _X[:_BATCH], _Y[:_BATCH], 0.1)
    np.testing.assert_allclose(found["w"], -dw, atol=1e-6)
    np.testing.assert_allclose(found["b"], -db, atol=1e-6)
    assert sorted(found) == ["b", "global_step", "w"]


def test_update_of_four_batches_is_that_of_one_batch_of_all(tmp_path):
    found = _trained(tmp_path, 1, accumulate_steps=4)
    dw, db = _gradients(np.zeros((5, 2)), np.zeros(2), _X, _Y, 0.1)
    np.testing.assert_allclose(found["w"], -dw, atol=1e-6)
    np.testing.assert_allclose(found["b"], -db, atol=1e-6)
    assert found["global_step"] == 1 and sorted(found) == ["b", "global_step", "w"]


def test_update_is_clipped_by_norm(tmp_path):
    found = _trained(tmp_path, 1, clip_norm=0.01)
    norm = math.sqrt((found["w"]**2).sum() + (found["b"]**2).sum())
    assert norm == pytest.approx(0.1 * 0.01, rel=1e-4)


@pytest.mark.cluster
def test_averages_are_used_by_evaluation_and_export(tmp_path):
    estimator = _estimator(tmp_path / "model", moving_average=0.9, learning_rate=1.0)
    estimator.train(_input(), max_steps=3)
    value = {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}
    w, b = (value[f"{name}/ExponentialMovingAverage"] for name in ("w", "b"))
    assert not np.allclose(w, value["w"], atol=1e-3)
    logits = _X @ w + b
    shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    expected = -np.log(shares[np.arange(64), _Y]).mean()
    assert estimator.evaluate(_input(), steps=4)["loss"] == pytest.approx(expected, rel=1e-5)
    predicted = [p["probabilities"] for p in estimator.predict(
        lambda: tf.data.Dataset.from_tensor_slices(_X).batch(64))]
    np.testing.assert_allclose(predicted, shares, atol=1e-5)
    receiver = serving_input.receiver_fn(tf.TensorSpec([None, 5], tf.float32), "raw")
    exported = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    signature = tf.saved_model.load(tf.compat.as_str(exported)).signatures["serving_default"]
    [argument] = signature.structured_input_signature[1]
    served = signature(**{argument: tf.constant(_X)})["probabilities"]
    np.testing.assert_allclose(served, shares, atol=1e-5)


def test_averages_follow_the_variables_closely_at_first(tmp_path):
    """The decay is that of ExponentialMovingAverage with num_updates: (1 + n) / (10 + n)."""
    found = _trained(tmp_path, 1, moving_average=0.99)
    np.testing.assert_allclose(found["w/ExponentialMovingAverage"], found["w"] * (1 - 2 / 11),
                               rtol=1e-5)


@pytest.mark.cluster
def test_update_with_infinite_gradients_is_left_out(tmp_path):
    x = np.where(np.arange(64)[:, None] // _BATCH == 1, np.nan, _X).astype(np.float32)
    found = _trained(tmp_path, 3, x=x, on_nan="skip")
    assert np.isfinite(found["w"]).all() and found["global_step"] == 3


def test_update_of_accumulated_infinite_gradients_is_left_out(tmp_path):
    x = np.where(np.arange(64)[:, None] // _BATCH == 1, np.nan, _X).astype(np.float32)
    estimator = _estimator(tmp_path, on_nan="skip", accumulate_steps=2)
    estimator.train(_input(x), steps=4)  # Updates, so 16 batches; those of half are left out.
    assert np.isfinite(estimator.get_variable_value("w")).all()
    assert np.abs(estimator.get_variable_value("w")).max() > 0
    assert estimator.get_variable_value("global_step") == 4


def test_update_with_a_nan_loss_stops_training_by_default(tmp_path):
    x = np.full_like(_X, np.nan)
    with pytest.raises(tf.estimator.NanLossDuringTrainingError):
        _trained(tmp_path, 3, x=x)
    with pytest.raises(ValueError, match="on_nan is 'skp'; expected skip or stop"):
        _trained(tmp_path, 3, on_nan="skp")


def test_classifier_smooths_labels_and_decays_weights():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        logits, labels = tf.constant([[2.0, 0.0, 0.0]]), tf.constant([0])
        kernel = tf.compat.v1.get_variable("kernel", initializer=[[1.0, 2.0]])
        tf.compat.v1.get_variable("bias", initializer=[5.0])
        loss = classifier.cross_entropy(logits, labels, 0.3)
        penalty = classifier.weight_penalty(0.1)
        session.run(tf.compat.v1.global_variables_initializer())
        found, decay, _ = session.run([loss, penalty, kernel])
    log_shares = np.array([2.0, 0.0, 0.0]) - math.log(math.exp(2) + 2)
    assert found == pytest.approx(-(np.array([0.8, 0.1, 0.1]) * log_shares).sum(), rel=1e-5)
    assert decay == pytest.approx(0.1 * 2.5)


def test_update_writes_histograms_for_tensorboard(tmp_path):
    _trained(tmp_path, 2, histograms=True)
    tags = {value.tag for path in tmp_path.glob("events*")
            for event in tf.compat.v1.train.summary_iterator(str(path))
            for value in event.summary.value}
    assert {"variables/w", "gradients/w", "variables/b", "gradients/b", "learning_rate",
            "accuracy"} <= tags


def _histograms(model_dir):
    """Returns least and greatest value, sum and sum of squares by step and tag."""
    return {(event.step, value.tag): [value.histo.min, value.histo.max, value.histo.sum,
                                      value.histo.sum_squares]
            for path in model_dir.glob("events*")
            for event in tf.compat.v1.train.summary_iterator(str(path))
            for value in event.summary.value if value.HasField("histo")}


@pytest.mark.soak
@pytest.mark.cluster
def test_update_of_two_replicas_is_that_of_one(tmp_path, data_dir):
    flags = ["--model_fn=linear", f"--param=data_dir={data_dir}", "--seed=1", "--train_steps=20",
             "--param=shuffle_buffer=0", "--param=batch_size=32", "--exporters=none"] + [
                 f"--param={pair}" for pair in (
                     "accumulate_steps=2", "clip_norm=0.5", "moving_average=0.9", "on_nan=skip",
                     "optimizer=momentum", "label_smoothing=0.1", "weight_decay=0.001",
                     "loss_reduction=sum")]
    flags += ["--param=histograms=true", "--save_summary_steps=1"]
    values, histograms = [], []
    for more in ([], ["--train_distribute=mirrored", "--eval_distribute=mirrored",
                      "--num_replicas=2"]):
        model_dir = tmp_path / str(len(values))
        ran = jobs.trainer(*flags, *more, f"--model_dir={model_dir}")
        assert ran.returncode == 0, ran.stderr
        reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(model_dir)))
        values.append({name: reader.get_tensor(name)
                       for name in reader.get_variable_to_shape_map()})
        histograms.append(_histograms(model_dir))
    assert values[0].keys() == values[1].keys()
    assert len(histograms[0]) == 2 * 2 * 21  # Kernel and bias, and step 0 too.
    for key, value in histograms[0].items():
        # The gradients of a summed loss are 32 times those of the mean.
        np.testing.assert_allclose(histograms[1][key], value, rtol=1e-4, atol=3e-5, err_msg=key)
    for name, value in values[0].items():
        np.testing.assert_allclose(values[1][name], value, rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_classifier_sums_the_loss_over_the_batch(mode):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        kernel = tf.compat.v1.get_variable("kernel", [5, 2])
        losses = [classifier.spec(tf.matmul(tf.constant(_X), kernel), tf.constant(_Y), mode,
                                  {"loss_reduction": reduction}).loss
                  for reduction in ("mean", "sum")]
        session.run(tf.compat.v1.global_variables_initializer())
        mean, total = session.run(losses)
    assert total == pytest.approx(len(_X) * mean, rel=1e-5)


def test_update_of_a_summed_loss_is_that_of_the_mean(tmp_path):
    summed = _trained(tmp_path / "sum", 2, loss_reduction="sum", learning_rate=0.01)["w"]
    mean = _trained(tmp_path / "mean", 2, learning_rate=0.01 * _BATCH)["w"]
    np.testing.assert_allclose(summed, mean, rtol=1e-4)


def test_classifier_refuses_an_unknown_loss_reduction(tmp_path):
    with pytest.raises(ValueError, match="--param loss_reduction=sum"):
        _trained(tmp_path, 1, loss_reduction="none")


def _first_values(**params):
    """Returns the kernel and the bias of each layer of a convnet, before training."""
    params = {**convnet.DEFAULT_PARAMS, "num_classes": 10, **params}
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        convnet.model_fn({"image": tf.zeros([1, 28, 28, 1])}, None, "infer", params)
        session.run(tf.compat.v1.global_variables_initializer())
        values = session.run(tf.compat.v1.trainable_variables())
    return list(zip(values[::2], values[1::2]))


@pytest.mark.parametrize("params, deviations, start", [
    ({}, [0.1] * 4, [0.1] * 4),
    ({"initial_stddev": [0.1, 0.1, 1.0, 0.0], "initial_bias": [0.1, 0.1, 0.1, 0.0]},
     [0.1, 0.1, 1.0, 0.0], [0.1, 0.1, 0.1, 0.0]),
    ({"initial_stddev": [1.0] * 4, "initial_bias": [0.0] * 4}, [1.0] * 4, [0.0] * 4),
])
def test_convnet_starts_by_its_params(params, deviations, start):
    for (kernel, bias), deviation, value in zip(_first_values(**params), deviations, start):
        assert np.all(bias == np.float32(value))
        # A normal distribution that is cut off at two deviations keeps 0.88 of its deviation.
        assert np.std(kernel) == pytest.approx(0.88 * deviation, rel=0.1)
        assert np.abs(kernel).max() <= 2 * deviation


def test_convnet_start_has_a_number_for_each_layer():
    with pytest.raises(ValueError, match="expected a list of 4 numbers"):
        _first_values(initial_bias=[0.0])
