"""Tests that a file as it comes is read, or is one sentence that names what to type or to do."""

import gzip
import io
import json
import pickle
import re
import shlex
import subprocess
import tarfile
import zipfile

import numpy as np
import pytest

from input_fns import csv as plugin
from input_fns.reading import other_file
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.table_facts import _learned_once

pytestmark = pytest.mark.any_tensorflow

_LINES = [f"{i % 37},{'ab'[i % 2]},{i % 5},{i % 37 * 10}" for i in range(60)]
_HEADER = "area,region,rooms,price"
_TEXT = "\n".join([_HEADER, *_LINES]) + "\n"
_RECORDS = b"\x0e\0\0\0\0\0\0\0\1\2\3\4\n\x0c"


@pytest.fixture(name="params")
def fixture_params():
    """The params of a table whose label is the price."""
    _learned_once.cache_clear()
    return {**plugin.DEFAULT_PARAMS, "batch_size": 4, "label": "price"}


def _sentence(params):
    with pytest.raises((DataFileError, DataParamError)) as raised:
        plugin.data_params(params)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def _zipped(names):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, _TEXT)
    return stream.getvalue()


def _tarred():
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.csv"))
    return stream.getvalue()


def _saved():
    stream = io.BytesIO()
    np.save(stream, np.arange(3))
    return stream.getvalue()


@pytest.mark.parametrize("name, content, changes", (
    ("semicolons.csv", _TEXT.replace(",", ";").encode(), {}),
    ("tabs.csv", _TEXT.replace(",", "\t").encode(), {}),
    ("tabs.csv", _TEXT.replace(",", "\t").encode(), {"delimiter": "tab"}),
    ("tabs.csv", _TEXT.replace(",", "\t").encode(), {"delimiter": "\\t"}),
    ("colons.csv", _TEXT.replace(",", ":").encode(), {"delimiter": ":"}),
    ("one.zip", _zipped(["a.csv"]), {}),
    ("gzipped.csv", gzip.compress(_TEXT.encode(), mtime=0), {}),
    ("utf16.csv", _TEXT.encode("utf-16"), {}),
    ("utf16.csv", _TEXT.encode("utf-16-le"), {}),
    ("utf16.csv", _TEXT.encode("utf-16-be"), {}),
    ("old_mac.csv", _TEXT.replace("\n", "\r").encode(), {}),
    ("windows.csv", _TEXT.replace("\n", "\r\n").encode("utf-8-sig"), {}),
    ("index.csv", "".join(f"{i if i else ''},{line}\n" for i, line in enumerate(
        _TEXT.splitlines())).encode(), {}),
    ("long.csv", _TEXT.replace(",a,", f",{'x' * 140_000},", 1).encode(), {}),
))
def test_a_table_as_it_comes_is_read(params, tmp_path, name, content, changes):
    path = tmp_path / name
    path.write_bytes(content)
    known = plugin.data_params({**params, **changes, "train_files": str(path)})
    assert set(known["columns"]) == {"area", "region", "rooms", "price"}
    assert known["train_examples"] == 48


@pytest.mark.parametrize("content, expected", (
    (b"", "is empty"), (b"\n\n", "is empty"), (f"{_HEADER}\n".encode(), "no file of it holds"),
    (b"BZh91AY", "is compressed by bzip2; .*: bunzip2 -k PATH"),
    (b"\xfd7zXZ\0", "unxz -k PATH"), (b"\x28\xb5\x2f\xfd", "zstd -d PATH"),
    (b"\xd0\xcf\x11\xe0", "is a spreadsheet; .*: save the sheet as CSV"),
    (_zipped(["[Content_Types].xml", "xl/a.xml"]), "is a spreadsheet; .*: save the sheet as CSV"),
    (_zipped(["a.csv", "b.csv"]), r"is a zip archive of 2 files \(a.csv, b.csv\).* Unpack it"),
    (_tarred(), "is an archive of tar; .*: tar xf PATH"),
    (_saved(), "is an array of NumPy; .*numpy.load"),
    (pickle.dumps([1]), "is a pickle; .*read_pickle"),
    (b"SQLite format 3\0", "is a database of SQLite; .*: sqlite3 -csv -header PATH"),
    (b"\x89PNG\r\n", "is an image; .*: --input_fn=image_folder"),
    (_RECORDS, "is a TFRecord file; .*: --input_fn=tfrecord"),
    (gzip.compress(_RECORDS, mtime=0), "is a TFRecord file; .*: --input_fn=tfrecord"),
    (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS .*: git lfs pull"),
    (b"<!DOCTYPE html>\n<html>", "is a web page; .* Download the file itself"),
    (_TEXT.replace("area", "region").encode(), "has 'region' twice .*: region_2"),
    (_TEXT.encode() + b"1,a,2,3,4\n", "line 62 of PATH has 5 columns; expected 4. Correct or delete"
     " the line; a field with ',' in it needs double quotes"),
))
def test_what_is_no_table_is_one_sentence_with_its_cure(params, tmp_path, content, expected):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    sentence = _sentence({**params, "train_files": str(path)})
    assert re.search(expected.replace("PATH", re.escape(str(path))), sentence), sentence


@pytest.mark.parametrize("content, expected", (
    (_TEXT.encode(), "is CSV or other text; .*: --input_fn=csv"),
    (gzip.compress(_TEXT.encode(), mtime=0), "is CSV or other text; .*: --input_fn=csv"),
    (b'{"a": 1}\n', "is JSON lines; .*: --input_fn=csv"),
    (b"PAR1\x15\x04\0", "is Parquet; .*: --input_fn=csv"),
    (b"\x89PNG\r\n", "is an image; .*: --input_fn=image_folder"),
    (_tarred(), "is an archive of tar; expected TFRecord files$"),
    (b"", "^$"), (_RECORDS, "^$"), (gzip.compress(_RECORDS, mtime=0), "^$"),
    (bytes(range(40)), "^$"),
))
def test_what_holds_no_records_is_one_sentence_with_its_plugin(tmp_path, content, expected):
    path = tmp_path / "data"
    path.write_bytes(content)
    assert re.search(expected, other_file.no_records(str(path)))


def test_a_json_array_becomes_lines_by_the_words_of_the_sentence(params, tmp_path):
    path = tmp_path / "data.json"
    path.write_text(json.dumps([{"area": i, "price": i * 2} for i in range(20)]))
    sentence = _sentence({**params, "train_files": str(path)})
    assert "is one JSON array; expected" in sentence
    command = sentence.partition("For example: ")[2]
    assert "read_json(sys.argv[1])" in command and command.endswith(str(path))


@pytest.mark.parametrize("before", ("# made by us\n", "Report of prices\n\n", "Prices\n2020\n"))
def test_lines_before_the_header_are_cut_off_by_the_words_of_the_sentence(params, tmp_path, before):
    path = tmp_path / "data.csv"
    path.write_text(before + _TEXT)
    sentence = _sentence({**params, "train_files": str(path)})
    assert sentence.startswith(f"line 1 of {path} is {before.splitlines()[0]!r}, and the lines")
    subprocess.run(sentence.partition("For example: ")[2], shell=True, check=True, cwd=tmp_path)
    assert (tmp_path / "new.csv").read_text() == _TEXT


@pytest.mark.parametrize("text, changes, expected", (
    (_TEXT.replace(",", ";"), {"delimiter": ","}, "delimiter is ',', and line 1 of PATH has none:"
     " 'area;region;rooms;price', with ';' between the names"),
    (_TEXT.replace(",", "\t"), {"delimiter": ";"}, "delimiter is ';', and line 1 of PATH has none"),
    (_TEXT.replace(",", ":"), {}, "has one name, 'area:region:rooms:price', where ':' may be"),
    (_TEXT.replace(",", "^"), {}, "where '^' may be between the names"),
    (_TEXT.replace(",", " "), {}, "if blanks separate the columns"),
    # Without a header; the last column is the label.
    ("\n".join(_LINES[7:]), {}, "if the first line is no header"),
    ("\n".join(_LINES), {}, "has '0' twice for a header; expected a header, or from you"),
    ("\n".join(_LINES).replace("a", "1").replace("b", "2"), {}, "has only numbers"),
    (_TEXT, {"label": "cost"}, "label is 'cost', which is no column"),
))
def test_the_words_of_a_sentence_repair_the_run(params, tmp_path, text, changes, expected):
    path = tmp_path / "data.csv"
    path.write_text(text)
    params.update(changes, train_files=str(path))
    sentence = _sentence(params)
    assert expected.replace("PATH", str(path)) in sentence, sentence
    words = shlex.split(sentence[sentence.index("--param"):].partition("; or")[0])
    key, _, value = words[1].partition("=")
    params[key] = json.loads(value) if key == "columns" else value
    assert "price" in plugin.data_params(params)["columns"]
