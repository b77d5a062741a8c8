"""Output of predictions: names beside numbers, short floats, tables, and where to."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from estimator_trainer import errors
from estimator_trainer.estimator.passthrough import Answer
from estimator_trainer.prediction import output_file
from estimator_trainer.prediction.prediction_writer import plain, PredictionWriter

PREDICTED = {"classes": np.int64(1), "probabilities": np.float32([0.1234567, 0.8765433])}
NAMES = ("cat", "dog")


def test_plain_has_short_numbers_and_the_name_of_the_class():
    assert json.loads(PredictionWriter(NAMES).next_line(Answer(PREDICTED, {}))) == {
        "key": 0, "classes": 1, "probabilities": [0.123457, 0.876543], "class": "dog"}


def test_plain_names_the_classes_of_a_canned_estimator():
    writer = PredictionWriter(NAMES)
    canned = {"class_ids": np.array([0]), "classes": np.array([b"0"], object)}
    assert writer.next_entry(Answer(canned, {}))["class"] == "cat"
    assert writer.next_entry(Answer({**canned, "class": b"own"}, {}))["class"] == "own"
    assert "class" not in writer.next_entry(Answer({"classes": np.int64(7)}, {}))


@pytest.mark.parametrize("label, expected", [
    (np.int64(1), {"label": "dog", "label_class": "dog"}),
    (b"dog", {"label": "dog", "label_class": "dog"}),
    (b"cow", {"label": "cow", "label_class": None}),
    (b"", {"label": None, "label_class": None}),
    (np.float32(3.1), {"label": 3.1}),
    (np.array([0]), {"label": "cat", "label_class": "cat"}),
    (np.int64(2), {"label": 2, "label_class": None}),
])
def test_plain_names_the_label(label, expected):
    entry = PredictionWriter(NAMES).next_entry(Answer({"y": np.float32(1)}, {}, label))
    assert {name: entry[name] for name in entry if "label" in name} == expected


@pytest.mark.parametrize("text, expected", [
    (b"3", 3), (b"-2.5", -2.5), (b"007", "007"), (b"true", "true"), (b"NaN", "NaN")])
def test_plain_keeps_a_label_of_text(text, expected):
    assert PredictionWriter().next_entry(Answer({}, {}, text))["label"] == expected


def test_records_of_a_table_have_a_column_for_each_number():
    writer = PredictionWriter(NAMES, is_table=True)
    inputs = {"key": np.int64(9), "job": b'cook, "chef"', "score": np.float32(1234567.5)}
    lines = [writer.next_line(Answer({**PREDICTED, "logits": np.float32([0.5])}, inputs, b""), True)
             for _ in range(2)]
    assert "".join(lines).splitlines() == [
        "key,input_key,job,score,classes,probability_cat,probability_dog,logits,class,label,"
        "label_class",
        '0,9,"cook, ""chef""",1234567.5,1,0.123457,0.876543,0.5,dog,,',
        '1,9,"cook, ""chef""",1234567.5,1,0.123457,0.876543,0.5,dog,,']


def test_records_of_a_table_without_names_number_the_columns():
    text = PredictionWriter(is_table=True, has_key=False).next_line(Answer(
        {"probabilities": np.float32([0.5, 0.5]), "box": np.array([[1, 2], [3, 4]])}, {}))
    assert text == ("probabilities_0,probabilities_1,box_0_0,box_0_1,box_1_0,box_1_1\n"
                    "0.5,0.5,1,2,3,4\n")


def test_records_of_a_table_have_the_answer_of_a_canned_estimator_alone():
    canned = {"logits": np.float32([0.5]), "logistic": np.float32([0.6]),
              "probabilities": np.float32([0.4, 0.6]), "class_ids": np.array([1]),
              "classes": np.array([b"1"], object), "all_class_ids": np.array([0, 1]),
              "all_classes": np.array([b"0", b"1"], object)}
    writer = PredictionWriter(NAMES, is_table=True)
    assert writer.next_line(Answer(canned, {}, b"cat")) == (
        "key,probability_cat,probability_dog,class,label,label_class\n0,0.4,0.6,dog,cat,cat\n")
    assert PredictionWriter(is_table=True).next_line(Answer(canned, {})) == (
        "key,probabilities_0,probabilities_1,class_ids\n0,0.4,0.6,1\n")


CANNED = {"logits": np.float32([0.5]), "logistic": np.float32([0.6]),
          "probabilities": np.float32([0.4, 0.6]), "class_ids": np.array([1]),
          "classes": np.array([b"dog"], object), "all_class_ids": np.array([0, 1]),
          "all_classes": np.array([b"cat", b"dog"], object)}


@pytest.mark.parametrize("names", [NAMES, ()])
def test_json_has_the_answer_of_a_canned_estimator_alone(names):
    # Without names of the data, those of a canned Estimator that has a vocabulary count.
    entry = PredictionWriter(names).next_entry(Answer(CANNED, {}))
    assert entry == {"key": 0, "probabilities": [0.4, 0.6], "class": "dog"}
    unnamed = {**CANNED, "classes": np.array([b"1"], object)}
    assert PredictionWriter().next_entry(Answer(unnamed, {})) == {
        "key": 0, "probabilities": [0.4, 0.6], "class_ids": [1]}


def test_all_that_a_canned_estimator_predicts_is_written_on_request():
    entry = PredictionWriter(NAMES, is_all=True).next_entry(Answer(CANNED, {}))
    assert list(entry) == ["key", *CANNED, "class"] and entry["logits"] == [0.5]
    row = PredictionWriter(NAMES, is_typed=True, is_all=True).next_row(Answer(CANNED, {}))
    assert row["logits"] == 0.5 and row["classes"] == "dog" and row["all_classes_0"] == "cat"
    assert row["probability_dog"] == 0.6 and list(row)[-1] == "class"


def test_the_class_that_an_export_names_comes_last_as_that_of_a_checkpoint():
    exported = {"class": b"dog", **PREDICTED}
    assert list(PredictionWriter(NAMES).next_entry(Answer(exported, {}))) == [
        "key", "classes", "probabilities", "class"]
    assert list(PredictionWriter().next_entry(Answer({"class": np.int64(3), "y": 1.5}, {}))) == [
        "key", "class", "y"]


def test_records_refuse_a_table_whose_rows_differ():
    writer = PredictionWriter(is_table=True)
    writer.next_line(Answer({"x": np.array([1, 2])}, {}))
    with pytest.raises(errors.TrainerError, match="expected JSON lines"):
        writer.next_line(Answer({"x": np.array([1, 2, 3])}, {}))


def test_plain_makes_bytes_base64():
    assert plain(np.array([b"\xff", b"a"], object)) == [{"b64": "/w=="}, "a"]


def test_opened_names_a_file_when_it_is_whole(tmp_path):
    path = tmp_path / "x.jsonl"
    with output_file.opened(str(path)) as write:
        write(b"1\n")
        assert not path.exists()
    assert path.read_text() == "1\n"
    with pytest.raises(ValueError), output_file.opened(str(path)) as write:
        write(b"2\n")
        raise ValueError
    assert path.read_text() == "1\n" and len(list(tmp_path.iterdir())) == 1


def test_opened_writes_into_a_device():
    with output_file.opened("/dev/null") as write:
        write(b"1\n")
    assert pathlib.Path("/dev/null").is_char_device()


@pytest.mark.parametrize("name, expected", [
    ("missing/x.jsonl", "there is no folder"), ("", "is a folder"), ("file/x", "no folder"),
    ("new/", "is a folder")])
def test_opened_refuses_in_one_sentence(tmp_path, name, expected):
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.ConfigError, match=expected) as raised:
        with output_file.opened(f"{tmp_path}/{name}"):
            pass
    assert "(from --output)" in str(raised.value) and "For example: --output=" in str(raised.value)
