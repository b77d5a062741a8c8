"""DeepFM, DCN v2 and wide & deep take a table's columns as they come, and prices in their unit."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer import cli
from model_fns import dcn, deepfm, wide_deep

pytestmark = pytest.mark.cluster

_NUMBER = {"kind": "number", "mean": 40.0, "deviation": 10.0, "knots": [20.0, 40.0, 60.0],
           "missing": True}
_COLUMNS = {"age": _NUMBER, "city": {"kind": "category", "values": ["Oslo", "Rome"]},
            "shop": {"kind": "category", "values": [f"shop {i}" for i in range(99)]},
            "note": {"kind": "text"},
            "sold": {"kind": "date", "pattern": r"(\d{4})-(\d\d)-(\d\d)",
                     "rewrite": r"\1,\2,\3,0,0,0", "parts": ["month"], "mean": 16000.0,
                     "deviation": 100.0, "knots": [], "missing": False}}
_MODELS = [pytest.param(dcn, marks=pytest.mark.soak), deepfm, wide_deep]
_NAMES = ["dcn", "deepfm", "wide_deep"]


def _table():
    return {"age": tf.constant([30.0, np.nan, 50.0], tf.float64),
            "city": tf.constant(["Oslo", "", "Bonn"]),
            "shop": tf.constant(["shop 98", "shop 0", "unknown"]),
            "note": tf.constant(["a", "", "b"]),
            "sold": tf.constant(["2014-05-02", "", "2013-12-24"])}


def _built(module, mode, labels, fetch, **params):
    """Builds a model in a graph of its own; returns what `fetch(spec)` is in a session."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.set_random_seed(1)
        tf.compat.v1.train.get_or_create_global_step()
        arguments = () if module is not wide_deep else (tf.estimator.RunConfig(),)
        spec = module.model_fn(_table(), labels if labels is None else tf.constant(labels), mode, {
            **module.DEFAULT_PARAMS, "table_columns": _COLUMNS, **params}, *arguments)
        fetches = fetch(spec)
        session.run([tf.compat.v1.global_variables_initializer(),
                     tf.compat.v1.local_variables_initializer()])
        return session.run(fetches)


def _shapes(spec):
    del spec  # Its graph has the variables.
    return {v.op.name: tf.shape(v) for v in tf.compat.v1.trainable_variables()}


@pytest.mark.parametrize("module", _MODELS, ids=_NAMES)
def test_missing_and_unknown_values_of_a_table_have_predictions(module):
    shapes = _built(module, "infer", None, _shapes)
    sizes = {tuple(shape)[0] for name, shape in shapes.items() if "category_" in name}
    assert sizes == {100, 1000}  # 99 shops and an unknown one; hashed notes.
    logits = _built(module, "infer", None, lambda spec: spec.predictions["logits"])
    assert np.isfinite(logits).all() and len(set(logits[:, 0].tolist())) == 3
    loss = _built(module, "train", [0, 1, 1], lambda spec: (spec.loss, spec.train_op))[0]
    assert np.isfinite(loss)


@pytest.mark.parametrize("module", _MODELS, ids=_NAMES)
def test_bucket_sizes_hash_a_tables_column(module):
    sizes = {"shop": 70, "note": 80, "age": 5}  # Numbers are not hashed.
    shapes = _built(module, "infer", None, _shapes, bucket_sizes=sizes)
    assert {shape[0] for name, shape in shapes.items() if "category_" in name} == {70, 80}
    with pytest.raises(ValueError, match="bucket_sizes names town; expected some of age, city"):
        _built(module, "infer", None, _shapes, bucket_sizes={"town": 5})


def test_wide_deep_crosses_a_tables_columns_as_they_come():
    shapes = _built(wide_deep, "infer", None, _shapes, buckets={"age": [18, 65]},
                    crosses=[["city", "age"], ["shop", "sold"]], hash_bucket_size=50)
    wide = {name.split("/")[2]: shape[0] for name, shape in shapes.items()
            if name.startswith("linear/") and "column_" in name}
    assert wide == {"column_age_bucketized": 3, "column_age_bucketized_X_column_city": 50,
                    "column_shop_X_column_sold": 50}


@pytest.mark.parametrize("module", _MODELS, ids=_NAMES)
def test_a_label_in_its_own_unit_is_learned_in_deviations(module):
    scale = {"mean": 273_500.0, "deviation": 100_000.0, "log": False}
    more = {"num_classes": -1, "label_scale": scale}
    labels = [173_500.0, 273_500.0, 373_500.0]
    answers = _built(module, "infer", None, lambda spec: spec.predictions["predictions"], **more)
    assert (abs(answers - 273_500) < 200_000).all() and answers.shape == (3, 1)
    train, evaluated = (_built(module, mode, labels, lambda spec: spec.loss, **more)
                        for mode in ("train", "eval"))
    expected = np.mean(np.square(answers[:, 0] - labels))
    assert train == pytest.approx(expected, rel=1e-4)
    assert evaluated == pytest.approx(expected, rel=1e-4)


def test_a_step_that_is_skipped_has_the_loss_0_in_the_labels_unit():
    loss = _built(dcn, "train", [1.0, 2.0, float("nan")], lambda spec: spec.loss, num_classes=-1,
                  label_scale={"mean": 1.0, "deviation": 2.0}, on_nan="skip")
    assert loss == 0


def _prices(path, rows=400):
    random.seed(1)
    lines = []
    for number in range(rows):
        area, city = random.randint(40, 200), random.choice(("Oslo", "Rome"))
        price = 1500 * area + (50_000 if city == "Oslo" else 0) + random.randint(-5000, 5000)
        missing = number % 20 == 0
        lines.append(f"{9000 + number},{'' if missing else area},{city},"
                     f"2014-{number % 12 + 1:02}-{number % 28 + 1:02},{price}\n")
    path.write_text("id,floor area,city,sold,price\n" + "".join(lines))
    return str(path)


@pytest.mark.soak
@pytest.mark.parametrize("model_fn", ["wide_deep", "dcn", "deepfm"])
def test_prices_are_learned_and_predicted_by_an_export(model_fn, tmp_path, capfd):
    new = tmp_path / "new.csv"
    new.write_text("city,floor area,sold,id\nOslo,100,2014-07-01,1\nBonn,,,2\nRome,150,soon,3\n")
    assert cli.main([f"--model_fn={model_fn}", "--input_fn=csv", "--param=label=price",
                     f"--param=train_files={_prices(tmp_path / 'prices.csv')}", "--seed=1",
                     "--train_steps=400", f"--model_dir={tmp_path / 'model'}"]) == 0
    result = json.loads((tmp_path / "model" / "result.json").read_text())
    assert result["metrics"]["r2"] > 0.9 and 1000 < result["metrics"]["mae"] < 30_000
    log = capfd.readouterr().err
    assert "id          left out" in log and "sold        date" in log
    [export] = result["exports"]
    answers = {}
    for source in (f"--model_dir={tmp_path / 'model'}", f"--export_dir={export}"):
        assert cli.main(["predict", source, f"--data={new}"]) == 0
        answers[source] = [json.loads(line)["predictions"][0]
                           for line in capfd.readouterr().out.splitlines()]
    first, second = answers.values()
    assert first == pytest.approx(second, rel=1e-5)
    assert 150_000 < first[0] < 250_000 and all(0 < price < 500_000 for price in first)
