"""The input plug-in `table`: the kinds of files, and what is read of them."""

from __future__ import annotations

import gc
import gzip
import json
import pathlib
import threading
import zipfile

import numpy as np
from pyarrow import feather, parquet
import pyarrow as pa
import pytest
import tensorflow as tf

from input_fns import csv as csv_plugin, table as plugin
from input_fns.reading import arrow_file, memory, table_scan, text_records
from input_fns.reading.errors import DataFileError
from tests.support.reading import context

pytestmark = pytest.mark.any_tensorflow
ROWS = 23
KINDS = ("csv", "parquet", "jsonl", "feather", "memory")


def _table(rows=range(ROWS), **changes):
    return pa.table({"row": pa.array(rows, pa.int32()), "t": [f"n, {i}" for i in rows],
                     "x": [None if i % 5 == 4 else i + 0.5 for i in rows],
                     "label": [["no", "yes"][i % 2] for i in rows], **changes})


def _write(folder, kind, table=None, name="rows"):
    """Returns the path of a file of a kind that holds the rows."""
    table = _table() if table is None else table
    path = str(folder / f"{name}.{kind}")
    if kind == "memory":
        _KEPT.append(table)
        return arrow_file.path_of(table)
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=4)
    elif kind == "feather":
        feather.write_feather(table, path, chunksize=4)
    elif kind == "jsonl":
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, table.to_pylist())))
    else:
        lines = [",".join(table.column_names)] + [
            ",".join("" if value is None else f'"{value}"' for value in row.values())
            for row in table.to_pylist()]
        (folder / f"{name}.csv").write_text("\n".join(lines))
    return path


# A table in memory is read as long as the program keeps it.
_KEPT: list[pa.Table] = []


@pytest.fixture(name="params")
def fixture_params():
    return {**plugin.DEFAULT_PARAMS, "batch_size": 4, "epochs": 1}


def _read(params, mode, pipelines=1, part=0):
    """Returns the numbers of the rows."""
    batches = plugin.input_fn(mode, params, context(pipelines, part))
    return np.concatenate([batch[0]["row"] for batch in batches] or [np.zeros(0)]).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_is_left_out_may_be_the_key(params, tmp_path, kind):
    params.update(train_files=_write(tmp_path, kind), drop=["t"])
    assert "t" not in plugin.rows_to_predict(params).names
    stored = plugin.rows_to_predict(params, key="t")
    assert stored.names == ("row", "t", "x") and stored.columns == ("row", "t", "x")
    found = [text for batch in stored.batches for text in batch["t"].to_pylist()]
    assert found == [f"n, {i}" for i in range(4, ROWS, 5)]
    assert "label" not in plugin.rows_to_predict(params, key="label").names


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_holds_the_same(params, tmp_path, kind):
    path = _write(tmp_path, kind)
    known = plugin.data_params({**params, "train_files": path, "eval_files": path})
    assert known["columns"] == {"row": 11, "t": "", "x": pytest.approx(11.3947368), "label": ""}
    assert known["label_vocabulary"] == ["no", "yes"] and known["train_examples"] == ROWS
    params.update(train_files=path, eval_files=path, batch_size=100, columns=known["columns"],
                  label_vocabulary=known["label_vocabulary"], num_classes=2)
    [(features, labels)] = plugin.input_fn("eval", params)
    assert features["row"].dtype == tf.int64 and features["row"].numpy().tolist() == list(range(23))
    assert features["t"].numpy()[3] == b"n, 3" and labels.numpy().tolist() == [0, 1] * 11 + [0]
    np.testing.assert_allclose(features["x"], [
        known["columns"]["x"] if i % 5 == 4 else i + 0.5 for i in range(ROWS)])
    assert plugin.data_problem(params) == ""


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_shared_out_and_held_out(params, tmp_path, kind):
    params.update(train_files=_write(tmp_path, kind), batch_size=1)
    for every, mode, rows in ((5, "eval", {4, 9, 14, 19}),
                              (5, "train", set(range(ROWS)) - {4, 9, 14, 19})):
        shares = [_read({**params, "eval_every": every}, mode, 3, part) for part in range(3)]
        assert sorted(sum(shares, [])) == sorted(rows) and min(map(len, shares)) > 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [
    [["no", "yes", None][i % 3] for i in range(ROWS)], [[0, 1, None][i % 3] for i in range(ROWS)],
    [None if i % 3 == 2 else i * 1.5 for i in range(ROWS)]], ids=["texts", "classes", "numbers"])
def test_rows_without_a_label_are_named_or_left_out(params, tmp_path, kind, labels):
    params["train_files"] = _write(tmp_path, kind, _table(label=labels))
    with pytest.raises(DataFileError, match="label 'label' is missing, as in 7 of 23 .*"
                       "empty_labels=leave_out"):
        plugin.data_params(params)
    params |= {"empty_labels": "leave_out", "eval_every": 4}
    known = plugin.data_params(params)
    full = [i for i in range(ROWS) if i % 3 != 2]
    assert known["train_examples"] == len([i for i in full if i % 4 != 3])
    params |= {name: known[name] for name in ("columns", "num_classes")} | {
        "label_vocabulary": known.get("label_vocabulary", [])}
    assert plugin.data_problem(params) == ""
    assert _read(params, "eval") == [i for i in full if i % 4 == 3]
    assert sorted(_read({**params, "batch_size": 1}, "train")) == [i for i in full if i % 4 != 3]


def test_a_name_or_the_first_bytes_decide(params, tmp_path):
    for kind in ("csv", "parquet", "jsonl", "feather"):
        path = _write(tmp_path, kind)
        renamed = tmp_path / f"{kind}_file"
        renamed.write_bytes(pathlib.Path(path).read_bytes())
        params.update(train_files=str(renamed), eval_files=str(renamed))
        assert _read(params, "eval") == list(range(ROWS))


@pytest.mark.parametrize("rows", (0, 3000))
def test_larger_data_are_streamed_and_shuffled(params, tmp_path, monkeypatch, rows):
    monkeypatch.setattr(memory, "LIMIT_BYTES", 0 if rows else memory.LIMIT_BYTES)
    monkeypatch.setattr(text_records, "BLOCK_BYTES", 1000)
    count = rows or ROWS
    for part in range(2):
        _write(tmp_path, "csv", _table(range(part * count, (part + 1) * count)), str(part))
    params.update(train_files=str(tmp_path), eval_files=str(tmp_path), epochs=2, shuffle_buffer=500)
    read = _read(params, "train")
    assert len(read) == count * 4 // 4 * 4 and set(read) <= set(range(2 * count))
    epoch = read[:2 * count]
    assert len(set(epoch)) >= 2 * count - 4 and epoch != sorted(epoch)
    assert read == _read(params, "train") != _read({**params, "seed": 1}, "train")
    if rows:
        # Both files are read at the same time.
        assert 0.3 < np.mean(np.array(epoch[:1000]) < count) < 0.7


def test_line_breaks_in_quotes_are_read(params, tmp_path):
    path = tmp_path / "rows.csv"
    content = b'row,t,label\n1,"a\nb, ""c""",0\n\n2,d,1\n3,"\r\n",0\nx,e,1\n'
    path.write_bytes(content)
    params.update(train_files=str(path), eval_files=str(path), columns={"row": 0, "t": ""},
                  num_classes=2, column_types={"label": "int"})
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"line 8 of {path}: column 'row'"):
        _read(params, "eval")
    assert plugin.data_problem(params).startswith(f"line 8 of {path}: column 'row' is 'x'; expec")
    path.write_bytes(content.replace(b"x,e", b"4,e"))
    [(features, _)] = plugin.input_fn("eval", params)
    assert features["t"].numpy().tolist() == [b'a\nb, "c"', b"d", b"\r\n", b"e"]


def test_a_very_long_field_is_read(params, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("row,t,label\n1," + "a" * 3_000_000 + ",0\n2,b,1\n")
    params.update(train_files=str(path), eval_files=str(path))
    [(features, _)] = plugin.input_fn("eval", params)
    assert [len(text) for text in features["t"].numpy()] == [3_000_000, 1]


@pytest.mark.parametrize("delimiter", (";", "\t", "|"))
def test_the_delimiter_is_found(params, tmp_path, delimiter):
    path = tmp_path / "rows.csv"
    path.write_text("row,t;label\n1;2,5;0\n2;3;1\n".replace(";", delimiter).replace(
        "row,t", f"row{delimiter}t, unit"))
    params.update(train_files=str(path), eval_files=str(path))
    [(features, _)] = plugin.input_fn("eval", params)
    np.testing.assert_allclose(features["t, unit"], [2.5, 3])


def test_an_unnamed_first_column_is_left_out(params, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(",row,label\n0,5,0\n1,6,1\n")
    params.update(train_files=str(path), eval_files=str(path))
    assert set(plugin.data_params(params)["columns"]) == {"row", "label"}
    assert _read(params, "eval") == [5, 6]


def test_a_file_without_a_header_needs_names(params, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("5,2.5,0\n6,3.5,1\n")
    params.update(train_files=str(path), eval_files=str(path))
    with pytest.raises(RuntimeError, match="has only numbers .*it holds data and no names; .*"
                       "the names of the 3 columns in their order"):
        plugin.data_params(params)
    params.update(columns={"row": 0, "x": 0.0, "label": 0})
    assert plugin.data_params(params)["num_classes"] == 2 and _read(params, "eval") == [5, 6]
    path.write_text("7,1.5\n")
    [features] = plugin.input_fn("infer", {**params, "predict_files": str(path)})
    assert features["row"].numpy().tolist() == [7]


def test_an_archive_of_several_files_and_a_spreadsheet_are_refused(params, tmp_path):
    with zipfile.ZipFile(tmp_path / "rows.zip", "w") as archive:
        archive.writestr("a.csv", "row,label\n1,0\n")
        archive.writestr("b.csv", "row,label\n1,0\n")
    (tmp_path / "rows.xlsx").write_bytes(b"PK")
    for name, expected in (("rows.zip", r"archive of 2 files \(a.csv, b.csv\); expected one"),
                           ("rows.xlsx", "is a spreadsheet; expected CSV")):
        with pytest.raises(RuntimeError, match=expected):
            plugin.data_params({**params, "train_files": str(tmp_path / name)})


@pytest.mark.parametrize("values, form, numbers", (
    (["1,891", "12", "2,450"], "1,234.5", [1891, 12, 2450]),
    (["$ 12", "$1,200.5", ""], "1,234.5", [12, 1200.5, None]),
    (["3 %", "4.5 %", "5%"], "1,234.5", [3, 4.5, 5]),
    (["1.234,5", "12,25", "7"], "1.234,5", [1234.5, 12.25, 7]),
    (["1 234", "3\u202f456,5", "7"], "1 234.5", [1234, 3456.5, 7])))
def test_numbers_as_people_write_them(params, tmp_path, values, form, numbers):
    path = tmp_path / "rows.csv"
    path.write_text("row;price;label\n" + "".join(
        f"{i};{value};{i % 2}\n" for i, value in enumerate(values)))
    params.update(train_files=str(path), eval_files=str(path), prepare_columns=True,
                  table_columns={"price": {"kind": "number"}})
    known = plugin.data_params(params)
    assert known["number_formats"] == {"price": form}
    params.update({name: value for name, value in known.items() if name in params})
    for mode in ("eval", "infer"):
        params.update(predict_files=str(path) if mode == "infer" else "")
        [(features, _)] = plugin.input_fn(mode, params)
        np.testing.assert_array_equal(features["price"], np.array(numbers, float))
    path.write_text(path.read_text() + "9;about 5;1\n")
    assert plugin.data_problem({**params, "predict_files": ""}).startswith(
        f"line 5 of {path}: column 'price' is 'about 5'; expected ")


@pytest.mark.parametrize("kind", ("csv", "parquet", "jsonl", "feather"))
@pytest.mark.parametrize("value", ("nan", "inf"))
def test_what_is_not_finite_is_named_with_its_row(params, tmp_path, kind, value):
    rows = [0.5 * i for i in range(40)]
    rows[30] = float(value)
    path = _write(tmp_path, kind, pa.table({"x": rows, "label": [i % 2 for i in range(40)]}))
    params.update(train_files=path, eval_files=path, num_classes=2,
                  columns={"x": 0.25, "label": 0}, batch_size=100)
    if value == "nan" and kind in ("parquet", "feather"):  # As pandas writes a missing value.
        [(features, _)] = plugin.input_fn("eval", params)
        assert features["x"].numpy()[30] == 0.25
        return
    with pytest.raises(tf.errors.InvalidArgumentError, match="nan or infinite"):
        list(plugin.input_fn("eval", params))
    number = {"csv": "line 32", "jsonl": "line 31"}.get(kind, "row 31")
    assert plugin.data_problem(params).lower().startswith(
        f"{number} of {path}: column 'x' is '{value}".lower())


def test_what_is_no_json_line_is_refused(params, tmp_path):
    path = tmp_path / "rows.jsonl"
    for text, expected in (('[{"x": 1}]', "is one JSON array; .*read_json"),
                           ('{"x": [1], "label": 0}', "leave no column of .* but the label"),
                           ('{"x": 1, "label": 0}\n{"x": 1,\n', "line 2 of .* is no JSON")):
        path.write_text(text)
        with pytest.raises((RuntimeError, ValueError), match=expected):
            plugin.data_params({**params, "train_files": str(path), "eval_files": str(path)})


def test_names_of_columns_may_be_any_text(params, tmp_path):
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress("fixed acidity,gr\u00f6\u00dfe,_c0,label\n1,2,3,0\n4,5,6,1\n"
                                   .encode()))
    params.update(train_files=str(path), eval_files=str(path))
    [(features, _)] = plugin.input_fn("eval", params)
    assert list(features) == ["fixed acidity", "gr\u00f6\u00dfe", "_c0"]


def test_no_thread_is_left_when_a_reading_ends_early(params, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "LIMIT_BYTES", 0)
    params.update(train_files=_write(tmp_path, "csv"), epochs=0)

    def own_threads():
        # TensorFlow's own threads, in which Python is called, stay.
        return {each for each in threading.enumerate() if each.name.startswith("ThreadPool")}

    before = own_threads()
    with tf.Graph().as_default():
        iterator = tf.compat.v1.data.make_initializable_iterator(plugin.input_fn("train", params))
        with tf.compat.v1.Session() as session:
            session.run(iterator.initializer)
            session.run(iterator.get_next())
    del session, iterator
    gc.collect()
    for thread in own_threads() - before:
        thread.join(20)
        assert not thread.is_alive()


def test_two_names_of_a_plugin_are_one(params):
    assert plugin.input_fn is csv_plugin.input_fn and table_scan.MOST_LINES == 100_000
    assert plugin.DEFAULT_PARAMS == csv_plugin.DEFAULT_PARAMS
