"""An Estimator that the user's code made gives its parts, with the params it would give them."""

from __future__ import annotations

import pytest

from estimator_trainer import errors
from estimator_trainer.estimator import user_estimator
from estimator_trainer.patches import private_api

# isort: split
import tensorflow as tf

_V1 = tf.compat.v1
_TPU = _V1.estimator.tpu


def _spec(features, mode, params, kind):
    seen.append((mode, dict(params)))
    loss = _V1.get_variable("w", []) * features
    return kind(mode, loss=loss, predictions=loss, train_op=_V1.assign_add(
        _V1.train.get_or_create_global_step(), 1))


seen: list = []


def _plain_model_fn(features, labels, mode, params):
    return _spec(features, mode, params, tf.estimator.EstimatorSpec)


def _tpu_model_fn(features, labels, mode, params):
    return _spec(features, mode, params, _TPU.TPUEstimatorSpec)


def _called(parts, mode, params=None, with_input=True):
    """Calls the model_fn of a user's Estimator in a graph; returns the params it got, and its spec.
    """
    with tf.Graph().as_default():
        if with_input:
            parts.input_params(mode)
        spec = parts.model_fn(tf.constant(1.0), None, mode,
                              parts.params if params is None else params, parts.config)
    return seen.pop(), spec


def test_take_apart_gives_model_fn_the_params_of_the_run(tmp_path):
    config = tf.estimator.RunConfig(str(tmp_path), tf_random_seed=7)
    parts = user_estimator.take_apart(tf.estimator.Estimator(
        _plain_model_fn, params={"units": 3}, config=config, warm_start_from=str(tmp_path)))
    assert parts.params == {"units": 3}
    assert parts.config.tf_random_seed == 7
    assert parts.warm_start.ckpt_to_initialize_from == str(tmp_path)
    assert _called(parts, "train")[0] == ("train", {"units": 3})
    assert _called(parts, "train", {"units": 5})[0] == ("train", {"units": 5})
    assert parts.input_params("train") == {"units": 3}


def test_take_apart_of_a_tpu_estimator_adds_the_batch_size():
    parts = user_estimator.take_apart(_TPU.TPUEstimator(
        _tpu_model_fn, config=_TPU.RunConfig(), use_tpu=False, train_batch_size=8,
        predict_batch_size=2, params={"units": 3}))
    (_, params), spec = _called(parts, "train")
    assert params == {"units": 3, "batch_size": 8, "use_tpu": False}
    assert not spec.training_hooks
    assert type(spec) is tf.estimator.EstimatorSpec
    assert _called(parts, "eval")[0][1] == {"units": 3, "use_tpu": False}
    assert _called(parts, "infer")[0][1]["batch_size"] == 2
    # An export has no input_fn, and takes batches of any size.
    assert _called(parts, "infer", with_input=False)[0][1] == {"units": 3, "use_tpu": False}
    assert [parts.input_params(mode).get("batch_size") for mode in ("train", "eval")] == [8, None]


def test_take_apart_refuses_a_tpu_estimator_that_needs_a_tpu():
    wants = _TPU.TPUEstimator(_tpu_model_fn, config=_TPU.RunConfig(), use_tpu=False)
    private_api.set_part(private_api.part(wants, "_ctx"), "_use_tpu", True)
    with pytest.raises(errors.ConfigError, match="use_tpu=False"):
        user_estimator.take_apart(wants)


def test_take_apart_gives_each_graph_its_keras_optimizer():
    optimizer = tf.keras.optimizers.legacy.Adam()
    parts = user_estimator.take_apart(tf.estimator.LinearRegressor(
        [tf.feature_column.numeric_column("x")], optimizer=optimizer))
    for _ in range(2):  # A loop is tried, then single steps.
        with tf.Graph().as_default():
            _V1.train.create_global_step()
            spec = parts.model_fn({"x": tf.ones([2, 1])}, tf.ones([2, 1]), "train", {},
                                  parts.config)
        assert spec.train_op is not None
