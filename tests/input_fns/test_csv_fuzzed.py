"""CSV files with anything in them are read right, or refused in a sentence: never a traceback."""

from __future__ import annotations

import csv as standard_csv
import gzip
import io
import re
import zipfile
import zlib

import hypothesis
from hypothesis import strategies
import numpy as np
import pytest
import tensorflow as tf

from input_fns import csv as plugin
from input_fns.reading import field, table, table_blocks, table_facts, table_rows, text_records
from input_fns.reading.errors import DataFileError, DataParamError, RecordError
from tests.support import csv_files, rereading

pytestmark = pytest.mark.any_tensorflow
HEADER = b"x,n,t,label"
GOOD = [b"1.5,1,a,0", b"2.5,-2,b,1", b"3e2,03,c,0", b"-.5,4,d,1"]
BASE = b"\n".join([HEADER, *GOOD, b""])
COLUMNS = {"columns": {"x": 0.0, "n": 0, "t": ""}, "column_types": {"label": "int"},
           "num_classes": 2}
# Values that such a file may hold, and that most programs take amiss.
TEXTS = ["", "0", "1", "1.5", "-2", " 1", "1 ", "+1", "1e999", "1e39", "3.5e38", "1e-50", "nan",
         "inf", "-Infinity", "1_000", "1,000", "\u0661\u0662", "0x10", "1\0", "\0", "9" * 19,
         "-" + "9" * 400, ".", "-", "e", "1e", "1e+", "--1", "- 1", "1\t", "1\x0b", "\u00a01",
         '"', '"1"', '"a""b"', '"a\rb"', 'a"b', '"a"b', ' "a"', "\ufeff", "\u2028", "\r", "'", ";",
         "True", "None", "\U0001f600"]
fields = strategies.sampled_from(TEXTS) | strategies.text(max_size=6) | strategies.floats().map(
    str) | strategies.integers().map(str)
lines = strategies.lists(fields, min_size=3, max_size=5).map(
    ",".join) | strategies.tuples(fields, fields, fields).map(lambda x: f"{','.join(x)},1")
default = hypothesis.settings(derandomize=True, deadline=None, database=None, max_examples=150)
wide = hypothesis.settings(default, max_examples=20_000, suppress_health_check=list(
    hypothesis.HealthCheck))


def _stored(text: str) -> bytes:
    """Returns a line as the reader of blocks gives it on."""
    return re.sub("[\r\n]", "", text).encode("utf-8", "surrogatepass")


@pytest.fixture(scope="module", name="table_file")
def fixture_table_file(tmp_path_factory):
    """Returns the path of a table, the params that read it, and its columns."""
    path = tmp_path_factory.mktemp("fuzzed") / "rows.csv"
    path.write_bytes(BASE)
    params = table_facts.completed(
        {**plugin.DEFAULT_PARAMS, **COLUMNS, "train_files": str(path), "eval_files": str(path),
         "batch_size": 2}, labelled=True)
    return path, params, table.table_of(str(path), params, labelled=True)


@pytest.fixture(scope="module", name="parse")
def fixture_parse(table_file):
    _, params, columns = table_file
    layout = table_rows.layout_of(columns, params)

    def parser(stored: list[bytes]) -> list[np.ndarray]:
        text, = text_records.blocks(io.BytesIO(b"\n".join(stored)), quotes=True)
        block = table_blocks.CsvBlock("file", text, "")
        floats, integers, texts, labels = table_rows.rows_of(
            block, np.arange(len(block.ordinals())), columns, layout, params)
        return [integers[:, 0], texts[:, 0], floats[:, 0], labels]

    return parser, lambda line: csv_files.line_problem(line, columns, params)


def _zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows/rows.csv", content)
        archive.writestr("__MACOSX/._rows.csv", b"a Mac's")
    return packed.getvalue()


def _judge(parse, stored: bytes) -> None:
    """Asserts that a line is read as Python's csv and float read it, or has a fault to name."""
    parser, problem_of = parse
    text = stored.decode("utf-8", "replace")
    try:
        n, t, x, label = (values[0] for values in parser([stored]))
    except RecordError:
        assert problem_of(text), text
        return
    rows = list(standard_csv.reader([text], strict=True))
    assert len(rows) == 1 and len(rows[0]) == 4, text
    assert t.decode("utf-8", "replace") == rows[0][2]
    wanted = np.float32(float(rows[0][0] or 0))
    assert x == wanted, text
    assert n == int(rows[0][1] or 0), text
    assert label == int(rows[0][3]), text


@default
@hypothesis.given(lines)
@hypothesis.example("1.5,1," + "a" * 100_000 + ",1")
@hypothesis.example("1.5,1,a,1,")
def test_any_line_is_read_right_or_has_a_fault_that_is_named(parse, text):
    _judge(parse, _stored(text))


@pytest.mark.parametrize("place", range(4))
def test_each_of_these_texts_in_each_column(parse, place):
    parts = GOOD[0].decode().split(",")
    for text in TEXTS:
        _judge(parse, _stored(",".join([*parts[:place], text, *parts[place + 1:]])))


def test_a_line_that_is_cut_off_is_never_taken_for_a_whole_one(parse):
    for line in GOOD:
        for end in range(1, len(line)):
            with pytest.raises(RecordError):
                parse[0]([line[:end]])


@pytest.mark.parametrize("change", [
    lambda text: text.replace(b"\n", b"\r\n"), lambda text: text.replace(b"\n", b"\n\n"),
    lambda text: text.rstrip(b"\n"), lambda text: text.replace(b"\n", b"\r"),
    lambda text: b"\xff\xfe" + text.decode().encode("utf-16-le"), gzip.compress,
    lambda text: b"\xef\xbb\xbf" + text, _zipped],
    ids=["CRLF", "blank lines", "no end of the last line", "CR", "UTF-16", "gzip", "UTF-8 mark",
         "zip"])
def test_files_of_other_systems_hold_the_same(table_file, change):
    path, params, _ = table_file
    reader = rereading.FileReader(path, lambda: plugin.input_fn("eval", params))
    for one, other in zip(reader.read(BASE), reader.read(change(BASE)), strict=True):
        tf.nest.map_structure(np.testing.assert_array_equal, one, other)


@pytest.mark.soak
@wide
@hypothesis.given(lines)
def test_very_many_lines(parse, text):
    _judge(parse, _stored(text))


def _facts(path, content: bytes, **params) -> dict | str:
    """Returns what is learned of a file, or the sentence that refuses it."""
    path.write_bytes(content)
    try:
        return plugin.data_params({**plugin.DEFAULT_PARAMS, "train_files": str(path),
                                   "eval_files": str(path), **params})
    except (DataFileError, DataParamError) as error:
        assert "\n" not in str(error)
        return str(error)
    finally:
        table_facts._learned_once.cache_clear()


@default
@hypothesis.given(strategies.lists(fields, min_size=1, max_size=4).map(",".join),
                  strategies.lists(lines, max_size=4), strategies.sampled_from(
                      ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"]))
@hypothesis.example("x," + "n" * 200_000, ["1,2"], "utf-8")
@hypothesis.example("gr\u00f6\u00dfe,label", ["1.5,0"], "latin-1")
@hypothesis.example("x\0,label", ["1.5,0"], "utf-8")
@hypothesis.example("x,label", ["1.5,0", "2.5,1"], "utf-8-sig")
def test_the_facts_of_any_file_are_learned_or_refused(tmp_path_factory, header, texts, encoding):
    path = tmp_path_factory.getbasetemp() / "fuzzed_facts.csv"
    content = "\n".join([header, *texts, ""]).encode(encoding, "replace")
    found = _facts(path, content, label=header.partition(",")[2] or "label")
    assert found


@pytest.mark.parametrize("content, expected", [
    (b"", "is empty"), (b",,\n", "no name for a header"),
    (b"x,x,label\n", "'x' twice"), (b"x,n,label\n1,2\n", "line 2 of "),
    (HEADER.decode().encode("utf-16"), "no file of it holds a record"),
    (HEADER.decode().encode("utf-16-le"), "no file of it holds a record"),
    (b"x\0,n,label\n", "zero bytes"),
    ("gr\u00f6\u00dfe,label\n".encode("latin-1"), "bytes that are no UTF-8"),
    (b"x," + b"n" * 200_000 + b"\n", "no file of it holds a record")])
def test_a_file_that_is_no_table_is_refused_in_a_sentence(tmp_path, content, expected):
    found = _facts(tmp_path / "rows.csv", content)
    assert isinstance(found, str) and expected in found and len(found) < 700


@pytest.mark.parametrize("delimiter", ['"', "\n", "\r", "\0", "\u00e9", ",,"])
def test_what_cannot_be_a_delimiter_is_refused(tmp_path, delimiter):
    assert _facts(tmp_path / "rows.csv", BASE, delimiter=delimiter).startswith("delimiter is ")


def test_a_gzip_file_that_is_cut_at_the_end_of_a_line_is_refused(tmp_path):
    path = tmp_path / "rows.csv.gz"
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    path.write_bytes(packer.compress(BASE) + packer.flush(zlib.Z_SYNC_FLUSH))
    params = {**plugin.DEFAULT_PARAMS, **COLUMNS, "train_files": str(path),
              "eval_files": str(path), "predict_files": str(path)}
    for mode in ("eval", "infer"):
        with pytest.raises(DataFileError, match="is truncated or damaged after line 5"):
            plugin.input_fn(mode, params)
    assert "is truncated or damaged after line 5" in plugin.data_problem(params)


def test_a_gzip_file_has_no_carriage_returns_either(tmp_path):
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(BASE.replace(b",a,", b',"a\rb",').replace(b"\n", b"\r\n")))
    (_, header), (_, first), *_ = next(text_records.blocks_of(str(path))).records()
    assert header == HEADER.decode() and first == '1.5,1,"ab",0'


@default
@hypothesis.given(fields)
def test_a_number_is_one_for_tensorflow_too(text):
    for kind, dtype in ((int, tf.int64), (float, tf.float32)):
        found = field.numbers_of([text], kind) if text else None
        if found is not None:
            # CSV fields may have blanks around; the op for other texts takes none.
            [number] = tf.io.decode_csv([text], [tf.constant([0], dtype)])
            assert number.numpy() == found.astype(dtype.as_numpy_dtype)[0]
