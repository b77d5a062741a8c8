"""The labels of TFRecord files: classes, texts or numbers, as the records have them."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest

from estimator_trainer import api
from input_fns import tfrecord
from input_fns.reading.errors import DataFileError
from tests.support import example_files
from tests.support.example_files import example

pytestmark = [pytest.mark.any_tensorflow, pytest.mark.cluster]
CLASSIFIER = {"prepare_columns": True, "label_scale": {}}


def written(folder, labels, dtype, compression="", **params):
    """Writes records of a number and a label; returns the params that read them."""
    example_files.write(folder / "rows", [
        example(x=float(i % 5), y=label) for i, label in enumerate(labels)], compression)
    return {**tfrecord.DEFAULT_PARAMS, "train_files": f"{folder}/rows",
            "eval_files": f"{folder}/rows", "label": "y", "image": "", "batch_size": 4,
            "schema": {"x": {"dtype": "float32", "shape": []},
                       "y": {"dtype": dtype, "shape": []}}, **params}


@pytest.mark.parametrize("labels, dtype, num_classes, read", (
    ([0, 1, 2] * 4, "int64", 3, [0, 1, 2, 0]),
    ([0.0, 1.0] * 6, "float32", 2, [0, 1, 0, 1]),
    ([b"yes", b"no", "größe".encode()] * 4, "string", 3, [2, 1, 0, 2]),
    ([0.5, 7.25, 3.0] * 4, "float32", -1, [0.5, 7.25, 3.0, 0.5])))
def test_classes_and_numbers_are_found_by_the_labels(tmp_path, labels, dtype, num_classes, read):
    params = written(tmp_path, labels, dtype, **CLASSIFIER)
    facts = tfrecord.data_params(params)
    assert facts["num_classes"] == num_classes and ("label_scale" in facts) == (num_classes < 0)
    _, found = next(iter(tfrecord.input_fn("eval", {**params, **facts})))
    assert found.numpy().tolist() == read and found.dtype.is_integer == (num_classes > 0)


def test_another_model_gets_the_labels_as_they_are(tmp_path):
    params = written(tmp_path, [0.0, 1.0] * 6, "float32")
    assert tfrecord.data_params(params) == {}
    _, found = next(iter(tfrecord.input_fn("eval", {**params, "num_classes": 2})))
    assert found.dtype.is_floating


def test_whole_numbers_with_gaps_are_no_classes(tmp_path, caplog):
    params = written(tmp_path, [1, 2] * 6, "int64", **CLASSIFIER)
    with caplog.at_level(logging.INFO):
        assert tfrecord.data_params(params)["num_classes"] == -1
    assert "If they are classes: --param num_classes=3" in caplog.text


@pytest.mark.parametrize("labels, dtype, expected", (
    ([b"same"] * 5, "string", "expected two values or more"),
    ([], "int64", "no file of it holds a record"),
    ([1, 0, 0.5], "int64", "record 3 of .*feature 'y' is float32; expected int64"),
    ([0.0, 1.0, 0.5], "float32", "")))
def test_labels_that_cannot_be_read_are_one_sentence(tmp_path, labels, dtype, expected):
    params = written(tmp_path, labels, dtype, **CLASSIFIER)
    if not expected:
        params["num_classes"] = 2
        assert "record 3 of" in tfrecord.data_problem(params)
        return
    with pytest.raises(DataFileError, match=expected):
        tfrecord.data_params(params)


def test_a_text_that_training_lacked_is_named_where_it_is_evaluated(tmp_path):
    params = written(tmp_path, [b"a", b"b", b"c"], "string", label_vocabulary=["a", "b"])
    assert "record 3 of" in tfrecord.data_problem(params)
    assert "none of label_vocabulary" in tfrecord.data_problem(params)


@pytest.mark.parametrize("compression", (
    "GZIP", pytest.param("ZLIB", marks=pytest.mark.soak)))
def test_compressed_files_are_recognised(tmp_path, compression):
    params = written(tmp_path, [0, 1] * 6, "int64", compression, **CLASSIFIER)
    assert tfrecord.data_params(params)["num_classes"] == 2
    assert tfrecord.data_problem(params) == ""
    new = {**params, "predict_files": params["train_files"]}
    for mode, each in (("train", params), ("eval", params), ("infer", new)):
        features, _ = next(iter(tfrecord.input_fn(mode, each)))
        assert features["x"].shape == [4]


@pytest.mark.soak
def test_texts_are_learned_and_predicted_without_a_number_of_classes(tmp_path):
    params = written(tmp_path, [b"yes" if i % 5 > 2 else b"no" for i in range(40)], "string")
    passed = {name: params[name] for name in ("train_files", "eval_files", "label", "image",
                                              "schema", "batch_size")}
    api.train("canned", "tfrecord", tmp_path / "model", params=passed, train_steps=3)
    answers = api.predict(tmp_path / "model", f"{tmp_path}/rows")
    assert {each["class"] for each in answers} <= {"yes", "no"}
    assert [each["label_class"] for each in answers[:5]] == ["no", "no", "no", "yes", "yes"]
    record = json.loads((tmp_path / "model" / "record.json").read_text())
    assert record["params"]["label_vocabulary"] == ["no", "yes"]
    assert np.isfinite(api.evaluate(tmp_path / "model")["loss"])
