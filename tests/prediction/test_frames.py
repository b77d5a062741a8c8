"""`predict` gives the kind of table that came in, from the command line and from Python."""

from __future__ import annotations

import csv
import datetime
import json
import pathlib

import numpy as np
from pyarrow import feather, parquet
import pyarrow as pa
import pytest

import estimator_trainer
from estimator_trainer import cli

pytestmark = pytest.mark.cluster
_ROWS = 300


def _table():
    rows = range(_ROWS)
    return pa.table({
        "customer_id": [f"C{i}" for i in rows],
        "age": pa.array([None if i % 9 == 8 else 18 + i * 7 % 60 for i in rows], pa.int32()),
        "since": pa.array([datetime.datetime(2020, 1, 1) + datetime.timedelta(hours=7 * i)
                           for i in rows], pa.timestamp("ns")),
        "city": pa.array([["Bonn", "Ulm", None][i % 3] for i in rows]).dictionary_encode(),
        "is_new": [bool(i % 2) for i in rows],
        "größe": pa.array([1.5 + i % 11 for i in rows], pa.float32()),
        "left": [("no", "yes")[i * 7 % 60 > 30] for i in rows]})


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    """A folder with a model, and new data of several kinds."""
    folder = tmp_path_factory.mktemp("left")
    table = _table()
    parquet.write_table(table, folder / "train.parquet", row_group_size=100)
    estimator_trainer.train("canned", "table", folder / "m", train_steps=3, params={
        "train_files": str(folder / "train.parquet"), "label": "left"}, exporters=["none"])
    new = table.slice(0, 40).drop(["left"])
    parquet.write_table(new, folder / "new.parquet", row_group_size=15)
    feather.write_feather(new, str(folder / "new.feather"), chunksize=15)
    (folder / "new.csv").write_text(
        "age,größe,customer_id,since,city,is_new\n007,1.50,C1,2020-01-05 00:00:00,,false\n"
        ",2.0,C2,2020-01-06 00:00:00,Ulm,true\n", encoding="utf-8")
    return folder


def _predict(folder, data, output, *flags):
    assert cli.main(["predict", f"--model_dir={folder}/m", f"--data={folder}/{data}",
                     f"--output={folder}/{output}", *flags]) == 0
    return folder / output


def test_parquet_and_feather_come_back_with_their_types(folder):
    new = parquet.read_table(folder / "new.parquet")
    found = parquet.read_table(_predict(folder, "new.parquet", "no_ending", "--with_inputs"))
    assert found.select(new.column_names).equals(new)
    assert found.column_names == ["key", *new.column_names, "probability_no", "probability_yes",
                                  "class"]
    found = feather.read_table(_predict(folder, "new.feather", "x.arrow", "--with_inputs"))
    names = [name for name in new.column_names if name != "city"]
    assert found.select(names).equals(new.select(names)) and str(found["city"].type) == "string"
    found = parquet.read_table(_predict(folder, "new.csv", "of_csv.parquet"))
    assert found.column_names[:2] == ["key", "customer_id"] and found.num_rows == 2


def test_csv_comes_back_as_it_was_written(folder):
    path = _predict(folder, "new.csv", "of_csv", "--with_inputs")
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["age"], row["größe"], row["city"]) for row in rows] == [
        ("007", "1.50", ""), ("", "2.0", "Ulm")]
    lines = _predict(folder, "new.csv", "of_csv.jsonl", "--with_inputs").read_text().splitlines()
    assert [json.loads(line)["inputs"]["age"] for line in lines] == [7, None]


def test_parquet_becomes_text(folder):
    with open(_predict(folder, "new.parquet", "x.csv", "--with_inputs"), encoding="utf-8") as file:
        row = list(csv.DictReader(file))[8]
    assert (row["age"], row["since"], row["city"]) == ("", "2020-01-03 08:00:00", "")
    lines = _predict(folder, "new.parquet", "x.jsonl", "--with_inputs").read_text().splitlines()
    assert len(lines) == 40 and json.loads(lines[8])["inputs"]["age"] is None


def test_a_bad_number_of_a_table_in_memory_is_named(folder):
    new = _table().slice(0, 20)
    ages = pa.array([float("inf") if i == 3 else float(i) for i in range(20)])
    new = new.set_column(new.column_names.index("age"), "age", ages)
    with pytest.raises(estimator_trainer.TrainerError,
                       match="^row 4 of the table in memory: column 'age' is 'inf'"):
        estimator_trainer.predict(folder / "m", new)


def test_a_failure_leaves_no_file(folder):
    assert cli.main(["predict", f"--model_dir={folder}/m", f"--data={folder}/m/record.json*",
                     f"--output={folder}/failed.parquet"]) != 0
    assert not list(folder.glob("failed*"))


def test_the_rows_held_out_come_without_data(folder):
    path = folder / "held_out"
    assert cli.main(["predict", f"--model_dir={folder}/m", f"--output={path}",
                     "--with_inputs"]) == 0
    held_out = _table().take(list(range(4, _ROWS, 5)))
    found = parquet.read_table(path)
    names = [name for name in held_out.column_names if name not in ("customer_id", "left")]
    assert found.select(names).equals(held_out.select(names))


def test_an_arrow_table_gives_one(folder):
    new = _table().slice(0, 40)
    found = estimator_trainer.predict(folder / "m", new)
    assert found.column_names == ["customer_id", "probability_no", "probability_yes", "class",
                                  "label", "label_class"]
    assert found["customer_id"].equals(new["customer_id"])
    assert found["label_class"].equals(new["left"])
    of_file = parquet.read_table(_predict(folder, "new.parquet", "x.parquet"))
    np.testing.assert_allclose(found["probability_yes"], of_file["probability_yes"], rtol=1e-6)


def test_a_dict_of_arrays_gives_one(folder):
    columns = {"age": np.array([20, 70]), "since": ["2020-01-01", "2021-01-01"],
               "city": ["Bonn", "?"], "is_new": [True, False],
               "größe": np.float32([0.5, np.nan])}
    found = estimator_trainer.predict(folder / "m", columns, with_inputs=True)
    assert found["age"] is columns["age"] and found["größe"] is columns["größe"]
    assert set(found["class"]) <= {"no", "yes"} and found["probability_no"].dtype == np.float64
    with pytest.raises(estimator_trainer.ConfigError, match="different lengths: .*'age': 3"):
        estimator_trainer.predict(folder / "m", {**columns, "age": [1, 2, 3]})
    with pytest.raises(estimator_trainer.ConfigError, match="column 'age' of the data cannot"):
        estimator_trainer.predict(folder / "m", {**columns, "age": [1, "x"]})
    with pytest.raises(Exception, match="the table in memory .* lacks the columns age, since"):
        estimator_trainer.predict(folder / "m", {"city": ["Bonn"]})


@pytest.mark.parametrize("lost, params, expected", [
    ("age", {}, "the table in memory lacks the column age, which the model was trained on; it has"
     " .*, left. Add it$"),
    ("left", {}, "lacks the column left, .* Add it$"),
    ("age", {"columns": {"agee": 0}}, "columns has 'agee', .* For example: params={'columns'")])
def test_an_evaluation_names_the_column_to_add(folder, lost, params, expected):
    with pytest.raises(ValueError, match=expected):
        estimator_trainer.evaluate(folder / "m", _table().drop([lost]), params=params)


def test_a_data_frame_gives_one_with_its_index(folder):
    pandas = pytest.importorskip("pandas")
    frame = _table().slice(0, 40).drop(["left"]).to_pandas()
    frame.index = pandas.Index(range(900, 820, -2), name="nr")
    found = estimator_trainer.predict(folder / "m", frame, with_inputs=True)
    assert found.index.equals(frame.index) and found.index.name == "nr"
    assert all(found[name].equals(frame[name]) for name in frame)
    assert found["class"].isin(["no", "yes"]).all()
    of_file = parquet.read_table(_predict(folder, "new.parquet", "y.parquet"))
    np.testing.assert_allclose(found["probability_yes"], of_file["probability_yes"], rtol=1e-6)


def test_columns_reach_an_input_fn_that_reads_no_tables(tmp_path):
    estimator_trainer.train("cnn", "digits", tmp_path / "m", train_steps=2, exporters=["none"])
    images = np.random.default_rng(0).random([3, 8, 8, 1], np.float32)
    found = estimator_trainer.predict(tmp_path / "m", {"image": images})
    assert found["classes"].shape == (3,) and found["probabilities_9"].dtype == np.float64
    of_dicts = estimator_trainer.predict(tmp_path / "m", [{"image": image} for image in images])
    assert found["classes"].tolist() == [each["classes"] for each in of_dicts]


def test_pandas_is_not_imported_for_others():
    source = pathlib.Path(estimator_trainer.__file__).parent / "prediction"
    assert not [path for path in source.glob("*.py") if "import pandas" in path.read_text()]
