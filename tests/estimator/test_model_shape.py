"""A model plug-in trains in every shape that Estimator programs have, or is refused in a sentence.
"""

from __future__ import annotations

import math
import sys

import pytest

from estimator_trainer import environment, errors
from estimator_trainer.checks import run_plan
from estimator_trainer.compat import estimator_training  # noqa: F401  Before TensorFlow.
from estimator_trainer.estimator import builder, loaded_plugins
from estimator_trainer.settings.trainer_config import TrainerConfig

# isort: split
import tensorflow as tf

pytestmark = pytest.mark.cluster

_PLUGINS = '''
import tensorflow as tf

V1 = tf.compat.v1
TPU = V1.estimator.tpu
COLUMNS = [tf.feature_column.numeric_column("x", shape=(2,))]


def input_fn(params):
    size = params.get("batch_size", 8)
    data = {"x": tf.ones([size, 2])}, tf.zeros([size, 1], tf.int32)
    return tf.data.Dataset.from_tensors(data).repeat(4)


def step(loss):
    return V1.train.GradientDescentOptimizer(0.1).minimize(loss, V1.train.get_global_step())


def loss_of(features, labels, units=1):
    logits = V1.layers.dense(features["x"], units)[:, :1]
    return logits, V1.losses.sigmoid_cross_entropy(labels, logits)


canned = tf.estimator.DNNClassifier(
    [2], COLUMNS, optimizer=tf.keras.optimizers.legacy.Adam(0.1),
    config=tf.estimator.RunConfig("elsewhere", tf_random_seed=7, save_summary_steps=3,
                                  session_config=V1.ConfigProto(operation_timeout_in_ms=9000)))


def build_estimator(config, hidden_units, model_dir=None):
    assert config.model_dir == model_dir and hidden_units == [3]
    return V1.estimator.DNNClassifier(hidden_units, COLUMNS, config=config)


def create_estimator(run_config, hparams):
    def model_fn(features, labels, mode, params, config):
        assert params["units"] == 3 and params["depth"] == 1, params
        assert params["batch_size"] == {"train": 16, "eval": 8, "infer": 4}[mode]
        assert config.tpu_config
        assert features["x"].shape[0] in (None, params["batch_size"])
        if mode == "infer":
            return TPU.TPUEstimatorSpec(mode, predictions=features["x"])
        logits, loss = loss_of(features, labels, params["units"])
        metric = lambda labels, logits: {"mean": V1.metrics.mean(logits)}
        return TPU.TPUEstimatorSpec(mode, loss=loss, train_op=step(loss),
                                    eval_metrics=(metric, [labels, logits]))

    return TPU.TPUEstimator(model_fn, params={"units": 5, "depth": 1}, config=TPU.RunConfig(),
                            use_tpu=False, train_batch_size=16, eval_batch_size=8,
                            predict_batch_size=4)


def model_fn_builder(params):
    def model_fn(features, labels, mode, params):
        assert params.units == params["units"] == params.get("units") == 3
        logits, loss = loss_of(features, labels, params.units)
        return TPU.TPUEstimatorSpec(mode, loss=loss, train_op=step(loss), eval_metrics=(
            lambda labels, logits: {"mean": V1.metrics.mean(logits)}, [labels, logits]))
    return model_fn


def compiled(model):
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return model


sequential = compiled(tf.keras.Sequential(
    [tf.keras.layers.Dense(1, "sigmoid", input_shape=(2,), name="named")]))
not_compiled = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])


class OfTensor(tf.keras.Model):
    def __init__(self, units=1):
        super().__init__()
        self.dense = tf.keras.layers.Dense(units, "sigmoid")
        compiled(self)

    def get_config(self):
        return {"units": 1}

    def call(self, x):
        return self.dense(x)


class OfDict(OfTensor):
    def call(self, features):
        return self.dense(features["x"])


def number():
    return 3


def wants(model_type, config):
    return model_type


def other_names(x, y, mode):
    return model_fn(x, y, mode)
'''


@pytest.fixture
def prepare(tmp_path, monkeypatch):
    """Returns a function that loads the plug-in of a name; the default RunConfig is local."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "shapes", raising=False)
    (tmp_path / "shapes.py").write_text(_PLUGINS)

    def load(name, **flags):
        config = TrainerConfig(
            model_fn=f"./shapes.py:{name}", input_fn="./shapes.py", exporters=("none",),
            model_dir=str(tmp_path / "run"), **flags)
        plan = run_plan.ready(run_plan.for_training(config, environment.Environment()))
        return plan, loaded_plugins.load(plan)

    yield load
    sys.modules.pop("shapes", None)


_UNITS = {"param": ("units=3",)}


@pytest.mark.parametrize("name, flags, metric", [
    ("canned", {}, "accuracy"),
    ("build_estimator", {"param": ("hidden_units=[3]",)}, "accuracy"),
    ("create_estimator", _UNITS, "mean"),
    ("model_fn_builder", _UNITS, "mean"),
    ("sequential", {}, "accuracy"),
    ("OfTensor", {}, "accuracy"),
    ("OfDict", {}, "accuracy"),
])
def test_model_of_every_shape_trains_and_is_evaluated(name, flags, metric, prepare):
    plan, parts = prepare(name, **flags)
    single = builder.for_one_process(plan.config, parts)
    assert single.model_dir == plan.config.model_dir
    # Not looped, for that is tested elsewhere and takes as long again to build.
    single.train(parts.input_fn, max_steps=2)
    metrics = single.evaluate(parts.input_fn, steps=1)
    assert metrics["global_step"] == 2 and math.isfinite(metrics["loss"]) and metric in metrics
    if name == "create_estimator":
        assert len(list(single.predict(parts.input_fn))) == 4 * 4
    if name == "canned":
        assert single.config.tf_random_seed == 7 and single.config.save_summary_steps == 3
        assert single.config.session_config.operation_timeout_in_ms == 9000
        assert not tf.io.gfile.exists("elsewhere")


@pytest.mark.parametrize("name, sentence", [
    ("not_compiled", r"a Keras model that is not compiled.*model\.compile\(\"adam\""),
    ("number", "so it was called, and returned an object of type int; expected a tf.estimator"),
    ("wants", "takes model_type, of which nothing is known.*--param model_type=VALUE"),
    ("other_names", r"takes x, y, mode, of which nothing is known, and no argument called features"
                    r".*For example: def model_fn\(features, labels, mode\), or --param x=VALUE"),
])
def test_model_of_refuses_other_objects_in_one_sentence(name, sentence, prepare):
    with pytest.raises(errors.ConfigError, match=sentence):
        prepare(name)


def test_model_of_refuses_keras_3_by_its_name(prepare):
    keras = pytest.importorskip("keras", "3")
    sys.modules.pop("shapes", None)
    with open("shapes.py", "a") as file:
        file.write("import keras\n"
                   "of_keras_3 = keras.Sequential([keras.layers.Dense(1)])\n"
                   "def in_model_fn(features, labels, mode):\n"
                   "    loss = tf.reduce_sum(keras.layers.Dense(1)(features['x']))\n"
                   "    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step(loss))\n")
    sentence = rf"made with Keras {keras.__version__} .*expected Keras 2"
    with pytest.raises(errors.ConfigError, match=sentence):
        prepare("of_keras_3")
    plan, parts = prepare("in_model_fn")
    single = builder.for_one_process(plan.config, parts)
    with pytest.raises(errors.ConfigError, match=sentence):
        single.train(parts.input_fn, max_steps=1)
