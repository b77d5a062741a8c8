"""JSON lines to predict: what they may hold, and the sentence where one is wrong."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.prediction.json_instances import Feeding, JsonInstances, lines

SPECS = {"age": tf.TensorSpec([None], tf.int64), "job": tf.TensorSpec([None], tf.string),
         "pair": tf.TensorSpec([None, 2], tf.float32)}
GOOD = {"age": 3, "job": "cook", "pair": [1, 2.5]}


def _values(instances):
    """Returns the features of the first batch as a session sees them that is fed."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        features = tf.nest.map_structure(tf.identity, instances.input_fn())
        fed = Feeding(instances).before_run(None).feed_dict
        return session.run(features, fed)


def test_json_instances_become_features_of_the_models_types():
    image = {"b64": base64.b64encode(b"\xff\x00").decode()}
    text = [json.dumps(GOOD), "", json.dumps({**GOOD, "job": image})]
    [batch] = JsonInstances(text, SPECS).batches()
    assert batch["age"].dtype == np.int64 and batch["age"].tolist() == [3, 3]
    assert batch["job"].tolist() == [b"cook", b"\xff\x00"]
    assert batch["pair"].dtype == np.float32 and batch["pair"].tolist() == [[1, 2.5]] * 2


def test_json_instances_of_dicts_are_those_of_lines():
    [batch] = JsonInstances([{**GOOD, "pair": np.array([1, 2])}], SPECS).batches()
    assert batch["pair"].tolist() == [[1, 2]]


@pytest.mark.parametrize("change, expected", [
    ({"age": "old"}, "wrong value for 'age': expected a whole number, got 'old'"),
    ({"age": 1.5}, "expected a whole number, got 1.5"),
    ({"age": 1 << 70}, "expected a whole number, got"),
    ({"age": None}, "expected a whole number, got None"),
    ({"job": 7}, "expected text"),
    ({"job": {"b64": "?"}}, "expected text"),
    ({"pair": [1]}, "a list of shape [2], got shape [1]"),
    ({"pair": [1, [2]]}, "a list of shape [2], got [1, [2]]"),
    ({"ages": 1}, "has 'ages', which is no feature; expected age, job, pair. Did you mean 'age'?"),
])
def test_check_names_the_line_of_a_wrong_value(change, expected):
    rows = JsonInstances([json.dumps(GOOD), json.dumps({**GOOD, **change})], SPECS, "line")
    batches = rows.batches()
    assert len(next(batches)["age"]) == 1  # The line before it is answered.
    with pytest.raises(errors.ConfigError) as raised:
        next(batches)
    assert str(raised.value).startswith("line 2 of the data to predict ")
    assert expected in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("line, expected", [
    ("{", "is not JSON"), ("[1]", "is a list; expected an object with age, job, pair"),
    ('{"age": 1, "job": ""}', "lacks the feature 'pair'")])
def test_lines_refuse_what_is_not_an_instance(line, expected):
    with pytest.raises(errors.ConfigError, match=expected):
        list(JsonInstances([line], SPECS, "line").batches())


def test_json_instances_of_any_length_are_sparse_or_ragged():
    specs = {"words": tf.SparseTensorSpec([None, None], tf.string),
             "ids": tf.RaggedTensorSpec([None, None], tf.int32)}
    rows = [{"words": ["a", "b"], "ids": []}, {"words": [], "ids": [4, 5]}]
    got = _values(JsonInstances(rows, specs))
    assert got["words"].values.tolist() == [b"a", b"b"]
    assert got["words"].indices.tolist() == [[0, 0], [0, 1]]
    assert got["words"].dense_shape.tolist() == [2, 2]
    assert got["ids"].to_list() == [[], [4, 5]] and got["ids"].values.dtype == np.int32


def test_json_instances_without_a_name_are_called_feature():
    got = _values(JsonInstances([{"feature": [1, 2]}], SPECS["pair"]))
    assert got.tolist() == [[1, 2]]


def test_feeding_puts_other_shapes_into_their_own_batch():
    spec = {"x": tf.TensorSpec([None, None], tf.float32)}
    batches = list(JsonInstances([{"x": [1]}, {"x": [2]}, {"x": [1, 2]}], spec).batches())
    assert [batch["x"].tolist() for batch in batches] == [[[1], [2]], [[1, 2]]]


def test_feeding_makes_batches_in_order():
    spec = {"x": tf.TensorSpec([None], tf.int64)}
    batches = list(JsonInstances([{"x": i} for i in range(200)], spec).batches())
    assert len(batches) < 20 and max(len(batch["x"]) for batch in batches) <= 64
    assert np.concatenate([batch["x"] for batch in batches]).tolist() == list(range(200))


def test_feeding_makes_a_batch_while_lines_still_arrive():
    arrived = []

    def typed():
        yield '{"x": 1}'
        while not arrived:  # The second line waits for the answer to the first.
            pass
        yield '{"x": 2}'

    for batch in JsonInstances(typed(), {"x": tf.TensorSpec([None], tf.int64)}).batches():
        arrived.append(batch["x"].tolist())
    assert arrived == [[1], [2]]


def test_json_instances_refuse_features_that_json_lacks():
    with pytest.raises(errors.ConfigError, match="feature 'x' is"):
        JsonInstances([], {"x": tf.RaggedTensorSpec([None, None, None], tf.int32)})


def test_lines_of_a_missing_file_are_one_sentence():
    with pytest.raises(errors.ConfigError, match="data is '/nowhere.jsonl'"):
        list(lines("/nowhere.jsonl"))


def test_json_instances_may_have_the_label_beside_them():
    rows = JsonInstances([json.dumps({**GOOD, "label": 1})], SPECS, "line", ["label", "id"])
    [batch] = rows.batches()
    assert set(batch) == set(SPECS)


@pytest.mark.parametrize("is_demanded", [True, False])
def test_a_key_that_is_no_feature_is_kept_as_it_came(is_demanded):
    rows = JsonInstances([{**GOOD, "id": key} for key in (7, "x")] + [GOOD], SPECS)
    rows.keep("id", is_demanded)
    batches = rows.batches()
    if is_demanded:
        next(batches)
        with pytest.raises(errors.ConfigError, match="3 .* lacks 'id', which --forward_key names"):
            next(batches)
    assert len(list(batches)) == 1 - is_demanded
    assert list(rows.keys()) == [7, "x", None][:3 - is_demanded]


def test_a_text_of_a_table_may_be_missing():
    specs = {"city": tf.TensorSpec([None], tf.string)}
    [batch] = JsonInstances(['{"city": null}'], specs, has_missing=True).batches()
    assert batch["city"].tolist() == [b""]
    with pytest.raises(errors.ConfigError, match="got None"):
        list(JsonInstances(['{"city": null}'], specs).batches())
