"""The input plug-in `csv` learns types, classes, fills and scales from the training files."""

import functools
import json

import numpy as np
import pytest
import tensorflow as tf

from input_fns import csv as plugin
from input_fns.reading import field, table_facts, table_scan
from tests.support import csv_files, jobs

pytestmark = pytest.mark.any_tensorflow

EXAMPLE = jobs.REPO / "examples" / "wide_deep"
# A real table whose columns of numbers are integers.
MALES = {"train_files": f"{EXAMPLE}/males.csv.gz", "eval_files": f"{EXAMPLE}/males-test.csv.gz",
         "label": "income"}


@pytest.fixture(name="params")
def fixture_params():
    return {**plugin.DEFAULT_PARAMS, "numeric_scale": {}, "batch_size": 4}


@pytest.fixture(name="file")
def fixture_file(params, tmp_path):
    """Writes a file and makes it the data."""
    return functools.partial(csv_files.write_data, params, tmp_path)


@pytest.fixture(name="logged")
def fixture_logged(monkeypatch):
    """The lines that are logged."""
    # Another test of this process may have learned, and logged, the same file.
    table_facts._learned_once.cache_clear()
    lines = []
    for level in ("info", "warning"):
        monkeypatch.setattr(f"absl.logging.{level}", lambda text, *args: lines.append(text % args))
    return lines


def _refused(params):
    """Returns the sentence and the exit code of data that cannot be used."""
    with pytest.raises((ValueError, RuntimeError)) as caught:
        plugin.data_params(params)
    assert "\n" not in str(caught.value)
    return str(caught.value), caught.value.exit_code


def test_facts_of_a_table_with_only_its_label_set(params, logged):
    known = plugin.data_params({**params, **MALES})
    assert known["columns"] == {
        "year": 1984, "school": 12, "exper": 7,
        **dict.fromkeys(("union", "ethn", "married", "health", "industry", "occupation",
                         "residence", "income"), "")}
    assert known["label_vocabulary"] == known["class_names"] == ["<=median", ">median"]
    assert known["num_classes"] == 2 and known["train_examples"] == 3488
    years = np.loadtxt(MALES["train_files"], delimiter=",", skiprows=1, usecols=(0, 1, 2))
    for i, name in enumerate(("year", "school", "exper")):
        np.testing.assert_allclose(known["numeric_scale"][name],
                                   [years[:, i].mean(), years[:, i].std()], rtol=1e-5)
    assert "year int64, school int64, exper int64, union text" in logged[0]
    assert logged[0].endswith("label: income, 2 classes (<=median, >median)")


@pytest.mark.cluster
def test_facts_that_are_set_stay_as_they_are(params):
    known = plugin.data_params({**params, **MALES})
    user_set = {**params, **json.loads(json.dumps(known)), "label": "income",
                "train_files": "/gone.csv", "eval_files": MALES["eval_files"]}
    again = plugin.data_params(user_set)
    assert again == {name: value for name, value in known.items() if name != "train_examples"}
    features, labels = next(iter(plugin.input_fn("eval", user_set)))
    assert features["year"].dtype == tf.int64 and labels.numpy().tolist() == [1, 1, 1, 1]


def test_facts_of_a_word_among_numbers_name_file_and_line(params, file):
    path = file("age,label\n" + "30,0\n31,1\n" * 10 + "\n\nabc,1\n")
    sentence, code = _refused(params)
    assert code == 1 and sentence == (
        f"line 24 of {path}: column 'age' is 'abc', and 20 of the 21 values are numbers; expected "
        "a number. Correct or delete the line, or let this text stand for an empty field: --param "
        "na_value=abc, or read the column as text: --param column_types='{\"age\": \"text\"}'")
    assert plugin.data_problem(params) == sentence
    assert plugin.data_params({**params, "na_value": "abc"})["empty_fields"] == {"age": [1, 30]}
    params["column_types"] = {"age": "text"}
    assert plugin.data_params(params)["columns"]["age"] == ""


@pytest.mark.parametrize("value", ("nan", "inf", "1e39", "1_000"))
def test_what_is_no_finite_number_is_no_number(params, file, value):
    path = file("x,label\n" + "0.5,0\n1.5,1\n" * 10 + f"{value},1\n")
    assert _refused(params)[0].startswith(f"line 22 of {path}: column 'x' is {value!r}")


@pytest.mark.cluster
def test_a_nan_after_the_lines_that_are_looked_at_stops_reading(params, file):
    path = file("x,label\n" + "0.5,0\n1.5,1\n" * 10 + "nan,1\n")
    params.update(columns={"x": 0.0, "label": 0}, num_classes=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="nan or infinite"):
        list(plugin.input_fn("eval", params))
    assert plugin.data_problem(params).startswith(
        f"line 22 of {path}: column 'x' is 'nan'; expected a number. Correct or delete the line")


def test_facts_of_a_column_with_fewer_numbers_are_text(params, file, logged):
    file("code,label\n12,0\n13,1\nA1,0\n")
    assert plugin.data_params(params)["columns"]["code"] == ""
    assert "column 'code' is text: 2 of its 3 values are numbers, and the first" in logged[0]


@pytest.mark.cluster
@pytest.mark.parametrize("rule, fills", (("mean", [4, 2.5]), ("zero", [0, 0.0])))
def test_facts_count_and_fill_empty_numbers(params, file, logged, rule, fills):
    file("n,x,t,label\n2,1.5,a,0\n5,,b,1\n,3.5,,0\n6,2.5,c,1\n")
    known = plugin.data_params({**params, "empty_numbers": rule})
    assert known["columns"] == {"n": fills[0], "x": fills[1], "t": "", "label": 0}
    assert known["empty_fields"] == {"n": [1, fills[0]], "x": [1, fills[1]]}
    assert logged[1] == (f"empty numbers: n: 1 of 4 empty, filled with {fills[0]}; "
                         f"x: 1 of 4 empty, filled with {fills[1]:g}")
    (features, _), = plugin.input_fn("eval", {**params, "empty_numbers": rule})
    assert features["n"].numpy().tolist() == [2, 5, fills[0], 6]
    assert features["x"].numpy().tolist() == [1.5, fills[1], 3.5, 2.5]
    assert features["t"].numpy().tolist() == [b"a", b"b", b"", b"c"]


@pytest.mark.cluster
def test_no_number_may_be_empty_if_that_is_an_error(params, file):
    path = file("n,label\n1,0\n,1\n")
    params["empty_numbers"] = "error"
    expected = (f"line 3 of {path}: column 'n' is empty, and empty_numbers is 'error'; expected a "
                "number. Correct the line, or let it be filled: --param empty_numbers=mean")
    assert _refused(params) == (expected, 1)
    params.update(columns={"n": 0, "label": 0}, num_classes=2)
    assert plugin.data_problem(params) == expected


def test_facts_are_learned_from_the_lines_to_train_on(params, file):
    file("x,label\n1.0,0\n100,1\n3.0,2\n,1\n")
    params.update(eval_files="", eval_every=2)
    known = plugin.data_params(params)
    assert known["columns"]["x"] == 2.0 and known["numeric_scale"] == {"x": [2.0, 1.0]}
    assert known["num_classes"] == 3 and known["train_examples"] == 2


@pytest.mark.parametrize("labels, num_classes, hint", (
    ("0121", 3, ""), ("0011", 2, ""), ("1211", -1, '["1", "2"]'), ("3545", -1, '["3", "4", "5"]'),
    ("0.5,1,0,1", -1, "")))
def test_whether_numbers_are_classes(params, file, logged, labels, num_classes, hint):
    values = labels.split(",") if "," in labels else labels
    file("x,label\n" + "".join(f"1,{value}\n" for value in values))
    known = plugin.data_params(params)
    assert known["num_classes"] == num_classes
    assert known.get("class_names", []) == [str(i) for i in range(num_classes)]
    assert any(f"--param label_vocabulary='{hint}'" in line for line in logged) == bool(hint)
    assert plugin.data_params({**params, **known}) == {
        name: value for name, value in known.items() if name != "train_examples"}


@pytest.mark.parametrize("text, changes, code, expected", (
    ("a,b,label\n1,,0\n2,,1\n", {}, 1, "--param drop='[\"b\"]'"),
    ("a,label\n1,\n2,1\n", {}, 1, "line 2 of PATH: label 'label' is missing"),
    ("a,label\n1,x\n2,x\n", {}, 1, "label 'label' is 'x' in 2 lines; expected two values"),
    ("a,label\n1,x\n2,y\n", {"num_classes": -1}, 2, "expected a column of numbers"),
    ("a,label\n1,x\n", {"label_vocabulary": ["x", "y", "z"], "num_classes": 2}, 2,
     "--param num_classes=3"),
    ("a,label\n" + "".join(f"1,t{i}\n" for i in range(1001)), {}, 1,
     "has 1,001 different texts in 1,001 lines"),
    ("a,label\n1,0\n2\n", {}, 1, "line 3 of PATH has 1 columns; expected 2"),
    ("a,label\n1,0\n\"2,1\n3,1\n", {}, 1, "line 3 of PATH cannot be split into columns"),
    ("a,label\n", {}, 1, "no file of it holds a record"),
    ("a,label\n1,0\n", {"column_types": {"b": "text"}}, 2, "column_types has 'b', which is no"),
    ("a,label\n1,0\n", {"column_types": {"a": "string"}}, 2, "one of int, float, text"),
    ("a,label\n1,0\n", {"empty_numbers": "median"}, 2, "expected one of mean, zero, error"),
    ("a,label\n1,0\n1.5,1\n", {"columns": {"a": 0, "label": 0}}, 1,
     "line 3 of PATH: column 'a' is '1.5', and 1 of the 2 values are integers"),
))
def test_what_cannot_be_used_is_one_sentence(params, file, text, changes, code, expected):
    path = file(text)
    sentence, found_code = _refused({**params, **changes})
    assert expected.replace("PATH", str(path)) in sentence and found_code == code


def test_a_label_that_is_no_utf_8_is_named(params, file):
    path = file("a,label\n1,yes\n")
    path.write_bytes("a,label\n1,yes\n1,\u00e9t\u00e9\n".encode("latin-1"))
    assert _refused(params)[0].startswith(
        f"line 3 of {path}: label 'label' is '\ufffdt\ufffd', which")


def test_a_scan_has_a_bound_that_is_logged(params, tmp_path, logged, monkeypatch):
    monkeypatch.setattr(table_scan, "MOST_LINES", 3)
    for number in range(2):
        (tmp_path / f"{number}.csv").write_text(f"a,label\n1,{number}\n2,0\n")
    params.update(train_files=f"{tmp_path}/*.csv", eval_files=f"{tmp_path}/*.csv")
    known = plugin.data_params(params)
    assert known["num_classes"] == 2 and "train_examples" not in known
    assert logged[0].endswith("; learned from the first 3 lines of the training files")
    (tmp_path / "1.csv").write_text("b,label\n1,1\n")
    assert f"line 1 of {tmp_path}/1.csv has the columns b, label" in _refused(params)[0]


@pytest.mark.parametrize("kind, dtype", ((int, tf.int64), (float, tf.float32)))
@pytest.mark.parametrize("text", ("5", " 5 ", "-0", "007", "5.", ".5", "1e5", "1e39", "nan", "5f",
                                  "1_0", "\u0663", "9223372036854775808", "+5"))
def test_a_number_is_what_tensorflow_reads_as_one(text, kind, dtype):
    try:
        value = tf.io.decode_csv([text], [tf.constant([], dtype)])[0].numpy()
        is_read = bool(np.isfinite(value).all())
    except tf.errors.InvalidArgumentError:
        is_read = False
    # Only the newest TensorFlow takes "+5" for an integer.
    assert field.is_of(text, kind) == is_read or (text, kind) == ("+5", int)
