"""Tables to predict, which `predict_files` names."""

from __future__ import annotations

import numpy as np
import pytest

from input_fns import csv as csv_plugin
from input_fns.reading.errors import DataFileError

pytestmark = [pytest.mark.any_tensorflow, pytest.mark.cluster]
COLUMNS = {"age": 0, "job": "", "income": ""}


@pytest.fixture(name="table")
def fixture_table(tmp_path):
    """Params of a trained model, whose training files are gone; a function writes new files."""
    params = {**csv_plugin.DEFAULT_PARAMS, "train_files": "/gone/*.csv", "columns": COLUMNS,
              "label": "income", "label_vocabulary": ["low", "high"], "num_classes": 2,
              "predict_files": f"{tmp_path}/*.csv"}

    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.csv").write_text(text)
        return params

    return write


def _infer(plugin, params):
    return list(plugin.input_fn("infer", params).as_numpy_iterator())


def test_found_tables_may_lack_the_label(table):
    [features] = _infer(csv_plugin, table(new="job,extra,age\ncook,x,3\n\n,,4\n"))
    assert features["age"].tolist() == [3, 4] and features["job"].tolist() == [b"cook", b""]
    assert set(features) == {"age", "job"}


def test_found_labels_are_as_they_are_written(table):
    [(features, label)] = _infer(csv_plugin, table(new="age,job,income\n1,a,high\n2,b,?\n3,c,\n"))
    assert label.tolist() == [b"high", b"?", b""] and set(features) == {"age", "job"}


def test_found_files_may_have_their_own_headers(table):
    batches = _infer(csv_plugin, table(a="age,job\n1,x\n", b="job,age\ny,2\n", c="job,age\nz,3\n"))
    assert np.concatenate([batch["age"] for batch in batches]).tolist() == [1, 2, 3]
    # A label that some files lack is told of none.
    assert all(isinstance(batch, dict) for batch in _infer(
        csv_plugin, table(a="age,job,income\n1,x,low\n")))


def test_found_tables_lack_a_column_with_one_like_it(table):
    with pytest.raises(DataFileError, match="new.csv .*lacks the column age, .*'Age'"):
        _infer(csv_plugin, table(new="Age,job\n1,a\n"))


def test_found_tables_with_a_bad_line(table):
    problem = csv_plugin.data_problem(table(new="age,income,job\n1,,a\nold,,b\n"))
    assert "line 3 of " in problem
    assert "new.csv: column 'age' is 'old'; expected an integer" in problem
    assert problem.startswith("line 3 of ")


def test_found_types_are_those_of_the_training_file(table, tmp_path):
    params = table(new="job,age\ncook,3\n")
    (tmp_path / "train.txt").write_text("age,job,income\n1.5,a,low\n")
    params.update(columns={}, train_files=f"{tmp_path}/train.txt")
    assert _infer(csv_plugin, params)[0]["age"].dtype == np.float32
