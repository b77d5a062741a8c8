"""Canned Estimators by name, and wide & deep, on real data."""

from __future__ import annotations

import json

import pytest
import tensorflow as tf

from estimator_trainer import cli
from input_fns import csv
from model_fns import canned, wide_deep
from tests.support import jobs

EXAMPLE = jobs.REPO / "examples" / "wide_deep"
FILES = {"train_files": f"{EXAMPLE}/males.csv.gz", "eval_files": f"{EXAMPLE}/males-test.csv.gz"}
INCOME = {"label": "income", "label_vocabulary": ["<=median", ">median"], "num_classes": 2}
PARTS = ("DNN", "Linear", "DNNLinearCombined")


@pytest.fixture
def run(tmp_path, capfd):
    """Runs a command in this process; returns the JSON lines of its standard output."""

    def run_command(*args):
        capfd.readouterr()
        code = cli.main([*args, f"--model_dir={tmp_path}"])
        out, err = capfd.readouterr()
        assert code == 0, err
        return [json.loads(line) for line in out.splitlines()]

    return run_command


def _result(model_dir):
    return json.loads((model_dir / "result.json").read_text())


def _metrics(name, features, **params):
    """Trains a canned Estimator, without the program, for 100 steps on the bundled table."""
    config = tf.estimator.RunConfig(tf_random_seed=1)
    estimator = tf.estimator.Estimator(canned.model_fn, config=config, params={
        **csv.DEFAULT_PARAMS, **canned.DEFAULT_PARAMS, **FILES, "estimator": name,
        "features": features, "batch_size": 256, "dnn_optimizer": "Adam",
        "dnn_learning_rate": 0.01, "linear_optimizer": "Adam", "linear_learning_rate": 0.5,
        **params})
    estimator.train(csv.input_fn, max_steps=100)
    return estimator.evaluate(csv.input_fn)


@pytest.mark.any_tensorflow
@pytest.mark.cluster
@pytest.mark.soak
def test_canned_classifiers_are_above_the_baseline_on_incomes():
    names = ["school", "exper", "occupation"]
    baseline = _metrics("BaselineClassifier", names, **INCOME)
    assert baseline["auc"] == 0.5
    for part in PARTS:
        assert _metrics(f"{part}Classifier", names, **INCOME)["auc"] > 0.6


@pytest.mark.any_tensorflow
@pytest.mark.cluster
@pytest.mark.soak
def test_canned_regressors_are_above_the_baseline_on_years():
    names = ["exper", "occupation", "industry"]
    baseline = _metrics("BaselineRegressor", names, label="school")
    for part in PARTS:
        metrics = _metrics(f"{part}Regressor", names, label="school")
        assert metrics["average_loss"] < 0.8 * baseline["average_loss"]


@pytest.mark.cluster
def test_canned_default_learns_digits_and_exports_the_same(run, tmp_path, data_dir):
    flags = ["--model_fn=canned", f"--param=data_dir={data_dir}"]
    run(*flags, "--train_steps=150", "--exporters=final", "--seed=1")
    assert _result(tmp_path)["metrics"]["accuracy"] > 0.9
    [export] = _result(tmp_path)["exports"]
    from_checkpoint, from_export = run("predict", *flags), run(
        "predict", *flags, f"--export_dir={export}")
    assert len(from_checkpoint) == 355
    assert [p["class_ids"] for p in from_export] == [p["class_ids"] for p in from_checkpoint]
    assert sum(from_export[0]["probabilities"]) == pytest.approx(1.0)


@pytest.mark.soak
@pytest.mark.cluster
def test_wide_deep_example_trains_and_its_export_predicts(run, tmp_path):
    flags = ["--model_fn=wide_deep", "--input_fn=csv", f"--params_file={EXAMPLE}/males.json",
             *(f"--param={name}={path}" for name, path in FILES.items())]
    run(*flags, "--train_steps=200", "--exporters=final", "--seed=1")
    learned = json.loads((tmp_path / "record.json").read_text())["params"]
    assert learned["label_vocabulary"] == ["<=median", ">median"] and learned["num_classes"] == 2
    assert learned["table_columns"]["school"]["mean"] == pytest.approx(11.78, abs=0.01)
    metrics, [export] = _result(tmp_path)["metrics"], _result(tmp_path)["exports"]
    assert metrics["auc"] > 0.74 and metrics["accuracy"] > 0.66 > metrics["accuracy_baseline"]
    predictions = run("predict", *flags, f"--export_dir={export}")
    assert len(predictions) == 872
    mean = sum(p["probabilities"][1] for p in predictions) / 872
    assert mean == pytest.approx(metrics["prediction/mean"], abs=1e-4)


@pytest.mark.parametrize("classes, made", [(2, "logistic"), (-1, "predictions")])
def test_wide_deep_predicts_classes_or_numbers(classes, made):
    with tf.Graph().as_default():
        spec = wide_deep.model_fn({"wage": tf.constant([1.0])}, None, "infer", {
            **wide_deep.DEFAULT_PARAMS, "num_classes": classes}, tf.estimator.RunConfig())
        assert spec.predictions[made].shape.as_list() == [1, 1]


def test_wide_deep_finds_its_columns_in_the_features():
    with tf.Graph().as_default():
        features = {"job": tf.constant(["a"]), "wage": tf.constant([1.0]), "age": tf.constant([30])}
        params = {**wide_deep.DEFAULT_PARAMS, "buckets": {"age": [18, 65]},
                  "crosses": [["job", "age"]]}
        wide_deep.model_fn(features, None, "infer", params, tf.estimator.RunConfig())
        shapes = {v.op.name: v.shape.as_list() for v in tf.compat.v1.global_variables()}
    wide = {name.split("/")[2]: shape[0] for name, shape in shapes.items()
            if name.startswith("linear/") and name.endswith("/weights")}
    assert wide == {"job": 1000, "age_bucketized": 3, "age_bucketized_X_job": 1000}
    assert shapes["dnn/hiddenlayer_0/kernel"][0] == 8 + 2  # An embedding and two numbers.


@pytest.mark.any_tensorflow
def test_wide_deep_scales_only_numbers_with_a_scale():
    # Two times of a day, which are one number in float32.
    features = {"time": tf.constant([[1600000000], [1600000001]], tf.int64),
                "image": tf.ones([2, 3, 3]), "wage": tf.constant([[2.0], [4.0]])}
    params = {"numeric_scale": {"time": [1600000000, 0.5], "wage": [3.0, 2.0]}}
    columns = {name: canned._column(name, value, params) for name, value in features.items()}
    scaled = {name: column.normalizer_fn(features[name]).numpy().tolist()
              for name, column in columns.items() if column.normalizer_fn}
    assert scaled == {"time": [[0.0], [2.0]], "wage": [[-0.5], [0.5]]}
    assert columns["image"].shape == (3, 3)


@pytest.mark.parametrize("module, params, message", [
    (canned, {"estimator": "DNN"}, "expected one of .*DNNClassifier"),
    (canned, {"features": ["age"]}, "no age; expected some of job"),
    (canned, {"dnn_optimizer": "adam"}, "expected one of Adagrad, Adam"),
    (canned, {"num_classes": -1, "estimator": "DNNClassifier"},
     "the label is a number, no class"),
    (canned, {"numeric_scale": {"age": [0, 1]}}, "numeric_scale names age; expected some of job"),
    (wide_deep, {"numeric_scale": {"wage": [1, 0]}}, "deviation, which is above 0"),
    (wide_deep, {"num_classes": -2}, "the label is a number, no class"),
    (wide_deep, {"crosses": [["job", "wage"]]}, "wage, of numbers without buckets"),
    (wide_deep, {"buckets": {"age": [1]}}, "buckets names age; expected some of job, wage")])
def test_canned_refuses_a_mistake_with_what_was_expected(module, params, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        features = {"job": tf.constant(["a"]), "wage": tf.constant([1.0])}
        module.model_fn(features, None, "infer", {**module.DEFAULT_PARAMS, "num_classes": 2,
                                                  **params}, tf.estimator.RunConfig())
