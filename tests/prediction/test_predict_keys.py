"""--forward_key names a column that no model learns: it stands in the answers, from any source."""

from __future__ import annotations

import csv
import json

from pyarrow import parquet
import pyarrow as pa
import pytest
import tensorflow as tf

import estimator_trainer

pytestmark = [pytest.mark.cluster, pytest.mark.soak]

KEY = "--forward_key=customer_id"


@pytest.fixture(name="folder", scope="module")
def fixture_folder(tmp_path_factory):
    """A folder of a table to train on, and of new rows with and without the key."""
    folder = tmp_path_factory.mktemp("keys")
    rows = [f"C{i},{18 + i % 50},{('cook', 'smith')[i % 2]},{('no', 'yes')[i % 3 == 0]}"
            for i in range(120)]
    (folder / "train.csv").write_text("\n".join(["customer_id,age,job,left", *rows]))
    (folder / "new.csv").write_text("age,job,customer_id\n30,cook,007\n50,smith,8\n")
    (folder / "without.csv").write_text("age,job\n30,cook\n50,smith\n")
    (folder / "new.jsonl").write_text('{"age": 30, "job": "cook", "customer_id": 7}\n'
                                      '{"age": 50, "job": "smith", "customer_id": "8"}\n')
    parquet.write_table(pa.table({"age": [30, 50], "job": ["cook", "smith"],
                                  "customer_id": [7, 8]}), folder / "new.parquet")
    return folder


def _train(run, folder, model_dir, *flags):
    """Trains a model for which the user leaves the key out, whatever its values are."""
    run("train", "--model_fn=canned", "--input_fn=csv", f"--param=train_files={folder}/train.csv",
        "--param=label=left", '--param=drop=["customer_id"]', f"--model_dir={model_dir}",
        "--train_steps=3", *flags)
    [export] = (model_dir / "export" / "final").iterdir()
    return [f"--model_dir={model_dir}"], [f"--export_dir={export}"]


def _keys(text):
    rows = [json.loads(line) for line in text.splitlines()]
    assert all(list(row)[0] == "customer_id" and "key" not in row for row in rows)
    return [row["customer_id"] for row in rows]


@pytest.mark.parametrize("serving", ["raw", "example"])
@pytest.mark.parametrize("key_of_training", [[], [KEY]])
def test_the_key_comes_through_from_every_kind_of_data(
        run, folder, tmp_path, serving, key_of_training):
    key = [] if key_of_training else [KEY]
    for source in _train(run, folder, tmp_path / "m", f"--serving_input={serving}",
                         *key_of_training):
        def predict(data, *more, source=source):
            return run("predict", *source, f"--data={folder}/{data}", *key, *more)[0]

        assert _keys(predict("new.jsonl")) == [7, "8"]
        assert _keys(predict("new.csv")) == ["007", "8"]
        inputs = [json.loads(line) for line in predict("new.csv", "--with_inputs").splitlines()]
        assert [each["customer_id"] for each in inputs] == ["007", "8"]
        predict("new.csv", f"--output={tmp_path}/x.csv")
        with open(tmp_path / "x.csv", encoding="utf-8") as file:
            found = list(csv.DictReader(file))
        assert [row["customer_id"] for row in found] == ["007", "8"] and list(found[0]) == [
            "customer_id", "probability_no", "probability_yes", "class"]
        predict("new.parquet", f"--output={tmp_path}/x.parquet", "--with_inputs")
        table = parquet.read_table(tmp_path / "x.parquet")
        assert table["customer_id"].to_pylist() == [7, 8] and table.num_columns == 6


def test_data_without_the_key_of_the_training_have_positions(run, folder, tmp_path):
    for source in _train(run, folder, tmp_path, KEY):
        out, err = run("predict", *source, f"--data={folder}/without.csv")
        assert [json.loads(line)["key"] for line in out.splitlines()] == [0, 1]
        assert "no customer_id" in err and "customer_id" not in out
        _, err = run("predict", *source, f"--data={folder}/without.csv", KEY, expected_code=2)
        assert "no column of its data; expected one of age, job" in err
        _, err = run("predict", *source, f"--data={folder}/new.csv", "--forward_key=custmer_id",
                     expected_code=2)
        assert "Did you mean 'customer_id'?" in err


def test_training_refuses_a_key_that_is_no_column(run, folder, tmp_path):
    _, err = run("train", "--model_fn=canned", "--input_fn=csv", "--forward_key=custmer_id",
                 f"--param=train_files={folder}/train.csv", "--param=label=left",
                 f"--model_dir={tmp_path}", "--train_steps=3", expected_code=2)
    assert "Did you mean 'customer_id'?" in err and "Traceback" not in err


def test_an_export_passes_the_key_on(run, folder, tmp_path):
    _, [export] = _train(run, folder, tmp_path, KEY)
    serve = tf.saved_model.load(export.partition("=")[2]).signatures["serving_default"]
    found = serve(age=tf.constant([30.0, 50.0], tf.float64), job=tf.constant(["cook", "?"]),
                  customer_id=tf.constant(["C1", "C2"]))
    assert found["customer_id"].numpy().tolist() == [b"C1", b"C2"]
    assert set(found["class"].numpy()) <= {b"no", b"yes"}


def test_columns_and_dicts_of_a_program_keep_the_key(run, folder, tmp_path):
    _train(run, folder, tmp_path)
    table = parquet.read_table(folder / "new.parquet")
    found = estimator_trainer.predict(tmp_path, table, forward_key="customer_id")
    assert found.column_names[0] == "customer_id" and found["customer_id"].equals(
        table["customer_id"])
    [entry] = estimator_trainer.predict(
        tmp_path, [{"age": 30, "job": "cook", "customer_id": 9}], forward_key="customer_id")
    assert entry["customer_id"] == 9 and "key" not in entry
    with pytest.raises(estimator_trainer.ConfigError, match="instance 1 .* lacks 'customer_id'"):
        estimator_trainer.predict(tmp_path, [{"age": 30, "job": "cook"}],
                                  forward_key="customer_id")
