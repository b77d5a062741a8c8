"""Estimators, patched: each patch is still needed, works, and ends."""

from __future__ import annotations

import contextlib
import copy
import threading

import pytest
import tensorflow as tf

from estimator_trainer.patches import estimator_patches
from tests.support import weight_model


@pytest.fixture
def estimator(tmp_path):
    return tf.estimator.Estimator(weight_model.model_fn, str(tmp_path))


@pytest.mark.parametrize("method", ["train", "evaluate"])
def test_an_estimator_refuses_a_subclass_that_overrides_methods(method, tmp_path):
    own = type("Own", (tf.estimator.Estimator,), {method: lambda self: None})
    with pytest.raises(ValueError, match="override"):
        own(weight_model.model_fn, str(tmp_path))


@pytest.mark.parametrize("copied", [lambda each: each, copy.copy, copy.deepcopy],
                         ids=["itself", "copy", "deepcopy"])
def test_train_with_reaches_an_estimator_and_its_copies(copied, estimator):
    calls = []

    def train(self, own_train, input_fn, **kwargs):
        calls.append(self)
        return own_train(input_fn, **kwargs)

    estimator_patches.train_with(estimator, train)
    assert isinstance(estimator, tf.estimator.Estimator)
    trained = copied(estimator)
    assert trained.train(weight_model.input_fn, steps=1) is trained and calls == [trained]
    assert trained.get_variable_value("global_step") == 1


def test_train_with_and_evaluating_with_reach_train_and_evaluate(estimator):
    calls = []

    def train(self, own_train, *args, **kwargs):
        calls.append("train")
        return own_train(*args, **kwargs)

    def evaluate(*args, **kwargs):
        calls.append("evaluate")
        return {"global_step": 1, "loss": 0.0}

    estimator_patches.train_with(estimator, train)
    with estimator_patches.evaluating_with([estimator], evaluate):
        tf.estimator.train_and_evaluate(
            estimator, tf.estimator.TrainSpec(weight_model.input_fn, max_steps=1),
            tf.estimator.EvalSpec(weight_model.input_fn))
    assert calls == ["train", "evaluate"]


def test_changing_steps_with_sees_the_train_op_of_every_estimator(tmp_path):
    changed = []
    own = type("Own", (tf.compat.v1.estimator.Estimator,), {})
    estimators = [own(weight_model.model_fn, f"{tmp_path}/own"),
                  tf.estimator.Estimator(weight_model.model_fn, f"{tmp_path}/plain")]
    with estimator_patches.changing_steps_with(changed.append):
        for each in estimators:
            each.train(weight_model.input_fn, steps=1)
            each.evaluate(weight_model.input_fn, steps=1)
        other = threading.Thread(target=estimators[0].train, args=(weight_model.input_fn,),
                                 kwargs={"steps": 1})
        other.start()
        other.join()
    estimators[0].train(weight_model.input_fn, steps=1)
    assert len({each.graph for each in changed}) == len(changed) == 2


def test_evaluating_with_ends_after_a_failure_too(estimator):
    estimator.train(weight_model.input_fn, steps=1)
    with contextlib.suppress(ArithmeticError), estimator_patches.evaluating_with(
            [estimator], lambda input_fn: {"loss": 7.0}):
        assert estimator.evaluate(weight_model.input_fn) == {"loss": 7.0}
        raise ArithmeticError
    assert estimator.evaluate(weight_model.input_fn)["global_step"] == 1


def test_discarding_events_leaves_an_evaluation_without_events(estimator):
    estimator.train(weight_model.input_fn, steps=1)
    with estimator_patches.discarding_events(estimator):
        assert estimator.evaluate(weight_model.input_fn)["global_step"] == 1
    assert not tf.io.gfile.exists(estimator.eval_dir())
    estimator.evaluate(weight_model.input_fn)
    assert tf.io.gfile.listdir(estimator.eval_dir())


def test_calling_reaches_every_name_of_train_and_evaluate():
    from tensorflow_estimator.python.estimator import training
    seen = []
    with estimator_patches.calling({
            "train_and_evaluate": lambda original, *args: seen.append(args),
            "train": lambda original, *args: seen.append("train")}):
        for module in (tf.estimator, tf.compat.v1.estimator, training):
            module.train_and_evaluate(1, 2, 3)
        tpu = tf.compat.v1.estimator.tpu.TPUEstimator
        for kind in (tf.estimator.Estimator, tf.compat.v1.estimator.Estimator, tpu):
            kind.train(None, None)
    assert seen == [(1, 2, 3)] * 3 + ["train"] * 3
    assert tf.estimator.train_and_evaluate.__module__ == training.__name__
    with pytest.raises(TypeError, match="must have type"):
        tf.estimator.train_and_evaluate(1, 2, 3)
