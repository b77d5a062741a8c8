"""The input plug-in `table` on tables as programs and people write them."""

from __future__ import annotations

import json

import numpy as np
from pyarrow import parquet
import pyarrow as pa
import pytest

from input_fns import table as plugin
from input_fns.reading import arrow_file
from input_fns.reading.errors import DataFileError, DataParamError

pytestmark = pytest.mark.any_tensorflow
ROWS = 200
PREPARED = {"prepare_columns": True, "table_columns": {}, "label_scale": {}}


@pytest.fixture(name="params")
def fixture_params():
    return {**plugin.DEFAULT_PARAMS, "label": "y", "batch_size": ROWS, "epochs": 1}


@pytest.fixture(name="logged")
def fixture_logged(monkeypatch):
    """Returns a function of what was logged."""
    lines = []
    monkeypatch.setattr("absl.logging.info", lambda text, *args: lines.append(text % args))
    return lambda: "\n".join(lines)


def _learned(params, path):
    """Returns the params of a model that prepares columns, trained on a file."""
    params = {**params, **PREPARED, "train_files": str(path), "eval_files": str(path)}
    known = plugin.data_params(params)
    return {**params, **{name: value for name, value in known.items() if name in (
        *params, "table_columns")}}


def _features(params, mode="infer"):
    batch = next(iter(plugin.input_fn(mode, params).as_numpy_iterator()))
    return batch[0] if isinstance(batch, tuple) else batch


def _csv(path, columns, delimiter=","):
    lines = [columns, *zip(*columns.values())]
    path.write_text("".join(delimiter.join(map(str, line)) + "\n" for line in lines))
    return path


def _labels():
    return [i % 3 % 2 for i in range(ROWS)]


def _new_files(tmp_path, table):
    """Yields paths of files to predict that hold a table with types."""
    parquet.write_table(table, f"{tmp_path}/new.parquet")
    yield f"{tmp_path}/new.parquet"
    (tmp_path / "new.ndjson").write_text("\n".join(map(json.dumps, table.to_pylist())))
    yield f"{tmp_path}/new.ndjson"
    yield arrow_file.path_of(table)


def test_booleans_to_predict_have_the_words_of_the_training_file(params, tmp_path):
    truth = [i % 5 < 2 for i in range(ROWS)]
    params = _learned(params, _csv(tmp_path / "rows.csv", {
        "sold": truth, "x": range(ROWS), "y": ["TRUE" if i % 3 else "FALSE" for i in range(ROWS)]}))
    new = pa.table({"sold": [True, False, None], "x": [1, 2, 3], "y": [True, False, True]})
    for path in _new_files(tmp_path, new):
        [(features, label)] = plugin.input_fn("infer", {**params, "predict_files": path})
        assert features["sold"].numpy().tolist() == [b"True", b"False", b""], path
        assert label.numpy().tolist() == [b"TRUE", b"FALSE", b"TRUE"]


def test_numbers_to_predict_are_not_of_the_format_of_the_training_file(params, tmp_path):
    params = _learned(params, _csv(tmp_path / "rows.csv", {
        "price": [f"{i % 9},{i:03}" for i in range(ROWS)], "y": _labels()}, ";"))
    assert params["number_formats"] == {"price": "1.234,5"}
    for path in _new_files(tmp_path, pa.table({"price": [1.234, 5.5, None, 1e-7]})):
        found = _features({**params, "predict_files": path})["price"]
        np.testing.assert_allclose(found, [1.234, 5.5, np.nan, 1e-7], err_msg=path)


def test_a_category_that_is_no_utf_8_is_named(params, tmp_path):
    path = tmp_path / "my rows.csv"
    _csv(path, {"ort": ["K\u00f6ln", "Ulm"] * (ROWS // 2), "y": _labels()})
    path.write_bytes(path.read_text().encode("latin-1"))
    with pytest.raises(DataFileError, match=r"line 2 of .*: column 'ort' is 'K\ufffdln', .*"
                       r"iconv -f CP1252 -t UTF-8 '.*my rows.csv' > new.csv"):
        _learned(params, path)


def test_years_are_no_numbers_of_rows(params, tmp_path):
    columns = {"year": range(1800, 1800 + ROWS), "y": [i * 1.5 for i in range(ROWS)]}
    assert _learned(params, _csv(tmp_path / "rows.csv", columns))["table_columns"]["year"]
    columns = {"number": range(ROWS), "y": columns["y"]}
    with pytest.raises(DataParamError, match="no column to learn 'y' from: 'number' is left out, as"
                       " all values are different.*column_types='{\"number\": \"int\"}'$"):
        _learned(params, _csv(tmp_path / "rows.csv", columns))


def test_nested_values_of_json_lines_are_left_out(params, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps({
        "x": i % 9, "tags": ["a"], "y": i % 3 % 2, **({} if i % 7 else {"of": {"a": 1}})})
        for i in range(ROWS)))
    params = _learned(params, path)
    assert set(params["columns"]) == {"x", "y"}
    assert _features(params, "eval")["x"].tolist() == [i % 9 for i in range(ROWS)]


@pytest.mark.parametrize("before", ("\n\r\n", "sep=,\n", "\n\nsep=,\n\n"))
def test_lines_before_the_header_that_hold_nothing_are_passed_over(params, tmp_path, before):
    path = tmp_path / "rows.csv"
    path.write_text(before + "x,y\n1.5,0\n2.5,1\nold,1\n")
    params.update(train_files=str(path), eval_files=str(path), columns={"x": 0.0, "y": 0},
                  num_classes=2)
    line = before.count("\n") + 4
    assert plugin.data_problem(params).startswith(f"line {line} of {path}: column 'x' is 'old'")
    path.write_text(path.read_text().replace("old", "3.5"))
    assert _features(params, "eval")["x"].tolist() == [1.5, 2.5, 3.5]


def test_columns_without_a_name_are_left_out(params, tmp_path):
    path = _csv(tmp_path / "rows.csv", {"a": range(ROWS), "": range(ROWS), "y": _labels()})
    path.write_text(path.read_text().replace("\n", ",\n"))
    params.update(train_files=str(path), eval_files=str(path))
    assert set(plugin.data_params(params)["columns"]) == {"a", "y"}
    assert _features(params, "eval")["a"].tolist() == list(range(ROWS))


@pytest.mark.parametrize("delimiter", (",", ";"))
def test_files_may_have_the_columns_in_another_order(params, tmp_path, delimiter):
    _csv(tmp_path / "a.csv", {"x": [1, 2], "t": ["a", "b"], "y": [0, 1]})
    _csv(tmp_path / "b.csv", {"y": [1, 0], "x": [3, 4], "t": ["c", "d"]}, delimiter)
    (tmp_path / "README.md").write_text("The tables.\n")
    params.update(train_files=str(tmp_path), eval_files=str(tmp_path))
    known = plugin.data_params(params)
    assert known["columns"] == {"x": 2, "t": "", "y": 0} and known["train_examples"] == 4
    [(features, labels)] = plugin.input_fn("eval", params)
    assert features["x"].numpy().tolist() == [1, 2, 3, 4]
    assert labels.numpy().tolist() == [0, 1, 1, 0]
    assert features["t"].numpy().tolist() == [b"a", b"b", b"c", b"d"]
    assert plugin.data_problem(params) == ""


def test_negative_numbers_may_be_in_brackets(params, tmp_path):
    texts = [f'"({i},500)"' if i % 3 else f'"{i},250"' for i in range(1, ROWS + 1)]
    path = _csv(tmp_path / "rows.csv", {"sum": texts, "y": _labels()})
    params = _learned(params, path)
    assert _features(params, "eval")["sum"].tolist()[:3] == [-1500, -2500, 3250]


def test_large_unsigned_integers_are_numbers(params, tmp_path):
    values = [2**63 + i * 2**40 for i in range(ROWS)]
    parquet.write_table(pa.table({"hash": pa.array(values, pa.uint64()), "y": _labels()}),
                        tmp_path / "rows.parquet")
    params.update(train_files=f"{tmp_path}/rows.parquet", eval_files=f"{tmp_path}/rows.parquet")
    assert isinstance(plugin.data_params(params)["columns"]["hash"], float)
    np.testing.assert_allclose(_features(params, "eval")["hash"], values)


@pytest.mark.parametrize("header, expected", [
    ("x, y", "expected one of x, ' y'. For example: --param label=' y'"),
    ("x y", "if blanks separate the columns: --param delimiter=' '"),
    ("1.5,no", "if the first line is no header, .*--param columns=")])
def test_a_label_that_is_no_column_is_refused_with_what_to_type(params, tmp_path, header, expected):
    (tmp_path / "rows.csv").write_text(f"{header}\n{header.replace('x', '1').replace('y', '0')}\n")
    with pytest.raises(DataParamError, match=expected):
        plugin.data_params({**params, "train_files": f"{tmp_path}/rows.csv"})


@pytest.mark.parametrize("word", ("NA", "n/a", "-", "NaN"))
def test_words_for_missing_numbers_are_empty_fields(params, tmp_path, word, logged):
    columns = {"a": [word if i % 3 else i for i in range(ROWS)],
               "b": [word if i == 7 else f"{i}.5" for i in range(ROWS)],
               "t": [word if i % 2 else "x" for i in range(ROWS)], "y": _labels()}
    path = _csv(tmp_path / "rows.csv", columns)
    learned = _learned(params, path)
    assert learned["na_value"] == word and f"{word!r} stands for an empty field" in logged()
    assert {name: entry["kind"] for name, entry in learned["table_columns"].items()} == {
        "a": "number", "b": "number", "t": "category"}
    assert learned["table_columns"]["a"]["missing"] and learned["table_columns"]["b"]["missing"]
    found = _features(learned, "eval")
    assert np.isnan(found["a"]).sum() == sum(i % 3 > 0 for i in range(ROWS))
    assert np.flatnonzero(np.isnan(found["b"])).tolist() == [7]
    # A model that does not prepare columns reads the table as before.
    plain = plugin.data_params({**params, "train_files": str(path), "drop": ["b"]})
    assert "na_value" not in plain and plain["columns"]["a"] == ""


def test_rows_whose_label_is_a_word_for_missing_are_left_out_on_request(params, tmp_path):
    columns = {"x": range(ROWS), "y": ["NA" if i % 5 == 0 else f"{i}.5" for i in range(ROWS)]}
    path = _csv(tmp_path / "rows.csv", columns)
    with pytest.raises(DataFileError, match="line 2 of .*: label 'y' is missing, as in 40 of 200"):
        _learned(params, path)
    learned = _learned({**params, "empty_labels": "leave_out"}, path)
    assert learned["num_classes"] == -1 and len(_features(learned, "eval")["x"]) == 160


def test_a_category_may_have_the_word_of_a_missing_number(params, tmp_path):
    columns = {"region": [("NA", "EU")[i % 2] for i in range(ROWS)], "y": _labels()}
    learned = _learned(params, _csv(tmp_path / "rows.csv", columns))
    assert set(learned["table_columns"]["region"]["values"]) == {"NA", "EU"}


def test_the_label_cannot_be_dropped(params, tmp_path):
    path = _csv(tmp_path / "rows.csv", {"x": range(ROWS), "z": range(ROWS), "y": _labels()})
    with pytest.raises(DataParamError, match=r"drop has 'y', which is the label; .*drop='..z..'"):
        plugin.data_params({**params, "train_files": str(path), "drop": ["z", "y"]})
