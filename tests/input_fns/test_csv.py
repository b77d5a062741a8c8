"""The input plug-in `csv`: columns and their types, and who reads which line."""

import csv
import functools
import gzip
import io

import numpy as np
import pytest
import tensorflow as tf

from input_fns import csv as plugin, digits
from input_fns.reading import text_records
from tests.support import csv_files
from tests.support.csv_files import HEADER, line, ROWS, rows_of
from tests.support.reading import context, folders_of

pytestmark = pytest.mark.any_tensorflow


@pytest.fixture(scope="module", name="folders")
def fixture_folders(tmp_path_factory):
    return folders_of(csv_files.write_files, tmp_path_factory)


@pytest.fixture(name="params")
def fixture_params(folders):
    return {**plugin.DEFAULT_PARAMS, "train_files": folders[3], "eval_files": folders[3],
            "num_classes": 3, "batch_size": 4}


@pytest.fixture(name="file")
def fixture_file(params, tmp_path):
    """Writes a file and makes it the data."""
    return functools.partial(csv_files.write_data, params, tmp_path)


def test_this_plugin_hides_no_standard_module():
    assert csv.__file__ != plugin.__file__ and digits.csv is csv


@pytest.mark.parametrize("mode", ("train", "eval"))
def test_types_follow_from_the_first_lines(params, mode):
    dataset = plugin.input_fn(mode=mode, params=params)
    size = 4 if mode == "train" else None
    assert dataset.element_spec == (
        {"row": tf.TensorSpec([size], tf.int64), "name": tf.TensorSpec([size], tf.string),
         "price": tf.TensorSpec([size], tf.float32)}, tf.TensorSpec([size], tf.int64))
    features, labels = next(iter(dataset))
    numbers = features["row"].numpy()
    np.testing.assert_array_equal(labels, numbers % 3)
    np.testing.assert_array_equal(features["price"], numbers + 0.5)
    assert features["name"].numpy().tolist() == [b"n, %d" % number for number in numbers]


@pytest.mark.cluster
def test_columns_choose_types_and_values_for_empty_fields(params, file):
    file("a,b,c,label\n,,x,1\r\n2,3,,0\r\n\r\n")
    params["columns"] = {"b": -1, "a": 0.5, "c": "none"}
    (features, labels), = plugin.input_fn("eval", params)
    assert {name: value.numpy().tolist() for name, value in features.items()} == {
        "a": [0.5, 2.0], "b": [-1, 3], "c": [b"x", b"none"]}
    assert labels.dtype == tf.int64 and labels.numpy().tolist() == [1, 0]
    (features, _), = plugin.input_fn("eval", {**params, "columns": {"a": 0.0, "label": 0.0}})
    assert list(features) == ["a"]
    (features, _), = plugin.input_fn("eval", {**params, "columns": {}, "drop": ["a", "b"]})
    assert list(features) == ["c"]


@pytest.mark.cluster
def test_labels_may_be_texts_or_numbers(params, file):
    file("x;label\n1;no\n2;yes\n3;no\n")
    params.update(delimiter=";", num_classes=0)
    for vocabulary in ([], ["no", "yes"]):
        (_, labels), = plugin.input_fn("eval", {**params, "label_vocabulary": vocabulary})
        assert labels.dtype == tf.int64 and labels.numpy().tolist() == [0, 1, 0]
    file("x;label\n1;0.25\n2;12.5\n")
    (_, labels), = plugin.input_fn("eval", params)
    assert labels.dtype == tf.float32 and labels.numpy().tolist() == [0.25, 12.5]


def test_features_suit_feature_columns(params):
    columns = [tf.feature_column.numeric_column("price"), tf.feature_column.indicator_column(
        tf.feature_column.categorical_column_with_hash_bucket("name", 4))]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        dataset = plugin.input_fn("eval", params)
        features, _ = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        layer = tf.compat.v1.feature_column.input_layer(features, columns)
        assert session.run(layer).shape == (4, 5)


def test_prediction_needs_no_label(params, tmp_path):
    (tmp_path / "new.csv").write_text("price,row\n1.5,7\n")
    params.update(eval_files=str(tmp_path / "new.csv"), drop=["name"])
    batch, = plugin.input_fn("infer", params)
    assert rows_of([batch]) == [7] and batch["price"].numpy() == [1.5]


@pytest.mark.cluster
@pytest.mark.parametrize("mode", ("train", "eval"))
def test_works_in_a_graph(params, mode):
    params.update(epochs=1, label="name", label_vocabulary=[f"n, {i}" for i in range(ROWS)],
                  num_classes=ROWS, eval_files="", eval_every=6)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        batch = tf.compat.v1.data.make_one_shot_iterator(plugin.input_fn(mode, params)).get_next()
        got = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                got.extend(session.run(batch)[0]["row"])
    # Files of 2, 8 and 13 lines.
    assert len(set(got)) == len(got) == (20 if mode == "train" else 3)


@pytest.mark.parametrize("pipelines", (1, 2))
@pytest.mark.cluster
def test_one_file_is_split_for_evaluation(params, file, monkeypatch, pipelines):
    monkeypatch.setattr(text_records, "BLOCK_BYTES", 40)
    file(HEADER + "".join(map(line, range(ROWS))))
    params.update(eval_files="", eval_every=5, epochs=1, batch_size=1)

    def read(mode):
        return sorted(sum((rows_of(plugin.input_fn(mode, params, context(pipelines, i)))
                           for i in range(pipelines)), []))

    assert read("eval") == read("infer") == [4, 9, 14, 19]
    assert read("train") == sorted(set(range(ROWS)) - {4, 9, 14, 19})


@pytest.mark.cluster
def test_reads_gzip_and_a_byte_order_mark(params, file):
    file("\ufeff" + HEADER + line(1), "rows.csv.gz")
    with pytest.raises(ValueError, match="label"):
        plugin.input_fn("eval", {**params, "label": "lable"})
    assert list(plugin.input_fn("eval", params).element_spec[0]) == ["row", "name", "price"]
    assert rows_of(plugin.input_fn("eval", params)) == [1]
    assert plugin.data_problem(params) == ""


@pytest.mark.cluster
def test_real_rows_train_as_the_bundled_plugin_has_them(params, file):
    rows_of_digits = gzip.decompress(digits._SOURCE.read_bytes()).decode()
    names = [f"p{i}" for i in range(64)]
    file(",".join([*names, "label"]) + "\n" + rows_of_digits)
    params.update(num_classes=10, batch_size=2000)
    (features, labels), = plugin.input_fn("eval", params)
    expected = np.loadtxt(io.StringIO(rows_of_digits), delimiter=",")
    np.testing.assert_array_equal(np.stack([features[name] for name in names], 1), expected[:, :64])
    np.testing.assert_array_equal(labels, expected[:, 64])


@pytest.mark.parametrize("changes, exit_code, expected", (
    ({"train_files": ""}, 2, "--param train_files='/data/train-*'"),
    ({"train_files": "/nowhere/*.csv"}, 1, "there is no folder '/nowhere'"),
    ({"label": "lable"}, 2, "--param label=label"),
    ({"label": "name"}, 2, "label 'name' has 23 texts; expected as many. For example: --param"),
    ({"columns": {"prise": 0.0}}, 2, "--param columns='{{\"price\": 0.0}}'"),
    ({"columns": {"price": True}}, 2, "columns has True for 'price'"),
    ({"drop": ["nome"]}, 2, "--param drop='[\"name\"]'"),
    ({"drop": ["row", "name", "price"]}, 2, "--param drop='[]'"),
    ({"delimiter": ", "}, 2, "--param delimiter=';'"),
    ({"eval_files": "", "eval_every": 1}, 2, "--param eval_every=5"),
    ({"label_vocabulary": [0, 1]}, 2, "label_vocabulary is [0, 1]; expected texts"),
    ({"batch_size": 0}, 2, "--param batch_size=64"),
))
def test_a_mistake_is_one_sentence(params, changes, exit_code, expected):
    with pytest.raises((ValueError, RuntimeError)) as caught:
        plugin.input_fn("train", {**params, **changes})
    assert caught.value.exit_code == exit_code
    assert expected.replace("{{", "{").replace("}}", "}") in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("header, expected", (
    ("", "is empty"), ("a,a,label\n1,2,0\n", "has 'a' twice for a header"),
    (",,\n1,2,0\n", "has no name for a header")))
def test_a_file_needs_a_header(params, file, header, expected):
    path = file(header)
    with pytest.raises(RuntimeError) as caught:
        plugin.input_fn("train", params)
    assert caught.value.exit_code == 1 and f"{path} {expected}" in str(caught.value)
    assert plugin.data_problem(params) == str(caught.value)


@pytest.mark.parametrize("mode", ("eval", "infer"))
def test_a_model_that_prepares_columns_itself_gets_them_as_they_are(params, file, mode):
    path = file("n,x,big,t,label\n1,,1700000000123,,0\n,2.5,,b,1\n3,3,5,,0\n")
    params.update(prepare_columns=True, table_columns={"n": {"kind": "number"}},
                  predict_files=str(path) if mode == "infer" else "")
    (features, labels), = plugin.input_fn(mode, params)
    for name, values in {"n": [1, np.nan, 3], "x": [np.nan, 2.5, 3],
                         "big": [1700000000123, np.nan, 5]}.items():
        assert features[name].dtype == tf.float64
        np.testing.assert_array_equal(features[name], values)
    assert features["t"].numpy().tolist() == [b"", b"b", b""]
    assert labels.dtype == (tf.int64 if mode == "eval" else tf.string)
    for bad in ("nan", "inf", "1e39"):
        path.write_text(path.read_text() + f"{bad},1,1,a,0\n")
        params.update(columns={"n": 0, "x": 0.0, "big": 0, "t": "none", "label": 0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="nan or infinite"):
            list(plugin.input_fn(mode, params))
        assert plugin.data_problem(params).startswith(f"line 5 of {path}: column 'n' is {bad!r}")
        path.write_text("".join(path.read_text().splitlines(True)[:-1]))
