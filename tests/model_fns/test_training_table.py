"""A table's columns are prepared in the graph, and labels of numbers are learned in their unit."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
import tensorflow as tf

from input_fns.reading import dates
from model_fns import canned
from model_fns.training import label_scale, table

pytestmark = pytest.mark.any_tensorflow

NUMBER = {"kind": "number", "mean": 2.0, "deviation": 2.0, "knots": [0.0, 1.0, 5.0],
          "missing": True}


def _run(fetches):
    with tf.compat.v1.Session() as session:
        return session.run(fetches)


def test_a_number_is_standardised_placed_among_its_knots_and_flagged():
    with tf.Graph().as_default():
        made = table.prepared({"x": tf.constant([2.0, 4.0, np.nan, 1e9], tf.float64)},
                              {"x": NUMBER}, hash_buckets=5)
        assert _run(made.numbers).tolist() == [
            [0, 1, 0.25, 0], [1, 1, 0.75, 0], [0, 1, 0.25, 1], [10, 1, 1, 0]]


def test_neighbouring_times_are_different_numbers():
    times = [1_600_000_000.0 + second for second in range(20)]
    entry = {**NUMBER, "mean": times[0], "deviation": 5.0, "knots": [], "missing": False}
    with tf.Graph().as_default():
        made = table.prepared({"t": tf.constant(times, tf.float64)}, {"t": entry}, 5)
        assert len(set(_run(made.numbers)[:, 0].tolist())) == 20


def test_a_category_is_its_place_among_the_values():
    many = [f"v{i}" for i in range(100)]
    with tf.Graph().as_default():
        made = table.prepared(
            {"a b": tf.constant(["x", "ß", "?", ""]),
             "größe": tf.constant(["v7", "v0", "?", "v99"])},
            {"a b": {"kind": "category", "values": ["ß", "x"]},
             "größe": {"kind": "category", "values": many}}, 5)
        (name, (ids, size)), = made.categories.items()
        one_hot, numbers = _run((made.numbers, ids))
    assert one_hot.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]]
    assert numbers.tolist() == [7, 0, 100, 99] and size == 101
    assert name.isascii() and " " not in name


@pytest.mark.parametrize("form", [
    "%Y-%m-%d", "%m/%d/%Y", "%d.%m.%Y %H:%M", "%Y%m%dT%H%M%S", "%d-%b-%Y", "%B %d, %Y",
    "%A, %d %B %Y %I:%M %p", "%b. %d %y", "%m/%d/%y", "%d/%m/%y %H:%M", "%d.%m.%y",
    "%m/%d/%Y %I:%M:%S %p", "%Y-%b-%d", "%Y-%m-%d %I:%M%p"])
def test_dates_are_taken_apart_in_the_graph_as_in_python(form):
    times = [datetime.datetime(1969, 1, 31, 5) + datetime.timedelta(hours=1111 * i)
             for i in range(300)]
    texts = [time.strftime(form) for time in times]
    found = dates.form_of(texts, is_text=True)
    assert found is not None
    entry = {"kind": "date", "pattern": found.pattern, "rewrite": found.rewrite,
             "has_words": found.has_words, "knots": [],
             "parts": ["month", "weekday"], "mean": 0.0, "deviation": 1e5, "missing": True}
    with tf.Graph().as_default():
        days = _run(table._days(tf.constant([*texts, "", "soon"]), entry))
        parts = _run(table.prepared({"d": tf.constant([*texts, ""])}, {"d": entry}, 5).numbers)
    np.testing.assert_allclose(days[:-2], found.read(texts).days, atol=1e-9)
    assert np.isnan(days[-2:]).all() and not parts[-1, 2:].any() and parts[-1, 1] == 1
    assert (parts[:-1, 2:14].argmax(1) + 1).tolist() == [time.month for time in times]
    assert parts[:-1, 14:].argmax(1).tolist() == [time.weekday() for time in times]


@pytest.mark.parametrize("form", ["%m/%d/%Y", "%b %d, %Y", "%d.%m.%Y %H:%M"])
def test_times_as_arrow_writes_them_are_read_beside_the_form_of_training(form):
    times = [datetime.datetime(2014, 5, 2, 9) + datetime.timedelta(hours=41 * i) for i in range(40)]
    found = dates.form_of([time.strftime(form) for time in times], is_text=True)
    entry = {"kind": "date", "pattern": found.pattern, "rewrite": found.rewrite, "mean": 0.0,
             "has_words": found.has_words, "knots": [], "parts": [], "deviation": 1e5,
             "missing": True}
    texts = [str(time) for time in times] + ["2014-05-02T09:00:00.25Z", "2014-05-02", "no date"]
    with tf.Graph().as_default():
        days = _run(table.prepared({"t": tf.constant(texts)}, {"t": entry}, 5).numbers)
    since = [(time - datetime.datetime(1970, 1, 1)).total_seconds() / 86400 for time in times]
    np.testing.assert_allclose(days[:-3, 0] * 1e5, since, rtol=1e-5)
    assert days[:, 1].tolist() == [0.0] * 42 + [1.0]


def test_unix_times_are_taken_apart_to_the_hour():
    entry = {"kind": "date", "per_day": 86_400_000, "parts": ["month", "weekday", "hour"],
             "mean": 0.0, "deviation": 1e5, "missing": True, "knots": []}
    time = datetime.datetime(2024, 2, 29, 23, 59, 59, tzinfo=datetime.timezone.utc)
    with tf.Graph().as_default():
        millis = tf.constant([time.timestamp() * 1000, float("nan")], tf.float64)
        numbers = _run(table.prepared({"t": millis}, {"t": entry}, 5).numbers)
    assert [part.argmax() for part in (numbers[0, 2:14], numbers[0, 14:21], numbers[0, 21:])] == [
        1, 3, 23]
    assert not numbers[1, 2:].any() and numbers[1, 1] == 1


def test_a_regressor_of_scaled_labels_answers_in_the_labels_unit():
    scale = {"mean": 273_500.0, "deviation": 100_000.0, "log": False}
    labels = np.array([[173_500.0], [473_500.0]], np.float32)
    with tf.Graph().as_default():
        outputs = tf.constant([[-1.0], [1.0]])
        made = tf.estimator.EstimatorSpec("eval", {"predictions": outputs}, loss=tf.constant(0.5))
        spec = label_scale.spec(made, tf.constant(labels[:, 0]), scale)
        metrics = spec.eval_metric_ops
        with tf.compat.v1.Session() as session:
            session.run([tf.compat.v1.global_variables_initializer(),
                         tf.compat.v1.local_variables_initializer()])
            session.run([update for _, update in metrics.values()])
            found = session.run({name: value for name, (value, _) in metrics.items()})
            loss, predictions = session.run((spec.loss, spec.predictions["predictions"]))
    assert predictions.tolist() == [[173_500.0], [373_500.0]]
    assert loss == found["average_loss"] == pytest.approx(5e9)
    assert found["rmse"] == pytest.approx(5e9 ** 0.5) and found["mae"] == 50_000
    assert found["r2"] == pytest.approx(1 - 1e10 / 4.5e10)
    assert found["label/mean"] == 323_500


def test_a_regressor_of_logarithms_answers_in_the_labels_unit():
    scale = {"mean": np.log(100.0), "deviation": np.log(10.0), "log": True}
    with tf.Graph().as_default():
        inner = label_scale.scaled(tf.constant([10.0, 1000.0]), scale)
        made = tf.estimator.EstimatorSpec("infer", {"predictions": inner[:, tf.newaxis]})
        spec = label_scale.spec(made, None, scale)
        scaled, answers = _run((inner, spec.predictions["predictions"]))
    np.testing.assert_allclose(scaled, [-1, 1], rtol=1e-6)
    np.testing.assert_allclose(answers, [[10], [1000]], rtol=1e-5)


@pytest.mark.parametrize("scale, is_set", [
    ({}, False), ({"mean": 0, "deviation": 1}, False), ({"mean": 0, "deviation": 2}, True),
    ({"mean": 0, "deviation": 1, "log": True}, True)])
def test_labels_are_scaled_only_where_that_changes_them(scale, is_set):
    assert label_scale.is_set(scale) == is_set


@pytest.mark.parametrize("params, message", [
    ({"label_scale": {"mean": 1}}, "deviation, which is above 0"),
    ({"table_columns": {"y": NUMBER}}, "table_columns has y, and the features are x"),
    ({"table_columns": {"x": {"kind": "numeric"}}}, "expected one of category, date, number")])
def test_a_wrong_param_of_a_table_is_an_error(params, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        canned.model_fn({"x": tf.constant([1.0])}, None, "infer", {
            **canned.DEFAULT_PARAMS, "num_classes": -1, **params}, tf.estimator.RunConfig())
