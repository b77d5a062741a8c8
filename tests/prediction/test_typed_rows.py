"""Answers in Parquet and Feather files: types, groups of rows, and what a table cannot hold."""

from __future__ import annotations

import numpy as np
from pyarrow import feather, parquet
import pyarrow as pa
import pytest

from estimator_trainer import errors
from estimator_trainer.estimator.passthrough import Answer
from estimator_trainer.prediction import output_file, typed_rows
from estimator_trainer.prediction.input_rows import InputRows
from estimator_trainer.prediction.prediction_writer import PredictionWriter

pytestmark = pytest.mark.any_tensorflow
_READ = {"parquet": parquet.read_table, "feather": feather.read_table}


def _rows(answers, names=("cat", "dog")):
    writer = PredictionWriter(names, is_typed=True)
    return (writer.next_row(answer) for answer in answers)


def _answers(count, label=None):
    for i in range(count):
        yield Answer({"classes": np.int64(i % 2), "probabilities": np.float32([0.1, 0.9])}, {},
                     label)


@pytest.mark.parametrize("kind", sorted(_READ))
def test_a_file_has_types_and_its_rows_in_groups(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(typed_rows, "_ROWS", 10)
    monkeypatch.setattr(typed_rows, "_GROUP_ROWS", 40)
    came = pa.table({"id": pa.array(range(95), pa.int16()), "class": ["x"] * 95,
                     "city": pa.array(["a", None, "b", "a", "c"] * 19).dictionary_encode()})
    inputs = InputRows(iter(came.to_batches(7)), came.column_names)
    path = tmp_path / "x"
    with output_file.opened(str(path)) as write:
        typed_rows.write(typed_rows.tables(_rows(_answers(95)), inputs), kind, write)
    found = _READ[kind](path)
    assert found.column_names == ["key", "id", "input_class", "city", "classes", "probability_cat",
                                  "probability_dog", "class"]
    assert found.column("key").to_pylist() == list(range(95))
    assert found.column("id").equals(came.column("id"))
    assert found.column("city").to_pylist() == came.column("city").to_pylist()
    types = [str(field.type) for field in found.schema]
    assert types[:2] + types[4:] == ["int64", "int16", "int64", "double", "double", "string"]
    assert found.column("probability_dog").to_pylist() == [0.9] * 95
    if kind == "parquet":
        assert parquet.ParquetFile(path).metadata.num_row_groups == 3


@pytest.mark.parametrize("label, expected", [
    (b"dog", ("dog", "dog")), (b"", (None, None)), (b"cow", ("cow", None)),
    (np.int64(7), ("7", None))])
def test_a_label_that_is_no_class_keeps_the_types(label, expected):
    [table] = typed_rows.tables(_rows(_answers(2, label)))
    assert (table["label"][0].as_py(), table["label_class"][0].as_py()) == expected
    assert {str(table.schema.field(name).type) for name in ("label", "label_class")} == {"string"}


def test_a_label_that_is_a_number_is_one_in_every_row():
    answers = (Answer({"predictions": np.float32([i])}, {}, text)
               for i, text in enumerate((b"3", b"2.5", b"")))
    [table] = typed_rows.tables(_rows(answers, ()))
    assert table["label"].to_pylist() == [3.0, 2.5, None]


def test_no_row_is_an_empty_table():
    inputs = InputRows(iter([]), ["x"])
    [table] = typed_rows.tables([], inputs)
    assert table.num_rows == 0 and table.column_names == ["key"]


@pytest.mark.parametrize("row", ({"y": 1, "z": 2}, {"y": "text"}))
def test_a_row_that_differs_is_refused_in_one_sentence(row):
    with pytest.raises(errors.TrainerError, match="the prediction with key 1 differs in '[yz]'"):
        list(typed_rows.tables([{"y": 1}, row] if "z" in row else [{"y": 0.5}, row]))


@pytest.mark.parametrize("output, of_input, expected", [
    ("x.parquet", "csv", "parquet"), ("x.CSV", "parquet", "csv"), ("x", "feather", "feather"),
    ("x.txt", "csv", "csv"), ("x.json", "csv", "jsonl"), ("", "parquet", "jsonl"),
    ("/dev/null", "parquet", "jsonl"), ("/dev/null", "", "jsonl"), ("x", "", "jsonl")])
def test_the_name_decides_or_else_the_kind_of_the_input(output, of_input, expected):
    assert output_file.kind_of(output, of_input) == expected
